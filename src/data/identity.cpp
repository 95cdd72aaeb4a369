// The canonical names of sources.
#include <memory>

#include "data/api/inspect.hpp"
#include "data/engines/postgresql/libpq.hpp"
#include "data/engines/spark/engine.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

/// Returns one name for all names of a host: "localhost" for this machine, else lower case. A
/// socket in an unusual folder keeps its own name, since it may belong to another server.
std::string canonical_host(const std::string& host) {
  if (host.empty() || host == "/var/run/postgresql" || host == "/run/postgresql" ||
      host == "/tmp" || host == "::1")
    return "localhost";
  if (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos)
    return "localhost";
  if (host.starts_with('/') || host.starts_with('@')) return host;
  std::string lower;
  for (const char c : host) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  while (lower.ends_with('.')) lower.pop_back();
  return lower;
}

std::string canonical_path(const std::filesystem::path& file) {
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(file, error);
  if (error) throw EngineError("cannot read " + file.string() + ": " + error.message(), "");
  return path.string();
}

std::string identity_of(const FileSource& source) { return canonical_path(source.path); }
std::string identity_of(const IdxSource& source) { return canonical_path(source.images); }

/// Where a connection to PostgreSQL leads.
struct PostgresAddress {
  std::string host;
  std::string address;
  std::string port;
  std::string database;
  std::string user;
};

/// Lets libpq read the connection, with the service file and the environment. It sends nothing.
PostgresAddress postgres_address(const PostgresSource& source) {
  const auto& library = data_detail::libpq();
  const char* const names[] = {"dbname", nullptr};
  const char* const values[] = {source.connection.c_str(), nullptr};
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(
      library.connectStartParams(names, values, 1), library.finish);
  if (!connection) throw std::bad_alloc();
  PostgresAddress parsed;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      library.conninfo(connection.get()), library.conninfoFree);
  for (const auto* option = options.get(); option != nullptr && option->keyword != nullptr;
       ++option) {
    const std::string keyword = option->keyword;
    const std::string value = option->val == nullptr ? "" : option->val;
    if (keyword == "host") parsed.host = value;
    if (keyword == "hostaddr") parsed.address = value;
    if (keyword == "port") parsed.port = value;
    if (keyword == "dbname") parsed.database = value;
    if (keyword == "user") parsed.user = value;
  }
  if (parsed.database.empty()) parsed.database = parsed.user;
  if (!parsed.database.empty()) return parsed;
  throw InvalidValue(
      "the connection to PostgreSQL cannot be parsed: write \"host=… dbname=…\", a service, or a "
      "URI");
}

std::string identity_of(const PostgresSource& source) {
  const PostgresAddress server = postgres_address(source);
  std::string hosts;
  const std::string names = server.host.empty() ? server.address : server.host;
  for (std::size_t start = 0; start <= names.size();) {
    const auto end = std::min(names.find(',', start), names.size());
    hosts += (start == 0 ? "" : ",") + canonical_host(names.substr(start, end - start));
    start = end + 1;
  }
  const std::string table =
      source.table.find('.') == std::string::npos ? "public." + source.table : source.table;
  return "postgresql:" + hosts + ":" + (server.port.empty() ? "5432" : server.port) + "/" +
         server.database + "/" + table;
}

std::string identity_of(const SparkSource& source) {
  const auto address = data_detail::spark_address(source.connection);
  (void)data_detail::spark_relation(source);  // throws if the source is not valid
  std::string what = source.table;
  if (what.empty()) {
    what = source.path.starts_with("file:") ? source.path.substr(5) : source.path;
    const auto scheme = what.find("://");
    const auto start = scheme == std::string::npos ? 0 : scheme + 3;
    std::string path = std::filesystem::path(what.substr(start)).lexically_normal().string();
    while (path.size() > 1 && path.starts_with("//")) path.erase(0, 1);
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    path = what.substr(0, start) + path;
    what = "path:" + path;
  } else {
    for (char& c : what) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (what.starts_with("spark_catalog."))
      what = what.substr(std::string("spark_catalog.").size());
    if (what.find('.') == std::string::npos) what = "default." + what;
  }
  const std::string host = address.host == "[::1]" ? "::1" : address.host;
  return "spark:" + canonical_host(host) + ":" + std::to_string(address.port) + "/" + what;
}

}  // namespace

std::string identity(const Source& source) {
  return std::visit([](const auto& one) { return identity_of(one); }, source);
}

bool trims(const Source& source) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.trim; }) {
          return one.trim;
        } else {
          return false;
        }
      },
      source);
}

}  // namespace sotto
