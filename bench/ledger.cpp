// Measures how many charges per second a ledger makes durable, one by one and in batches, against
// the limit of the disk: synced writes of one page to the same file system.
#include "sotto/ledger/ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../tests/support/postgres_server.hpp"

namespace {

using namespace sotto;
using Clock = std::chrono::steady_clock;

// Returns the rate per second of an operation that each call of f does `each` times, over about two
// seconds.
double rate(int each, const std::function<void()>& f) {
  f();
  const auto start = Clock::now();
  int calls = 0;
  double seconds = 0;
  while (seconds < 2) {
    f();
    ++calls;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return calls * each / seconds;
}

double raw_syncs(const std::filesystem::path& folder) {
  const int file = open((folder / "raw").c_str(), O_RDWR | O_CREAT, 0600);
  const std::vector<char> page(4096, 's');
  off_t place = 0;
  const double result = rate(1, [&] {
    if (pwrite(file, page.data(), page.size(), place) != static_cast<ssize_t>(page.size()) ||
        fsync(file) != 0)
      std::perror("fsync");
    place = (place + 4096) % (4096 * 256);
  });
  close(file);
  return result;
}

void line(const char* what, double rate, double raw) {
  std::printf("%-44s %10.0f / s   %8.3f of the disk's\n", what, rate, rate / raw);
}

void measure(const char* kind, const std::string& place, const std::string& key, double raw) {
  Ledger ledger = Ledger::create(
      place, {"people", "person", Relation::add_remove, ApproximateBudget{1e9, 0}}, {.key = key});
  int next = 0;
  const double one = rate(1, [&] { ledger.charge(std::to_string(next++), "", pure(1e-3)); });
  line((std::string(kind) + ": charges, each durable").c_str(), one, raw);
  const double many = rate(1000, [&] {
    std::vector<Ledger::ChargeRequest> orders;
    for (int i = 0; i < 1000; ++i) orders.push_back({std::to_string(next++), "", pure(1e-3)});
    ledger.charge(orders);
  });
  line((std::string(kind) + ": charges, durable in batches of 1000").c_str(), many, raw);
  const auto opened = Clock::now();
  (void)Ledger::open(place, {.key = key}).head();
  std::printf("%-44s %10.0f / s   before each command\n",
              (std::string(kind) + ": entries, chain verified").c_str(),
              next / std::chrono::duration<double>(Clock::now() - opened).count());
  const auto start = Clock::now();
  const bool sound = ledger.verify().sound;
  std::printf("%-44s %10.0f / s   %s\n", (std::string(kind) + ": entries verified").c_str(),
              next / std::chrono::duration<double>(Clock::now() - start).count(),
              sound ? "all sound" : "NOT SOUND");
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder =
      (argc > 1 ? std::filesystem::path(argv[1]) : std::filesystem::temp_directory_path()) /
      "sotto-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  const double raw = raw_syncs(folder);
  std::printf("%-44s %10.0f / s\n", "the disk: synced writes of 4 KiB", raw);
  measure("SQLite", folder + "/budget.sotto", folder + "/file.key", raw);
  if (PostgresServer::installed()) {
    PostgresServer server("", nullptr, argc > 1 ? argv[1] : std::filesystem::temp_directory_path());
    measure("PostgreSQL", server.uri(), folder + "/database.key", raw);
  } else {
    std::printf("PostgreSQL: no server is installed (Debian: postgresql)\n");
  }
  std::filesystem::remove_all(folder);
  return 0;
}
