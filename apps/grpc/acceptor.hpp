// Accepts the coordinator's TCP connections and limits how many of them have no TLS session yet. gRPC itself accepts as many as there are files, so
// a stranger who holds many idle connections would keep members out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sotto::grpc_detail {

/// A connection waits in two places. It is silent until the whole first record of a TLS handshake has arrived, and it shakes hands until its other
/// end has proved who it is. Each place has a number of seats. Where all are taken, a new connection takes the seat of the one that has been there
/// longest, among those of the address that holds the most seats (or among all, where no address holds more than a few). So idle connections keep out
/// nobody, and one address cannot keep out others. A handshake keeps its seat for a second at least, except from another address, so that somebody
/// who begins thousands of them in a second does not end those of members at the same address.
class Acceptor {
 public:
  struct Limits {
    std::size_t silent = 512, handshakes = 256;
    std::chrono::milliseconds silent_patience{10000}, handshake_patience{20000}, handshake_grace{1000};
  };
  /// Takes over `fd`, a connection that has begun a TLS handshake and that was accepted by `listener`.
  using Take = std::function<void(int listener, int fd)>;

  /// The limits that leave enough files for so many members. Raises the process's limit of open files where that is allowed and needed.
  static Limits limits_for(std::int64_t members);

  /// Listens at HOST:PORT; port 0 takes a free one. std::runtime_error where that fails.
  Acceptor(const std::string& address, const Limits& limits);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  [[nodiscard]] int port() const;
  /// Accepts in a thread of its own until stop().
  void start(Take take);
  void stop();
  /// The other end of this connection has proved who it is: the connection is no longer limited. `peer` is as grpc::ServerContext::peer() says.
  void authenticated(const std::string& peer);

  /// How many connections wait, in both places.
  [[nodiscard]] std::size_t waiting() const;
  /// How many connections were closed here: what they sent was no TLS, they took too long, or others needed their seat.
  [[nodiscard]] std::uint64_t refused() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto::grpc_detail
