#include <algorithm>
#include <array>
#include <charconv>

#include "data/sql/dialect.hpp"
#include "postgresql/api/libpq.hpp"
#include "sotto/core/errors.hpp"
#include "data/engines/spark/engine.hpp"
#include "data/text/utf8.hpp"

namespace sotto::data_detail {
namespace {

constexpr const char* example = "sc://spark.example.org:15002/;use_ssl=true";

[[noreturn]] void refuse(const std::string& why) {
  throw InvalidValue("the connection to Spark cannot be read: " + why + "; it looks like sc://localhost:15002, or " + example);
}

bool is_of_a_host(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_'; }

void read_host(const std::string& text, SparkAddress& address) {
  const auto colon = text.starts_with('[') ? text.find(':', text.find(']') + 1) : text.find(':');
  address.host = text.substr(0, colon);
  const bool is_ipv6 = address.host == "[::1]";
  if (!is_ipv6 && (address.host.empty() || !std::all_of(address.host.begin(), address.host.end(), is_of_a_host)))
    refuse("\"" + address.host + "\" is no host");
  if (colon == std::string::npos) return;
  const auto digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size() || address.port < 1 || address.port > 65535)
    refuse("\"" + digits + "\" is no port");
}

// gRPC's rule for names and values of headers that are texts.
bool is_header(const std::string& name, const std::string& value) {
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; };
  const auto in_value = [](char c) { return c >= ' ' && c <= '~'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), in_name) && !name.ends_with("-bin") && !name.starts_with("grpc-") &&
         std::all_of(value.begin(), value.end(), in_value);
}

void read_option(const std::string& option, SparkAddress& address) {
  const auto equals = option.find('=');
  std::string name = option.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
  if (equals == std::string::npos || name.empty()) refuse("\"" + option + "\" has no value");
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::array<std::string_view, 6> secrets{"token", "authorization", "password", "secret", "credential", "cookie"};
  if (std::any_of(secrets.begin(), secrets.end(), [&](std::string_view word) { return name.find(word) != std::string::npos; })) {
    throw InvalidValue("a connection must not hold a token: keep it in a file of its own, and name that with token = \"FILE\"");
  }
  if (name == "use_ssl") {
    if (value != "true" && value != "false") refuse("use_ssl is true or false");
    address.tls = value == "true";
  } else if (name == "user_id") {
    address.user = value;
  } else if (name == "session_id" || name == "user_agent") {
    refuse(name + " is sotto's own");
  } else {
    if (!is_header(name, value)) refuse("\"" + name + "\" is no header that can be sent");
    address.headers.emplace_back(std::move(name), std::move(value));
  }
}

}  // namespace

SparkAddress spark_address(const std::string& connection) {
  constexpr std::string_view scheme = "sc://";
  if (!connection.starts_with(scheme) || !is_text(connection)) refuse("it starts with sc://");
  const auto rest = connection.substr(scheme.size());
  const auto slash = rest.find('/');
  SparkAddress address;
  read_host(rest.substr(0, slash), address);
  std::string options = slash == std::string::npos ? "" : rest.substr(slash + 1);
  if (!options.empty() && options.front() != ';') refuse("what follows the host is \"/;name=value;…\"");
  while (!options.empty()) {
    const auto end = options.find(';', 1);
    if (const auto option = options.substr(1, end == std::string::npos ? end : end - 1); !option.empty()) read_option(option, address);
    options = end == std::string::npos ? "" : options.substr(end);
  }
  const std::string name = address.host == "[::1]" ? "::1" : address.host;
  if (!address.tls && !postgresql::all_on_this_machine(name)) {
    throw InvalidValue("a Spark on another machine is reached only by TLS: write " + connection + (slash == std::string::npos ? "/" : "") +
                       ";use_ssl=true");
  }
  return address;
}

std::string spark_relation(const SparkSource& source) {
  const auto& sql = spark_dialect();
  if (source.table.empty() == source.path.empty()) throw InvalidValue("of Spark a table is read, or a path: say which one");
  const auto require = [&](const std::string& text) {
    const bool is_path = source.path.empty() && text.find_first_of("/:") != std::string::npos;
    if (text.empty() || !is_text(text) || is_path)
      throw InvalidValue("a table of Spark is named so: \"people\", \"survey.people\" or \"catalog.survey.people\"");
  };
  if (!source.path.empty()) {
    require(source.path);
    const std::string format = source.format.empty() ? "parquet" : source.format;
    constexpr std::array<std::string_view, 5> formats{"parquet", "orc", "avro", "delta", "iceberg"};
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
      throw InvalidValue("\"" + format +
                         "\" is no format whose types Spark knows: parquet, orc, avro, delta or iceberg; make others a table, and read that");
    }
    if (source.path.find_first_of("*?[]{}") != std::string::npos)
      throw InvalidValue("a path of Spark's is one file or folder, without *, ?, [] or {}");
    if (source.path.find('/') == std::string::npos) throw InvalidValue("a path of Spark's is absolute: /data/people, or s3a://bucket/people");
    return format + "." + sql.name(source.path);
  }
  std::string name;
  for (std::size_t start = 0; start <= source.table.size();) {
    const auto end = std::min(source.table.find('.', start), source.table.size());
    require(source.table.substr(start, end - start));
    name += (start == 0 ? "" : ".") + sql.name(source.table.substr(start, end - start));
    start = end + 1;
  }
  return name;
}

}  // namespace sotto::data_detail
