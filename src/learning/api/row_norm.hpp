// How long a row can be, from what is public about its columns.
#pragma once

#include <vector>

#include "sotto/data/examples.hpp"

namespace sotto {

/// A norm that no row (x, 1), or (x, 1, y) with a target, exceeds: each column contributes at most 1 to the square, since a category's features are
/// 1 in at most one place. Clipping rows to it changes none. Rounded up.
double row_norm(const std::vector<Feature>& features, bool with_target);

/// The root mean square of that norm if numbers were uniform over their ranges: public too, and a better norm to shorten rows to where noise is in
/// proportion to it, since few rows are longer.
double typical_row_norm(const std::vector<Feature>& features, bool with_target);

}  // namespace sotto
