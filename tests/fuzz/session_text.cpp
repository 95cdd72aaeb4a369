// Any text: a session that is written as it was read, or a ProtocolError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "federated/api/session.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const sotto::Session session = sotto::parse_session(text);
    if (to_text(session) != text) std::abort();
    require_sound(session);
  } catch (const sotto::ProtocolError&) {
    return 0;
  }
  return 0;
}
