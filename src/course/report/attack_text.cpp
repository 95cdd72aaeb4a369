// Writes an attack's report as a table, CSV and JSON.
#include <algorithm>

#include "course/api/attacks.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "report/api/text.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

using report_detail::Json;

std::string cell(double x) { return rounded(x, 4, Side::upper); }

std::size_t rows_of(const AttackReport& report) {
  return report.columns.empty() ? 0 : report.columns.front().values.size();
}

std::string csv_of(const AttackReport& report) {
  std::vector<std::string> cells;
  for (const auto& column : report.columns) cells.push_back(column.name);
  std::string text = report_detail::csv_row(cells);
  for (std::size_t i = 0; i < rows_of(report); ++i) {
    cells.clear();
    for (const auto& column : report.columns)
      cells.push_back(report_detail::csv_number(column.values[i]));
    text += report_detail::csv_row(cells);
  }
  return text;
}

std::string json_of(const AttackReport& report) {
  Json json{{"schema", "sotto.attack/1"},
            {"attack", report.attack},
            {"settings", Json::object()},
            {"points", Json::array()}};
  for (const auto& [name, value] : report.settings)
    json["settings"][name] = report_detail::number(value);
  for (std::size_t i = 0; i < rows_of(report); ++i) {
    Json point = Json::object();
    for (const auto& column : report.columns)
      point[column.name] = report_detail::number(column.values[i]);
    json["points"].push_back(std::move(point));
  }
  json["learnt"] = report.learnt;
  json["stopped_by"] = report.stopped_by;
  return report_detail::line(json);
}

// Returns a label and a text that is broken into lines of about a hundred characters.
std::string paragraph(const std::string& label, const std::string& text) {
  constexpr double size = 1;
  std::string result;
  std::string line;
  const auto flush = [&] {
    result += report_detail::field(result.empty() ? label : "", line);
    line.clear();
  };
  for (const std::string& word : report_detail::wrapped(text, size, 0)) {
    if (line.size() + word.size() > 100) flush();
    line += (line.empty() ? "" : " ") + word;
  }
  flush();
  return result;
}

std::string table_of(const AttackReport& report) {
  std::vector<std::string> lines(rows_of(report) + 1);
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    const auto& column = report.columns[c];
    std::vector<std::string> cells{column.heading};
    for (const double value : column.values) cells.push_back(cell(value));
    std::size_t width = 12;
    for (const std::string& text : cells) width = std::max(width, text.size() + 3);
    const bool last = c + 1 == report.columns.size();
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i] += last ? cells[i] : report_detail::padded(cells[i], width);
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text + "\n" + paragraph("learnt", report.learnt) +
         paragraph("stopped by", report.stopped_by);
}

}  // namespace

std::string attack_text(const AttackReport& report, Format format) {
  if (format == Format::csv) return csv_of(report);
  return format == Format::json ? json_of(report) : table_of(report);
}

}  // namespace sotto
