// The coordinator of a session: relays messages, adds up masked vectors, keeps a journal, and
// closes each phase at the session's deadline. It has no key, is not trusted, and learns no
// member's vector.
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

/// The folder of the journal has the journal of another session. what() names that session and the
/// number of its sums.
class OtherJournal : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// The coordinator's state, without sockets or clocks. It is not safe for concurrent callers: a
/// transport with several threads holds a lock around each call.
class Coordinator {
 public:
  struct Options {
    /// The folder for the round in progress and the transcripts of finished rounds. A coordinator
    /// that was killed resumes from it, and everybody who has it can verify every sum. Empty:
    /// nothing is stored.
    std::filesystem::path journal = {};
    /// Called with a sentence about each event: a member joined, a round ended, a message was
    /// refused.
    std::function<void(const std::string& what)> on_event = {};
    /// Called with the index of a member that has a new message, or -1 if every member may have
    /// one.
    std::function<void(std::int64_t member)> wake = {};
  };
  /// Throws OtherJournal, and std::runtime_error if the folder cannot be written.
  Coordinator(const SessionContext& context, Primitives& primitives, Options options);
  ~Coordinator();

  // --- Connections ---

  /// Returns the first message on a new connection, with a nonce that the hello must sign.
  [[nodiscard]] Bytes challenge(const Bytes& nonce) const;
  /// Reads the reply to the challenge and returns the member's index. Throws ProtocolError for a
  /// stranger, a replayed hello, another session, or a member whose approval is absent. This is the
  /// only place where a connection is tied to a member.
  std::int64_t hello(const Bytes& nonce, const Bytes& message);
  /// From here on next_for() returns the messages that the member has missed since the step in its
  /// hello.
  void on_connect(std::int64_t member);
  void on_disconnect(std::int64_t member);
  /// Reads a member's message. Throws ProtocolError if the message is refused; the transport then
  /// closes that connection.
  void on_message(std::int64_t member, const Bytes& message);
  /// Returns the next message for a member, or nothing if there is none yet.
  std::optional<Bytes> next_for(std::int64_t member);

  // --- Time ---

  /// Closes phases whose deadline has passed. `now` is in seconds on a monotonic clock. Call this a
  /// few times a second.
  void tick(double now);

  // --- The end ---

  [[nodiscard]] bool is_over()
      const;  ///< every connected member has received the end of the session
  [[nodiscard]] const std::optional<std::string>& failure() const;
  [[nodiscard]] const std::vector<RoundResult>& results() const;  ///< one result per finished step

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
