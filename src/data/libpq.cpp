#include "libpq.hpp"

#include <dlfcn.h>

#include <string>

#include "sotto/data/engine.hpp"

namespace sotto::libpq {
namespace {

template <typename Function>
void resolve(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
  if (function == nullptr) throw EngineError("the libpq that was found is too old", name);
}

Library resolved() {
  void* handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw EngineError("libpq, which talks to PostgreSQL, is not installed; as root, type: apt-get install libpq5", dlerror());
  Library library{};
#define SOTTO_RESOLVE(name) resolve(handle, "PQ" #name, library.name)
  SOTTO_RESOLVE(connectStartParams);
  SOTTO_RESOLVE(connectPoll);
  SOTTO_RESOLVE(status);
  SOTTO_RESOLVE(errorMessage);
  SOTTO_RESOLVE(socket);
  SOTTO_RESOLVE(conninfo);
  SOTTO_RESOLVE(conninfoFree);
  SOTTO_RESOLVE(parameterStatus);
  SOTTO_RESOLVE(finish);
  SOTTO_RESOLVE(sendQueryParams);
  SOTTO_RESOLVE(flush);
  SOTTO_RESOLVE(consumeInput);
  SOTTO_RESOLVE(isBusy);
  SOTTO_RESOLVE(getResult);
  SOTTO_RESOLVE(getCancel);
  SOTTO_RESOLVE(cancel);
  SOTTO_RESOLVE(freeCancel);
  SOTTO_RESOLVE(resultStatus);
  SOTTO_RESOLVE(resultErrorMessage);
  SOTTO_RESOLVE(ntuples);
  SOTTO_RESOLVE(nfields);
  SOTTO_RESOLVE(ftype);
  SOTTO_RESOLVE(getisnull);
  SOTTO_RESOLVE(getvalue);
  SOTTO_RESOLVE(getlength);
  SOTTO_RESOLVE(clear);
  SOTTO_RESOLVE(setnonblocking);
  SOTTO_RESOLVE(getCopyData);
  SOTTO_RESOLVE(freemem);
#undef SOTTO_RESOLVE
  return library;
}

}  // namespace

const Library& load() {
  static const Library library = resolved();
  return library;
}

}  // namespace sotto::libpq
