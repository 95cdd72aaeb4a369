// Who may see the pages: whoever has the token, by a browser that came to this very address.
#pragma once

#include <string>
#include <string_view>

#include "http_request.hpp"

namespace sotto::cli {

/// Whether two texts are equal, in a time that depends on their lengths alone.
bool equal_in_constant_time(std::string_view a, std::string_view b);

class Gate {
 public:
  /// With a token and a room of its own, drawn anew. NoEntropy.
  explicit Gate(int port);

  /// The address that lets a browser in.
  [[nodiscard]] std::string url() const;

  enum class Verdict { refused, enters, inside };
  struct Judgement {
    Verdict verdict = Verdict::refused;
    std::string path = {};  ///< inside: below the room, from '/'; enters: where to go on, with the room and without the token
  };
  /// Refused is every request for another host, with a wrong token, and without one. All of them look the same.
  [[nodiscard]] Judgement judge(const HttpRequest& request) const;

  /// The cookie that a browser gets as it enters, as Set-Cookie says it. A cookie is sent to every port of a host: so this one has a path that
  /// nobody else knows, the room, and other servers on this machine are not sent it.
  [[nodiscard]] std::string cookie() const;

 private:
  [[nodiscard]] bool is_here(const std::string& host) const;
  [[nodiscard]] bool has_cookie(std::string_view cookies) const;

  int port_;
  std::string token_;  // 256 bits, in hexadecimal
  std::string room_;   // 128 bits: "/0123…"
};

}  // namespace sotto::cli
