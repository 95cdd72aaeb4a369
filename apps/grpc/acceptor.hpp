// Accepts the coordinator's TCP connections, and limits how many of them have no TLS session yet.
// gRPC itself accepts as many as the process can have files, so a stranger who holds many idle
// connections would keep members out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sotto::grpc_detail {

/// An acceptor is a listener that holds each connection in one of two queues until its peer has
/// proved who it is. A connection is silent until the whole first record of a TLS handshake has
/// arrived; then it is handed to gRPC and counts as handshaking until authenticated() is called.
///
/// Each queue has a capacity. A new connection in a full queue evicts the oldest one of the address
/// that has the most, or the oldest of all if no address has more than a few. So idle connections
/// keep nobody out, and one address cannot keep others out. A handshake is not evicted in its first
/// second, except for a connection from another address: somebody who begins thousands of
/// handshakes in a second does not end those of members at the same address.
class Acceptor {
 public:
  struct Limits {
    std::size_t silent = 512, handshakes = 256;
    std::chrono::milliseconds silent_patience{10000}, handshake_patience{20000},
        handshake_grace{1000};
  };
  /// Takes ownership of `fd`, a connection from `listener` that has begun a TLS handshake.
  using OnHandshake = std::function<void(int listener, int fd)>;

  /// Returns limits that leave enough files for this many members. Raises the process's limit of
  /// open files if that is necessary and allowed.
  static Limits limits_for(std::int64_t members);

  /// Listens at HOST:PORT; port 0 stands for any free one. Throws std::runtime_error if that fails.
  Acceptor(const std::string& address, const Limits& limits);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  [[nodiscard]] int port() const;
  /// Accepts connections in a separate thread until stop().
  void start(OnHandshake on_handshake);
  void stop();
  /// Ends the limits on a connection whose peer has proved who it is. `peer` is as returned by
  /// grpc::ServerContext::peer().
  void authenticated(const std::string& peer);

  /// Returns the number of connections in both queues.
  [[nodiscard]] std::size_t waiting() const;
  /// Returns how many connections were closed: their first bytes were not TLS, they took too long,
  /// or they were evicted.
  [[nodiscard]] std::uint64_t refused() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto::grpc_detail
