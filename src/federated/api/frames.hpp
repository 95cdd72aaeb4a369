// What a connection carries, whoever carries it: messages in frames of at most 1 MiB, as grpc/relay.proto has them, and how it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "federated/api/primitives.hpp"

namespace sotto {

inline constexpr std::size_t frame_size = std::size_t{1} << 20U;
/// No frame has more bytes on the wire.
inline constexpr std::size_t largest_frame = frame_size + 64;

/// Calls `send(offset, bytes)` for each frame of a message until it says false; whether all were sent. An empty message has one empty frame.
bool in_frames(const Bytes& message, const std::function<bool(std::uint64_t offset, std::string_view bytes)>& send);

/// Puts messages together. Memory grows with what has come, up to the limit.
class Assembly {
 public:
  explicit Assembly(std::uint64_t limit) : limit_(limit) {}
  /// The message that this frame ends, if it does. ProtocolError for a message above the limit, a frame that is too large or out of order.
  std::optional<Bytes> take(std::uint64_t total, std::uint64_t offset, std::string_view bytes);
  /// For the messages from here on.
  void limit(std::uint64_t bytes) { limit_ = bytes; }

 private:
  std::uint64_t limit_;
  std::uint64_t total_ = 0;
  Bytes message_;
};

/// No message of an honest member or coordinator of this session is larger.
std::uint64_t largest_message(const Session& session);

/// A part of a message, as the protocol buffer `Frame` has it: for a carrier without generated code.
struct Frame {
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
  Bytes bytes = {};
  friend bool operator==(const Frame&, const Frame&) = default;
};
Bytes to_bytes(std::uint64_t total, std::uint64_t offset, std::string_view bytes);
/// Unknown fields are passed over. ProtocolError for bytes that are no frame.
Frame parse_frame(std::string_view bytes);

/// How a connection ended: gRPC's status, by its number, and the words that came with it.
struct LinkEnd {
  int status = 0;
  std::string why = {};
};
/// ProtocolError where any other connection would end alike, since the coordinator refuses this member or is another one; else LinkLost.
[[noreturn]] void throw_ended(const std::string& target, const LinkEnd& end);

}  // namespace sotto
