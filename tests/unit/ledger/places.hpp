// Places for ledgers in tests: files, and databases of a server that the test starts.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "../../support/postgres_server.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {

enum class Kind { file, database };

// The keys of all ledgers of a test, by the ledgers' ids. A database has no folder for its key, and
// a copy of a ledger needs the original's key.
class TestKeys {
 public:
  static std::string of(const std::string& id) { return (folder() / (id + ".key")).string(); }

 private:
  static const std::filesystem::path& folder() {
    struct Folder {
      std::filesystem::path path;
      Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "sotto-keys-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for keys");
        path = name;
      }
      ~Folder() { std::filesystem::remove_all(path); }
    };
    static const Folder keys;
    return keys.path;
  }
};

/// Ledger::create, open and import with the ledger's key from TestKeys.
inline Ledger open_ledger(const std::string& place, LedgerOptions options = {}) {
  options.key = TestKeys::of(Ledger::open(place, options).id());
  return Ledger::open(place, options);
}
inline Ledger create_ledger(const std::string& place, const Terms& terms,
                            LedgerOptions options = {}) {
  options.key = TestKeys::of("new");
  const std::string id = Ledger::create(place, terms, options).id();
  std::filesystem::rename(options.key, TestKeys::of(id));
  return open_ledger(place, options);
}
inline Ledger import_ledger(const std::string& place, const std::string& text,
                            LedgerOptions options = {}) {
  options.key = TestKeys::of("new");
  const std::string id = Ledger::import(place, text, options).id();
  if (std::filesystem::exists(options.key)) std::filesystem::rename(options.key, TestKeys::of(id));
  return open_ledger(place, options);
}

class Places {
 public:
  explicit Places(Kind kind, const std::string& settings = "") : kind_(kind) {
    std::string name = (std::filesystem::temp_directory_path() / "sotto-ledger-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for ledgers");
    folder_ = name;
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    if (kind == Kind::database) server_ = std::make_unique<PostgresServer>(settings);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() { std::filesystem::remove_all(folder_); }

  /// Returns the place with this name; equal names give equal places.
  std::string place(const std::string& name = "budget") {
    if (kind_ == Kind::file) return (folder_ / name).string();
    return databases_.insert(name).second ? server_->database(name) : server_->uri(name);
  }
  /// Changes rows as an attacker with all rights in the store, past triggers.
  void tamper(const std::string& name, const std::string& sql) {
    if (kind_ == Kind::database) {
      server_->sql(
          "SET search_path = sotto_ledger; ALTER TABLE entry DISABLE TRIGGER USER; ALTER TABLE "
          "founding DISABLE TRIGGER USER; ALTER TABLE answer "
          "DISABLE TRIGGER USER; " +
              sql,
          name);
      return;
    }
    // Drop the triggers, and create them again as they were.
    execute(name,
            "CREATE TEMP TABLE made AS SELECT rowid AS place, * FROM main.sqlite_schema; PRAGMA "
            "writable_schema=ON; DELETE FROM main.sqlite_schema "
            "WHERE type='trigger'; PRAGMA writable_schema=RESET; " +
                sql +
                "; PRAGMA writable_schema=ON; INSERT INTO main.sqlite_schema SELECT type, name, "
                "tbl_name, rootpage, sql FROM made WHERE "
                "type='trigger' ORDER BY place; PRAGMA writable_schema=RESET");
  }
  /// Runs SQL as the place's owner; throws if it is refused.
  void execute(const std::string& name, const std::string& sql) {
    if (kind_ == Kind::database) {
      server_->sql("SET search_path = sotto_ledger; " + sql, name);
      return;
    }
    sqlite3* database = nullptr;
    sqlite3_open(place(name).c_str(), &database);
    const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(database);
    if (code != SQLITE_OK) throw std::runtime_error("refused");
  }
  PostgresServer& server() { return *server_; }

 private:
  Kind kind_;
  std::filesystem::path folder_;
  std::unique_ptr<PostgresServer> server_;
  std::set<std::string> databases_;
};

/// Returns whether a ledger can be opened and is sound.
inline bool is_sound(const std::string& place, const std::optional<Head>& expected = std::nullopt) {
  try {
    return Ledger::open(place).verify(expected).sound;
  } catch (const LedgerError&) {
    return false;
  }
}

/// The base of tests for both kinds of places.
class AnyLedger : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::database && !PostgresServer::installed())
      GTEST_SKIP() << "no PostgreSQL server is installed (Debian: postgresql)";
    places_ = std::make_unique<Places>(GetParam());
  }
  std::string place(const std::string& name = "budget") { return places_->place(name); }
  Places& places() { return *places_; }
  Ledger fresh(const Budget& budget = ZcdpBudget{0.5, 1e-6}) {
    return create_ledger(place(), {"people", "person", Relation::add_remove, budget});
  }

 private:
  std::unique_ptr<Places> places_;
};

inline std::string kind_name(const ::testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::file ? "File" : "Database";
}

}  // namespace sotto
