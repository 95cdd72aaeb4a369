// Parses requests line by line.
#include "http_request.hpp"

#include <algorithm>

namespace sotto::cli {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t most_line_bytes = most_target_bytes + 64;  // of the request line

// A token as of RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool is_visible(char c) { return c > ' ' && c < 0x7f; }
// Bytes above 127 are allowed, because another program on this host may have set such a cookie.
bool is_field_character(char c) {
  return c == ' ' || c == '\t' || is_visible(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Compares the name of a field with a lower-case one.
bool is_name(std::string_view name, std::string_view wanted) {
  return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
  });
}

// Parses the request line. Returns 200, or the status to answer with.
int parse_line(std::string_view line, HttpRequest& request) {
  if (line.size() > most_line_bytes) return 414;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return 400;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(line.substr(0, first))) return 400;
  if (target.size() > most_target_bytes) return 414;
  if (target.empty() || target.front() != '/' ||
      !std::all_of(target.begin(), target.end(), is_visible))
    return 400;
  if (version.size() != 8 || version.substr(0, 5) != "HTTP/") return 400;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return 505;
  const std::size_t question = std::min(target.find('?'), target.size());
  request.method = line.substr(0, first);
  request.path = target.substr(0, question);
  request.query = target.substr(std::min(question + 1, target.size()));
  return 200;
}

struct Fields {
  std::size_t count = 0;
  std::size_t hosts = 0;
};

// Parses a header field. Returns 200, or the status to answer with.
int parse_field(std::string_view line, Fields& fields, HttpRequest& request) {
  if (++fields.count > most_fields) return 431;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return 400;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), is_field_character)) return 400;
  if (is_name(name, "host")) {
    ++fields.hosts;
    request.host = value;
  } else if (is_name(name, "cookie")) {
    request.cookie += (request.cookie.empty() ? "" : ";") + std::string(value);
  } else if (is_name(name, "transfer-encoding") ||
             (is_name(name, "content-length") && value != "0")) {
    request.has_body = true;
  }
  return 200;
}

}  // namespace

HttpParsed parse_http(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, most_head_bytes);
  HttpParsed parsed;
  Fields fields;
  bool is_first = true;
  std::size_t at = 0;
  for (std::size_t end = head.find('\n'); end != std::string_view::npos;
       end = head.find('\n', at)) {
    if (end == at || head[end - 1] != '\r') return {400, {}};
    const std::string_view line = head.substr(at, end + 1 - line_end.size() - at);
    at = end + 1;
    if (line.empty() && !is_first) {
      if (fields.hosts != 1) return {400, {}};
      parsed.status = 200;
      return parsed;
    }
    if (const int status =
            is_first ? parse_line(line, parsed.request) : parse_field(line, fields, parsed.request);
        status != 200)
      return {status, {}};
    is_first = false;
  }
  if (is_first && head.size() > most_line_bytes + line_end.size()) return {414, {}};
  if (bytes.size() >= most_head_bytes) return {431, {}};
  return {};
}

}  // namespace sotto::cli
