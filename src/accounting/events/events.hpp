// A plan as the list of events that it is composed of: repetitions and sums flattened, groups carried into the parts, equal parts counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "accounting/leaves/leaf.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// A sampling node's rate and what runs on the sample; nested Poisson rates multiply.
struct Sampling {
  Real rate;
  Plan body;
  bool poisson;  // else without replacement
};
/// Empty if the plan is not a sampling node.
std::optional<Sampling> sampling_of(const Plan& plan);

/// A leaf, a sample or parts in parallel, run so many times and costed for a group of so many units.
struct Event {
  Plan plan;
  std::int64_t count;
  std::int64_t units;
  LeafPtr leaf;                      // for those units; null for a sample and for parts in parallel
  std::optional<Sampling> sampling;  // of a sample
  bool needs_share;                  // (ε, δ)-DP only once it is given a share of δ

  /// Parts in parallel for one unit: a group's conversion is applied to their total.
  [[nodiscard]] const Parallel* parallel() const { return units == 1 ? plan.as<Parallel>() : nullptr; }
  /// The event as a plan, with its group.
  [[nodiscard]] Plan with_group() const { return units == 1 ? plan : group(static_cast<double>(units), plan); }
};

/// The plan's events in the order in which they first stand in it. InvalidValue if counts or groups exceed 2^53.
std::vector<Event> events_of(const Plan& plan);

}  // namespace sotto::accounting_detail
