// One round of secure aggregation as a member and as the coordinator go through it: state machines without sockets, files or clocks.
//
//   coordinator        member
//   start         →    fresh channel and mask keys, a self-mask, shares of their secrets          kept, then  → keys
//   key_list      →    shares sealed to every member                                                          → shares
//   share_list    →    its vector with its noise, masked for these sharers                        kept, then  → masked
//   list          →    one list of survivors, all masked for its sharers, and never another       kept, then  → list_signature
//   list_signatures →  t of them: of survivors the self-mask's share, of others the mask key's                → reveal
//   opening, masked… → every member checks all of it and adds up for itself
//
// docs/theory/aggregation.md proves what a coalition of c members and the coordinator can learn.
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

/// A session and the hash of its text, which is in every message.
struct AgreedSession {
  Session session;
  Bytes hash;
};
AgreedSession agreed(const Session& session);

/// Where a member keeps a round's state. It is durable when `keep` returns; a member that starts again goes on from the last state that was kept.
class RoundJournal {
 public:
  virtual ~RoundJournal() = default;
  virtual void keep(const Bytes& state) = 0;
};

/// The public end of a round.
struct RoundResult {
  std::vector<std::int64_t> survivors;  ///< whose vectors are in the sum
  std::vector<std::int64_t> dropped;    ///< who dealt shares and is not
  Bytes total;                          ///< elements
};

/// Checks a round that is over from what everybody may see, and adds up: signatures of all keys, t signatures of one list, each revealed secret
/// against what its owner committed to, and every masked vector. Members use it, and so can whoever has a coordinator's journal.
class RoundCheck {
 public:
  RoundCheck(const AgreedSession& agreed, Primitives& primitives, std::int64_t round, std::int64_t elements);
  ~RoundCheck();
  void key_list(const Bytes& message);
  void opening(const Bytes& message);
  /// A survivor's vector, in any order; each once.
  void masked(const Bytes& message);
  /// Once all are there.
  [[nodiscard]] const std::optional<RoundResult>& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class MemberRound {
 public:
  /// A new round, with secrets of its own. `elements`: how many the vector has.
  MemberRound(const AgreedSession& agreed, std::int64_t self, Primitives& primitives, RoundJournal& journal, std::int64_t round,
              std::int64_t elements);
  /// From the state that was kept last: what was sent is sent again, byte by byte.
  MemberRound(const AgreedSession& agreed, std::int64_t self, Primitives& primitives, RoundJournal& journal, const Bytes& state);
  ~MemberRound();

  [[nodiscard]] std::int64_t round() const;
  /// The first message.
  [[nodiscard]] Bytes keys() const;
  /// Whether the vector was asked for, in this life or an earlier one: its noise is drawn.
  [[nodiscard]] bool has_contributed() const;
  /// A message of the coordinator's; what is answered, or nothing. `contribution` gives the elements with their noise; it is called once in a round.
  /// ProtocolError: the message is refused, and nothing is sent.
  std::optional<Bytes> receive(const Bytes& message, const std::function<Bytes()>& contribution);
  [[nodiscard]] const std::optional<RoundResult>& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A message arrived after its phase was closed. Its sender did nothing wrong: it stays connected and takes part from the next phase or round on.
class LateMessage : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// The coordinator's part: relays, and adds up once secrets are revealed. It holds no key.
class RelayRound {
 public:
  RelayRound(const AgreedSession& agreed, Primitives& primitives, std::int64_t round, std::int64_t elements);
  ~RelayRound();

  enum class Phase { keys, shares, masked, signatures, reveals, done, failed };
  [[nodiscard]] Phase phase() const;
  /// Why it failed.
  [[nodiscard]] const std::string& failure() const;

  /// A member's message; one that was taken before changes nothing. LateMessage: it came after its phase and changes nothing. Any other
  /// ProtocolError: it is refused, and the error names whom it blames.
  void receive(std::int64_t from, const Bytes& message);
  /// No more is waited for in this phase: it goes on with those who answered, or fails where they are fewer than the threshold.
  void close();
  /// How many of those whose answer this phase waits for have given it.
  [[nodiscard]] std::int64_t answered() const;
  [[nodiscard]] bool waits_for(std::int64_t member) const;

  /// All that a member should have been sent in this round so far, from the message with this number on. A message is sent again whenever its
  /// member connects anew.
  [[nodiscard]] std::size_t messages_for(std::int64_t member) const;
  [[nodiscard]] Bytes message_for(std::int64_t member, std::size_t number) const;
  /// What shows the result to anyone: key_list, opening and the masked vectors.
  [[nodiscard]] std::vector<Bytes> transcript() const;
  [[nodiscard]] const std::optional<RoundResult>& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
