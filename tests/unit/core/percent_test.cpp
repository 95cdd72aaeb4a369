// Percentages: digits, sides, and shares above 1.
#include "core/api/percent.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sotto {
namespace {

TEST(Percent, IsRoundedToItsSide) {
  EXPECT_EQ(percent_text(0.12345, 3, Side::upper), "12.4 %");
  EXPECT_EQ(percent_text(0.12345, 3, Side::lower), "12.3 %");
  EXPECT_EQ(percent_text(0.95, 12, Side::lower), "95 %");
  EXPECT_EQ(percent_text(0, 3, Side::upper), "0 %");
}

TEST(Percent, MayBeAboveOneHundred) {
  EXPECT_EQ(percent_text(2.5, 3, Side::upper), "250 %");
  EXPECT_EQ(percent_text(std::numeric_limits<double>::infinity(), 3, Side::upper), "inf %");
}

}  // namespace
}  // namespace sotto
