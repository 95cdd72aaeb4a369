// A connection to the PostgreSQL database that holds a ledger.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "postgresql/api/libpq.hpp"

namespace sotto::ledger_detail {

/// Returns the functions of libpq. Throws LedgerError, which names the package to install, if the
/// library is absent.
const postgresql::Libpq& libpq();

/// Returns the connection string for libpq. It states host, address and TLS mode explicitly, so
/// that neither the environment nor a service file can direct the connection to another server or
/// switch TLS off. Throws LedgerError if the URI cannot be read, or names a server on another
/// machine without sslmode=verify-full.
std::string connection_string(const std::string& uri);

/// The result of a statement.
class PgResult {
 public:
  explicit PgResult(PGresult* result) : result_(result) {}
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::string state()
      const;  // the five characters of SQLSTATE; empty if the server did not answer
  [[nodiscard]] std::string tag() const;  // the command that was executed, such as COMMIT
  [[nodiscard]] int rows() const;
  [[nodiscard]] std::string text(int row, int column) const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { libpq().clear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

/// One connection. It is not safe for concurrent callers.
class PgConnection {
 public:
  /// Throws LedgerError if the server cannot be reached or refuses the connection.
  explicit PgConnection(const std::string& uri);

  /// Executes one statement with its parameters.
  [[nodiscard]] PgResult run(const char* sql, const std::vector<std::string>& parameters) const;
  /// Executes several statements without parameters.
  [[nodiscard]] PgResult run(const std::string& sql) const;
  [[nodiscard]] bool lost() const;
  /// Connects to the server again. Returns false if the server cannot be reached.
  [[nodiscard]] bool regain() const;
  /// Returns the last error, on one line.
  [[nodiscard]] std::string error() const;
  /// Returns a name as an SQL identifier, in quotes.
  [[nodiscard]] std::string quoted(const std::string& name) const;

 private:
  struct Finish {
    void operator()(PGconn* connection) const { libpq().finish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace sotto::ledger_detail
