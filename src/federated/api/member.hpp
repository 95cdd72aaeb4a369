// A member of a session, from its first message to the last sum: reconnects, goes on after it was killed, and never sends two vectors in one round.
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

/// A connection to the coordinator that carries whole messages, in order. Nothing rests on who is at its other end.
class Link {
 public:
  virtual ~Link() = default;
  /// LinkLost.
  virtual void send(const Bytes& message) = 0;
  /// The next message; nothing if none came in time. LinkLost.
  virtual std::optional<Bytes> receive(std::chrono::milliseconds patience) = 0;
};
/// Makes a connection; LinkLost if that fails now, ProtocolError if it will never work.
using Connect = std::function<std::unique_ptr<Link>()>;

/// What a member sums, and what it does with the sums.
class MemberWork {
 public:
  virtual ~MemberWork() = default;
  /// This member's elements for a step of the session, with fresh noise. Called once in a round; what it returns is kept before it is sent.
  virtual Bytes contribution(std::int64_t step) = 0;
  /// The sum of a step: public.
  virtual void take(std::int64_t step, const RoundResult& result) = 0;
  /// What of it must survive a restart, and back.
  [[nodiscard]] virtual Bytes progress() const = 0;
  virtual void resume(const Bytes& progress) = 0;
};

/// Where a member keeps how far it came: durable when `keep` returns.
class MemberStore {
 public:
  virtual ~MemberStore() = default;
  virtual void keep(const Bytes& state) = 0;
  [[nodiscard]] virtual std::optional<Bytes> kept() = 0;
};

struct Membership {
  const AgreedSession& agreed;
  std::int64_t self;
  Primitives& primitives;
  Connect connect;
  /// Told what is done and how much of all, 0 to 1; false asks to stop, which leaves everything as a kill would. May be empty.
  std::function<bool(const std::string& what, double share)> told = {};
  /// How long the coordinator may be silent or unreachable before this gives up; nothing is lost then, and it can be started again.
  std::chrono::seconds patience = std::chrono::minutes(10);
};

/// Takes part until every step has its sum. The first state is kept before the first message that reveals anything about this member's data: the
/// caller has charged by then. ProtocolError where the coordinator or a member breaks the protocol, or the session failed; LinkLost when patience
/// ends.
void take_part(const Membership& membership, MemberStore& store, MemberWork& work);

/// The work's progress in a state that was kept.
Bytes progress_in(const Bytes& state);

/// Which member of the session has this public key. ProtocolError if none.
std::int64_t member_with(const Session& session, const std::string& public_key);

}  // namespace sotto
