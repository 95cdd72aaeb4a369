// A connection to the database that holds a ledger.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "postgresql/api/libpq.hpp"

namespace sotto::ledger_detail {

/// LedgerError, with the package's name, where there is none.
const postgresql::Libpq& libpq();

/// A URI as libpq is told it: host, address and TLS said outright, so that neither the environment nor a service file
/// can change them. LedgerError for a URI that cannot be read, and for a server on another machine without sslmode=verify-full.
std::string connection_string(const std::string& uri);

/// The rows of an answer.
class PgResult {
 public:
  explicit PgResult(PGresult* result) : result_(result) {}
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::string state() const;  // the five letters of SQLSTATE, empty without a server's answer
  [[nodiscard]] std::string tag() const;    // what was done, such as COMMIT
  [[nodiscard]] int rows() const;
  [[nodiscard]] std::string text(int row, int column) const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { libpq().clear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

/// One connection.
class PgConnection {
 public:
  /// LedgerError if the server cannot be reached or refuses.
  explicit PgConnection(const std::string& uri);

  /// One statement with its parameters, or several without.
  [[nodiscard]] PgResult run(const char* sql, const std::vector<std::string>& parameters) const;
  [[nodiscard]] PgResult run(const std::string& sql) const;
  [[nodiscard]] bool lost() const;
  /// Tries to reach the server again; false if it cannot be.
  [[nodiscard]] bool regain() const;
  /// The last error, on one line.
  [[nodiscard]] std::string error() const;
  /// A name as it is written in SQL.
  [[nodiscard]] std::string quoted(const std::string& name) const;

 private:
  struct Finish {
    void operator()(PGconn* connection) const { libpq().finish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace sotto::ledger_detail
