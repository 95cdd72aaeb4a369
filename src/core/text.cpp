// A decoder of UTF-8 that accepts every byte, a table of unsafe ranges, and the escapes.
#include "core/api/text.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

struct Character {
  std::uint32_t point;  // the code point, or the byte if it is not valid
  std::size_t length;   // in bytes
  bool is_valid;        // whether it is UTF-8
};

// Decodes the character that starts at `at`. Of invalid UTF-8 it returns one byte.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || text.size() - at < length) return {first, 1, false};
  std::uint32_t point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {first, 1, false};
    point = (point << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
    return {first, 1, false};
  return {point, length, true};
}

struct Range {
  std::uint32_t first, last;
};
constexpr std::array<Range, 13> unsafe{
    {{0x00, 0x1F},
     {0x7F, 0x9F},        // DEL and the second set of controls
     {0x061C, 0x061C},    // Arabic letter mark
     {0x180E, 0x180E},    // Mongolian vowel separator
     {0x200B, 0x200B},    // zero-width space
     {0x200E, 0x200F},    // left-to-right and right-to-left marks
     {0x2028, 0x202E},    // line and paragraph separators, embeddings, overrides
     {0x2060, 0x206F},    // invisible operators, isolates
     {0xFEFF, 0xFEFF},    // byte order mark
     {0xFFF9, 0xFFFB},    // interlinear annotation
     {0xFFFE, 0xFFFF},    // noncharacters
     {0x1D173, 0x1D17A},  // musical formatting
     {0xE0000, 0xE0FFF}}};

bool is_unsafe(const Character& c) {
  if (!c.is_valid) return true;
  for (const Range& range : unsafe) {
    if (c.point >= range.first && c.point <= range.last) return true;
  }
  return false;
}

std::string visible(const Character& c) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), c.is_valid ? "\\u{%x}" : "\\x{%02x}", c.point);
  return text.data();
}

// Returns the text with every unsafe character c, at byte i, replaced by replace(c, i).
template <class Replace>
std::string with_each_unsafe(std::string_view text, const Replace& replace) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (is_unsafe(c)) {
      result += replace(c, at);
    } else {
      result += text.substr(at, c.length);
    }
    at += c.length;
  }
  return result;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (!c.is_valid) return false;
    at += c.length;
  }
  return true;
}

bool is_plain(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (is_unsafe(c)) return false;
    at += c.length;
  }
  return true;
}

void require_plain_name(std::string_view text, const std::string& what) {
  if (is_plain(text)) return;
  throw InvalidValue(what +
                     " has a character that is unsafe to display, such as a control character or "
                     "one that changes the direction of the text: " +
                     escaped_for_terminal(text));
}

std::string escaped_for_terminal(std::string_view text) {
  return with_each_unsafe(text, [](const Character& c, std::size_t /*at*/) { return visible(c); });
}

std::string escaped_lines(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return with_each_unsafe(text, [&](const Character& c, std::size_t at) {
    if (c.point != '\n') return visible(c);
    return std::string(text.substr(at + 1, 2) == "  " ? "\n" : "\n  ");
  });
}

std::string escaped_document(std::string_view text) {
  return with_each_unsafe(text, [&](const Character& c, std::size_t at) {
    if (c.point == '\n' || c.point == '\t') return std::string(1, static_cast<char>(c.point));
    if (c.point == '\r' && at + 1 < text.size() && text[at + 1] == '\n') return std::string();
    return visible(c);
  });
}

std::string escaped_json(std::string_view json) {
  return with_each_unsafe(json, [](const Character& c, std::size_t /*at*/) {
    // JSON has newlines and tabs only between tokens, never inside strings
    if (c.point == '\n' || c.point == '\t' || c.point == '\r')
      return std::string(1, static_cast<char>(c.point));
    if (!c.is_valid) return std::string("\\ufffd");  // the replacement character
    std::array<char, 16> text{};
    if (c.point < 0x10000) {
      std::snprintf(text.data(), text.size(), "\\u%04x", c.point);
    } else {  // a surrogate pair
      const std::uint32_t rest = c.point - 0x10000;
      std::snprintf(text.data(), text.size(), "\\u%04x\\u%04x", 0xD800 + (rest >> 10U),
                    0xDC00 + (rest & 0x3FFU));
    }
    return std::string(text.data());
  });
}

}  // namespace sotto
