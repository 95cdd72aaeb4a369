// Access control of `sotto serve`: a browser needs the secret token, and must use this server's own
// address.
#pragma once

#include <string>
#include <string_view>

#include "http_request.hpp"

namespace sotto::cli {

/// Returns whether two texts are equal, in a time that depends on their lengths alone.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// A gate decides which requests see the pages. It draws two secrets: a token, which is part of the
/// address that the server prints, and a path prefix, below which all pages are. A browser enters
/// with the token and gets it back as a cookie for the prefix; from then on the cookie admits it.
class Gate {
 public:
  /// Draws the secrets. Throws NoEntropy.
  explicit Gate(int port);

  /// Returns the address that lets a browser enter.
  [[nodiscard]] std::string url() const;

  enum class Verdict { refused, enters, inside };
  struct Judgement {
    Verdict verdict = Verdict::refused;
    /// Inside: the path below the prefix, from '/'. Enters: where to redirect to, with the prefix
    /// and without the token.
    std::string path = {};
  };
  /// Refuses requests for another host, with a wrong token, and with no token and no cookie. The
  /// answer does not tell them apart.
  [[nodiscard]] Judgement judge(const HttpRequest& request) const;

  /// Returns the value of Set-Cookie for a browser that enters. A browser sends a cookie to every
  /// port of a host. This cookie is limited to the secret path prefix, so other servers on this
  /// machine do not receive it.
  [[nodiscard]] std::string cookie() const;

 private:
  [[nodiscard]] bool is_here(const std::string& host) const;
  [[nodiscard]] bool has_cookie(std::string_view cookies) const;

  int port_;
  std::string token_;   // 256 bits, in hexadecimal
  std::string prefix_;  // a path of 128 random bits: "/0123…"
};

}  // namespace sotto::cli
