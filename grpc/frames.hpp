// Messages in frames of at most 1 MiB, and back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "sotto/federated/primitives.hpp"

namespace sotto {

inline constexpr std::size_t frame_size = std::size_t{1} << 20U;

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

}  // namespace sotto
