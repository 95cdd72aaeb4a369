// Variable-length whole numbers: known bytes, round trips, and numbers that do not end.
#include "core/api/varint.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

namespace sotto {
namespace {

std::string written(std::uint64_t number) {
  std::string bytes;
  append_varint(bytes, number);
  return bytes;
}

std::optional<std::uint64_t> read(const std::string& bytes, std::size_t& used) {
  used = 0;
  return read_varint([&] { return static_cast<unsigned char>(bytes.at(used++)); });
}

TEST(Varint, WritesTheLowestDigitsFirst) {
  EXPECT_EQ(written(0), std::string(1, '\0'));
  EXPECT_EQ(written(127), "\x7f");
  EXPECT_EQ(written(128), "\x80\x01");
  EXPECT_EQ(written(300), "\xac\x02");
  EXPECT_EQ(written(~std::uint64_t{0}), std::string(9, '\xff') + "\x01");
}

TEST(Varint, ReadsBackEveryLengthAndNoByteMore) {
  std::size_t used = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t number : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1}) {
      const std::string bytes = written(number);
      EXPECT_EQ(read(bytes + "rest", used), number);
      EXPECT_EQ(used, bytes.size());
    }
  }
}

TEST(Varint, RefusesANumberThatDoesNotEndWithinTenBytes) {
  std::size_t used = 0;
  EXPECT_EQ(read(std::string(11, '\xff'), used), std::nullopt);
  EXPECT_EQ(used, 10U);
  EXPECT_EQ(read(std::string(9, '\x80') + '\x7e', used), 0U);  // bits beyond the 64th
}

}  // namespace
}  // namespace sotto
