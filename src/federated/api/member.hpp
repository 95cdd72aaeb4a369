// Takes part in a session as a member, from the first message to the last sum: reconnects, resumes
// after a kill, and never sends two vectors in one round.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "federated/api/round.hpp"

namespace sotto {

/// The connection broke; a new one may work.
class LinkLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A connection to the coordinator that carries whole messages in order. No security rests on the
/// identity of its other end: messages are signed, and the coordinator is not trusted.
class Link {
 public:
  virtual ~Link() = default;
  /// Throws LinkLost.
  virtual void send(const Bytes& message) = 0;
  /// Returns the next message, or nothing if no message arrives within `patience`. Throws LinkLost.
  virtual std::optional<Bytes> receive(std::chrono::milliseconds patience) = 0;
};
/// Makes a connection. Throws LinkLost if another attempt may succeed, and ProtocolError if none
/// will.
using Connector = std::function<std::unique_ptr<Link>()>;

/// The application of a member: provides the vectors that are summed and uses the sums.
class MemberWork {
 public:
  virtual ~MemberWork() = default;
  /// Returns this member's vector for a step of the session, with new noise. Called once a round.
  /// The vector is on disk before it is sent, so that noise is never drawn twice for one round.
  virtual Bytes contribution(std::int64_t step) = 0;
  /// Receives the sum of a step, which is public.
  virtual void take(std::int64_t step, const RoundResult& result) = 0;
  /// Return, and restore, the state that must survive a restart.
  [[nodiscard]] virtual Bytes progress() const = 0;
  virtual void resume(const Bytes& progress) = 0;
};

/// The durable storage of a member's state. The state is on disk when keep() returns.
class MemberStore {
 public:
  virtual ~MemberStore() = default;
  virtual void keep(const Bytes& state) = 0;
  [[nodiscard]] virtual std::optional<Bytes> last_state() = 0;
};

/// The arguments of take_part(): the session, this member and its connection.
struct Membership {
  const SessionContext& context;
  std::int64_t self;
  Primitives& primitives;
  Connector connect;
  /// Called with a description and the share of the work that is done, 0 to 1. If it returns false,
  /// take_part() stops and leaves the state as a kill would. May be empty.
  std::function<bool(const std::string& what, double share)> on_progress = {};
  /// The longest time without a message from the coordinator. Then take_part() throws LinkLost; the
  /// state is on disk, and the member can be started again.
  std::chrono::seconds patience = std::chrono::minutes(10);
};

/// Takes part until every step has its sum. The caller has charged the session's plan before: the
/// first state is stored before the first message that reveals anything about this member's data.
/// Throws ProtocolError if the coordinator or a member violates the protocol or the session fails,
/// and LinkLost after `patience` without a message.
void take_part(const Membership& membership, MemberStore& store, MemberWork& work);

/// Returns the MemberWork's progress in a stored state.
Bytes progress_in(const Bytes& state);

/// Returns the index of the member with this public key. Throws ProtocolError if no member has it.
std::int64_t member_with(const Session& session, const std::string& public_key);

}  // namespace sotto
