// Requests of HTTP/1.1 as this program takes them: a line and a few header fields, strictly, and no body.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sotto::cli {

struct HttpRequest {
  std::string method;  ///< as it was sent; any word
  std::string path;    ///< from '/' to the '?', as it was sent: nothing is decoded
  std::string query;   ///< behind the '?'
  std::string host;
  std::string cookie;  ///< all of them, separated by ';'
  bool has_body = false;
};

inline constexpr std::size_t most_head_bytes = 16384;
inline constexpr std::size_t most_target_bytes = 1024;
inline constexpr std::size_t most_fields = 64;

struct HttpParsed {
  /// 0: it is not all there yet. 200: it is. Else the status that says what is wrong with it: 400, 414, 431 or 505.
  int status = 0;
  HttpRequest request = {};
};

/// Reads a request from the bytes that came so far (RFC 9112). It is refused as soon as that is certain: what is longer than the limits, lines
/// that do not end in CR LF, control characters, folded fields, blanks before a colon, targets that do not start with '/', and other than one Host.
HttpParsed parse_http(std::string_view bytes);

}  // namespace sotto::cli
