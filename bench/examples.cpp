// Compares the time to read a Parquet file as training rows with that of a plain DuckDB scan:
// `./dev bench examples`.
//
//   bench_examples [ROWS [FOLDER]]   FOLDER (default build/bench-examples) gets the file, whose
//                                    rows (default 10,000,000) have ten numbers, a target and a
//                                    unit
//
// Times are the best of three, in turns. `plain` adds up the ten columns inside DuckDB, `stream`
// transfers them and drops them, `rows` encodes and orders them, with each row a unit, and `units`
// does so for units of ten rows on average, of which at most four are used.
#include "sotto/data/examples.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sotto;
namespace fs = std::filesystem;

constexpr int width = 10;

// DuckDB alone, without sotto.
class PlainDuckdb {
 public:
  explicit PlainDuckdb(const fs::path& library)
      : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(library.string() + " cannot be loaded");
    if (function<int(const char*, void**)>("duckdb_open")(nullptr, &database_) != 0 ||
        function<int(void*, void**)>("duckdb_connect")(database_, &connection_) != 0) {
      throw std::runtime_error("DuckDB cannot be opened");
    }
  }
  void run(const std::string& sql) const {
    if (function<int(void*, const char*, void*)>("duckdb_query")(connection_, sql.c_str(),
                                                                 nullptr) != 0)
      throw std::runtime_error("refused: " + sql);
  }

 private:
  template <class F>
  [[nodiscard]] F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }
  void* handle_;
  void* database_ = nullptr;
  void* connection_ = nullptr;
};

std::string each_column(const std::string& before, const std::string& after) {
  std::string text;
  for (int c = 0; c < width; ++c)
    text += (c == 0 ? "" : ", ") + before + "x" + std::to_string(c) + after;
  return text;
}

double seconds_of(const std::function<void()>& work) {
  const auto from = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

}  // namespace

int main(int count, char** words) {
  const std::string rows = count > 1 ? words[1] : "10000000";
  const fs::path folder = count > 2 ? words[2] : SOTTO_SOURCE_DIR "/build/bench-examples";
  const fs::path library = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";
  if (!fs::exists(library)) {
    std::printf("NOT MEASURED: DuckDB is not installed; type: ./dev duckdb\n");
    return 0;
  }
  fs::create_directories(folder);
  const PlainDuckdb plain(library);
  const fs::path file = folder / ("examples-" + rows + ".parquet");
  if (!fs::exists(file)) {
    std::string numbers;
    for (int c = 0; c < width; ++c)
      numbers += ", ((hash(range, " + std::to_string(c) + ") % 10000) / 100)::DOUBLE AS x" +
                 std::to_string(c);
    const fs::path part = folder / "examples-unfinished.parquet";
    plain.run("COPY (SELECT (hash(range) % (" + rows + " // 10))::BIGINT AS unit" + numbers +
              ", (hash(range, 99) % 2)::BIGINT AS y FROM range(" + rows + ")) TO '" +
              part.string() + "' (FORMAT parquet)");
    fs::rename(part, file);
  }

  std::vector<Column> columns{{"unit", Type::integer}, {"y", Type::integer}};
  for (int c = 0; c < width; ++c) columns.push_back({"x" + std::to_string(c), Type::real});
  ExampleQuery query;
  for (int c = 0; c < width; ++c) {
    const std::string name = "x" + std::to_string(c);
    query.features.push_back(
        {name, {Expression::parse(name, columns), std::nullopt}, Scaled{0, 100}});
  }
  query.target = Feature{"y",
                         {Expression::parse("y", columns), std::nullopt},
                         OneOf{{std::int64_t{0}, std::int64_t{1}}}};
  ExampleQuery of_units = query;
  of_units.unit = Expression::parse("unit", columns);
  of_units.rows_a_unit = 4;
  Limits limits;
  limits.duckdb = library;
  constexpr BoundingKey key{{1, 2, 3, 4}};

  struct Line {
    const char* name;
    std::function<void()> work;
    double seconds = INFINITY;
  };
  std::vector<Line> lines;
  lines.push_back(
      {"plain",
       [&] { plain.run("SELECT " + each_column("sum(", ")") + " FROM '" + file.string() + "'"); }});
  lines.push_back({"stream", [&] {
                     const auto engine = open_engine(FileSource{file}, columns, limits);
                     engine->stream("SELECT " + each_column("", "") + " FROM " + engine->table(),
                                    std::vector<Batch::Kind>(width, Batch::Kind::number),
                                    [](const Batch&) {});
                   }});
  lines.push_back({"rows", [&] {
                     (void)read_examples(*open_engine(FileSource{file}, columns, limits), columns,
                                         query, key, limits);
                   }});
  lines.push_back({"units", [&] {
                     (void)read_examples(*open_engine(FileSource{file}, columns, limits), columns,
                                         of_units, key, limits);
                   }});
  for (int round = 0; round < 3; ++round) {
    for (Line& line : lines) line.seconds = std::min(line.seconds, seconds_of(line.work));
  }
  double load[1] = {0};
  (void)getloadavg(load, 1);
  std::printf("%s rows of %d numbers on %u threads; the machine's load was %.1f\n", rows.c_str(),
              width, std::thread::hardware_concurrency(), load[0]);
  for (const Line& line : lines) {
    std::printf("%-8s %6.2f s %6.1f ns a row   %5.2f times plain\n", line.name, line.seconds,
                line.seconds / std::atof(rows.c_str()) * 1e9, line.seconds / lines.front().seconds);
  }
}
