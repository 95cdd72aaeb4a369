// What a look at the data found, for the curator's eyes: how well they fit what is declared of them.
#pragma once

#include <string>

#include "data/api/inspect.hpp"
#include "report/api/answers.hpp"
#include "study/api/data_file.hpp"

namespace sotto {

/// sotto.inspection/1; as CSV a line for each column.
std::string inspection_text(const DataFile& data, const Inspection& found, Format format);

}  // namespace sotto
