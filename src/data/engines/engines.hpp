// The engines, with one function each that opens it.
#pragma once

#include "sotto/data/arrow.hpp"
#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// `unreadable_flags` are optional names of further columns, one boolean for each column: true if
/// the value is NULL because it cannot be read as the declared type.
std::unique_ptr<Engine> open_duckdb(const FileSource& source, const std::vector<Column>& columns,
                                    const Limits& limits,
                                    const std::vector<std::string>& unreadable_flags = {});
std::unique_ptr<Engine> open_postgresql(const PostgresSource& source,
                                        const std::vector<Column>& columns, const Limits& limits,
                                        const std::vector<std::string>& unreadable_flags = {});
std::unique_ptr<Engine> open_spark(const SparkSource& source, const std::vector<Column>& columns,
                                   const Limits& limits,
                                   const std::vector<std::string>& unreadable_flags = {});
std::unique_ptr<Engine> open_arrow(const ArrowTable& table, const std::vector<Column>& columns,
                                   const Limits& limits, bool trim);
/// Returns the number of records that the last statement of a DuckDB engine skipped; 0 for others.
std::int64_t malformed_records(const Engine& engine);

/// Returns 1 record if the table has any row, else 0, by a query for one row.
RowsRead any_row(Engine& engine);

/// Return the stored columns, each with the declared type that fits it best. Columns without one
/// are omitted, and added to `left_out`.
std::vector<Column> columns_of_table(const PostgresSource& source, const Limits& limits,
                                     std::vector<std::string>& left_out);
std::vector<Column> columns_of_spark(const SparkSource& source, const Limits& limits);
std::vector<Column> columns_of_parquet(const FileSource& source, const Limits& limits,
                                       std::vector<std::string>& left_out);

/// Throws InvalidValue if there is no column, or a name is empty, not UTF-8, or equal to another
/// one in the engines, which ignore case.
void check_columns(const std::vector<Column>& columns);

}  // namespace sotto::data_detail
