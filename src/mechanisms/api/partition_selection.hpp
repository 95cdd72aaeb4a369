// Private partition selection: which groups may be shown, when the groups themselves are private.
#pragma once

#include <cstdint>

#include "sotto/mechanisms/additive.hpp"

namespace sotto {

/// Selects the groups that have enough units: a group is selected if its count of units, with
/// noise, reaches a threshold.
///
/// The noise alone does not hide a group that one unit brings: the group would be absent without
/// the unit. The threshold makes it improbable that any such group is selected, and this
/// probability δ is charged as well. docs/theory/statistics.md, "Private keys". Immutable; threads
/// may share it.
class PartitionSelection {
 public:
  /// `noise` is the leaf of the noise on the counts of all groups, whose sensitivity is that of the
  /// vector of counts: laplace or gaussian, without holes. One unit is in at most `groups_a_unit`
  /// groups. With probability at most `delta` any group is selected that one unit alone brings.
  PartitionSelection(const Plan& noise, double delta, std::int64_t groups_a_unit);

  /// Whether a group of so many units is selected. Every call draws noise: call it once a group.
  [[nodiscard]] bool selects(std::int64_t units) const {
    return counts_.release(static_cast<double>(units)) >= threshold_;
  }

  /// The cost of one selection over all groups: the noise, and approx(0, delta).
  [[nodiscard]] const Plan& event() const { return event_; }
  /// The noise on the counts.
  [[nodiscard]] const Additive& counts() const { return counts_; }
  [[nodiscard]] double delta() const { return delta_; }
  [[nodiscard]] double threshold() const { return threshold_; }

 private:
  Additive counts_;
  double delta_;
  double threshold_;
  Plan event_;
};

}  // namespace sotto
