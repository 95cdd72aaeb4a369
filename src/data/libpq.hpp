// libpq, loaded when the first database is opened.
#pragma once

#include <libpq-fe.h>

namespace sotto::libpq {

struct Library {
  decltype(&PQconnectStartParams) connectStartParams;
  decltype(&PQconnectPoll) connectPoll;
  decltype(&PQstatus) status;
  decltype(&PQerrorMessage) errorMessage;
  decltype(&PQsocket) socket;
  decltype(&PQconninfo) conninfo;
  decltype(&PQconninfoFree) conninfoFree;
  decltype(&PQparameterStatus) parameterStatus;
  decltype(&PQfinish) finish;
  decltype(&PQsendQueryParams) sendQueryParams;
  decltype(&PQflush) flush;
  decltype(&PQconsumeInput) consumeInput;
  decltype(&PQisBusy) isBusy;
  decltype(&PQgetResult) getResult;
  decltype(&PQgetCancel) getCancel;
  decltype(&PQcancel) cancel;
  decltype(&PQfreeCancel) freeCancel;
  decltype(&PQresultStatus) resultStatus;
  decltype(&PQresultErrorMessage) resultErrorMessage;
  decltype(&PQntuples) ntuples;
  decltype(&PQnfields) nfields;
  decltype(&PQftype) ftype;
  decltype(&PQgetisnull) getisnull;
  decltype(&PQgetvalue) getvalue;
  decltype(&PQgetlength) getlength;
  decltype(&PQclear) clear;
  decltype(&PQsetnonblocking) setnonblocking;
  decltype(&PQgetCopyData) getCopyData;
  decltype(&PQfreemem) freemem;
};

/// EngineError if it is not installed.
const Library& load();

}  // namespace sotto::libpq
