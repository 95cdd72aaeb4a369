// The coordinator of a session: relays, sums, keeps a journal, and waits as long as the session allows. It has no key and learns no member's vector.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "federated/api/round.hpp"

namespace sotto {

/// The folder that was named for a journal has the journal of another session. what() says of which one, and how far it came.
class OtherJournal : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// Calls must not overlap: a transport with several threads holds a lock around each.
class Coordinator {
 public:
  struct Options {
    /// Where the round in progress and the transcripts of those that are over are kept, so that a coordinator that was killed goes on; and whoever
    /// has this folder can check every sum. Empty: in memory alone.
    std::filesystem::path journal = {};
    /// Told what happens, in a sentence: who joined, which round is over, whom a refused message blames.
    std::function<void(const std::string& what)> told = {};
    /// Called with a member that has a new message, or nobody (-1) when all should look.
    std::function<void(std::int64_t member)> wake = {};
  };
  /// OtherJournal, or std::runtime_error for a folder that cannot be written.
  Coordinator(const AgreedSession& agreed, Primitives& primitives, Options options);
  ~Coordinator();

  // --- Connections ---

  /// The first message to whoever connects.
  [[nodiscard]] Bytes challenge(const Bytes& nonce) const;
  /// The answer to it: who that is. ProtocolError for a stranger, another session, or a member whose approval is missing.
  std::int64_t hello(const Bytes& nonce, const Bytes& message);
  /// From here on the member is sent what it misses, from the start of what it told in its hello.
  void joined(std::int64_t member);
  void left(std::int64_t member);
  /// A member's message. ProtocolError: it is refused, and the transport closes that connection.
  void received(std::int64_t member, const Bytes& message);
  /// The next message for a member, or nothing for now.
  std::optional<Bytes> next_for(std::int64_t member);

  // --- Time ---

  /// Seconds on any clock that only grows; to be called a few times a second.
  void tick(double now);

  // --- The end ---

  [[nodiscard]] bool is_over() const;  ///< all members that are connected were told so
  [[nodiscard]] const std::optional<std::string>& failure() const;
  [[nodiscard]] const std::vector<RoundResult>& results() const;  ///< of each step so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
