// A page of charts: headings, contents, then a figure for each chart with its data as a table.
#include "report/api/page.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include "report/charts/picture.hpp"
#include "report/html/document.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using report_detail::cell;
using report_detail::heading;
using report_detail::Markup;
using report_detail::paragraph;
using report_detail::table_row;
using report_detail::tag;

constexpr std::size_t most_rows = 40;  // per series

// Six digits are enough to read; the exact numbers are in the CSV file.
std::string short_number(double x) {
  if (x != x || x - x != 0) return shortest(x);
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::general, 6)
          .ptr;
  return {buffer.data(), end};
}

bool share_x(const std::vector<Series>& series) {
  return std::all_of(series.begin(), series.end(), [&](const Series& one) {
    return one.x == series.front().x && one.y.size() == series.front().y.size();
  });
}

// One row for each x if all series share their x, else one row for each point.
Markup table(const Chart& chart) {
  const std::string x_name = chart.x_label.empty() ? "x" : chart.x_label;
  const std::string y_name = chart.y_label.empty() ? "y" : chart.y_label;
  Markup head;
  Markup rows;
  if (share_x(chart.series)) {
    head = heading(x_name);
    for (const Series& series : chart.series)
      head += heading(series.name.empty() ? y_name : series.name);
    for (std::size_t i = 0; i < chart.series.front().y.size(); ++i) {
      Markup cells = cell(short_number(chart.series.front().x[i]));
      for (const Series& series : chart.series) cells += cell(short_number(series.y[i]));
      rows += table_row(cells);
    }
  } else {
    head = heading("series") + heading(x_name) + heading(y_name);
    for (const Series& series : chart.series) {
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        rows += table_row(cell(series.name) + cell(short_number(series.x[i])) +
                          cell(short_number(series.y[i])));
      }
    }
  }
  return report_detail::table(head, rows);
}

Markup data(const Chart& chart) {
  if (chart.series.empty()) return {};
  const auto is_short = [](const Series& series) { return series.y.size() <= most_rows; };
  if (!std::all_of(chart.series.begin(), chart.series.end(), is_short))
    return paragraph("source", "data in " + chart.id + ".csv");
  return tag("details", "\n" + tag("summary", "Data") + "\n" + table(chart) +
                            paragraph("Six digits shown; exact data in " + chart.id + ".csv.")) +
         "\n";
}

Markup figure(const Chart& chart) {
  Markup caption = tag("h2", chart.title) + "\n";
  if (!chart.caption.empty()) caption += paragraph(chart.caption);
  return tag("figure", {{"id", chart.id}},
             "\n" + tag("figcaption", "\n" + caption) + "\n" +
                 report_detail::picture(chart, report_detail::Heading::beside) + data(chart)) +
         "\n";
}

Markup paragraphs(std::string_view text) {
  Markup result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.find_first_not_of(" \t\r\n") != std::string_view::npos) result += paragraph(part);
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return result;
}

Markup contents(const std::vector<Chart>& charts) {
  if (charts.empty()) return {};
  Markup items;
  for (const Chart& chart : charts)
    items += report_detail::item(tag("a", {{"href", "#" + chart.id}}, chart.title));
  return tag("nav", {{"aria-label", "Contents"}}, "\n" + tag("ol", "\n" + items) + "\n") + "\n";
}

}  // namespace

std::string page(const std::string& title, const std::string& introduction,
                 const std::vector<Chart>& charts) {
  std::set<std::string> ids;
  for (const Chart& chart : charts) {
    require_consistent(chart);
    if (!ids.insert(chart.id).second)
      throw InvalidValue("two charts of the page have the id '" + chart.id +
                         "': give each chart a different id");
  }
  Markup body = tag("h1", title) + "\n" + paragraphs(introduction) + contents(charts);
  for (const Chart& chart : charts) body += figure(chart);
  return report_detail::document(title, {}, body);
}

}  // namespace sotto
