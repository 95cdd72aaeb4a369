// Carries messages between members and coordinator over gRPC and TLS: a member's link, and the
// coordinator's server. The protocol's security does not depend on this carrier: members sign what
// they send.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "federated/api/coordinator.hpp"
#include "federated/api/member.hpp"
#include "federated/api/tls.hpp"

namespace sotto {

/// Returns a function that connects to the coordinator at HOST:PORT. A message has at most `limit`
/// bytes. A link also throws ProtocolError if the coordinator refuses this member, with its reason,
/// or does not have the trusted certificate.
Connector grpc_connect(const std::string& target, const Tls& tls, std::uint64_t limit);

/// The coordinator's server. Each connection has two threads, and at most one message waits for a
/// slow member.
class RelayServer {
 public:
  struct Options {
    std::string address;  ///< HOST:PORT; port 0 stands for any free one
    Tls tls;
    std::int64_t members = 0;
    std::uint64_t limit = 0;  ///< the most bytes of a message
    std::function<void(const std::string&)> report =
        {};  ///< called for each refused connection or message
  };
  RelayServer(Coordinator& coordinator, Options options);
  ~RelayServer();

  /// Serves until the coordinator is over and all messages are written, or until stop(). Calls
  /// `ready` with the port. Throws std::runtime_error if it cannot listen at the address, and
  /// passes on exceptions of the coordinator that are no member's fault.
  void serve(const std::function<void(int port)>& ready = {});
  /// May be called from any thread, and from a signal handler.
  void stop();
  /// Returns the number of connections whose peer is not authenticated yet.
  [[nodiscard]] std::size_t unauthenticated() const;
  /// Implements Coordinator::Options::wake.
  void wake(std::int64_t member);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
