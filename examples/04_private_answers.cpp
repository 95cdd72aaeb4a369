// From rows to private answers: what was spent in each region, charged to a ledger.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "sotto/sotto.hpp"

namespace {

// Two visits of each of a thousand made-up people.
void write_visits(const std::string& path) {
  std::ofstream file(path);
  file << "person,region,spent\n";
  for (int person = 0; person < 1000; ++person) {
    const char* region = person % 3 == 0 ? "north" : "south";
    for (int visit = 0; visit < 2; ++visit)
      file << person << ',' << region << ',' << 20 + person % 50 << '\n';
  }
}

}  // namespace

int main() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("sotto_example_" + std::to_string(getpid()));
  fs::create_directories(folder);
  fs::current_path(folder);
  write_visits("visits.csv");
  int status = 0;
  try {
    using namespace sotto;
    const Table visits("visits.csv", {.columns = {{.name = "person", .type = Type::integer},
                                                  listed_column("region", {"north", "south"}),
                                                  bounded_column("spent", 0, 100)},
                                      .unit = "person"});
    Ledger ledger = visits.open_or_create_ledger("visits.sotto", ApproximateBudget{1.0, 1e-6});
    const TableQuestion spent =
        visits.group_by("region").limit_rows(2).limit_groups(1).sum("spent");
    const ReleasedNumbers answers = visits.answer(ledger, spent, {.epsilon = 0.1});
    for (const ReleasedNumber& n : answers.numbers) {
      std::cout << n.keys[0] << ": " << n.value << "  (" << n.low << " to " << n.high << ", "
                << n.limit << ")\n";
    }
  } catch (const sotto::EngineError& error) {
    std::cout << "skipped: " << error.what() << "\n";  // without DuckDB no file can be read
    status = 77;
  }
  fs::current_path("/");
  fs::remove_all(folder);
  return status;
}
