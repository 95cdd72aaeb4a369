// PostgreSQL's client library, libpq, loaded at its first use: sotto runs without it until a
// PostgreSQL server is named. This header is private; no public header includes it.
#pragma once

#include <libpq-fe.h>

#include <stdexcept>
#include <string>

namespace sotto::postgresql {

/// The error for a libpq that is not installed or too old. what() says what to do, detail() is the
/// loader's own message.
class ClientUnavailable : public std::runtime_error {
 public:
  ClientUnavailable(const std::string& what, std::string detail)
      : std::runtime_error(what), detail_(std::move(detail)) {}
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

// The functions of libpq that sotto calls, without their prefix PQ.
// clang-format off
#define SOTTO_LIBPQ_FUNCTIONS(X) \
  X(connectdb) X(connectStartParams) X(connectPoll) X(reset) X(finish) X(status) X(errorMessage) X(parameterStatus) X(socket) \
  X(conninfo) X(conninfoParse) X(conninfoFree) X(setNoticeProcessor) X(setnonblocking) X(exec) X(execParams) X(sendQuery) X(sendQueryParams) \
  X(flush) X(consumeInput) X(isBusy) X(getResult) X(getCopyData) X(getCancel) X(cancel) X(freeCancel) X(resultStatus) X(resultErrorMessage) \
  X(resultErrorField) X(cmdStatus) X(ntuples) X(nfields) X(ftype) X(getisnull) X(getvalue) X(getlength) X(clear) X(escapeIdentifier) X(freemem)
// clang-format on

/// The functions of libpq as pointers: `libpq().exec` is PQexec.
struct Libpq {
#define SOTTO_DECLARE(name) decltype(&::PQ##name) name = nullptr;
  SOTTO_LIBPQ_FUNCTIONS(SOTTO_DECLARE)
#undef SOTTO_DECLARE
};

/// Returns libpq, which is loaded at the first call and never unloaded. Safe for concurrent
/// callers. Throws ClientUnavailable if it cannot be loaded.
const Libpq& libpq();

/// Returns whether every host of a list is this machine. `hosts` is libpq's comma-separated list; a
/// host is this machine if it is empty (the default socket), the folder of a Unix socket,
/// "localhost", or a loopback address.
bool all_on_this_machine(const std::string& hosts);

}  // namespace sotto::postgresql
