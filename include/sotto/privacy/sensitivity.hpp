// How much one unit can change a query, under each neighbouring relation.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// L1 and L2 sensitivity of a query; `upper()` is what noise must be scaled to.
struct Sensitivity {
  Real l1;
  Real l2;
};

/// Values clamped to [low, high], both on the public grid.
struct Clamp {
  double low;
  double high;
};

/// A unit's contribution: at most `groups` groups with at most `rows` rows in each.
struct Contribution {
  std::int64_t groups = 1;
  std::int64_t rows = 1;
};

/// Whether every row surely contributes, or may be dropped by a filter, a NULL or a group.
enum class Presence { certain, uncertain };

// Zero-out takes the add-remove value throughout. A relation "as stated" has no sensitivity: InvalidValue.

/// A count of rows: 1 under every relation.
Sensitivity count_sensitivity(Relation relation);

/// A sum of clamped values: max(|low|, |high|); under replace-one high - low if every row surely contributes,
/// else the larger of the two.
Sensitivity sum_sensitivity(Clamp clamp, Relation relation, Presence presence);

/// Counts in disjoint bins: L1 = L2 = 1 under add-remove; 2 and sqrt(2) under replace-one.
Sensitivity histogram_sensitivity(Relation relation);

/// Sums over groups. Add-remove: L1 = m r B, L2 = sqrt(m) r B, with B = max(|low|, |high|). Replace-one:
/// L1 = 2 m r B, L2 = sqrt(m) r max(sqrt(2) B, high - low). A count is the clamp [0, 1].
Sensitivity grouped_sum_sensitivity(Clamp clamp, Contribution contribution, Relation relation);

}  // namespace sotto
