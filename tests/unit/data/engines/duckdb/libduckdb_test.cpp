// Loading libduckdb.so: only with a listed hash, which is checked before any of its code runs. A
// process loads one library, so that each case runs in its own process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sotto/data/engine.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class LibDuckDb : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::ofstream(folder / "any.csv") << "a\n1\n";
  }
  ~LibDuckDb() override { fs::remove_all(folder); }

  // Opens an engine in a child process. Its error goes to stderr; its status is 0 if it opened.
  [[noreturn]] void open(const Limits& limits) const {
    try {
      open_engine(FileSource{folder / "any.csv", ""}, {{"a", Type::integer}}, limits);
      std::fputs("opened\n", stderr);
      _exit(0);
    } catch (const EngineError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  fs::path copy(const char* name) const {
    fs::copy_file(libduckdb, folder / name);
    return folder / name;
  }

  const fs::path libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";
  fs::path folder = [] {
    char name[] = "/tmp/sotto-libduckdb-XXXXXX";
    return fs::path(mkdtemp(name));
  }();
};

TEST_F(LibDuckDb, AListedHashIsLoadedFromAnyPath) {
  EXPECT_EXIT(open({.duckdb = copy("any.so")}), testing::ExitedWithCode(0), "opened");
}

TEST_F(LibDuckDb, AnUnlistedHashIsRefusedUnlessAllowed) {
  const fs::path changed = copy("changed.so");
  std::ofstream(changed, std::ios::app) << "!";
  EXPECT_EXIT(open({.duckdb = changed}), testing::ExitedWithCode(1),
              "changed.so is not a DuckDB that sotto knows: its SHA-256 is [0-9a-f]+");
  EXPECT_EXIT(open({.duckdb = changed, .any_duckdb = true}), testing::ExitedWithCode(0), "opened");
}

TEST_F(LibDuckDb, OtherFilesAreNotLoaded) {
  std::ofstream(folder / "text.so") << "no library";
  EXPECT_EXIT(open({.duckdb = folder / "text.so"}), testing::ExitedWithCode(1),
              "is not a DuckDB that sotto knows");
  EXPECT_EXIT(open({.duckdb = folder / "text.so", .any_duckdb = true}), testing::ExitedWithCode(1),
              "cannot be loaded");
  EXPECT_EXIT(open({.duckdb = folder / "lost.so"}), testing::ExitedWithCode(1), "not installed");
}

TEST_F(LibDuckDb, TheLinkersSearchPathIsNotUsed) {
  std::ofstream(folder / "libduckdb.so") << "planted";
  setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
  fs::current_path(folder);
  EXPECT_EXIT(open({}), testing::ExitedWithCode(0),
              "opened");  // lib/sotto beside the folder of this program
}

}  // namespace
}  // namespace sotto
