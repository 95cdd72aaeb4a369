#include "frames.hpp"

#include <algorithm>
#include <utility>

namespace sotto {

bool in_frames(const Bytes& message, const std::function<bool(std::uint64_t, std::string_view)>& send) {
  std::size_t offset = 0;
  do {
    const std::string_view part = std::string_view(message).substr(offset, frame_size);
    if (!send(offset, part)) return false;
    offset += part.size();
  } while (offset < message.size());
  return true;
}

std::optional<Bytes> Assembly::take(std::uint64_t total, std::uint64_t offset, std::string_view bytes) {
  if (total > limit_) {
    throw ProtocolError("a message of " + std::to_string(total) + " bytes was announced, and none of this session has more than " +
                        std::to_string(limit_));
  }
  if (bytes.size() > frame_size) throw ProtocolError("a frame has more than 1 MiB");
  if (offset != message_.size() || (offset > 0 && total != total_)) throw ProtocolError("the frames of a message are out of order");
  if (bytes.size() > total - offset) throw ProtocolError("a frame has more bytes than its message");
  if (bytes.empty() && total > 0) throw ProtocolError("a frame is empty");
  total_ = total;
  message_.append(bytes);
  if (message_.size() < total) return std::nullopt;
  return std::exchange(message_, {});
}

// The vectors; lists of n² shares with their signatures, commitments and hashes, 512 bytes each at most; and what frames them.
std::uint64_t largest_message(const Session& session) {
  const auto n = static_cast<std::uint64_t>(session.size());
  std::uint64_t vector = 0;
  for (const SumItem& item : session.items)
    vector = std::max(vector, static_cast<std::uint64_t>(item.size) * static_cast<std::uint64_t>(session.bits / 8));
  return std::max(vector + 4096, n * n * 512 + n * 4096 + 65536);
}

}  // namespace sotto
