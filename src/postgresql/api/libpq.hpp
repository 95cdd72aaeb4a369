// libpq, PostgreSQL's client library, loaded when it is first needed: who has no server needs no library, and every other command starts without
// it. For sotto's own sources: no public header shows it.
#pragma once

#include <libpq-fe.h>

#include <stdexcept>
#include <string>

namespace sotto::postgresql {

/// libpq is not installed, or too old. what() says what to do, detail() what the loader said.
class NoClient : public std::runtime_error {
 public:
  NoClient(const std::string& what, std::string detail) : std::runtime_error(what), detail_(std::move(detail)) {}
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

// The functions that sotto calls, without PQ.
// clang-format off
#define SOTTO_LIBPQ_FUNCTIONS(X) \
  X(connectdb) X(connectStartParams) X(connectPoll) X(reset) X(finish) X(status) X(errorMessage) X(parameterStatus) X(socket) \
  X(conninfo) X(conninfoParse) X(conninfoFree) X(setNoticeProcessor) X(setnonblocking) X(exec) X(execParams) X(sendQuery) X(sendQueryParams) \
  X(flush) X(consumeInput) X(isBusy) X(getResult) X(getCopyData) X(getCancel) X(cancel) X(freeCancel) X(resultStatus) X(resultErrorMessage) \
  X(resultErrorField) X(cmdStatus) X(ntuples) X(nfields) X(ftype) X(getisnull) X(getvalue) X(getlength) X(clear) X(escapeIdentifier) X(freemem)
// clang-format on

struct Libpq {
#define SOTTO_DECLARE(name) decltype(&::PQ##name) name = nullptr;
  SOTTO_LIBPQ_FUNCTIONS(SOTTO_DECLARE)
#undef SOTTO_DECLARE
};

/// Loaded once and never unloaded. NoClient if it cannot be.
const Libpq& libpq();

/// Whether each of a list of hosts, as libpq reads it, is this machine: a socket's folder (or none: the default one), or a name or address of it.
bool all_here(const std::string& hosts);

}  // namespace sotto::postgresql
