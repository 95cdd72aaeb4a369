// The sources' figures, recomputed: where a source is wrong, what it draws stands beside what is right.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"

namespace sotto {

/// All figures, those on one subject together. Some are measured, with noise of their own.
std::vector<Chart> source_figures();

/// What the page says before them.
std::string figures_introduction();

}  // namespace sotto
