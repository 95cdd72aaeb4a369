// A server of HTTP on 127.0.0.1: one thread, one request a connection, and a limit to everything that a client can do.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "http_request.hpp"

namespace sotto::cli {

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< beside those that every response has
};

/// As it is sent; to HEAD without the body. Every response forbids scripts, frames, referrers, caches and guesses at its type.
std::string http_text(const HttpResponse& response, bool with_body);

struct LoopbackLimits {
  std::size_t connections = 32;           ///< at once; one more takes the place of the oldest whose request is not there yet
  std::chrono::milliseconds head{5000};   ///< for a request to come in whole
  std::chrono::milliseconds body{30000};  ///< for a response to be taken
};

class LoopbackServer {
 public:
  /// Listens; port 0 is any free one. InvalidValue if the port is taken.
  explicit LoopbackServer(int port, LoopbackLimits limits = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

  /// Answers requests until something can be read from the file `stop`.
  void run(int stop, const std::function<HttpResponse(const HttpRequest&)>& answer);

 private:
  LoopbackLimits limits_;
  int listener_ = -1;
  int port_ = 0;
};

}  // namespace sotto::cli
