// Parses the addresses of Spark Connect servers and the names of their tables.
#include <algorithm>
#include <array>
#include <charconv>

#include "data/engines/spark/engine.hpp"
#include "data/sql/dialect.hpp"
#include "data/text/utf8.hpp"
#include "postgresql/api/libpq.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

constexpr const char* example = "sc://spark.example.org:15002/;use_ssl=true";

[[noreturn]] void refuse(const std::string& why) {
  throw InvalidValue("the connection to Spark cannot be parsed: " + why +
                     ". Write sc://localhost:15002, or " + example);
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

void read_host(const std::string& text, SparkAddress& address) {
  const auto colon = text.starts_with('[') ? text.find(':', text.find(']') + 1) : text.find(':');
  address.host = text.substr(0, colon);
  const bool is_ipv6 = address.host == "[::1]";
  if (!is_ipv6 && (address.host.empty() ||
                   !std::all_of(address.host.begin(), address.host.end(), is_host_character)))
    refuse("\"" + address.host + "\" is not a host name");
  if (colon == std::string::npos) return;
  const auto digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size() || address.port < 1 ||
      address.port > 65535)
    refuse("\"" + digits + "\" is not a port from 1 to 65535");
}

// Whether gRPC allows this name and value for a header that is a text.
bool is_header(const std::string& name, const std::string& value) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  const auto in_value = [](char c) { return c >= ' ' && c <= '~'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), in_name) &&
         !name.ends_with("-bin") && !name.starts_with("grpc-") &&
         std::all_of(value.begin(), value.end(), in_value);
}

void read_option(const std::string& option, SparkAddress& address) {
  const auto equals = option.find('=');
  std::string name = option.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
  if (equals == std::string::npos || name.empty()) refuse("\"" + option + "\" has no value");
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::array<std::string_view, 6> secrets{"token",  "authorization", "password",
                                                    "secret", "credential",    "cookie"};
  if (std::any_of(secrets.begin(), secrets.end(),
                  [&](std::string_view word) { return name.find(word) != std::string::npos; })) {
    throw InvalidValue("the connection to Spark must not hold a token (\"" + name +
                       "\"): put it into a file, and write token = \"FILE\"");
  }
  if (name == "use_ssl") {
    if (value != "true" && value != "false")
      refuse("use_ssl = \"" + value + "\" is neither true nor false");
    address.tls = value == "true";
  } else if (name == "user_id") {
    address.user = value;
  } else if (name == "session_id" || name == "user_agent") {
    refuse("sotto sets " + name + " itself: leave it out");
  } else {
    if (!is_header(name, value)) refuse("\"" + name + "\" is not a header that gRPC can send");
    address.headers.emplace_back(std::move(name), std::move(value));
  }
}

}  // namespace

SparkAddress spark_address(const std::string& connection) {
  constexpr std::string_view scheme = "sc://";
  if (!connection.starts_with(scheme) || !is_text(connection)) refuse("it must start with sc://");
  const auto rest = connection.substr(scheme.size());
  const auto slash = rest.find('/');
  SparkAddress address;
  read_host(rest.substr(0, slash), address);
  std::string options = slash == std::string::npos ? "" : rest.substr(slash + 1);
  if (!options.empty() && options.front() != ';')
    refuse("the host must be followed by /;name=value;…");
  while (!options.empty()) {
    const auto end = options.find(';', 1);
    if (const auto option = options.substr(1, end == std::string::npos ? end : end - 1);
        !option.empty())
      read_option(option, address);
    options = end == std::string::npos ? "" : options.substr(end);
  }
  const std::string name = address.host == "[::1]" ? "::1" : address.host;
  if (!address.tls && !postgresql::all_on_this_machine(name)) {
    throw InvalidValue("Spark on another machine needs TLS: write " + connection +
                       (slash == std::string::npos ? "/" : "") + ";use_ssl=true");
  }
  return address;
}

std::string spark_relation(const SparkSource& source) {
  const auto& sql = spark_dialect();
  if (source.table.empty() == source.path.empty())
    throw InvalidValue("give either `table` or `path` for a Spark source");
  const auto require = [&](const std::string& text) {
    const bool is_path = source.path.empty() && text.find_first_of("/:") != std::string::npos;
    if (!text.empty() && is_text(text) && !is_path) return;
    const std::string& name = source.path.empty() ? source.table : source.path;
    throw InvalidValue((is_text(name) ? "\"" + name + "\"" : "this text, which is not UTF-8,") +
                       " is not a table or path of Spark: write a table as \"people\", "
                       "\"survey.people\" or \"catalog.survey.people\"");
  };
  if (!source.path.empty()) {
    require(source.path);
    const std::string format = source.format.empty() ? "parquet" : source.format;
    constexpr std::array<std::string_view, 5> formats{"parquet", "orc", "avro", "delta", "iceberg"};
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
      throw InvalidValue("\"" + format +
                         "\" is not a format that stores types: write parquet, orc, avro, delta or "
                         "iceberg, or create a table from the files and name it");
    }
    if (source.path.find_first_of("*?[]{}") != std::string::npos)
      throw InvalidValue("the path \"" + source.path +
                         "\" must be one file or folder, without *, ?, [] or {}");
    if (source.path.find('/') == std::string::npos)
      throw InvalidValue("the path \"" + source.path +
                         "\" must be absolute: /data/people, or s3a://bucket/people");
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
