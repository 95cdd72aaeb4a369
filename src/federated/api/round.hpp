// One round of secure aggregation, as state machines of a member and of the coordinator, without
// sockets, files or clocks. The member stores its state before it sends each message marked with *,
// so that after a crash it sends the same bytes again and never draws new secrets or noise.
//
//   coordinator          member                                                           sends
//   start            →   makes channel and mask keys, a self-mask, shares of both       → keys *
//   key_list         →   seals one share of each secret to every member                 → shares
//   share_list       →   draws noise, masks its vector for exactly these sharers        → masked *
//   list             →   signs one list of survivors, and never another                 →
//   list_signature * list_signatures  →   t signatures: reveals, for survivors, its share of the
//                        self-mask, and, for dropped members, of the mask key           → reveal
//   opening, masked… →   verifies all of it and adds up itself
//
// A sharer dealt shares in the round; a survivor is a sharer whose vector is in the sum. An honest
// member's two secrets are never both revealed, so its vector alone cannot be unmasked.
// docs/theory/aggregation.md proves what a coalition of c members and the coordinator can learn,
// and names each step's purpose.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "federated/api/primitives.hpp"

namespace sotto {

/// A session with the hash of its text. Every signed message and every derived key contains the
/// hash, so messages of different sessions cannot be mixed.
struct SessionContext {
  Session session;
  Bytes hash;
};
/// Computes the hash of the session's text.
SessionContext context_of(const Session& session);

/// The durable storage of a member's state in a round. The state is on disk when keep() returns; a
/// member that restarts resumes from the last stored state.
class RoundJournal {
 public:
  virtual ~RoundJournal() = default;
  virtual void keep(const Bytes& state) = 0;
};

/// The public result of a round.
struct RoundResult {
  std::vector<std::int64_t> survivors;  ///< members whose vectors are in the sum
  std::vector<std::int64_t> dropped;    ///< members that dealt shares and are not in the sum
  Bytes total;                          ///< the sum, as elements
};

/// Verifies a finished round from public messages and computes its sum. It verifies the signatures
/// of all keys, t signatures of one list of survivors, each revealed secret against its owner's
/// commitment, and the signature of every masked vector, so the coordinator cannot change the sum.
/// Members use it, and so can everybody who has a coordinator's journal. Every function throws
/// ProtocolError.
class RoundCheck {
 public:
  RoundCheck(const SessionContext& context, Primitives& primitives, std::int64_t round,
             std::int64_t elements);
  ~RoundCheck();
  void key_list(const Bytes& message);
  void opening(const Bytes& message);
  /// Adds a survivor's vector. The order does not matter; a vector that was added before is
  /// ignored.
  void masked(const Bytes& message);
  /// The result, after the last vector was added.
  [[nodiscard]] const std::optional<RoundResult>& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One round of a member.
class MemberRound {
 public:
  /// Starts a new round with new secrets. `elements` is the length of the vector.
  MemberRound(const SessionContext& context, std::int64_t self, Primitives& primitives,
              RoundJournal& journal, std::int64_t round, std::int64_t elements);
  /// Resumes from the last stored state: messages that were sent are sent again, byte by byte.
  MemberRound(const SessionContext& context, std::int64_t self, Primitives& primitives,
              RoundJournal& journal, const Bytes& state);
  ~MemberRound();

  [[nodiscard]] std::int64_t round() const;
  /// Returns the first message, with this member's keys.
  [[nodiscard]] Bytes keys() const;
  /// Returns whether the noise of this round was drawn, by this process or an earlier one.
  [[nodiscard]] bool has_contributed() const;
  /// Reads a message of the coordinator and returns the reply, or nothing. `contribution` returns
  /// the vector with its noise; it is called once a round. Throws ProtocolError if the message is
  /// refused: then nothing is sent.
  std::optional<Bytes> receive(const Bytes& message, const std::function<Bytes()>& contribution);
  [[nodiscard]] const std::optional<RoundResult>& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A message arrived after its phase was closed. Its sender did nothing wrong: it stays connected
/// and takes part from the next phase or round on.
class LateMessage : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// The coordinator's side of one round: relays messages, and adds up after the secrets are
/// revealed. Its checks detect faulty members early; security does not depend on them, since
/// members verify everything.
class RelayRound {
 public:
  RelayRound(const SessionContext& context, Primitives& primitives, std::int64_t round,
             std::int64_t elements);
  ~RelayRound();

  enum class Phase { keys, shares, masked, signatures, reveals, done, failed };
  [[nodiscard]] Phase phase() const;
  /// The reason for Phase::failed.
  [[nodiscard]] const std::string& failure() const;

  /// Reads a member's message. A message that was accepted before changes nothing. Throws
  /// LateMessage, and changes nothing, if the message's phase is closed, and another ProtocolError,
  /// which names the member to blame, if the message is refused.
  void receive(std::int64_t from, const Bytes& message);
  /// Closes the phase: the round continues with the members that answered, or fails if they are
  /// fewer than the threshold.
  void close();
  /// Returns the number of members that have answered in this phase.
  [[nodiscard]] std::int64_t answered() const;
  [[nodiscard]] bool waits_for(std::int64_t member) const;

  /// Return the number of messages for a member in this round so far, and one of them. After a
  /// reconnection a member gets all of them again.
  [[nodiscard]] std::size_t messages_for(std::int64_t member) const;
  [[nodiscard]] Bytes message_for(std::int64_t member, std::size_t number) const;
  /// Returns the messages that prove the result to everybody: key_list, opening and the masked
  /// vectors.
  [[nodiscard]] std::vector<Bytes> transcript() const;
  [[nodiscard]] const std::optional<RoundResult>& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
