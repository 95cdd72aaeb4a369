// A committed plan as the parts it may be spent in: sums and repetitions flattened, equal parts counted together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

struct Commitment {
  struct Part {
    Plan plan;  // neither a sum nor a repetition
    std::string text;
    std::int64_t count;
  };
  std::vector<Part> parts;                             // in the order in which they first stand in the plan
  std::unordered_map<std::string, std::size_t> place;  // by their text
  std::int64_t total = 0;

  /// InvalidValue if the plan repeats its parts more than 2^53 times.
  explicit Commitment(const Plan& plan);

  /// How often each part is run once the event is, too; empty if the event has other parts, or more of one, than are left. Then
  /// `missing` counts them and `reason` names the first.
  [[nodiscard]] std::vector<std::int64_t> with(const std::vector<std::int64_t>& used, const Commitment& event, std::int64_t& missing,
                                               std::string& reason) const;

  /// The plan that is left.
  [[nodiscard]] std::optional<Plan> rest(const std::vector<std::int64_t>& used) const;
};

}  // namespace sotto::accounting_detail
