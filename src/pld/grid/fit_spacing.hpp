// The spacing of a grid, chosen so that atoms lie on grid points where possible
// (docs/theory/pld/discretisation.md, "Spacing and atoms").
#pragma once

#include <vector>

#include "pld/grid/choose_grid.hpp"

namespace sotto::pld_detail {

/// Returns a spacing that is at least the given one, and at most about 15 % larger: one that fits
/// the heaviest distance between two atoms, or the longest, to a whole number of spacings, and
/// leaves the least tilted mass off the grid points.
double fit_spacing(const std::vector<DistributedStep>& steps, const GridChoice& choice,
                   double spacing);

}  // namespace sotto::pld_detail
