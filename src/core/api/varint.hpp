// Whole numbers in as many bytes as they need: the variable-length form of Protocol Buffers and of
// Thrift's compact protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sotto {

/// Appends a number as base-128 digits, the lowest first. The high bit of a byte says that another
/// byte follows.
inline void append_varint(std::string& to, std::uint64_t number) {
  for (; number >= 0x80U; number >>= 7U) to += static_cast<char>((number & 0x7FU) | 0x80U);
  to += static_cast<char>(number);
}

/// Reads a number from the bytes that `next_byte()` returns, 0 to 255 each, and asks for no byte
/// after its last one. Empty if ten bytes do not end it. Bits beyond the 64th are dropped.
template <class NextByte>
std::optional<std::uint64_t> read_varint(NextByte&& next_byte) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const unsigned byte = next_byte();
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80U) return number;
  }
  return std::nullopt;
}

}  // namespace sotto
