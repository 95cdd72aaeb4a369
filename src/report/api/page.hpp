// Several charts as one HTML page.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"

namespace sotto {

/// A page that needs no other file and no script: contents, then each chart with its title and caption. A chart with at most 40
/// points a series shows them as a table; for a longer one the page names `<id>.csv`, which the caller writes with csv().
/// Blank lines in the introduction part its paragraphs.
/// Throws InvalidValue as require_consistent does, and if two charts have the same id.
std::string page(const std::string& title, const std::string& introduction, const std::vector<Chart>& charts);

}  // namespace sotto
