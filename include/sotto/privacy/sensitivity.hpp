// Sensitivities: how much one unit can change the result of a query under a neighbouring relation.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// The L1 and L2 sensitivity of a query. Noise must be scaled to their upper().
struct Sensitivity {
  Real l1;
  Real l2;
};

/// The public bounds to which values are clamped. Both lie on the public grid.
struct Clamp {
  double low;
  double high;
};

/// The largest contribution of a unit: rows in at most `groups` groups, at most `rows` rows in
/// each.
struct Contribution {
  std::int64_t groups = 1;
  std::int64_t rows = 1;
};

/// Whether every row is certain to contribute, or whether a filter, a NULL or a group may drop it.
enum class Presence { certain, uncertain };

// Each function takes the add-remove value for zero-out, and throws InvalidValue for the relation
// "as stated".

/// A count of rows, with one row a unit: 1 under every relation.
Sensitivity count_sensitivity(Relation relation);

/// A sum of clamped values, with one row a unit: max(|low|, |high|). Under replace-one it is high -
/// low if every row is certain to contribute, else the larger of both.
Sensitivity sum_sensitivity(Clamp clamp, Relation relation, Presence presence);

/// Counts in disjoint bins, with one row a unit: L1 = L2 = 1 under add-remove; 2 and sqrt(2) under
/// replace-one.
Sensitivity histogram_sensitivity(Relation relation);

/// Sums over groups, with m = groups, r = rows and B = max(|low|, |high|). Add-remove: L1 = m r B,
/// L2 = sqrt(m) r B. Replace-one: L1 = 2 m r B, L2 = sqrt(m) r max(sqrt(2) B, high - low). A count
/// is a sum with the bounds [0, 1].
Sensitivity grouped_sum_sensitivity(Clamp clamp, Contribution contribution, Relation relation);

}  // namespace sotto
