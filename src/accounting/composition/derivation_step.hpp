// Writes the steps of a derivation that the caller may not want: a null pointer records nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {

/// Appends an empty premise to a derivation and returns it. The pointer is valid until the next
/// premise is appended. Returns null if `why` is null.
inline Derivation* add_premise(Derivation* why) {
  return why == nullptr ? nullptr : &why->premises.emplace_back();
}

/// Sets the members of a derivation except its premises, for a plan that is costed for a group of
/// k. Does nothing if `why` is null.
inline void fill_step(Derivation* why, const Plan& plan, std::int64_t k, const std::string& theorem,
                      const std::string& reference, std::vector<Condition> conditions,
                      const std::string& guarantee) {
  if (why == nullptr) return;
  why->plan = print(k == 1 ? plan : group(static_cast<double>(k), plan));
  why->theorem = theorem;
  why->reference = reference;
  why->conditions = std::move(conditions);
  why->guarantee = guarantee;
}

}  // namespace sotto::accounting_detail
