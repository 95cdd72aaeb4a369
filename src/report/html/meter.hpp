// A bar that shows how much of a budget is spent.
#pragma once

#include <string_view>

#include "report/html/markup.hpp"

namespace sotto::report_detail {

/// Returns the bar. `before` is the share of the budget that earlier requests spent and `own` the
/// share of this request; each is clamped to [0, 1].
Markup meter(double before, double own);

/// The style sheet of the bar and of its key. It uses the colours that estimates_style defines.
extern const std::string_view meter_style;

}  // namespace sotto::report_detail
