// Opens sources, and the defaults of the class Engine.
#include "sotto/data/engine.hpp"

#include <set>

#include "data/engines/engines.hpp"
#include "data/engines/images/engine.hpp"
#include "data/sql/select.hpp"
#include "data/text/utf8.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {

// DuckDB ignores the case of names: two that differ in case only are equal.
void data_detail::check_columns(const std::vector<Column>& columns) {
  if (columns.empty()) throw InvalidValue("a table needs at least one declared column");
  std::set<std::string> seen;
  for (const auto& column : columns) {
    if (column.name.empty() || !data_detail::is_text(column.name))
      throw InvalidValue("the name of a column must be valid UTF-8 and not empty");
    std::string lower;
    for (const char c : column.name)
      lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!seen.insert(lower).second)
      throw InvalidValue("the column \"" + column.name +
                         "\" is declared twice: engines ignore the case of names");
  }
}

void Engine::stream(const std::string&, const std::vector<Batch::Kind>&, const BatchCallback&,
                    const Progress&) {
  throw EngineError("this engine cannot stream rows", "");
}

RowsRead Engine::rows_read() { return {.records = 1, .counted = false}; }

RowsRead data_detail::any_row(Engine& engine) {
  const Select one_row{
      .columns = {alias(integer(1), "one")}, .from = EngineTable{engine.table()}, .limit = 1};
  const Select counted{.columns = {count_rows()}, .from = subquery(one_row, "t")};
  const Rows rows = engine.query(print(counted, sql_dialect(engine.dialect())));
  return {.records = std::get<std::int64_t>(rows.at(0, 0)), .counted = false};
}

std::unique_ptr<Engine> open_engine(const Source& source, const std::vector<Column>& columns,
                                    const Limits& limits) {
  data_detail::check_columns(columns);
  if (limits.threads < 0)
    throw InvalidValue("threads = " + std::to_string(limits.threads) +
                       " is negative: write 0 for all processors, or a number from 1");
  if (limits.memory < 0)
    throw InvalidValue("memory = " + std::to_string(limits.memory) +
                       " is negative: write 0 for the default, or a number of bytes");
  if (const auto* file = std::get_if<FileSource>(&source))
    return data_detail::open_duckdb(*file, columns, limits);
  if (const auto* images = std::get_if<IdxSource>(&source))
    return std::make_unique<data_detail::ImageEngine>(*images, columns, limits);
  if (const auto* spark = std::get_if<SparkSource>(&source))
    return data_detail::open_spark(*spark, columns, limits);
  return data_detail::open_postgresql(std::get<PostgresSource>(source), columns, limits);
}

}  // namespace sotto
