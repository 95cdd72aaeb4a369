// The sources' figures, recomputed: where a source is wrong, what it draws stands beside what is right.
#pragma once

#include <string>
#include <vector>

#include "sotto/report/chart.hpp"

namespace sotto {

/// All figures, in the order of the sources, then the four that the sources lack.
std::vector<Chart> source_figures();

/// What the page says before them.
std::string figures_introduction();

}  // namespace sotto
