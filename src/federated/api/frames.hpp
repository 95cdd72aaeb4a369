// Frames: messages are split into parts of at most 1 MiB, encoded as the protocol buffer `Frame` of
// grpc/relay.proto. Every transport uses them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "federated/api/primitives.hpp"

namespace sotto {

inline constexpr std::size_t frame_size = std::size_t{1} << 20U;
/// The largest size of an encoded frame.
inline constexpr std::size_t largest_frame = frame_size + 64;

/// Calls `send(offset, bytes)` for each frame of a message until it returns false. Returns whether
/// all frames were sent. An empty message has one empty frame.
bool for_each_frame(const Bytes& message,
                    const std::function<bool(std::uint64_t offset, std::string_view bytes)>& send);

/// Assembles messages from frames. Its memory grows with the bytes that have arrived, not with the
/// length that a frame announces, so a peer cannot exhaust the memory with one frame.
class Assembly {
 public:
  explicit Assembly(std::uint64_t limit) : limit_(limit) {}
  /// Adds a frame. Returns the message if the frame is its last one. Throws ProtocolError for a
  /// message above the limit, and for a frame that is too large or out of order.
  std::optional<Bytes> take(std::uint64_t total, std::uint64_t offset, std::string_view bytes);
  /// Sets the limit for later messages.
  void limit(std::uint64_t bytes) { limit_ = bytes; }

 private:
  std::uint64_t limit_;
  std::uint64_t total_ = 0;
  Bytes message_;
};

/// Returns an upper bound on the size of every message in this session, as a limit for Assembly.
std::uint64_t largest_message(const Session& session);

/// The protocol buffer `Frame`, for transports without generated code.
struct Frame {
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
  Bytes bytes = {};
  friend bool operator==(const Frame&, const Frame&) = default;
};
Bytes to_bytes(std::uint64_t total, std::uint64_t offset, std::string_view bytes);
/// Reads a frame and skips unknown fields. Throws ProtocolError for bytes that are not a frame.
Frame parse_frame(std::string_view bytes);

/// The end of a connection: the number of gRPC's status, and its message.
struct LinkEnd {
  int status = 0;
  std::string why = {};
};
/// Throws ProtocolError if every further connection would fail, too, because the coordinator
/// refuses this member or is not the coordinator of the session. Throws LinkLost otherwise.
[[noreturn]] void throw_link_error(const std::string& target, const LinkEnd& end);

}  // namespace sotto
