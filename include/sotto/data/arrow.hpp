// Tables in memory: columns that another library provides by the Arrow C data interface. DuckDB
// reads them in place, without a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// A table in the memory of another library, as Arrow batches. Copies share the batches; the last
/// copy releases them, on its thread.
class ArrowTable {
 public:
  /// Takes ownership of an `ArrowArrayStream*` of the Arrow C stream interface and reads all of its
  /// batches. Throws InvalidValue if the stream is not a table, EngineError if reading it fails.
  explicit ArrowTable(void* stream);
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::vector<std::string> names() const;

  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Opens DuckDB on the table's rows, without copying a column: values are read batch by batch while
/// a statement runs. As for files, a value that is not of the declared type is NULL. A
/// dictionary-encoded column has the values of its dictionary. A timestamp with a time zone is read
/// in UTC, as Arrow stores it. `trim` removes spaces and tabs at both ends of texts.
/// Throws InvalidValue if a declared column is absent or stored as a type that does not fit,
/// EngineError if DuckDB is absent.
std::unique_ptr<Engine> open_engine(const ArrowTable& table, const std::vector<Column>& columns,
                                    const Limits& limits = {}, bool trim = false);

}  // namespace sotto
