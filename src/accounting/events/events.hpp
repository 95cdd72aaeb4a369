// A plan as the list of events that it composes: repetitions and sums are flattened, groups are
// carried into the parts, and equal parts are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "accounting/leaves/leaf.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// The rate of a sampling node and the plan that runs on the sample. The rates of nested Poisson
/// nodes are multiplied.
struct Sampling {
  Real rate;
  Plan body;
  bool poisson;  // else without replacement
};
/// Returns the sampling of a plan; empty if it is not a sampling node.
std::optional<Sampling> sampling_of(const Plan& plan);

/// A leaf, a sampling node or parts in parallel that runs `count` times, costed for a group of
/// `units` units.
struct Event {
  Plan plan;
  std::int64_t count;
  std::int64_t units;
  LeafPtr leaf;                      // described for `units` units; null if the event is not a leaf
  std::optional<Sampling> sampling;  // set if the event is a sampling node
  bool needs_share;                  // (ε, δ)-DP only at a chosen share of δ

  /// Returns the parallel node, or null. It is null for a group, too: the group conversion applies
  /// to the total of a whole plan.
  [[nodiscard]] const Parallel* parallel() const {
    return units == 1 ? plan.as<Parallel>() : nullptr;
  }
  /// Returns the event as a plan, with group(units, ·) around it if it has several units.
  [[nodiscard]] Plan with_group() const {
    return units == 1 ? plan : group(static_cast<double>(units), plan);
  }
};

/// Returns the plan's events in the order of their first occurrence. Throws InvalidValue if a count
/// or a group exceeds 2^53.
std::vector<Event> events_of(const Plan& plan);

}  // namespace sotto::accounting_detail
