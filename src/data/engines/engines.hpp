// The engines, one function each.
#pragma once

#include "sotto/data/arrow.hpp"
#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// Marks are names of booleans, one a column: whether a value is NULL because it cannot be read. None: they are not in the table.
std::unique_ptr<Engine> open_duckdb(const FileSource& source, const std::vector<Column>& columns, const Limits& limits,
                                    const std::vector<std::string>& marks = {});
std::unique_ptr<Engine> open_postgresql(const PostgresSource& source, const std::vector<Column>& columns, const Limits& limits,
                                        const std::vector<std::string>& marks = {});
std::unique_ptr<Engine> open_spark(const SparkSource& source, const std::vector<Column>& columns, const Limits& limits,
                                   const std::vector<std::string>& marks = {});
std::unique_ptr<Engine> open_arrow(const ArrowTable& table, const std::vector<Column>& columns, const Limits& limits, bool trim);
/// How many records the last query of an engine of open_duckdb() left out; 0 of another.
std::int64_t malformed_records(const Engine& engine);

/// Whether the table has any row, by asking for one.
RowsRead any_row(Engine& engine);

/// The columns that are stored, with the types that fit best; those with none are left out.
std::vector<Column> columns_of_table(const PostgresSource& source, const Limits& limits, std::vector<std::string>& left_out);
std::vector<Column> columns_of_spark(const SparkSource& source, const Limits& limits);
std::vector<Column> columns_of_parquet(const FileSource& source, const Limits& limits, std::vector<std::string>& left_out);

/// InvalidValue for names that engines do not keep apart.
void check_columns(const std::vector<Column>& columns);

}  // namespace sotto::data_detail
