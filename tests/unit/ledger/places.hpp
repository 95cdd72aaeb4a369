// A ledger in each kind of place: a file, and a database of a server that the test starts.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "../../support/postgres_server.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {

enum class Kind { file, database };

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

  /// The same name is the same place.
  std::string place(const std::string& name = "budget") {
    if (kind_ == Kind::file) return (folder_ / name).string();
    return databases_.insert(name).second ? server_->database(name) : server_->uri(name);
  }
  /// Changes rows behind the ledger's back, as one who may do everything.
  void tamper(const std::string& name, const std::string& sql) {
    if (kind_ == Kind::database) {
      server_->sql("SET search_path = sotto_ledger; ALTER TABLE entry DISABLE TRIGGER USER; ALTER TABLE founding DISABLE TRIGGER USER; " + sql, name);
      return;
    }
    execute(name, "DROP TRIGGER entry_stays; DROP TRIGGER entry_remains; DROP TRIGGER founding_stays; " + sql);
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

/// A test of both kinds.
class AnyLedger : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::database && !PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed (Debian: postgresql)";
    places_ = std::make_unique<Places>(GetParam());
  }
  std::string place(const std::string& name = "budget") { return places_->place(name); }
  Places& places() { return *places_; }
  Ledger fresh(const Budget& budget = ZcdpBudget{0.5, 1e-6}) { return Ledger::create(place(), {"people", "person", Relation::add_remove, budget}); }

 private:
  std::unique_ptr<Places> places_;
};

inline std::string kind_name(const ::testing::TestParamInfo<Kind>& info) { return info.param == Kind::file ? "File" : "Database"; }

}  // namespace sotto
