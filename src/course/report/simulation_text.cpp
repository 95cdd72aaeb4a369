// Writes a simulation's report as a table, CSV and JSON.
#include <algorithm>
#include <cmath>

#include "course/api/simulations.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "report/api/text.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

using report_detail::Json;
using Column = SimulationReport::Column;

std::size_t rows_of(const Column& column) {
  return column.labels.empty() ? column.values.size() : column.labels.size();
}
std::size_t rows_of(const SimulationReport& report) {
  return report.columns.empty() ? 0 : rows_of(report.columns.front());
}

std::string cell(const Column& column, std::size_t i) {
  if (!column.labels.empty()) return column.labels[i];
  return std::isnan(column.values[i]) ? "-" : rounded(column.values[i], 4, Side::upper);
}

std::string csv_of(const SimulationReport& report) {
  std::vector<std::string> cells;
  for (const Column& column : report.columns) cells.push_back(column.name);
  std::string text = report_detail::csv_row(cells);
  for (std::size_t i = 0; i < rows_of(report); ++i) {
    cells.clear();
    for (const Column& column : report.columns)
      cells.push_back(column.labels.empty() ? report_detail::csv_number(column.values[i])
                                            : column.labels[i]);
    text += report_detail::csv_row(cells);
  }
  return text;
}

std::string json_of(const SimulationReport& report) {
  Json json{{"schema", "sotto.simulation/1"},
            {"simulation", report.simulation},
            {"settings", Json::object()},
            {"rows", Json::array()},
            {"notes", Json::object()}};
  for (const auto& [name, value] : report.settings)
    json["settings"][name] = report_detail::number(value);
  for (std::size_t i = 0; i < rows_of(report); ++i) {
    Json row = Json::object();
    for (const Column& column : report.columns)
      row[column.name] =
          column.labels.empty() ? report_detail::number(column.values[i]) : Json(column.labels[i]);
    json["rows"].push_back(std::move(row));
  }
  for (const auto& [label, text] : report.notes) json["notes"][label] = text;
  return report_detail::line(json);
}

// Returns a label and a text that is broken into lines of about a hundred characters.
std::string paragraph(const std::string& label, const std::string& text) {
  std::string result;
  std::string line;
  const auto flush = [&] {
    result += report_detail::field(result.empty() ? label : "", line);
    line.clear();
  };
  for (const std::string& word : report_detail::wrapped(text, 1, 0)) {
    if (line.size() + word.size() > 100) flush();
    line += (line.empty() ? "" : " ") + word;
  }
  flush();
  return result;
}

std::string table_of(const SimulationReport& report) {
  std::vector<std::string> lines(rows_of(report) + 1);
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    const Column& column = report.columns[c];
    std::vector<std::string> cells{column.heading};
    for (std::size_t i = 0; i < rows_of(report); ++i) cells.push_back(cell(column, i));
    std::size_t width = 10;
    for (const std::string& text : cells) width = std::max(width, text.size() + 3);
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i] +=
          c + 1 == report.columns.size() ? cells[i] : report_detail::padded(cells[i], width);
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (!report.notes.empty()) text += "\n";
  for (const auto& [label, words] : report.notes) text += paragraph(label, words);
  return text;
}

}  // namespace

std::string simulation_text(const SimulationReport& report, Format format) {
  if (format == Format::csv) return csv_of(report);
  return format == Format::json ? json_of(report) : table_of(report);
}

}  // namespace sotto
