// How much of a budget is spent, as a bar.
#pragma once

#include <string>
#include <string_view>

namespace sotto::report_detail {

/// Shares from 0 to 1: what was spent before, and what by this request.
std::string meter(double before, double own);

/// Its style sheet, and that of a key to it; with the colours of estimates_style.
extern const std::string_view meter_style;

}  // namespace sotto::report_detail
