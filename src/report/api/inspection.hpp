// The inspection of a source: how well its records fit the declared columns. Exact numbers about
// people, for the curator alone.
#pragma once

#include <string>

#include "data/api/inspect.hpp"
#include "report/api/answers.hpp"
#include "study/api/data_file.hpp"

namespace sotto {

/// Returns the counts for each column and how many rows a unit has; sotto.inspection/1. CSV has a
/// row for each column.
std::string inspection_text(const DataFile& data, const Inspection& inspection, Format format);

}  // namespace sotto
