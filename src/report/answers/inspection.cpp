// A table with advice for the curator, and the same counts as CSV and JSON.
#include "report/api/inspection.hpp"

#include <algorithm>

#include "core/api/text.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

using namespace report_detail;

// Returns a count. Zero is a dot, so that the other counts stand out.
std::string count_or_dot(std::int64_t count) { return count == 0 ? "." : std::to_string(count); }

Json json_of(const Spread& spread) {
  return {{"half", spread.median},
          {"90%", spread.percentile_90},
          {"99%", spread.percentile_99},
          {"largest", spread.largest}};
}

std::string json(const DataFile& data, const Inspection& inspection) {
  Json columns = Json::array();
  for (std::size_t i = 0; i < data.columns.size(); ++i) {
    const ColumnFindings& c = inspection.columns[i];
    Json column{{"name", data.columns[i].name},
                {"type", name_of(data.columns[i].type)},
                {"unreadable", c.unreadable},
                {"null", c.null},
                {"below", c.below},
                {"above", c.above},
                {"unlisted", c.unlisted}};
    for (const auto& [value, count] : c.commonest_unlisted)
      column["commonest_unlisted"].push_back({{"value", value}, {"records", count}});
    if (inspection.values_a_unit[i])
      column["values_a_unit"] = json_of(*inspection.values_a_unit[i]);
    columns.push_back(std::move(column));
  }
  Json all{{"schema", "sotto.inspection/1"},
           {"data", data.name},
           {"records", inspection.records},
           {"malformed", inspection.malformed},
           {"unit", data.unit}};
  if (data.unit != "row") {
    all["units"] = inspection.units;
    all["without_unit"] = inspection.without_unit;
    all["rows_a_unit"] = json_of(inspection.rows_a_unit);
  }
  all["columns"] = std::move(columns);
  return line(all);
}

std::string csv(const DataFile& data, const Inspection& inspection) {
  std::string text =
      csv_row({"column", "type", "unreadable", "null", "below", "above", "unlisted"});
  for (std::size_t i = 0; i < data.columns.size(); ++i) {
    const ColumnFindings& c = inspection.columns[i];
    text += csv_row({data.columns[i].name, name_of(data.columns[i].type),
                     std::to_string(c.unreadable), std::to_string(c.null), std::to_string(c.below),
                     std::to_string(c.above), std::to_string(c.unlisted)});
  }
  return text;
}

// Returns the cells in columns: the first two aligned left, all others right. The cells are
// escaped.
std::string in_columns(std::vector<std::vector<std::string>> lines) {
  for (auto& cells : lines) {
    for (std::string& cell : cells) cell = escaped_for_terminal(cell);
  }
  std::vector<std::size_t> widths;
  for (const auto& cells : lines) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string line = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blank(widths[i] - cells[i].size(), ' ');
      line += " " + (i < 2 ? cells[i] + blank : blank + cells[i]) + " ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string spread_text(const Spread& s) {
  return "half have at most " + std::to_string(s.median) + ", 90 % at most " +
         std::to_string(s.percentile_90) + ", 99 % at most " + std::to_string(s.percentile_99) +
         ", one has " + std::to_string(s.largest);
}

std::string without_blanks(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \t");
  return start == std::string::npos ? ""
                                    : text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

// The commonest values that the data file does not list, with which a curator finds misspelt ones.
std::string unlisted_text(const StudyColumn& column, const ColumnFindings& c) {
  if (c.commonest_unlisted.empty()) return "";
  std::string values;
  bool blanks_alone = false;
  for (const auto& [value, count] : c.commonest_unlisted) {
    values += (values.empty() ? "" : ", ") + ("\"" + value + "\" (" + std::to_string(count) + ")");
    const Value trimmed = without_blanks(value);
    blanks_alone = blanks_alone || std::find(column.values.begin(), column.values.end(), trimmed) !=
                                       column.values.end();
  }
  return "\n  " +
         escaped_for_terminal("\"" + column.name +
                              "\": the commonest values that are not listed: " + values +
                              (blanks_alone ? "; a listed value is there with blanks at its ends: "
                                              "write trim = true into the data file"
                                            : "")) +
         "\n";
}

// Returns what to do about a column if many of its values do not fit; empty if nothing is to be
// done.
std::string advice(const StudyColumn& column, const ColumnFindings& c, std::int64_t records) {
  if (records > 0 && c.unreadable * 100 > records)
    return "is `type` right? Or does a text stand for a missing value: null_text = [\"NA\"]";
  if (records > 0 && (c.below + c.above) * 20 > records) return "bounds cut more than 5 %";
  if (records > 0 && c.unlisted * 20 > records) return "`values` lack more than 5 %";
  if (records > 0 && column.lower && c.null == records) return "nothing but NULL";
  return "";
}

std::string table(const DataFile& data, const Inspection& inspection) {
  std::string text = field("data", data.name + ", version " + data.version);
  text += field("records",
                std::to_string(inspection.records) +
                    (inspection.malformed > 0 ? ", and " + std::to_string(inspection.malformed) +
                                                    " that cannot be read, which are left out"
                                              : ""));
  if (data.unit == "row") {
    text += field("unit", "each row by itself");
  } else {
    text += field("units", std::to_string(inspection.units) + " by \"" + data.unit + "\"" +
                               (inspection.without_unit > 0
                                    ? ", and " + std::to_string(inspection.without_unit) +
                                          " records without one, which no query counts"
                                    : ""));
    text += field("rows", "of a unit: " + spread_text(inspection.rows_a_unit) +
                              "; a query's `rows` cuts the rest");
  }
  std::vector<std::vector<std::string>> lines{
      {"column", "type", "unreadable", "NULL", "below", "above", "not listed", ""}};
  for (std::size_t i = 0; i < data.columns.size(); ++i) {
    const StudyColumn& column = data.columns[i];
    const ColumnFindings& c = inspection.columns[i];
    lines.push_back({column.name, name_of(column.type), count_or_dot(c.unreadable),
                     count_or_dot(c.null), count_or_dot(c.below), count_or_dot(c.above),
                     count_or_dot(c.unlisted), advice(column, c, inspection.records)});
  }
  text += "\n" + in_columns(lines);
  for (std::size_t i = 0; i < data.columns.size(); ++i)
    text += unlisted_text(data.columns[i], inspection.columns[i]);
  for (std::size_t i = 0; i < data.columns.size(); ++i) {
    if (inspection.values_a_unit[i] && data.unit != "row" && data.columns[i].name != data.unit) {
      text += "\n  \"" + escaped_for_terminal(data.columns[i].name) +
              "\": different values of a unit: " + spread_text(*inspection.values_a_unit[i]) +
              "; a query's `groups` cuts the rest\n";
    }
  }
  return text;
}

}  // namespace

std::string inspection_text(const DataFile& data, const Inspection& inspection, Format format) {
  if (format == Format::json) return json(data, inspection);
  return format == Format::csv ? csv(data, inspection) : table(data, inspection);
}

}  // namespace sotto
