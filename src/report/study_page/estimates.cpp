// Every picture is inline SVG with positions in percent; the numbers stand beside it as text.
#include "report/study_page/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "report/api/text.hpp"
#include "report/charts/axis.hpp"
#include "report/html/document.hpp"
#include "report/study_page/estimate_text.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto::report_detail {

// Positions are in percent and sizes in pixels: a picture fits any width, and its text keeps the
// size of the page's text.
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

Markup line(const char* kind, const std::string& x1, double y1, const std::string& x2, double y2,
            std::optional<Markup> style = std::nullopt) {
  return empty_tag("line", {{"class", kind},
                            {"x1", x1},
                            {"y1", number(y1)},
                            {"x2", x2},
                            {"y2", number(y2)},
                            {"style", std::move(style)}});
}

Markup circle(const char* kind, const std::string& x, double y, double radius) {
  return empty_tag("circle",
                   {{"class", kind}, {"cx", x}, {"cy", number(y)}, {"r", number(radius)}});
}

// A label below or beside an axis. `shift` moves it by pixels, since `x` is in percent.
Markup label(const std::string& x, std::optional<Markup> shift, double y, const char* anchor,
             const std::string& text) {
  return tag("text",
             {{"x", x}, {"dx", std::move(shift)}, {"y", number(y)}, {"text-anchor", anchor}}, text);
}

// A picture with a title that screen readers speak; without a title they skip it.
Markup picture(double height, const Markup& content, const std::string& title) {
  const bool hidden = title.empty();
  return tag("svg",
             {{"class", "drawn"},
              {"height", number(height)},
              {"aria-hidden", hidden ? std::optional<Markup>("true") : std::nullopt},
              {"role", hidden ? std::nullopt : std::optional<Markup>("img")}},
             (hidden ? Markup() : tag("title", title)) + content);
}

// One estimate as it is drawn.
struct Row {
  std::string part;  // the heading that consecutive rows of the same part share
  std::string name;
  const Estimate* estimate;
  const Estimate* without_noise;  // null together with `truth`, unless the data are public
  const Estimate* truth;          // in the data
};

std::string quantile_name(double q) {
  return q == 0.5 ? "median" : shortest(100 * q) + " % are below";
}

// Sets the name of a row and of its part from the keys of the estimate. `inner`: bins or quantiles
// name the rows, so all keys name the part; otherwise only the first of several keys does.
void name_by_keys(const QueryAnswer& answer, const Estimate& e, bool inner, Row& row) {
  for (std::size_t k = 0; k < e.keys.size(); ++k) {
    const bool in_part = inner || (k == 0 && e.keys.size() > 1);
    std::string& place = in_part ? row.part : row.name;
    const std::string column = in_part && k < answer.by.size() ? answer.by[k] + " " : "";
    place += (place.empty() ? "" : ", ") + column + e.keys[k];
  }
}

std::vector<Row> rows_of(const QueryAnswer& answer, const PublicEstimates& public_estimates) {
  const bool several = std::any_of(
      answer.estimates.begin(), answer.estimates.end(),
      [&](const Estimate& e) { return e.quantile != answer.estimates.front().quantile; });
  const auto at = [](const QueryAnswer* other, std::size_t i) {
    return other != nullptr && i < other->estimates.size() ? &other->estimates[i] : nullptr;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
    const Estimate& e = answer.estimates[i];
    Row row{{}, {}, &e, at(public_estimates.without_noise, i), at(public_estimates.in_the_data, i)};
    if (row.without_noise == nullptr || row.truth == nullptr)
      row.without_noise = row.truth = nullptr;
    name_by_keys(answer, e, e.from || (e.quantile && several), row);
    if (e.quantile && row.name.empty()) row.name = quantile_name(*e.quantile);
    if (e.from) row.name = bin_name(answer, i);
    rows.push_back(std::move(row));
  }
  return rows;
}

// Counts and sums are drawn as bars, which begin at zero.
bool is_drawn_as_bars(Aggregation ask) {
  return ask == Aggregation::count || ask == Aggregation::distinct || ask == Aggregation::sum ||
         ask == Aggregation::histogram;
}

Axis axis_of(const std::vector<Row>& rows, bool with_zero) {
  Extent extent;
  for (const Row& row : rows) {
    // An answer outside its interval is an impossible value, so it does not widen the axis.
    const Estimate& e = *row.estimate;
    for (const double x :
         {e.low <= e.high ? std::clamp(e.value, e.low, e.high) : e.value, e.low, e.high})
      extent.include(x);
    if (row.truth != nullptr) extent.include(row.truth->value);
  }
  if (with_zero || (!extent.empty() && extent.low > 0 && extent.low < 0.4 * extent.high))
    extent.include(0);
  return axis_for(extent, std::nullopt);
}

std::string amount(const Estimate& e) {
  return in_thousands(with_interval_digits(e.value, e.high - e.low));
}

std::string interval(const Estimate& e) {
  const double width = e.high - e.low;
  return in_thousands(with_interval_digits(e.low, width)) + " to " +
         in_thousands(with_interval_digits(e.high, width));
}

// A number that is shown beside the row's estimate, with as many digits as the estimate.
std::string amount_like(const Row& row, const Estimate& other) {
  return in_thousands(
      with_interval_digits_or_dash(other.value, row.estimate->high - row.estimate->low));
}

std::string error_of(const Row& row) {
  const Estimate& e = *row.estimate;
  return error_in_percent(e.value, row.truth->value, e.high - e.low);
}

// Returns "± 12" if the interval is symmetric about the value to 2 % of its width, else an empty
// text.
std::string margin(const Estimate& e) {
  const double width = e.high - e.low;
  const double uneven = std::abs((e.high - e.value) - (e.value - e.low));
  if (!(uneven <= 0.02 * width)) return "";
  return "± " +
         in_thousands(with_interval_digits(std::max(e.high - e.value, e.value - e.low), width));
}

Markup row_picture(const Row& row, const Axis& axis, bool bars) {
  constexpr double height = 26;
  constexpr double middle = height / 2;
  const Estimate& e = *row.estimate;
  const auto place = [&](double x) { return percent(axis.place(x)); };
  Markup content;
  for (const Tick& tick : axis.ticks)
    content += line("grid", percent(tick.place), 0, percent(tick.place), height);
  if (bars && drawable(e.value, Scale::linear)) {
    const double from = std::clamp(axis.place(std::min(0.0, e.value)), 0.0, 1.0);
    const double to = std::clamp(axis.place(std::max(0.0, e.value)), 0.0, 1.0);
    content += empty_tag("rect", {{"class", "bar"},
                                  {"x", percent(from)},
                                  {"y", "6"},
                                  {"width", percent(to - from)},
                                  {"height", "14"}});
  }
  if (row.truth != nullptr && drawable(row.truth->value, Scale::linear))
    content += circle("exact", place(row.truth->value), middle, 5);
  if (drawable(e.value, Scale::linear)) content += circle("dot", place(e.value), middle, 3);
  content += line("whisker", place(e.low), middle, place(e.high), middle);
  for (const double end : {e.low, e.high}) {
    if (drawable(end, Scale::linear))
      content += line("whisker", place(end), middle - 7, place(end), middle + 7);
  }
  return picture(height, content, row.name + ": " + amount(e) + ", from " + interval(e));
}

// Returns k such that every k-th label fits beside its neighbours in a picture on a telephone.
std::size_t label_stride(const std::vector<std::string>& labels) {
  constexpr double room = 300;
  constexpr double gap = 10;
  double all = 0;
  for (const std::string& label : labels) all += text_width(label, 12) + gap;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(all / room)));
}

// The labels of the axis, thinned out so that 0 keeps its label.
Markup axis_picture(const Axis& axis) {
  std::vector<std::string> labels;
  std::size_t zero = 0;
  for (const Tick& tick : axis.ticks) {
    if (tick.label == "0") zero = labels.size();
    labels.push_back(in_thousands(tick.label));
  }
  const std::size_t stride = label_stride(labels);
  Markup content;
  for (std::size_t i = zero % stride; i < labels.size(); i += stride) {
    content += label(percent(axis.ticks[i].place), std::nullopt, 14, "middle", labels[i]);
  }
  return picture(18, content, "");
}

Markup number_cells(const Row& row) {
  Markup cells = cell(amount(*row.estimate)) + cell(interval(*row.estimate));
  if (row.truth == nullptr) return cells;
  const auto labelled = [](const char* label, const std::string& text) {
    return tag("td", {{"data-of", label}}, text);
  };
  return cells + labelled("without noise", amount_like(row, *row.without_noise)) +
         labelled("in the data", amount_like(row, *row.truth)) + labelled("error", error_of(row));
}

Markup number_headings(double confidence, bool with_truth) {
  const Markup headings = heading("answer") + heading(shortest(100 * confidence) + " % interval");
  return with_truth
             ? headings + heading("without noise") + heading("in the data") + heading("error")
             : headings;
}

Markup part_row(const std::string& part) {
  return table_row(tag("th", {{"class", "part"}, {"colspan", "7"}}, part));
}

Markup as_rows(const QueryAnswer& answer, const std::vector<Row>& rows, double confidence,
               bool with_truth) {
  const bool bars = is_drawn_as_bars(answer.ask);
  const Axis axis = axis_of(rows, bars);
  Markup body;
  std::string part;
  for (const Row& row : rows) {
    if (row.part != part) body += part_row(row.part);
    part = row.part;
    const bool is_short = text_width(row.name, 15) < 200;
    const Attributes name{{"scope", "row"},
                          {"class", is_short ? std::optional<Markup>("short") : std::nullopt}};
    body += table_row(tag("th", name, row.name) +
                      tag("td", {{"class", "picture"}}, row_picture(row, axis, bars)) +
                      number_cells(row));
  }
  body += tag("tr", {{"aria-hidden", "true"}},
              tag("th", "") + tag("td", {{"class", "picture"}}, axis_picture(axis))) +
          "\n";

  const Markup headings = tag("th", "") + tag("th", {{"class", "picture"}}, "") +
                          number_headings(confidence, with_truth);
  return tag("table", {{"class", "estimates"}},
             "\n" + tag("thead", tag("tr", headings)) + "\n" + tag("tbody", "\n" + body) + "\n") +
         "\n";
}

Markup as_number(const Row& row, double confidence) {
  const Estimate& e = *row.estimate;
  std::string text =
      "With a confidence of " + shortest(100 * confidence) + " % from " + interval(e) + ".";
  if (row.truth != nullptr) {
    text += " Without noise: " + amount_like(row, *row.without_noise) +
            ". In the data: " + amount_like(row, *row.truth) + ", an error of " + error_of(row) +
            ".";
  }
  return paragraph("big", amount(e) + " " + tag("small", margin(e))) + paragraph(text);
}

// The bar of a bin with its interval. `left` and `wide` are shares of the picture's width, and `y`
// maps a value to pixels from the top.
template <class Y>
Markup histogram_bar(const Row& row, double left, double wide, const Y& y) {
  const Estimate& e = *row.estimate;
  const std::string centre = percent(left + wide / 2);
  const double top = std::min(y(0), y(e.value));
  Markup bar = tag("rect",
                   {{"class", "bar"},
                    {"x", percent(left + 0.05 * wide)},
                    {"y", number(top)},
                    {"width", percent(0.9 * wide)},
                    {"height", number(std::max(y(0), y(e.value)) - top)}},
                   tag("title", row.name + ": " + amount(e)));
  if (row.truth != nullptr) bar += circle("exact", centre, y(row.truth->value), 5);
  bar +=
      circle("dot", centre, y(e.value), 3) + line("whisker", centre, y(e.low), centre, y(e.high));
  // A cap is a short line with a wide stroke, because a line's ends can be given in percent but not
  // in pixels.
  for (const double end : {e.low, e.high}) {
    bar += line("whisker", centre, y(end) - 0.7, centre, y(end) + 0.7, "stroke-width:12px");
  }
  return bar;
}

// Bars side by side, each from the start to the end of its bin, on the scale of `axis`.
Markup histogram(const std::vector<Row>& rows, const Axis& axis) {
  constexpr double height = 210;
  const double wide = 1 / static_cast<double>(rows.size());
  const auto y = [&](double x) { return height * (1 - std::clamp(axis.place(x), 0.0, 1.0)); };
  Markup content;
  for (const Tick& tick : axis.ticks) {
    const double at = height * (1 - tick.place);
    content += line("grid", "0%", at, "100%", at) +
               label("0", "-8", at + 4, "end", in_thousands(tick.label));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    content += histogram_bar(rows[i], static_cast<double>(i) * wide, wide, y);
  }

  // Labels stand at the edges between bins. The two outer edges have none, since the first and the
  // last bin also count the values beyond.
  std::vector<std::string> edges;
  for (std::size_t i = 1; i < rows.size(); ++i) edges.push_back(readable(*rows[i].estimate->from));
  const std::size_t stride = std::max((edges.size() + 7) / 8, label_stride(edges));
  for (std::size_t i = 1; i <= edges.size(); i += stride) {
    content += label(percent(static_cast<double>(i) * wide), std::nullopt, height + 17, "middle",
                     edges[i - 1]);
  }
  return tag("div", {{"class", "histogram"}},
             picture(height + 22, content, "A histogram; its numbers are in the table below.")) +
         "\n";
}

Markup as_histograms(const std::vector<Row>& rows, double confidence, bool with_truth) {
  const Axis axis = axis_of(rows, true);
  Markup pictures;
  Markup numbers;
  for (std::size_t start = 0; start < rows.size();) {
    std::size_t end = start;
    while (end < rows.size() && rows[end].part == rows[start].part) ++end;
    if (!rows[start].part.empty()) {
      pictures += tag("h4", rows[start].part) + "\n";
      numbers += part_row(rows[start].part);
    }
    pictures += histogram({rows.begin() + static_cast<std::ptrdiff_t>(start),
                           rows.begin() + static_cast<std::ptrdiff_t>(end)},
                          axis);
    for (; start < end; ++start) {
      numbers +=
          table_row(tag("th", {{"scope", "row"}}, rows[start].name) + number_cells(rows[start]));
    }
  }
  const Markup headings = tag("th", "") + number_headings(confidence, with_truth);
  return pictures +
         tag("details", "\n" + tag("summary", "The numbers") + "\n" + table(headings, numbers)) +
         "\n";
}

}  // namespace

Markup drawn_estimates(const QueryAnswer& answer, const PublicEstimates& public_estimates,
                       double confidence) {
  const std::vector<Row> rows = rows_of(answer, public_estimates);
  const bool with_truth = public_estimates.without_noise != nullptr;
  if (rows.empty()) return paragraph("No key had enough units to be shown.");
  if (answer.ask == Aggregation::histogram) return as_histograms(rows, confidence, with_truth);
  if (rows.size() == 1 && rows.front().name.empty()) return as_number(rows.front(), confidence);
  return as_rows(answer, rows, confidence, with_truth);
}

Markup legend(double confidence, bool with_truth) {
  const auto entry = [](const Markup& sample, const std::string& meaning) {
    return tag("span",
               tag("svg", {{"class", "drawn"}, {"height", "16"}, {"aria-hidden", "true"}}, sample) +
                   meaning);
  };
  const Markup whisker = line("whisker", "3%", 8, "97%", 8) + line("whisker", "3%", 3, "3%", 13) +
                         line("whisker", "97%", 3, "97%", 13);
  Markup entries = entry(circle("dot", "50%", 8, 4), "the answer, with noise") + " " +
                   entry(whisker, "where the number without noise lies, with a confidence of " +
                                      shortest(100 * confidence) + " %");
  if (with_truth) {
    entries += " " + entry(circle("exact", "50%", 8, 4.5),
                           "the number in the data, of which nothing is cut");
  }
  return paragraph("legend", entries);
}

}  // namespace sotto::report_detail
