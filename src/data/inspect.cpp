// Inspects sources: counts values that do not fit their declaration, and rows and values of units.
#include "data/api/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/api/join.hpp"
#include "data/api/survey.hpp"
#include "data/engines/engines.hpp"
#include "data/engines/images/engine.hpp"
#include "data/engines/images/idx.hpp"
#include "data/records/layout.hpp"
#include "data/sql/dialect.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

/// Returns names for the unreadable flags that no column has.
std::vector<std::string> flag_names(const std::vector<Column>& columns) {
  std::string start = "=";
  const auto has_start = [&](const Column& column) { return column.name.starts_with(start); };
  while (std::any_of(columns.begin(), columns.end(), has_start)) start += "=";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns.size(); ++i) names.push_back(start + std::to_string(i));
  return names;
}

/// Returns SQL, after a comma, that counts the rows for which the condition is true.
std::string count_if(const std::string& condition) {
  return ", CAST(COALESCE(SUM(CASE WHEN " + condition + " THEN 1 ELSE 0 END), 0) AS BIGINT)";
}

/// Returns the declared values as an SQL list.
std::string value_list(const ExpectedColumn& column, Dialect dialect) {
  const auto text_of = [&](const Value& value) {
    return literal(value, column.column.type, dialect);
  };
  return "(" + join(column.values, ", ", text_of) + ")";
}

std::int64_t number(const Cell& cell) {
  const auto* integer = std::get_if<std::int64_t>(&cell);
  return integer == nullptr ? 0 : *integer;
}

/// Computes the distribution from the number of units for each number.
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
  Inspector(const Source& source, const std::vector<ExpectedColumn>& expected, const Limits& limits,
            const Progress& progress)
      : expected_(expected), progress_(progress) {
    for (const auto& one : expected_) columns_.push_back(one.column);
    data_detail::check_columns(columns_);
    flags_ = flag_names(columns_);
    if (const auto* file = std::get_if<FileSource>(&source)) {
      engine_ = data_detail::open_duckdb(*file, columns_, limits, flags_);
    } else if (const auto* spark = std::get_if<SparkSource>(&source)) {
      engine_ = data_detail::open_spark(*spark, columns_, limits, flags_);
    } else {
      engine_ =
          data_detail::open_postgresql(std::get<PostgresSource>(source), columns_, limits, flags_);
    }
  }

  /// Counts the values of each column that do not fit its declaration.
  void inspect_columns(Inspection& inspection) {
    const Dialect dialect = engine_->dialect();
    const auto& sql = data_detail::sql_dialect(dialect);
    std::string inner;
    std::string outer = "COUNT(*)";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string n = std::to_string(i);
      inner += (i == 0 ? "" : ", ") + cleaned(columns_[i], dialect) + " AS c" + n + ", " +
               sql.name(columns_[i].name) + " IS NULL AS n" + n + ", " + sql.name(flags_[i]) +
               " AS m" + n;
      outer += count_if("m" + n + " OR (NOT n" + n + " AND c" + n + " IS NULL)") +
               count_if("n" + n + " AND NOT m" + n);
      const std::string x = sql.cast("c" + n, Type::real);
      const bool is_number = columns_[i].type == Type::integer || columns_[i].type == Type::real;
      outer += expected_[i].lower && is_number ? count_if(x + " < " + sql.real(*expected_[i].lower))
                                               : ", CAST(0 AS BIGINT)";
      outer += expected_[i].upper && is_number ? count_if(x + " > " + sql.real(*expected_[i].upper))
                                               : ", CAST(0 AS BIGINT)";
      outer += expected_[i].values.empty()
                   ? ", CAST(0 AS BIGINT)"
                   : count_if("c" + n + " NOT IN " + value_list(expected_[i], dialect));
    }
    const Rows rows = engine_->query(
        "SELECT " + outer + " FROM (SELECT " + inner + " FROM " + engine_->table() + ") AS t",
        progress_);
    inspection.records = number(rows.at(0, 0));
    inspection.malformed = data_detail::malformed_records(*engine_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto at = [&](std::size_t k) { return number(rows.at(0, 1 + 5 * i + k)); };
      inspection.columns.push_back({at(0), at(1), at(2), at(3), at(4)});
      if (at(4) > 0) inspection.columns.back().commonest_unlisted = commonest_unlisted(i);
    }
  }

  /// Counts the rows, and the declared values, of each unit.
  void inspect_units(std::size_t unit, Inspection& inspection) {
    const std::string u = cleaned(columns_[unit], engine_->dialect());
    inspection.without_unit = inspection.columns[unit].unreadable + inspection.columns[unit].null;
    const auto rows = units_by_number(u, "1", "COUNT(*)");
    for (const auto& [size, count] : rows) inspection.units += count;
    inspection.rows_a_unit = spread_of(rows);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      inspection.values_a_unit.emplace_back();
      if (expected_[i].values.empty() || i == unit) continue;
      const std::string c = cleaned(columns_[i], engine_->dialect());
      const std::string declared = "CASE WHEN " + c + " IN " +
                                   value_list(expected_[i], engine_->dialect()) + " THEN " + c +
                                   " END";
      inspection.values_a_unit.back() =
          spread_of(units_by_number(u, declared, "COUNT(DISTINCT v)"));
    }
  }

 private:
  /// Returns the most frequent unlisted values; empty if the memory is not enough to count them.
  std::vector<std::pair<std::string, std::int64_t>> commonest_unlisted(std::size_t column) {
    const Dialect dialect = engine_->dialect();
    const std::string value = cleaned(columns_[column], dialect);
    std::vector<std::pair<std::string, std::int64_t>> commonest;
    try {
      const Rows rows = engine_->query(
          "SELECT " + as_text("v", dialect) + " AS t, COUNT(*) AS n FROM (SELECT " + value +
              " AS v FROM " + engine_->table() + ") AS t WHERE v NOT IN " +
              value_list(expected_[column], dialect) + " GROUP BY v ORDER BY n DESC, t LIMIT 3",
          progress_);
      for (std::size_t i = 0; i < rows.size(); ++i)
        commonest.emplace_back(std::get<std::string>(rows.at(i, 0)), number(rows.at(i, 1)));
    } catch (const OutOfMemory&) {
      commonest.clear();
    }
    return commonest;
  }

  /// Returns the number of units for each value of a number that units have. If the memory is not
  /// enough, counts one part of the units at a time, by a hash of their names.
  std::map<std::int64_t, std::int64_t> units_by_number(const std::string& unit,
                                                       const std::string& value,
                                                       const std::string& number_of_unit) {
    for (std::int64_t parts = 1;; parts *= 4) {
      try {
        std::map<std::int64_t, std::int64_t> all;
        for (std::int64_t part = 0; part < parts; ++part) {
          std::string sql = "SELECT n, COUNT(*) FROM (SELECT " + number_of_unit +
                            " AS n FROM (SELECT " + unit + " AS u, " + value + " AS v FROM " +
                            engine_->table() + ") AS t WHERE u IS NOT NULL";
          if (parts > 1)
            sql += " AND hash(u, 7) % " + std::to_string(parts) + " = " + std::to_string(part);
          const Rows rows = engine_->query(sql + " GROUP BY u) AS units GROUP BY n", progress_);
          for (std::size_t i = 0; i < rows.size(); ++i)
            all[number(rows.at(i, 0))] += number(rows.at(i, 1));
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
  std::vector<std::string> flags_;
  std::unique_ptr<Engine> engine_;
};

Inspection inspection_of(const IdxSource& images, const std::vector<ExpectedColumn>& columns) {
  const data_detail::ImageEngine engine(images, {columns.at(0).column},
                                        {});  // throws if the files do not fit
  const std::vector<Value>& values = columns.front().values;
  Inspection inspection;
  inspection.columns.resize(1);
  for (const unsigned char label : data_detail::read_labels(images)) {
    ++inspection.records;
    const bool is_listed = values.empty() || std::find(values.begin(), values.end(),
                                                       Value(std::int64_t{label})) != values.end();
    if (!is_listed) ++inspection.columns.front().unlisted;
  }
  inspection.units = inspection.records;
  inspection.rows_a_unit = {1, 1, 1, 1};
  inspection.values_a_unit.resize(columns.size());
  return inspection;
}

}  // namespace

std::vector<Column> infer_columns(const Source& source, const Limits& limits) {
  return survey(source, limits).columns;
}

std::string infer_records(const FileSource& source) {
  const auto format = data_detail::format_of(source);
  if (format != data_detail::Format::csv && format != data_detail::Format::tsv) return "";
  FileSource by_lines = source;
  by_lines.records = "lines";
  const data_detail::File file(source.path);
  const auto quotes =
      data_detail::find_quotes(file, data_detail::record_format_of(file, by_lines).separator);
  if (!quotes.crossing) return "";
  return quotes.unsound ? "lines" : "quoted";
}

Inspection inspect(const Source& source, const std::vector<ExpectedColumn>& columns,
                   const std::string& unit, const Limits& limits, const Progress& progress) {
  const auto place = std::find_if(columns.begin(), columns.end(), [&](const ExpectedColumn& one) {
    return one.column.name == unit;
  });
  if (!unit.empty() && place == columns.end())
    throw InvalidValue("the unit \"" + unit +
                       "\" is not a declared column: declare it, or name another column");
  if (const auto* images = std::get_if<IdxSource>(&source)) return inspection_of(*images, columns);
  Inspector inspector(source, columns, limits, progress);
  Inspection inspection;
  inspector.inspect_columns(inspection);
  if (!unit.empty()) {
    inspector.inspect_units(static_cast<std::size_t>(place - columns.begin()), inspection);
  } else {
    inspection.units = inspection.records;
    inspection.rows_a_unit = {1, 1, 1, 1};
    inspection.values_a_unit.resize(columns.size());
  }
  return inspection;
}

}  // namespace sotto
