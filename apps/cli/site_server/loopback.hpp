// An HTTP server on 127.0.0.1 for one program: one thread, one request per connection, and a limit
// on every resource that a client can use.
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
  std::vector<std::pair<std::string, std::string>> fields =
      {};  ///< in addition to those of every response
};

/// Returns the bytes of a response; a response to HEAD has no body. Every response forbids scripts,
/// frames, referrers, caches, and guesses at its content type.
std::string http_text(const HttpResponse& response, bool with_body);

struct LoopbackLimits {
  std::size_t connections =
      32;  ///< at once; a further one replaces the oldest that has not sent its request yet
  std::chrono::milliseconds head{5000};   ///< until the request must be complete
  std::chrono::milliseconds body{30000};  ///< until the client must have read the response
};

class LoopbackServer {
 public:
  /// Listens on the port; 0 stands for any free one. Throws InvalidValue if the port is in use.
  explicit LoopbackServer(int port, LoopbackLimits limits = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

  /// Answers requests until the file descriptor `stop` is readable.
  void run(int stop, const std::function<HttpResponse(const HttpRequest&)>& answer);

 private:
  LoopbackLimits limits_;
  int listener_ = -1;
  int port_ = 0;
};

}  // namespace sotto::cli
