// The engine for files where sotto was built without DuckDB's header: each function says so.
#include "data/engines/engines.hpp"

namespace sotto::data_detail {
namespace {

[[noreturn]] void refuse() {
  throw EngineError("DuckDB, which reads files of data, is not installed: this sotto was built without it; type: ./dev duckdb && ./dev build", "");
}

}  // namespace

std::unique_ptr<Engine> open_duckdb(const FileSource&, const std::vector<Column>&, const Limits&, const std::vector<std::string>&) { refuse(); }
std::unique_ptr<Engine> open_arrow(const ArrowTable&, const std::vector<Column>&, const Limits&, bool) { refuse(); }
std::int64_t malformed_records(const Engine&) { return 0; }
std::vector<Column> columns_of_parquet(const FileSource&, const Limits&, std::vector<std::string>&) { refuse(); }

}  // namespace sotto::data_detail
