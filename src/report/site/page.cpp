#include "report/api/page.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include "report/html/document.hpp"
#include "report/charts/picture.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "report/api/text.hpp"

namespace sotto {
namespace {

using report_detail::cell;
using report_detail::escaped;
using report_detail::heading;

constexpr std::size_t most_rows = 40;  // a series

// Six digits for the eye; the exact numbers are in the csv.
std::string short_number(double x) {
  if (x != x || x - x != 0) return shortest(x);
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::general, 6).ptr;
  return {buffer.data(), end};
}

bool share_x(const std::vector<Series>& series) {
  return std::all_of(series.begin(), series.end(),
                     [&](const Series& one) { return one.x == series.front().x && one.y.size() == series.front().y.size(); });
}

std::string table(const Chart& chart) {
  const std::string x_name = chart.x_label.empty() ? "x" : chart.x_label;
  const std::string y_name = chart.y_label.empty() ? "y" : chart.y_label;
  std::string head;
  std::string rows;
  if (share_x(chart.series)) {
    head = heading(x_name);
    for (const Series& series : chart.series) head += heading(series.name.empty() ? y_name : series.name);
    for (std::size_t i = 0; i < chart.series.front().y.size(); ++i) {
      rows += "<tr>" + cell(short_number(chart.series.front().x[i]));
      for (const Series& series : chart.series) rows += cell(short_number(series.y[i]));
      rows += "</tr>\n";
    }
  } else {
    head = heading("series") + heading(x_name) + heading(y_name);
    for (const Series& series : chart.series) {
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        rows += "<tr>" + cell(series.name) + cell(short_number(series.x[i])) + cell(short_number(series.y[i])) + "</tr>\n";
      }
    }
  }
  return report_detail::table(head, rows);
}

std::string data(const Chart& chart) {
  if (chart.series.empty()) return "";
  const auto short_enough = [](const Series& series) { return series.y.size() <= most_rows; };
  if (!std::all_of(chart.series.begin(), chart.series.end(), short_enough)) return "<p class=\"source\">data in " + chart.id + ".csv</p>\n";
  return "<details>\n<summary>Data</summary>\n" + table(chart) + "<p>Six digits shown; exact data in " + chart.id + ".csv.</p>\n</details>\n";
}

std::string figure(const Chart& chart) {
  return "<figure id=\"" + chart.id + "\">\n<figcaption>\n<h2>" + escaped(chart.title) + "</h2>\n" +
         (chart.caption.empty() ? "" : "<p>" + escaped(chart.caption) + "</p>\n") + "</figcaption>\n" +
         report_detail::picture(chart, report_detail::Heading::beside) + data(chart) + "</figure>\n";
}

std::string paragraphs(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view paragraph = text.substr(0, end);
    if (paragraph.find_first_not_of(" \t\r\n") != std::string_view::npos) result += "<p>" + escaped(paragraph) + "</p>\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return result;
}

std::string contents(const std::vector<Chart>& charts) {
  if (charts.empty()) return "";
  std::string result = "<nav aria-label=\"Contents\">\n<ol>\n";
  for (const Chart& chart : charts) result += "<li><a href=\"#" + chart.id + "\">" + escaped(chart.title) + "</a></li>\n";
  return result + "</ol>\n</nav>\n";
}

}  // namespace

std::string page(const std::string& title, const std::string& introduction, const std::vector<Chart>& charts) {
  std::set<std::string> ids;
  for (const Chart& chart : charts) {
    require_consistent(chart);
    if (!ids.insert(chart.id).second) throw InvalidValue("two charts of the page have the id '" + chart.id + "': each needs its own");
  }
  std::string body = "<h1>" + escaped(title) + "</h1>\n" + paragraphs(introduction) + contents(charts);
  for (const Chart& chart : charts) body += figure(chart);
  return report_detail::document(title, "", body);
}

}  // namespace sotto
