// Hexadecimal digits: both spellings, round trips of all bytes, and the texts that are refused.
#include "core/api/hexadecimal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sotto {
namespace {

TEST(Hexadecimal, WritesTwoDigitsForEachByte) {
  EXPECT_EQ(hexadecimal(std::string()), "");
  EXPECT_EQ(hexadecimal(std::string("\x00\x0a\xff", 3)), "000aff");
  EXPECT_EQ(hexadecimal(std::string("\x00\x0a\xff", 3), HexLetters::upper), "000AFF");
  EXPECT_EQ(hexadecimal(std::array<unsigned char, 2>{0xDE, 0x07}), "de07");
}

TEST(Hexadecimal, ReadsBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(from_hexadecimal(hexadecimal(bytes)), bytes);
}

TEST(Hexadecimal, RefusesAnyOtherText) {
  for (const char* text : {"0", "0g", "0A", " 0", "0x", "00 ", "é"}) {
    EXPECT_EQ(from_hexadecimal(text), std::nullopt) << text;
  }
  EXPECT_EQ(from_hexadecimal(""), "");
}

}  // namespace
}  // namespace sotto
