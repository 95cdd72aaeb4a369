// Checks the format of a file of data before `sotto data init` creates anything for it.
#pragma once

#include <string>

namespace sotto::cli {

/// Throws InvalidValue, with what to type, for a file that is compressed, a spreadsheet, of an
/// unknown extension while no format was typed, not in UTF-8, or that seems to have another
/// delimiter than a comma. `format` and `delimiter` are as typed. Accepts a file that cannot be
/// opened: reading its data reports that.
void require_readable_format(const std::string& file, const std::string& format,
                             const std::string& delimiter);

}  // namespace sotto::cli
