#include "federated/api/frames.hpp"

#include <algorithm>
#include <utility>

#include "federated/api/member.hpp"

namespace sotto {
namespace {

// A protocol buffer's fields: a tag of number and kind, then a number, so many bytes, or bytes with their length.
enum Wire : std::uint64_t { varint = 0, eight = 1, delimited = 2, four = 5 };
constexpr std::uint64_t total_tag = 1U << 3U | varint, offset_tag = 2U << 3U | varint, bytes_tag = 3U << 3U | delimited;

void add_number(Bytes& to, std::uint64_t number) {
  for (; number >= 128; number >>= 7U) to += static_cast<char>((number & 127U) | 128U);
  to += static_cast<char>(number);
}

void add_field(Bytes& to, std::uint64_t tag, std::uint64_t number) {
  if (number == 0) return;  // as if it were there
  add_number(to, tag);
  add_number(to, number);
}

std::string_view taken(std::string_view& from, std::uint64_t count) {
  if (count > from.size()) throw ProtocolError("a frame ends within a field");
  const std::string_view part = from.substr(0, count);
  from.remove_prefix(count);
  return part;
}

std::uint64_t number_in(std::string_view& from) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(taken(from, 1).front());
    number |= static_cast<std::uint64_t>(byte & 127U) << shift;
    if (byte < 128) return number;
  }
  throw ProtocolError("a number in a frame does not end");
}

}  // namespace

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

Bytes to_bytes(std::uint64_t total, std::uint64_t offset, std::string_view bytes) {
  Bytes made;
  made.reserve(bytes.size() + 32);
  add_field(made, total_tag, total);
  add_field(made, offset_tag, offset);
  add_field(made, bytes_tag, bytes.size());
  return made.append(bytes);
}

Frame parse_frame(std::string_view bytes) {
  Frame frame;
  while (!bytes.empty()) {
    const std::uint64_t tag = number_in(bytes);
    if (tag == total_tag) {
      frame.total = number_in(bytes);
    } else if (tag == offset_tag) {
      frame.offset = number_in(bytes);
    } else if (tag == bytes_tag) {
      frame.bytes = taken(bytes, number_in(bytes));
    } else {
      switch (tag & 7U) {
        case varint: (void)number_in(bytes); break;
        case eight: (void)taken(bytes, 8); break;
        case delimited: (void)taken(bytes, number_in(bytes)); break;
        case four: (void)taken(bytes, 4); break;
        default: throw ProtocolError("a frame has a field of no kind that there is");
      }
    }
  }
  return frame;
}

void throw_ended(const std::string& target, const LinkEnd& end) {
  constexpr int invalid_argument = 3, unauthenticated = 16;
  if (end.status == invalid_argument || end.status == unauthenticated) throw ProtocolError("the coordinator refuses: " + end.why);
  if (end.why.find("CERTIFICATE_VERIFY_FAILED") != std::string::npos || end.why.find("certificate verify failed") != std::string::npos) {
    throw ProtocolError("whoever answers at " + target + " is not the coordinator of this session: its certificate is another one");
  }
  throw LinkLost("the connection to " + target + (end.status == 0 ? " was ended" : " broke" + (end.why.empty() ? "" : ": " + end.why)));
}

}  // namespace sotto
