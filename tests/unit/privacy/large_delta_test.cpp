// The warning about a delta that is too large.
#include "privacy/api/large_delta.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LargeDelta, AboveAThousandthThereIsAWarning) {
  EXPECT_EQ(large_delta_warning(0), "");
  EXPECT_EQ(large_delta_warning(1e-6), "");
  EXPECT_EQ(large_delta_warning(1e-3), "");
  EXPECT_TRUE(mentions(large_delta_warning(0.00101), "delta = 0.00101 is large"));
  EXPECT_TRUE(mentions(large_delta_warning(0.1, std::nullopt, "person"),
                       "publish each person's whole record"));
  EXPECT_EQ(large_delta_warning(1), "");  // refused elsewhere
}

TEST(LargeDelta, FromOneOverThePublicNumberOfUnitsOnThereIsAWarning) {
  EXPECT_EQ(large_delta_warning(1e-6, 1e5), "");
  EXPECT_TRUE(mentions(large_delta_warning(1e-5, 1e5), "not below 1/n for n = 1e+05"));
  EXPECT_TRUE(mentions(large_delta_warning(0.05, 2517), "whole records of 120 units"));
  EXPECT_TRUE(mentions(large_delta_warning(0.05, 2517), "1/n^2 = 1.5e-07"));
  EXPECT_EQ(large_delta_warning(0.9e-3, 1000), "");
}

}  // namespace
}  // namespace sotto
