// Bounds on the norm of a row, from public knowledge about its columns.
#pragma once

#include <vector>

#include "sotto/data/examples.hpp"

namespace sotto {

/// Returns an upper bound on the norm of every row (x, 1), or (x, 1, y) with a target, rounded up.
/// Each column contributes at most 1 to the square, since at most one indicator of a category is 1.
double row_norm(const std::vector<Feature>& features, bool with_target);

/// Returns the root mean square norm of rows whose numbers are uniform over their ranges. It is
/// public, and a better norm to scale rows down to if noise is proportional to it: few rows are
/// longer.
double typical_row_norm(const std::vector<Feature>& features, bool with_target);

}  // namespace sotto
