// Members and coordinator over gRPC and TLS: a member's link, and the coordinator's server. Whole messages, in order; nothing rests on who carries
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "federated/api/coordinator.hpp"
#include "federated/api/member.hpp"
#include "federated/api/tls.hpp"

namespace sotto {

/// Connects to a coordinator, HOST:PORT. `limit`: bytes of a message at most. A link throws ProtocolError, too, where the coordinator said why it
/// refuses this member, or is not the one whose certificate is trusted.
Connect grpc_connect(const std::string& target, const Tls& tls, std::uint64_t limit);

/// The coordinator's door. Two threads a connection; of what a member is to be sent, one message at most is held for it.
class RelayServer {
 public:
  struct Options {
    std::string address;  ///< HOST:PORT; port 0 takes a free one
    Tls tls;
    std::int64_t members = 0;
    std::uint64_t limit = 0;                            ///< bytes of a message at most
    std::function<void(const std::string&)> told = {};  ///< who was refused, and why
  };
  RelayServer(Coordinator& coordinator, Options options);
  ~RelayServer();

  /// Serves until the coordinator is over and all messages are written, or stop(). `ready` is called with the port. std::runtime_error if the address
  /// cannot be had; what the coordinator throws that is no member's fault.
  void serve(const std::function<void(int port)>& ready = {});
  /// From any thread, or a signal's handler.
  void stop();
  /// How many connections there are at whose other end nobody has proved yet who they are.
  [[nodiscard]] std::size_t unproved() const;
  /// For Coordinator::Options::wake.
  void wake(std::int64_t member);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
