// Comma-separated values that a spreadsheet cannot take for formulas.
#pragma once

#include <string>

#include "report/api/chart.hpp"

namespace sotto {

/// Returns a field, quoted as in RFC 4180 if necessary. Unsafe characters and newlines are escaped,
/// so the field stays on one line. A text that a spreadsheet would evaluate (it begins with =, +,
/// -, @ or a tab and is not a number) gets an apostrophe in front.
std::string csv_field(const std::string& field);

/// Returns the points of a chart, one per row, below the header `series,x,y`. Lines end with '\n'.
/// Numbers read back as the same doubles; non-finite ones are `inf`, `-inf` and `nan`. The x of a
/// bar is its left edge. Throws InvalidValue as require_consistent() does.
std::string csv(const Chart& chart);

}  // namespace sotto
