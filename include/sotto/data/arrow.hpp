// A table in memory as an engine: columns that another library hands over by the Arrow C data interface, read where they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Batches of rows that stay where they are. Copies share them; they are released with the last one, on its thread.
class ArrowTable {
 public:
  /// Takes over a stream, an `ArrowArrayStream*` of the Arrow C stream interface, and holds all of its batches. InvalidValue for a stream that is
  /// no table; EngineError if it fails.
  explicit ArrowTable(void* stream);
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::vector<std::string> names() const;

  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// DuckDB on these rows, without a copy of a column: values are read batch by batch as statements run. A value that is not of the declared type is
/// NULL, as for files. A column with a dictionary is its values, and a time with a zone is taken in UTC, as it is stored. InvalidValue if a declared
/// column is not there or is stored as a type that does not fit; EngineError without DuckDB. `trim`: blanks at the ends of texts are left out.
std::unique_ptr<Engine> open_engine(const ArrowTable& table, const std::vector<Column>& columns, const Limits& limits = {}, bool trim = false);

}  // namespace sotto
