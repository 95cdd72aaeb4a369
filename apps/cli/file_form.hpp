// How a file of data is written: what is told of one that cannot be read, before anything is made for it.
#pragma once

#include <string>

namespace sotto::cli {

/// InvalidValue with what to type where a file is packed, is a spreadsheet, does not say its format by its name while none was
/// typed, or is not in UTF-8. `format` and `delimiter` are as typed.
void require_readable_form(const std::string& file, const std::string& format, const std::string& delimiter);

}  // namespace sotto::cli
