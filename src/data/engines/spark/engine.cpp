// Spark as an engine: Spark plans and runs the statements, and answers with Arrow batches.
#include "data/engines/spark/engine.hpp"

#include <algorithm>
#include <charconv>
#include <random>

#include "core/api/join.hpp"
#include "data/api/spark.hpp"
#include "data/arrow/ipc.hpp"
#include "data/engines/engines.hpp"
#include "data/sql/dialect.hpp"
#include "data/text/suggestion.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::ArrowKind;
using data_detail::spark_dialect;
using data_detail::SparkRunner;
using Types = std::vector<std::string>;

constexpr int oldest = 4;  // the first version of Spark with all functions that the dialect uses

/// Returns the stored types that fit a declared type: a cast of their values never fails.
Types fitting(Type type) {
  const Types whole{"bigint", "int", "smallint", "tinyint"};
  const Types broken{"double", "float", "decimal"};
  Types all;
  switch (type) {
    case Type::boolean: return {"boolean"};
    case Type::integer:
      all = whole;
      all.insert(all.end(), broken.begin(), broken.end());
      return all;
    case Type::real:
      all = broken;
      all.insert(all.end(), whole.begin(), whole.end());
      return all;
    case Type::text: return {"string", "varchar", "char", "binary"};
    case Type::date: return {"date"};
    case Type::timestamp: return {"timestamp", "timestamp_ntz"};
  }
  throw std::logic_error("unknown type of column");
}

/// Returns "decimal" for "decimal(10,2)", "string" for "string collate UNICODE".
std::string family(const std::string& stored) {
  return stored.substr(0, stored.find_first_of("( "));
}

bool fits(const std::string& stored, Type type) {
  const auto types = fitting(type);
  return !stored.starts_with("interval") &&
         std::find(types.begin(), types.end(), family(stored)) != types.end();
}

/// Returns a stored column as its declared type, NULL if a value is not of this type. It fails for
/// no value.
std::string as_declared(const Column& column, const std::string& stored) {
  const auto& sql = spark_dialect();
  std::string name = sql.name(column.name);
  const auto kind = family(stored);
  const auto between = [](const std::string& x, const std::string& low, const std::string& high) {
    return "CASE WHEN " + x + " BETWEEN " + low + " AND " + high + " THEN " + x + " END";
  };
  switch (column.type) {
    case Type::boolean: return name;
    case Type::integer:
      if (kind == "bigint") return name;
      // up to the largest integer that a double holds exactly
      if (kind ==
          "decimal") {  // compared in its own type, which may be too narrow for the constant
        const std::string whole = "try_cast(" + name + " AS BIGINT)";
        return "CASE WHEN try_cast(" + whole + " AS " + stored + ") = " + name + " AND " + whole +
               " BETWEEN -9007199254740992 AND 9007199254740992 THEN " + whole + " END";
      }
      if (kind == "double" || kind == "float") {
        return "CASE WHEN " + name + " BETWEEN -9007199254740992 AND 9007199254740992 AND rint(" +
               name + ") = " + name + " THEN try_cast(" + name + " AS BIGINT) END";
      }
      return sql.cast(name, Type::integer);
    case Type::real:
      if (kind == "double") return "CASE WHEN NOT isnan(" + name + ") THEN " + name + " END";
      if (kind == "float")
        return "CASE WHEN NOT isnan(" + name + ") THEN " + sql.cast(name, Type::real) + " END";
      return sql.cast(name, Type::real);
    case Type::text: {
      std::string text = name;
      if (kind == "binary") text = sql.cast(name, Type::text);
      if (stored.find("collate") != std::string::npos) text = "(" + name + " COLLATE UTF8_BINARY)";
      return "CASE WHEN is_valid_utf8(" + text + ") AND NOT contains(" + text +
             ", CAST(X'00' AS STRING)) THEN " + text + " END";
    }
    case Type::date:
      return between(name, sql.cast("'0001-01-01'", Type::date),
                     sql.cast("'9999-12-31'", Type::date));
    case Type::timestamp:
      return between(kind == "timestamp" ? sql.cast(name, Type::timestamp) : name,
                     sql.cast("'0001-01-01 00:00:00'", Type::timestamp),
                     sql.cast("'9999-12-31 23:59:59.999999'", Type::timestamp));
  }
  throw std::logic_error("unknown type of column");
}

Rows rows_of(SparkRunner& runner, const std::string& sql, const Progress& progress = {}) {
  Rows rows;
  std::vector<ArrowKind> kinds;
  const auto begin = [&](const std::vector<ArrowKind>& part) {
    if (!kinds.empty() && kinds != part)
      throw std::logic_error("two parts of an answer have different columns");
    kinds = part;
    rows.width = kinds.size();
    for (const auto kind : kinds) {
      if (kind != ArrowKind::whole && kind != ArrowKind::text)
        throw std::logic_error("a column of an answer is neither BIGINT nor STRING");
    }
  };
  const auto add = [&](const Batch& batch) {
    const auto start = rows.cells.size();
    rows.cells.resize(start + batch.rows * kinds.size());
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      for (std::size_t i = 0; i < batch.rows; ++i) {
        if (batch.columns[c].is_null(i)) continue;
        Cell& cell = rows.cells[start + i * kinds.size() + c];
        if (kinds[c] == ArrowKind::whole) {
          cell = batch.columns[c].int64s[i];
        } else {
          cell = std::string(batch.columns[c].texts[i]);
        }
      }
    }
  };
  runner.run(
      sql, [&](std::string_view stream) { data_detail::read_arrow_stream(stream, begin, add); },
      progress);
  return rows;
}

void require_version(SparkRunner& runner) {
  const Rows rows = rows_of(runner, "SELECT version()");
  const auto* words = rows.size() == 1 ? std::get_if<std::string>(&rows.at(0, 0)) : nullptr;
  const std::string version = words == nullptr ? "" : words->substr(0, words->find(' '));
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < oldest)
    throw EngineError("sotto needs Spark " + std::to_string(oldest) +
                          " or later, and the server is Spark " + version,
                      "");
}

/// Returns a random name, which no table has: if the server loses the session, statements fail
/// instead of reading another table.
std::string new_view() {
  std::random_device device;
  return "sotto_" + std::to_string(device()) + "_" + std::to_string(device());
}

class SparkEngine final : public Engine {
 public:
  SparkEngine(std::unique_ptr<SparkRunner> runner, const std::string& view,
              const std::vector<Column>& columns, const std::vector<std::string>& unreadable_flags,
              bool trim)
      : runner_(std::move(runner)), trim_(trim) {
    require_version(*runner_);
    select(view, columns, unreadable_flags);
  }

  [[nodiscard]] Dialect dialect() const override { return Dialect::spark; }
  [[nodiscard]] std::string table() const override { return table_; }
  RowsRead rows_read() override { return data_detail::any_row(*this); }

  void require_plannable(const std::string& sql) override {
    constexpr std::size_t always_plannable =
        8000;  // bytes; shorter statements cannot nest too deeply for Spark
    if (sql.size() < always_plannable) return;
    try {
      runner_->run("DESCRIBE QUERY " + sql, [](std::string_view) {}, {});
    } catch (const EngineError& error) {
      if (error.detail().find("TOO_COMPLEX") == std::string::npos &&
          error.detail().find("StackOverflow") == std::string::npos)
        throw;
      throw InvalidValue(
          "an expression is nested too deeply for Spark: write it in fewer operations, or as a "
          "column of the table");
    }
  }

  Rows query(const std::string& sql, const Progress& progress) override {
    begin(sql, progress);
    Rows rows = rows_of(*runner_, sql, progress);
    if (progress) progress(1);
    return rows;
  }

  void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
              const BatchCallback& take, const Progress& progress) override {
    begin(sql, progress);
    std::vector<ArrowKind> wanted;
    for (const auto kind : kinds) {
      wanted.push_back(kind == Batch::Kind::number  ? ArrowKind::number
                       : kind == Batch::Kind::whole ? ArrowKind::whole
                                                    : ArrowKind::text);
    }
    const auto require = [&](const std::vector<ArrowKind>& part) {
      if (part != wanted)
        throw std::logic_error("the columns of a stream do not have the requested types");
    };
    runner_->run(
        sql,
        [&](std::string_view stream) { data_detail::read_arrow_stream(stream, require, take); },
        progress);
    if (progress) progress(1);
  }

 private:
  static void begin(const std::string& sql, const Progress& progress) {
    if (!sql.starts_with("SELECT ") && !sql.starts_with("WITH "))
      throw std::logic_error("an engine runs SELECT statements only");
    if (progress && !progress(0)) throw EngineError("stopped", "");
  }

  /// Finds the columns and writes the table as a subquery that has them as declared.
  void select(const std::string& view, const std::vector<Column>& columns,
              const std::vector<std::string>& unreadable_flags) {
    const auto& sql = spark_dialect();
    const auto stored = data_detail::spark_columns(*runner_, view);
    std::vector<std::string> names;
    for (const auto& [name, type] : stored) names.push_back(name);
    std::string selected;
    std::string flags;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      if (column.name == data_detail::spark_value)
        throw InvalidValue("sotto's SQL for Spark uses the name \"" + column.name +
                           "\": rename the column");
      const auto it = std::find_if(stored.begin(), stored.end(),
                                   [&](const auto& one) { return one.first == column.name; });
      if (it == stored.end())
        throw InvalidValue("the table has no column \"" + column.name + "\"" +
                           data_detail::suggestion(column.name, names));
      if (!fits(it->second, column.type)) {
        throw InvalidValue("the column \"" + column.name + "\" is declared " +
                           name_of(column.type) + " and stored as " + it->second +
                           ", which does not fit: declare another type, or store it as one of " +
                           join(fitting(column.type)));
      }
      const auto value = as_declared(column, it->second);
      const auto name = sql.name(column.name);
      const bool trims = trim_ && column.type == Type::text;
      selected +=
          (selected.empty() ? "" : ", ") + (trims ? sql.trimmed(value) : value) + " AS " + name;
      if (!unreadable_flags.empty())
        flags += ", (" + name + " IS NOT NULL AND " + value + " IS NULL) AS " +
                 sql.name(unreadable_flags[i]);
    }
    table_ = "(SELECT " + selected + flags + " FROM " + sql.name(view) + ") AS sotto_table";
    if (columns.empty()) return;
    try {
      runner_->run("SELECT * FROM " + table_ + " LIMIT 0", [](std::string_view) {}, {});
    } catch (const EngineError& error) {
      throw EngineError("Spark refuses to read the table", error.detail());
    }
  }

  std::unique_ptr<SparkRunner> runner_;
  bool trim_;
  std::string table_;
};

/// An adapter over a session that the caller owns.
class CallerSession final : public SparkRunner {
 public:
  explicit CallerSession(SparkQuery query) : query_(std::move(query)) {}
  void run(const std::string& sql, const std::function<void(std::string_view)>& take,
           const Progress& progress) override {
    query_(sql, take, progress);
  }

 private:
  SparkQuery query_;
};

}  // namespace

const std::vector<std::pair<std::string, std::string>>& spark_settings() {
  static const std::vector<std::pair<std::string, std::string>> settings{
      {"spark.sql.ansi.enabled", "true"},
      {"spark.sql.ansi.enforceReservedKeywords", "false"},
      {"spark.sql.ansi.doubleQuotedIdentifiers", "false"},
      {"spark.sql.session.timeZone", "UTC"},
      {"spark.sql.caseSensitive", "true"},
      {"spark.sql.variable.substitute", "false"},
      // an unreadable file is an error instead of fewer rows, and dates are in the Gregorian
      // calendar
      {"spark.sql.files.ignoreCorruptFiles", "false"},
      {"spark.sql.files.ignoreMissingFiles", "false"},
      {"spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED"},
      {"spark.sql.parquet.int96RebaseModeInRead", "CORRECTED"},
      {"spark.sql.execution.arrow.useLargeVarTypes", "false"},
  };
  return settings;
}

std::vector<std::pair<std::string, std::string>> data_detail::spark_columns(
    SparkRunner& runner, const std::string& view) {
  std::vector<std::pair<std::string, std::string>> columns;
  const Rows rows = rows_of(runner, "DESCRIBE QUERY SELECT * FROM " + spark_dialect().name(view));
  for (std::size_t i = 0; i < rows.size(); ++i)
    columns.emplace_back(std::get<std::string>(rows.at(i, 0)),
                         std::get<std::string>(rows.at(i, 1)));
  return columns;
}

std::unique_ptr<Engine> data_detail::open_spark(std::unique_ptr<SparkRunner> runner,
                                                const std::string& view,
                                                const std::vector<Column>& columns,
                                                const std::vector<std::string>& unreadable_flags,
                                                bool trim) {
  return std::make_unique<SparkEngine>(std::move(runner), view, columns, unreadable_flags, trim);
}

std::unique_ptr<Engine> data_detail::open_spark(const SparkSource& source,
                                                const std::vector<Column>& columns,
                                                const Limits& limits,
                                                const std::vector<std::string>& unreadable_flags) {
  const std::string view = new_view();
  return open_spark(connect_to_spark(source, view, limits.spark), view, columns, unreadable_flags,
                    source.trim);
}

std::unique_ptr<Engine> open_engine(SparkQuery query, const std::string& view,
                                    const std::vector<Column>& columns, bool trim) {
  data_detail::check_columns(columns);
  return data_detail::open_spark(std::make_unique<CallerSession>(std::move(query)), view, columns,
                                 {}, trim);
}

std::vector<Column> data_detail::columns_of_spark(const SparkSource& source, const Limits& limits) {
  const std::string view = new_view();
  const auto runner = connect_to_spark(source, view, limits.spark);
  require_version(*runner);
  std::vector<Column> columns;
  for (const auto& [name, stored] : spark_columns(*runner, view)) {
    for (const auto type :
         {Type::boolean, Type::integer, Type::real, Type::text, Type::date, Type::timestamp}) {
      const bool is_broken =
          stored == "double" || stored == "float" || stored.starts_with("decimal");
      if (!fits(stored, type) || (type == Type::integer && is_broken) || stored == "binary")
        continue;
      columns.push_back({name, type});
      break;
    }
  }
  return columns;
}

}  // namespace sotto
