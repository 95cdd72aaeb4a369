// Several charts as one HTML page.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"

namespace sotto {

/// Returns a page that has no script and needs no other file: a table of contents, then each chart
/// with its title, caption and data. A chart whose series have at most 40 points shows them as a
/// table; for a longer chart the page names `<id>.csv`, which the caller has to write with csv().
/// Blank lines separate the paragraphs of the introduction. Throws InvalidValue as
/// require_consistent() does, and if two charts have the same id.
std::string page(const std::string& title, const std::string& introduction,
                 const std::vector<Chart>& charts);

}  // namespace sotto
