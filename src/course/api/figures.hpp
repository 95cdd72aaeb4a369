// The figures of the course material, recomputed. Where a source is wrong, its curve is drawn next
// to the correct one.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"

namespace sotto {

/// Returns all figures, grouped by subject. Some are simulated, so they differ from call to call.
std::vector<Chart> source_figures();

/// Returns the introduction of the page of figures.
std::string figures_introduction();

}  // namespace sotto
