#include "report/study_page/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "report/charts/axis.hpp"
#include "report/html/document.hpp"
#include "report/study_page/estimate_text.hpp"
#include "sotto/core/decimal.hpp"
#include "report/api/text.hpp"

namespace sotto::report_detail {

// Positions are in percent and sizes in pixels, so that a picture fits any width and its text stays as large as the page's.
const std::string_view estimates_style = R"(
:root { --answer: #0072b2; --pale: #9cc7e2; --whisker: #24323c; --exact: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --answer: #56b4e9; --pale: #2b5d7d; --whisker: #dfe7ec; --exact: #ff9a4d; } }
svg.drawn { display: block; width: 100%; overflow: visible; }
svg.drawn .grid { stroke: var(--rule); }
svg.drawn .bar { fill: var(--pale); }
svg.drawn .whisker { stroke: var(--whisker); stroke-width: 1.5; }
svg.drawn .dot { fill: var(--answer); }
svg.drawn .exact { fill: var(--paper); stroke: var(--exact); stroke-width: 2; }
svg.drawn text { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.big { margin: .5rem 0; font-size: 2.4rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.big small { color: var(--soft); font-size: 1.25rem; white-space: nowrap; }
.legend { max-width: none; font-size: .95rem; }
.legend svg { display: inline-block; vertical-align: middle; margin-right: .3rem; width: 34px; }
.legend span { display: inline-block; margin-right: 1.4rem; }
table.estimates { width: 100%; margin: .5rem 0 0; }
table.estimates th, table.estimates td { padding: 0 .9rem 0 0; border: 0; vertical-align: middle; font-size: .95rem; }
table.estimates td:not(.picture), table.estimates thead th { white-space: nowrap; text-align: right; }
table.estimates thead th { font-size: .85rem; vertical-align: bottom; }
table.estimates thead th.picture, table.estimates td.picture { width: 55%; padding: 0 1.6rem 0 .6rem; }
table.estimates tbody th { max-width: 18rem; overflow-wrap: break-word; line-height: 1.25; }
table.estimates tbody th.short { white-space: nowrap; }
table.estimates tbody th.part { padding-top: .7rem; font-weight: 600; text-align: left; }
table.estimates td:not(.picture):last-child, table.estimates thead th:last-child { padding-right: 0; }
.histogram { padding: 1rem 1rem 0 3.5rem; }
@media (max-width: 44rem) {
  table.estimates, table.estimates tbody { display: block; }
  table.estimates thead { display: none; }
  table.estimates tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .8rem; padding-top: .35rem; }
  table.estimates tbody th { flex: 1 1 40%; max-width: none; }
  table.estimates td.picture { order: 9; flex: 0 0 100%; box-sizing: border-box; width: auto; padding: 0 1.8rem 0 .4rem; }
  table.estimates td[data-of]::before { content: attr(data-of) " "; color: var(--soft); }
  .histogram { padding-left: 2.6rem; }
}
)";

namespace {

std::string percent(double place) { return coordinate(std::clamp(100 * place, -1.0, 101.0)) + "%"; }
std::string number(double x) { return coordinate(x); }

std::string line(const std::string& kind, const std::string& x1, double y1, const std::string& x2, double y2, const std::string& more = "") {
  return "<line class=\"" + kind + "\" x1=\"" + x1 + "\" y1=\"" + number(y1) + "\" x2=\"" + x2 + "\" y2=\"" + number(y2) + "\"" + more + "/>";
}

std::string circle(const std::string& kind, const std::string& x, double y, double radius) {
  return "<circle class=\"" + kind + "\" cx=\"" + x + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) + "\"/>";
}

std::string picture(double height, const std::string& content, const std::string& says) {
  return "<svg class=\"drawn\" height=\"" + number(height) + "\"" + (says.empty() ? " aria-hidden=\"true\"" : " role=\"img\"") + ">" +
         (says.empty() ? "" : "<title>" + escaped(says) + "</title>") + content + "</svg>";
}

// What is drawn of one estimate, and under which name.
struct Row {
  std::string part;  // rows of one part stand below one heading
  std::string name;
  const Estimate* estimate;
  const Estimate* plain;  // without noise, and as the data have it; both or none
  const Estimate* truth;
};

std::string quantile_name(double q) { return q == 0.5 ? "median" : shortest(100 * q) + " % are below"; }

std::vector<Row> rows_of(const QueryAnswer& answer, const Beside& beside) {
  std::vector<Row> rows;
  const bool several = std::any_of(answer.estimates.begin(), answer.estimates.end(),
                                   [&](const Estimate& e) { return e.quantile != answer.estimates.front().quantile; });
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const Estimate& e = answer.estimates[i];
    const bool inner = e.from || (e.quantile && several);  // then the keys name the part
    std::string part;
    std::string name;
    for (std::size_t k = 0; k < e.keys.size(); ++k) {
      const bool in_part = inner || (k == 0 && e.keys.size() > 1);
      std::string& place = in_part ? part : name;
      place += (place.empty() ? "" : ", ") + (in_part && k < answer.by.size() ? answer.by[k] + " " : "") + e.keys[k];
    }
    if (e.quantile && name.empty()) name = quantile_name(*e.quantile);
    if (e.from) name = bin_name(answer, i);
    const bool has_both = beside.without_noise != nullptr && i < beside.without_noise->estimates.size() && i < beside.in_the_data->estimates.size();
    rows.push_back(
        {part, name, &e, has_both ? &beside.without_noise->estimates[i] : nullptr, has_both ? &beside.in_the_data->estimates[i] : nullptr});
  }
  return rows;
}

bool stands_on_zero(Ask ask) { return ask == Ask::count || ask == Ask::distinct || ask == Ask::sum || ask == Ask::histogram; }

Axis axis_of(const std::vector<Row>& rows, bool with_zero) {
  Extent extent;
  for (const Row& row : rows) {
    // an answer outside its interval must not stretch the axis to where nothing can be
    const Estimate& e = *row.estimate;
    for (const double x : {e.low <= e.high ? std::clamp(e.value, e.low, e.high) : e.value, e.low, e.high}) extent.include(x);
    if (row.truth != nullptr) extent.include(row.truth->value);
  }
  if (with_zero || (!extent.empty() && extent.low > 0 && extent.low < 0.4 * extent.high)) extent.include(0);
  return axis_for(extent, std::nullopt);
}

std::string amount(const Estimate& e) { return in_thousands(shown(e.value, e.high - e.low)); }
std::string interval(const Estimate& e) {
  const double width = e.high - e.low;
  return in_thousands(shown(e.low, width)) + " to " + in_thousands(shown(e.high, width));
}
// A number beside an estimate, with as many digits.
std::string beside_amount(const Estimate& other, const Row& row) {
  return in_thousands(shown_if_any(other.value, row.estimate->high - row.estimate->low));
}

// "± 12", where the interval lies evenly about the value.
std::string margin(const Estimate& e) {
  const double width = e.high - e.low;
  const double uneven = std::abs((e.high - e.value) - (e.value - e.low));
  if (!(uneven <= 0.02 * width)) return "";
  return "± " + in_thousands(shown(std::max(e.high - e.value, e.value - e.low), width));
}

std::string row_picture(const Row& row, const Axis& axis, bool bars) {
  constexpr double height = 26;
  constexpr double middle = height / 2;
  const Estimate& e = *row.estimate;
  const auto place = [&](double x) { return percent(axis.place(x)); };
  std::string content;
  for (const Tick& tick : axis.ticks) content += line("grid", percent(tick.place), 0, percent(tick.place), height);
  if (bars && drawable(e.value, Scale::linear)) {
    const double from = std::clamp(axis.place(std::min(0.0, e.value)), 0.0, 1.0);
    const double to = std::clamp(axis.place(std::max(0.0, e.value)), 0.0, 1.0);
    content += "<rect class=\"bar\" x=\"" + percent(from) + "\" y=\"6\" width=\"" + percent(to - from) + "\" height=\"14\"/>";
  }
  if (row.truth != nullptr && drawable(row.truth->value, Scale::linear)) content += circle("exact", place(row.truth->value), middle, 5);
  if (drawable(e.value, Scale::linear)) content += circle("dot", place(e.value), middle, 3);
  content += line("whisker", place(e.low), middle, place(e.high), middle);
  for (const double end : {e.low, e.high}) {
    if (drawable(end, Scale::linear)) content += line("whisker", place(end), middle - 7, place(end), middle + 7);
  }
  return picture(height, content, row.name + ": " + amount(e) + ", from " + interval(e));
}

// Every so many labels stay that they fit side by side into a picture on a telephone.
std::size_t label_stride(const std::vector<std::string>& labels) {
  constexpr double room = 300;
  constexpr double gap = 10;
  double all = 0;
  for (const std::string& label : labels) all += text_width(label, 12) + gap;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(all / room)));
}

std::string axis_picture(const Axis& axis) {
  std::vector<std::string> labels;
  std::size_t zero = 0;
  for (const Tick& tick : axis.ticks) {
    if (tick.label == "0") zero = labels.size();
    labels.push_back(in_thousands(tick.label));
  }
  const std::size_t stride = label_stride(labels);
  std::string content;
  for (std::size_t i = zero % stride; i < labels.size(); i += stride) {
    content += "<text x=\"" + percent(axis.ticks[i].place) + "\" y=\"14\" text-anchor=\"middle\">" + escaped(labels[i]) + "</text>";
  }
  return picture(18, content, "");
}

std::string number_cells(const Row& row) {
  std::string cells = "<td>" + escaped(amount(*row.estimate)) + "</td><td>" + escaped(interval(*row.estimate)) + "</td>";
  if (row.truth != nullptr) {
    cells += "<td data-of=\"without noise\">" + escaped(beside_amount(*row.plain, row)) + "</td><td data-of=\"in the data\">" +
             escaped(beside_amount(*row.truth, row)) + "</td><td data-of=\"error\">" +
             escaped(error_in_percent(row.estimate->value, row.truth->value, row.estimate->high - row.estimate->low)) + "</td>";
  }
  return cells;
}

std::string number_headings(double confidence, bool with_truth) {
  return heading("answer") + heading(shortest(100 * confidence) + " % interval") +
         (with_truth ? heading("without noise") + heading("in the data") + heading("error") : "");
}

std::string as_rows(const QueryAnswer& answer, const std::vector<Row>& rows, double confidence, bool with_truth) {
  const bool bars = stands_on_zero(answer.ask);
  const Axis axis = axis_of(rows, bars);
  std::string body;
  std::string part;
  for (const Row& row : rows) {
    if (row.part != part) body += "<tr><th class=\"part\" colspan=\"7\">" + escaped(row.part) + "</th></tr>\n";
    part = row.part;
    body += "<tr><th scope=\"row\"" + std::string(text_width(row.name, 15) < 200 ? " class=\"short\"" : "") + ">" + escaped(row.name) +
            "</th><td class=\"picture\">" + row_picture(row, axis, bars) + "</td>" + number_cells(row) + "</tr>\n";
  }
  body += "<tr aria-hidden=\"true\"><th></th><td class=\"picture\">" + axis_picture(axis) + "</td></tr>\n";
  return "<table class=\"estimates\">\n<thead><tr><th></th><th class=\"picture\"></th>" + number_headings(confidence, with_truth) +
         "</tr></thead>\n<tbody>\n" + body + "</tbody>\n</table>\n";
}

std::string as_number(const Row& row, double confidence) {
  const Estimate& e = *row.estimate;
  std::string text = "<p class=\"big\">" + escaped(amount(e)) + " <small>" + escaped(margin(e)) + "</small></p>\n<p>";
  text += "With a confidence of " + shortest(100 * confidence) + " % from " + escaped(interval(e)) + ".";
  if (row.truth != nullptr) {
    text += " Without noise: " + escaped(beside_amount(*row.plain, row)) + ". In the data: " + escaped(beside_amount(*row.truth, row)) +
            ", an error of " + escaped(error_in_percent(e.value, row.truth->value, e.high - e.low)) + ".";
  }
  return text + "</p>\n";
}

// Bars side by side, each from its bin's start to its end, on the scale of `axis`.
std::string histogram(const std::vector<Row>& rows, const Axis& axis) {
  constexpr double height = 210;
  const double wide = 1 / static_cast<double>(rows.size());
  const auto y = [&](double x) { return height * (1 - std::clamp(axis.place(x), 0.0, 1.0)); };
  std::string content;
  for (const Tick& tick : axis.ticks) {
    const double at = height * (1 - tick.place);
    content += line("grid", "0%", at, "100%", at) + "<text x=\"0\" dx=\"-8\" y=\"" + number(at + 4) + "\" text-anchor=\"end\">" +
               escaped(in_thousands(tick.label)) + "</text>";
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Estimate& e = *rows[i].estimate;
    const double left = static_cast<double>(i) * wide;
    const std::string centre = percent(left + wide / 2);
    const double top = std::min(y(0), y(e.value));
    content += "<rect class=\"bar\" x=\"" + percent(left + 0.05 * wide) + "\" y=\"" + number(top) + "\" width=\"" + percent(0.9 * wide) +
               "\" height=\"" + number(std::max(y(0), y(e.value)) - top) + "\"><title>" + escaped(rows[i].name + ": " + amount(e)) +
               "</title></rect>";
    if (rows[i].truth != nullptr) content += circle("exact", centre, y(rows[i].truth->value), 5);
    content += circle("dot", centre, y(e.value), 3);
    content += line("whisker", centre, y(e.low), centre, y(e.high));
    for (const double end : {e.low, e.high}) {  // a cap is a short line of great width, since its ends cannot be given in pixels
      content += line("whisker", centre, y(end) - 0.7, centre, y(end) + 0.7, " style=\"stroke-width:12px\"");
    }
  }
  // where one bin ends and the next begins; the outer ends are none, since the first and last bin hold all that lies beyond
  std::vector<std::string> edges;
  for (std::size_t i = 1; i < rows.size(); ++i) edges.push_back(readable(*rows[i].estimate->from));
  const std::size_t stride = std::max((edges.size() + 7) / 8, label_stride(edges));
  for (std::size_t i = 1; i <= edges.size(); i += stride) {
    content += "<text x=\"" + percent(static_cast<double>(i) * wide) + "\" y=\"" + number(height + 17) + "\" text-anchor=\"middle\">" +
               escaped(edges[i - 1]) + "</text>";
  }
  return "<div class=\"histogram\">" + picture(height + 22, content, "A histogram; its numbers are in the table below.") + "</div>\n";
}

std::string as_histograms(const std::vector<Row>& rows, double confidence, bool with_truth) {
  const Axis axis = axis_of(rows, true);
  std::string text;
  std::string listed;
  for (std::size_t start = 0; start < rows.size();) {
    std::size_t end = start;
    while (end < rows.size() && rows[end].part == rows[start].part) ++end;
    if (!rows[start].part.empty()) {
      text += "<h4>" + escaped(rows[start].part) + "</h4>\n";
      listed += "<tr><th class=\"part\" colspan=\"7\">" + escaped(rows[start].part) + "</th></tr>\n";
    }
    text += histogram({rows.begin() + static_cast<std::ptrdiff_t>(start), rows.begin() + static_cast<std::ptrdiff_t>(end)}, axis);
    for (; start < end; ++start) listed += "<tr><th scope=\"row\">" + escaped(rows[start].name) + "</th>" + number_cells(rows[start]) + "</tr>\n";
  }
  return text + "<details>\n<summary>The numbers</summary>\n" + table("<th></th>" + number_headings(confidence, with_truth), listed) + "</details>\n";
}

}  // namespace

std::string drawn_estimates(const QueryAnswer& answer, const Beside& beside, double confidence) {
  const std::vector<Row> rows = rows_of(answer, beside);
  const bool with_truth = beside.without_noise != nullptr;
  if (rows.empty()) return "<p>No key had enough units to be shown.</p>\n";
  if (answer.ask == Ask::histogram) return as_histograms(rows, confidence, with_truth);
  if (rows.size() == 1 && rows.front().name.empty()) return as_number(rows.front(), confidence);
  return as_rows(answer, rows, confidence, with_truth);
}

std::string legend(double confidence, bool with_truth) {
  const auto sample = [](const std::string& content) { return "<svg class=\"drawn\" height=\"16\" aria-hidden=\"true\">" + content + "</svg>"; };
  const std::string caps = line("whisker", "3%", 3, "3%", 13) + line("whisker", "97%", 3, "97%", 13);
  return "<p class=\"legend\"><span>" + sample(circle("dot", "50%", 8, 4)) + "the answer, with noise</span> <span>" +
         sample(line("whisker", "3%", 8, "97%", 8) + caps) + "where the number without noise lies, with a confidence of " +
         shortest(100 * confidence) + " %</span>" +
         (with_truth ? " <span>" + sample(circle("exact", "50%", 8, 4.5)) + "the number in the data, of which nothing is cut</span>" : "") + "</p>\n";
}

}  // namespace sotto::report_detail
