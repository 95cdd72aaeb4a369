// Any bytes as the frames of a connection, each behind a byte that says how long it is: each is
// read, and is what its own bytes say when they are written and read again, or a ProtocolError;
// what is put together is no longer than was announced, nor than is allowed.
#include "federated/api/frames.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t limit = 300;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  sotto::Assembly assembly(limit);
  try {
    while (!rest.empty()) {
      const std::size_t length =
          std::min<std::size_t>(static_cast<unsigned char>(rest.front()), rest.size() - 1);
      const sotto::Frame frame = sotto::parse_frame(rest.substr(1, length));
      rest.remove_prefix(1 + length);
      if (sotto::parse_frame(sotto::to_bytes(frame.total, frame.offset, frame.bytes)) != frame)
        std::abort();
      const auto message = assembly.take(frame.total, frame.offset, frame.bytes);
      if (message && (message->size() != frame.total || message->size() > limit)) std::abort();
    }
  } catch (const sotto::ProtocolError&) {
    return 0;
  }
  return 0;
}
