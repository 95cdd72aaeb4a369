// The token, the cookie and the path prefix that admit a browser.
#include "gate.hpp"

#include <array>
#include <cstdint>

#include "sotto/random/random.hpp"

namespace sotto::cli {
namespace {

constexpr std::string_view cookie_name = "sotto=";
constexpr std::string_view token_name = "token=";

std::string random_digits(int words) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < words; ++i) {
    std::uint64_t word = Random::here().word();
    for (int nibble = 0; nibble < 16; ++nibble, word >>= 4U) text += digits[word & 15U];
  }
  return text;
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differ = 0;  // volatile: the loop must not end early
  for (std::size_t i = 0; i < a.size(); ++i)
    differ = static_cast<unsigned char>(
        differ | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return differ == 0;
}

Gate::Gate(int port) : port_(port), token_(random_digits(4)), prefix_("/" + random_digits(2)) {}

std::string Gate::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/?" + std::string(token_name) + token_;
}

std::string Gate::cookie() const {
  return std::string(cookie_name) + token_ + "; Path=" + prefix_ + "/; HttpOnly; SameSite=Strict";
}

// Accepts this server's own names alone. Another name may resolve to 127.0.0.1, too, if an attacker
// controls its DNS (DNS rebinding).
bool Gate::is_here(const std::string& host) const {
  for (const std::string name : {"127.0.0.1", "localhost"}) {
    if (host == name + ":" + std::to_string(port_) || (port_ == 80 && host == name)) return true;
  }
  return false;
}

bool Gate::has_cookie(std::string_view cookies) const {
  bool has = false;
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    if (one.substr(0, cookie_name.size()) == cookie_name &&
        equal_in_constant_time(one.substr(cookie_name.size()), token_))
      has = true;  // no early exit: constant time
  }
  return has;
}

Gate::Judgement Gate::judge(const HttpRequest& request) const {
  if (!is_here(request.host)) return {};
  const std::string prefix = prefix_ + "/";
  const bool has_prefix =
      equal_in_constant_time(std::string_view(request.path).substr(0, prefix.size()), prefix);
  const std::string path = has_prefix ? request.path.substr(prefix_.size()) : request.path;
  if (std::string_view(request.query).substr(0, token_name.size()) == token_name) {
    if (!equal_in_constant_time(std::string_view(request.query).substr(token_name.size()), token_))
      return {};
    return {Verdict::enters, prefix_ + path};
  }
  if (!has_prefix || !has_cookie(request.cookie)) return {};
  return {Verdict::inside, path};
}

}  // namespace sotto::cli
