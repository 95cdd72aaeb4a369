// A committed plan as a multiset of parts: sums and repetitions are flattened, equal parts are
// counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// The parts of a committed plan. An analyst may run them in any order, each at most `count` times.
struct Commitment {
  struct Part {
    Plan plan;  // neither a sum nor a repetition
    std::string text;
    std::int64_t count;
  };
  std::vector<Part> parts;  // in the order of their first occurrence in the plan
  std::unordered_map<std::string, std::size_t>
      index_of;  // from a part's text to its index in `parts`
  std::int64_t total = 0;

  /// Throws InvalidValue if the plan has more than 2^53 parts.
  explicit Commitment(const Plan& plan);

  /// Returns how often each part has run after the event, if it had run `used` times before. Empty
  /// if the event has a part that the plan does not have, or more of a part than remain; then
  /// `missing` is the number of such parts, and `reason` names the first one.
  [[nodiscard]] std::vector<std::int64_t> with(const std::vector<std::int64_t>& used,
                                               const Commitment& event, std::int64_t& missing,
                                               std::string& reason) const;

  /// Returns the plan of all parts that have not run; empty if all have.
  [[nodiscard]] std::optional<Plan> rest(const std::vector<std::int64_t>& used) const;
};

}  // namespace sotto::accounting_detail
