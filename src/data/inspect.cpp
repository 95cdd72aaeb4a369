#include "data/api/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "data/sql/dialect.hpp"
#include "data/engines/engines.hpp"
#include "data/engines/images/idx.hpp"
#include "data/engines/images/engine.hpp"
#include "data/records/layout.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/join.hpp"
#include "data/api/survey.hpp"

namespace sotto {
namespace {

/// Names that no column has.
std::vector<std::string> mark_names(const std::vector<Column>& columns) {
  std::string start = "=";
  const auto is_taken = [&](const Column& column) { return column.name.starts_with(start); };
  while (std::any_of(columns.begin(), columns.end(), is_taken)) start += "=";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns.size(); ++i) names.push_back(start + std::to_string(i));
  return names;
}

std::string how_many(const std::string& condition) { return ", CAST(COALESCE(SUM(CASE WHEN " + condition + " THEN 1 ELSE 0 END), 0) AS BIGINT)"; }

std::string listed(const ExpectedColumn& column, Dialect dialect) {
  const auto text_of = [&](const Value& value) { return literal(value, column.column.type, dialect); };
  return "(" + join(column.values, ", ", text_of) + ")";
}

std::int64_t number(const Cell& cell) {
  const auto* whole = std::get_if<std::int64_t>(&cell);
  return whole == nullptr ? 0 : *whole;
}

/// From how many units have each number.
Spread spread_of(const std::map<std::int64_t, std::int64_t>& units) {
  std::int64_t all = 0;
  for (const auto& [size, count] : units) all += count;
  const auto at = [&](double share) {
    std::int64_t seen = 0;
    for (const auto& [size, count] : units) {
      seen += count;
      if (static_cast<double>(seen) >= share * static_cast<double>(all)) return size;
    }
    return std::int64_t{0};
  };
  return {at(0.5), at(0.9), at(0.99), units.empty() ? 0 : units.rbegin()->first};
}

class Inspector {
 public:
  Inspector(const Source& source, const std::vector<ExpectedColumn>& expected, const Limits& limits, const Progress& progress)
      : expected_(expected), progress_(progress) {
    for (const auto& one : expected_) columns_.push_back(one.column);
    data_detail::check_columns(columns_);
    marks_ = mark_names(columns_);
    if (const auto* file = std::get_if<FileSource>(&source)) {
      engine_ = data_detail::open_duckdb(*file, columns_, limits, marks_);
    } else if (const auto* spark = std::get_if<SparkSource>(&source)) {
      engine_ = data_detail::open_spark(*spark, columns_, limits, marks_);
    } else {
      engine_ = data_detail::open_postgresql(std::get<PostgresSource>(source), columns_, limits, marks_);
    }
  }

  void look_at_columns(Inspection& found) {
    const Dialect dialect = engine_->dialect();
    const auto& sql = data_detail::sql_dialect(dialect);
    std::string inner;
    std::string outer = "COUNT(*)";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string n = std::to_string(i);
      inner += (i == 0 ? "" : ", ") + cleaned(columns_[i], dialect) + " AS c" + n + ", " + sql.name(columns_[i].name) + " IS NULL AS n" + n + ", " +
               sql.name(marks_[i]) + " AS m" + n;
      outer += how_many("m" + n + " OR (NOT n" + n + " AND c" + n + " IS NULL)") + how_many("n" + n + " AND NOT m" + n);
      const std::string x = sql.cast("c" + n, Type::real);
      const bool is_number = columns_[i].type == Type::integer || columns_[i].type == Type::real;
      outer += expected_[i].lower && is_number ? how_many(x + " < " + sql.real(*expected_[i].lower)) : ", CAST(0 AS BIGINT)";
      outer += expected_[i].upper && is_number ? how_many(x + " > " + sql.real(*expected_[i].upper)) : ", CAST(0 AS BIGINT)";
      outer += expected_[i].values.empty() ? ", CAST(0 AS BIGINT)" : how_many("c" + n + " NOT IN " + listed(expected_[i], dialect));
    }
    const Rows rows = engine_->query("SELECT " + outer + " FROM (SELECT " + inner + " FROM " + engine_->table() + ") AS t", progress_);
    found.records = number(rows.at(0, 0));
    found.malformed = data_detail::malformed_records(*engine_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto at = [&](std::size_t k) { return number(rows.at(0, 1 + 5 * i + k)); };
      found.columns.push_back({at(0), at(1), at(2), at(3), at(4)});
      if (at(4) > 0) found.columns.back().commonest_unlisted = commonest_unlisted(i);
    }
  }

  void look_at_units(std::size_t unit, Inspection& found) {
    const std::string u = cleaned(columns_[unit], engine_->dialect());
    found.without_unit = found.columns[unit].unreadable + found.columns[unit].null;
    const auto rows = sizes(u, "1", "COUNT(*)");
    for (const auto& [size, count] : rows) found.units += count;
    found.rows_a_unit = spread_of(rows);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      found.values_a_unit.emplace_back();
      if (expected_[i].values.empty() || i == unit) continue;
      const std::string c = cleaned(columns_[i], engine_->dialect());
      const std::string known = "CASE WHEN " + c + " IN " + listed(expected_[i], engine_->dialect()) + " THEN " + c + " END";
      found.values_a_unit.back() = spread_of(sizes(u, known, "COUNT(DISTINCT v)"));
    }
  }

 private:
  /// None where there are more than memory holds.
  std::vector<std::pair<std::string, std::int64_t>> commonest_unlisted(std::size_t column) {
    const Dialect dialect = engine_->dialect();
    const std::string value = cleaned(columns_[column], dialect);
    std::vector<std::pair<std::string, std::int64_t>> found;
    try {
      const Rows rows =
          engine_->query("SELECT " + as_text("v", dialect) + " AS t, COUNT(*) AS n FROM (SELECT " + value + " AS v FROM " + engine_->table() +
                             ") AS t WHERE v NOT IN " + listed(expected_[column], dialect) + " GROUP BY v ORDER BY n DESC, t LIMIT 3",
                         progress_);
      for (std::size_t i = 0; i < rows.size(); ++i) found.emplace_back(std::get<std::string>(rows.at(i, 0)), number(rows.at(i, 1)));
    } catch (const OutOfMemory&) {
      found.clear();
    }
    return found;
  }

  /// How many units have each number: a part of the units at a time, if memory asks for it.
  std::map<std::int64_t, std::int64_t> sizes(const std::string& unit, const std::string& value, const std::string& number_of_unit) {
    for (std::int64_t parts = 1;; parts *= 4) {
      try {
        std::map<std::int64_t, std::int64_t> all;
        for (std::int64_t part = 0; part < parts; ++part) {
          std::string sql = "SELECT n, COUNT(*) FROM (SELECT " + number_of_unit + " AS n FROM (SELECT " + unit + " AS u, " + value + " AS v FROM " +
                            engine_->table() + ") AS t WHERE u IS NOT NULL";
          if (parts > 1) sql += " AND hash(u, 7) % " + std::to_string(parts) + " = " + std::to_string(part);
          const Rows rows = engine_->query(sql + " GROUP BY u) AS units GROUP BY n", progress_);
          for (std::size_t i = 0; i < rows.size(); ++i) all[number(rows.at(i, 0))] += number(rows.at(i, 1));
        }
        return all;
      } catch (const OutOfMemory&) {
        if (parts > 10'000) throw;
      }
    }
  }

  const std::vector<ExpectedColumn>& expected_;
  const Progress& progress_;
  std::vector<Column> columns_;
  std::vector<std::string> marks_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::vector<Column> found_columns(const Source& source, const Limits& limits) { return survey(source, limits).columns; }

std::string found_records(const FileSource& source) {
  const auto format = data_detail::format_of(source);
  if (format != data_detail::Format::csv && format != data_detail::Format::tsv) return "";
  FileSource by_lines = source;
  by_lines.records = "lines";
  const data_detail::File file(source.path);
  const auto quotes = data_detail::look_at_quotes(file, data_detail::manner_of(file, by_lines).separator);
  if (!quotes.crossing) return "";
  return quotes.unsound ? "lines" : "quoted";
}

namespace {

Inspection inspection_of(const IdxSource& images, const std::vector<ExpectedColumn>& columns) {
  const data_detail::ImageEngine engine(images, {columns.at(0).column}, {});  // its conditions
  const std::vector<Value>& values = columns.front().values;
  Inspection found;
  found.columns.resize(1);
  for (const unsigned char label : data_detail::read_labels(images)) {
    ++found.records;
    const bool listed = values.empty() || std::find(values.begin(), values.end(), Value(std::int64_t{label})) != values.end();
    if (!listed) ++found.columns.front().unlisted;
  }
  found.units = found.records;
  found.rows_a_unit = {1, 1, 1, 1};
  found.values_a_unit.resize(columns.size());
  return found;
}

}  // namespace

Inspection inspect(const Source& source, const std::vector<ExpectedColumn>& columns, const std::string& unit, const Limits& limits,
                   const Progress& progress) {
  const auto place = std::find_if(columns.begin(), columns.end(), [&](const ExpectedColumn& one) { return one.column.name == unit; });
  if (!unit.empty() && place == columns.end()) throw InvalidValue("the unit \"" + unit + "\" is no declared column");
  if (const auto* images = std::get_if<IdxSource>(&source)) return inspection_of(*images, columns);
  Inspector inspector(source, columns, limits, progress);
  Inspection found;
  inspector.look_at_columns(found);
  if (!unit.empty()) {
    inspector.look_at_units(static_cast<std::size_t>(place - columns.begin()), found);
  } else {
    found.units = found.records;
    found.rows_a_unit = {1, 1, 1, 1};
    found.values_a_unit.resize(columns.size());
  }
  return found;
}

}  // namespace sotto
