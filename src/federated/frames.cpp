// Splits messages into frames, assembles them with bounded memory, and encodes frames as protocol
// buffers.
#include "federated/api/frames.hpp"

#include <algorithm>
#include <utility>

#include "core/api/varint.hpp"
#include "federated/api/member.hpp"

namespace sotto {
namespace {

// The wire types of protocol buffers. A field is a tag (field number and wire type) and then a
// varint, four or eight bytes, or a length and that many bytes.
enum Wire : std::uint64_t { varint = 0, eight = 1, delimited = 2, four = 5 };
constexpr std::uint64_t total_tag = 1U << 3U | varint, offset_tag = 2U << 3U | varint,
                        bytes_tag = 3U << 3U | delimited;

void add_field(Bytes& to, std::uint64_t tag, std::uint64_t number) {
  if (number == 0) return;  // proto3 omits default values
  append_varint(to, tag);
  append_varint(to, number);
}

std::string_view take_bytes(std::string_view& from, std::uint64_t count) {
  if (count > from.size()) {
    throw ProtocolError("a frame ends in the middle of a field: " + std::to_string(count) +
                        " bytes are announced and " + std::to_string(from.size()) + " are left");
  }
  const std::string_view part = from.substr(0, count);
  from.remove_prefix(count);
  return part;
}

std::uint64_t take_varint(std::string_view& from) {
  const auto number =
      read_varint([&] { return static_cast<unsigned char>(take_bytes(from, 1).front()); });
  if (!number) throw ProtocolError("a frame has a varint of more than 10 bytes");
  return *number;
}

}  // namespace

bool for_each_frame(const Bytes& message,
                    const std::function<bool(std::uint64_t, std::string_view)>& send) {
  std::size_t offset = 0;
  do {
    const std::string_view part = std::string_view(message).substr(offset, frame_size);
    if (!send(offset, part)) return false;
    offset += part.size();
  } while (offset < message.size());
  return true;
}

std::optional<Bytes> Assembly::take(std::uint64_t total, std::uint64_t offset,
                                    std::string_view bytes) {
  if (total > limit_) {
    throw ProtocolError("a frame announces a message of " + std::to_string(total) +
                        " bytes, and messages of this session have at most " +
                        std::to_string(limit_));
  }
  if (bytes.size() > frame_size)
    throw ProtocolError("a frame has " + std::to_string(bytes.size()) +
                        " bytes, and 1 MiB is allowed");
  if (offset != message_.size() || (offset > 0 && total != total_))
    throw ProtocolError("the frames of a message are out of order");
  if (bytes.size() > total - offset)
    throw ProtocolError("a frame has more bytes than its message has left");
  if (bytes.empty() && total > 0)
    throw ProtocolError("a frame is empty although its message is not");
  total_ = total;
  message_.append(bytes);
  if (message_.size() < total) return std::nullopt;
  return std::exchange(message_, {});
}

// The largest messages are vectors, and lists of n² shares with their signatures and hashes, of at
// most 512 bytes each.
std::uint64_t largest_message(const Session& session) {
  const auto n = static_cast<std::uint64_t>(session.size());
  std::uint64_t vector = 0;
  for (const SumItem& item : session.items)
    vector = std::max(vector, static_cast<std::uint64_t>(item.size) *
                                  static_cast<std::uint64_t>(session.bits / 8));
  return std::max(vector + 4096, n * n * 512 + n * 4096 + 65536);
}

Bytes to_bytes(std::uint64_t total, std::uint64_t offset, std::string_view bytes) {
  Bytes frame;
  frame.reserve(bytes.size() + 32);
  add_field(frame, total_tag, total);
  add_field(frame, offset_tag, offset);
  add_field(frame, bytes_tag, bytes.size());
  return frame.append(bytes);
}

Frame parse_frame(std::string_view bytes) {
  Frame frame;
  while (!bytes.empty()) {
    const std::uint64_t tag = take_varint(bytes);
    if (tag == total_tag) {
      frame.total = take_varint(bytes);
    } else if (tag == offset_tag) {
      frame.offset = take_varint(bytes);
    } else if (tag == bytes_tag) {
      frame.bytes = take_bytes(bytes, take_varint(bytes));
    } else {
      switch (tag & 7U) {
        case varint: (void)take_varint(bytes); break;
        case eight: (void)take_bytes(bytes, 8); break;
        case delimited: (void)take_bytes(bytes, take_varint(bytes)); break;
        case four: (void)take_bytes(bytes, 4); break;
        default:
          throw ProtocolError("a frame has a field with the unknown protobuf wire type " +
                              std::to_string(tag & 7U));
      }
    }
  }
  return frame;
}

void throw_link_error(const std::string& target, const LinkEnd& end) {
  // gRPC reports a certificate that is not trusted only in the words of its error.
  constexpr int invalid_argument = 3, unauthenticated = 16;
  if (end.status == invalid_argument || end.status == unauthenticated)
    throw ProtocolError("the coordinator refuses this member: " + end.why);
  if (end.why.find("CERTIFICATE_VERIFY_FAILED") != std::string::npos ||
      end.why.find("certificate verify failed") != std::string::npos) {
    throw ProtocolError("the server at " + target +
                        " is not the coordinator of this session: its certificate is not the one "
                        "in the session. Check the address");
  }
  throw LinkLost(
      "the connection to " + target +
      (end.status == 0 ? " was ended" : " broke" + (end.why.empty() ? "" : ": " + end.why)));
}

}  // namespace sotto
