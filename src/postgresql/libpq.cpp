// libpq by dlopen and dlsym.
#include "postgresql/api/libpq.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace sotto::postgresql {
namespace {

template <typename Function>
void resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw ClientUnavailable("the installed libpq is too old: install version 12 or later", name);
}

Libpq load() {
  void* library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw ClientUnavailable(
        "libpq, which talks to PostgreSQL, is not installed; as root, type: apt-get install libpq5",
        dlerror());
  Libpq functions;
#define SOTTO_RESOLVE(name) resolve(library, "PQ" #name, functions.name);
  SOTTO_LIBPQ_FUNCTIONS(SOTTO_RESOLVE)
#undef SOTTO_RESOLVE
  return functions;
}

bool is_this_machine(const std::string& host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "localhost" ||
         host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

}  // namespace

const Libpq& libpq() {
  static const Libpq functions = load();
  return functions;
}

bool all_on_this_machine(const std::string& hosts) {
  for (std::size_t start = 0; start <= hosts.size();) {
    const std::size_t comma = std::min(hosts.find(',', start), hosts.size());
    if (!is_this_machine(hosts.substr(start, comma - start))) return false;
    start = comma + 1;
  }
  return true;
}

}  // namespace sotto::postgresql
