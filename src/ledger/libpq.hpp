// PostgreSQL's client library, loaded when it is first needed: who has no server needs no library, and every other command starts
// without it.
#pragma once

#include <libpq-fe.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::ledger_detail {

/// The functions that are used, by their names without PQ.
struct Libpq {
  decltype(&::PQconnectdb) connectdb;
  decltype(&::PQreset) reset;
  decltype(&::PQfinish) finish;
  decltype(&::PQstatus) status;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
  decltype(&::PQexec) exec;
  decltype(&::PQexecParams) exec_params;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQresultErrorField) result_error_field;
  decltype(&::PQcmdStatus) cmd_status;
  decltype(&::PQntuples) ntuples;
  decltype(&::PQgetvalue) getvalue;
  decltype(&::PQgetlength) getlength;
  decltype(&::PQclear) clear;
  decltype(&::PQescapeIdentifier) escape_identifier;
  decltype(&::PQfreemem) freemem;
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconninfoFree) conninfo_free;
};

/// LedgerError, with the package's name, where there is none.
const Libpq& libpq();

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
