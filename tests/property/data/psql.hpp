// A PostgreSQL server of the test's own, asked through psql: with a collation that is not that of bytes, and settings that change how
// constants are read and values are written.
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "sotto/data/engine.hpp"

namespace sotto::testing {

class Psql : public Engine {
 public:
  /// Starts a server; nullptr if PostgreSQL is not installed.
  static std::unique_ptr<Psql> start() {
    namespace fs = std::filesystem;
    fs::path newest;
    if (fs::exists("/usr/lib/postgresql")) {
      for (const auto& version : fs::directory_iterator("/usr/lib/postgresql")) {
        if (fs::exists(version.path() / "bin/initdb")) newest = std::max(newest, version.path() / "bin");
      }
    }
    if (newest.empty()) return nullptr;
    return std::unique_ptr<Psql>(new Psql(newest));
  }
  ~Psql() override {
    (void)std::system((as_owner_ + (programs_ / "pg_ctl").string() + " -D " + data() + " -m immediate stop > /dev/null 2>&1").c_str());
    std::filesystem::remove_all(folder_);
  }
  Psql(const Psql&) = delete;
  Psql& operator=(const Psql&) = delete;

  [[nodiscard]] Dialect dialect() const override { return Dialect::postgresql; }
  [[nodiscard]] std::string table() const override { return ""; }

  /// Whole numbers and NULLs alone.
  Rows query(const std::string& sql, const Progress& /*progress*/ = {}) override {
    std::ofstream(folder_ / "query.sql") << sql << ";\n";
    const std::string settings = "-c standard_conforming_strings=off -c escape_string_warning=off -c datestyle=German -c extra_float_digits=-5";
    run("PGOPTIONS='" + settings + "' " + (programs_ / "psql").string() + " -X -q -t --csv -v ON_ERROR_STOP=1 -h " + folder_.string() +
        " -U sotto -d postgres -f " + (folder_ / "query.sql").string());
    Rows rows;
    std::ifstream answer(folder_ / "answer");
    for (std::string line; std::getline(answer, line);) {
      rows.width = 0;
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ','); ++rows.width) {
        rows.cells.emplace_back();
        if (!cell.empty()) rows.cells.back() = std::int64_t{std::stoll(cell)};
      }
    }
    return rows;
  }

 private:
  explicit Psql(std::filesystem::path programs) : programs_(std::move(programs)) {
    std::string name = (std::filesystem::temp_directory_path() / "sotto-psql-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    if (geteuid() == 0) {  // a server refuses to run as root
      const passwd* owner = getpwnam("postgres");
      if (owner == nullptr || chown(folder_.c_str(), owner->pw_uid, owner->pw_gid) != 0) throw EngineError("no user postgres", "");
      as_owner_ = "setpriv --reuid=postgres --regid=postgres --clear-groups ";
    }
    run(as_owner_ + (programs_ / "initdb").string() + " -N -A trust -U sotto -E UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en -D " +
        data());
    run(as_owner_ + (programs_ / "pg_ctl").string() + " -D " + data() + " -w -l " + data() + "/log -o \"-k " + folder_.string() +
        " -c listen_addresses= -c fsync=off\" start");
  }
  [[nodiscard]] std::string data() const { return (folder_ / "data").string(); }
  void run(const std::string& command) const {
    const std::string answer = (folder_ / "answer").string();
    if (std::system((command + " > " + answer + " 2> " + answer + ".error").c_str()) == 0) return;
    std::ostringstream error;
    error << std::ifstream(answer + ".error").rdbuf();
    throw EngineError("PostgreSQL failed", error.str());
  }

  std::filesystem::path programs_;
  std::filesystem::path folder_;
  std::string as_owner_;
};

}  // namespace sotto::testing
