// What a look at the data found, for the curator's eyes: how well they fit what is declared of them.
#pragma once

#include <string>

#include "sotto/data/inspect.hpp"
#include "sotto/report/answers.hpp"
#include "sotto/study/data_file.hpp"

namespace sotto {

/// sotto.inspection/1; as CSV a line for each column.
std::string inspection_text(const DataFile& data, const Inspection& found, Format format);

}  // namespace sotto
