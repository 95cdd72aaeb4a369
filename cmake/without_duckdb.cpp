// The engine of files where sotto was built without DuckDB's header: it says so.
#include "engines.hpp"

namespace sotto {

std::unique_ptr<Engine> open_duckdb(const FileSource&, const std::vector<Column>&, const Limits&) {
  throw EngineError("DuckDB, which reads files of data, is not installed: this sotto was built without it; type: ./dev duckdb && ./dev build", "");
}

}  // namespace sotto
