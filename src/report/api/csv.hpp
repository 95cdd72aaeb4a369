// Tables as comma-separated values.
#pragma once

#include <string>

#include "report/api/chart.hpp"

namespace sotto {

/// A field, quoted as in RFC 4180 where it must be. A number stays as it is. A text stands on one line, with what is unsafe to show spelt out; one
/// that a spreadsheet would take for a formula (=, +, -, @, tab) gets an apostrophe in front.
std::string csv_field(const std::string& field);

/// One row a point under the header `series,x,y`, quoted as in RFC 4180, lines ended by '\n'. Numbers read back as the same
/// doubles; those that are not finite are `inf`, `-inf` and `nan`. A bar's x is its left edge.
/// Throws InvalidValue as require_consistent does.
std::string csv(const Chart& chart);

}  // namespace sotto
