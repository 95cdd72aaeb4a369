// A plan's parameters as reals and counts.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "sotto/plan/parameter.hpp"

namespace sotto::accounting_detail {

/// The decimal number that was typed: it may lie beside its double.
inline Real reading(const Parameter& p) { return Real::reading(p.value()); }
inline Real real(std::int64_t n) { return static_cast<double>(n); }
inline std::int64_t count(const Parameter& p) { return static_cast<std::int64_t>(p.value()); }
/// k times a count; InvalidValue beyond 2^53.
std::int64_t times(std::int64_t k, const Parameter& p);

}  // namespace sotto::accounting_detail
