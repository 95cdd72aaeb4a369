// A strict parser for HTTP/1.1 requests: a request line and header fields, without a body.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sotto::cli {

struct HttpRequest {
  std::string method;  ///< as sent; any token
  std::string path;    ///< from '/' to the '?', as sent: percent signs are not decoded
  std::string query;   ///< the part after the '?'
  std::string host;
  std::string cookie;  ///< all cookies, separated by ';'
  bool has_body = false;
};

inline constexpr std::size_t most_head_bytes = 16384;
inline constexpr std::size_t most_target_bytes = 1024;
inline constexpr std::size_t most_fields = 64;

struct HttpParsed {
  /// 0: the request is incomplete. 200: it is complete. Else the status to answer with: 400, 414,
  /// 431 or 505.
  int status = 0;
  HttpRequest request = {};
};

/// Parses a request (RFC 9112) from the bytes received so far. Refuses it as soon as the bytes
/// suffice to do so: for a part longer than its limit, a line that does not end in CR LF, a control
/// character, a folded field, a blank before a colon, a target that does not start with '/', and a
/// number of Host fields other than one.
HttpParsed parse_http(std::string_view bytes);

}  // namespace sotto::cli
