// UTF-8 validation.
#pragma once

#include <cstdint>
#include <string_view>

namespace sotto::data_detail {

/// Whether the bytes are valid UTF-8 without zero bytes, which every engine can store.
inline bool is_text(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (std::size_t i = 0; i < bytes.size();) {
    const unsigned first = at(i);
    if (first == 0) return false;
    if (first < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    if (length == 0 || bytes.size() - i < length) return false;
    std::uint32_t point = first & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      if ((at(i + k) & 0xC0U) != 0x80U) return false;
      point = (point << 6U) | (at(i + k) & 0x3FU);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (overlong || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    i += length;
  }
  return true;
}

}  // namespace sotto::data_detail
