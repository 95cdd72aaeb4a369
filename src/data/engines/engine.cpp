#include "sotto/data/engine.hpp"

#include <set>

#include "data/engines/engines.hpp"
#include "data/engines/images/engine.hpp"
#include "sotto/core/errors.hpp"
#include "data/text/utf8.hpp"

namespace sotto {

/// Names that every engine keeps apart; DuckDB does not tell A from a.
void data_detail::check_columns(const std::vector<Column>& columns) {
  if (columns.empty()) throw InvalidValue("a table needs at least one declared column");
  std::set<std::string> seen;
  for (const auto& column : columns) {
    if (column.name.empty() || !data_detail::is_text(column.name)) throw InvalidValue("a column's name must be a text that is not empty");
    std::string lower;
    for (const char c : column.name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!seen.insert(lower).second) throw InvalidValue("the column \"" + column.name + "\" is declared twice (A and a are one letter here)");
  }
}

void Engine::stream(const std::string&, const std::vector<Batch::Kind>&, const Taker&, const Progress&) {
  throw EngineError("this engine gives out no rows", "");
}

RowsRead Engine::rows_read() { return {.records = 1, .counted = false}; }

RowsRead data_detail::any_row(Engine& engine) {
  const Rows rows = engine.query("SELECT COUNT(*) FROM (SELECT 1 AS one FROM " + engine.table() + " LIMIT 1) AS t");
  return {.records = std::get<std::int64_t>(rows.at(0, 0)), .counted = false};
}

std::unique_ptr<Engine> open_engine(const Source& source, const std::vector<Column>& columns, const Limits& limits) {
  data_detail::check_columns(columns);
  if (limits.threads < 0) throw InvalidValue("threads must not be negative");
  if (limits.memory < 0) throw InvalidValue("memory must not be negative");
  if (const auto* file = std::get_if<FileSource>(&source)) return data_detail::open_duckdb(*file, columns, limits);
  if (const auto* images = std::get_if<IdxSource>(&source)) return std::make_unique<data_detail::ImageEngine>(*images, columns, limits);
  if (const auto* spark = std::get_if<SparkSource>(&source)) return data_detail::open_spark(*spark, columns, limits);
  return data_detail::open_postgresql(std::get<PostgresSource>(source), columns, limits);
}

}  // namespace sotto
