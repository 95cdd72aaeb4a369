// Digits by table lookup, and strict decoding.
#include "core/api/hexadecimal.hpp"

#include <cstddef>

namespace sotto {

std::string hexadecimal(std::span<const unsigned char> bytes, HexLetters letters) {
  const char* digits = letters == HexLetters::lower ? "0123456789abcdef" : "0123456789ABCDEF";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

std::string hexadecimal(std::string_view bytes, HexLetters letters) {
  return hexadecimal({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, letters);
}

std::optional<std::string> from_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0 ||
      digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto value = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  }
  return bytes;
}

}  // namespace sotto
