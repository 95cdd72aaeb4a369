#include "sotto/report/page.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include "picture.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "text.hpp"

namespace sotto {
namespace {

using detail::escaped;

constexpr std::size_t most_rows = 40;  // a series

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --paper: #f7f7f5; --ink: #222; --soft: #5c5c5c; --rule: #d9d9d4; --link: #00609c; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e4e4e0; --soft: #a5a5a0; --rule: #3a3d43; --link: #7cc4f2; }
}
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 0 0 .35rem; font-size: 1.25rem; line-height: 1.3; }
p { margin: 0 0 1rem; max-width: 44rem; }
a { color: var(--link); }
nav { margin: 1.5rem 0 0; padding: 1rem 0; border: solid var(--rule); border-width: 1px 0; }
nav ol { margin: 0; padding-left: 1.5rem; }
figure { margin: 3rem 0 0; scroll-margin-top: 1rem; }
figcaption { margin: 0 0 .75rem; }
figcaption p { margin: 0; }
figure svg { display: block; width: 100%; max-width: 100%; height: auto; border-radius: 6px; box-shadow: 0 0 0 1px var(--rule); }
details, .source { margin: .75rem 0 0; color: var(--soft); font-size: .9rem; }
summary { cursor: pointer; }
.table { overflow-x: auto; }
table { margin: .5rem 0; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem 1.25rem .15rem 0; border-bottom: 1px solid var(--rule); text-align: left; font-weight: 400; vertical-align: bottom; }
thead th { color: var(--ink); font-weight: 600; }
@media print { figure { break-inside: avoid; } }
)";

// Six digits for the eye; the exact numbers are in the csv.
std::string short_number(double x) {
  if (x != x || x - x != 0) return shortest(x);
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::general, 6).ptr;
  return {buffer.data(), end};
}

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }
std::string heading(const std::string& text) { return "<th scope=\"col\">" + escaped(text) + "</th>"; }

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
  return "<div class=\"table\"><table>\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + rows + "</tbody>\n</table></div>\n";
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
         detail::picture(chart, detail::Heading::beside) + data(chart) + "</figure>\n";
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
  std::string result =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
      escaped(title) + "</title>\n<style>" + std::string(style) + "</style>\n</head>\n<body>\n<main>\n<h1>" + escaped(title) + "</h1>\n" +
      paragraphs(introduction) + contents(charts);
  for (const Chart& chart : charts) result += figure(chart);
  return result + "</main>\n</body>\n</html>\n";
}

}  // namespace sotto
