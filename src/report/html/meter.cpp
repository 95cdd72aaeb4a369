// Widths are in percent, so that the bar fits any page.
#include "report/html/meter.hpp"

#include <algorithm>

#include "report/api/text.hpp"

namespace sotto::report_detail {

const std::string_view meter_style = R"(
.meter { display: flex; height: 1.5rem; max-width: 44rem; overflow: hidden; border: 1px solid var(--rule); border-radius: 6px; }
.meter .before { background: var(--answer); opacity: .55; }
.meter .this { background: var(--exact); }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; vertical-align: -1px; }
.key.before { background: var(--answer); opacity: .55; }
.key.this { background: var(--exact); }
.key.left { border: 1px solid var(--rule); box-sizing: border-box; }
)";

Markup meter(double before, double own) {
  const auto part = [](const char* css_class, double share) {
    const std::string width = "width:" + coordinate(100 * std::clamp(share, 0.0, 1.0)) + "%";
    return tag("div", {{"class", css_class}, {"style", width}}, "");
  };
  return tag("div", {{"class", "meter"}}, part("before", before) + part("this", own)) + "\n";
}

}  // namespace sotto::report_detail
