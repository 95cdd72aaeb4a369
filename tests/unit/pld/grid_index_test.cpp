// The index of a loss far outside of a grid is below its first point or above its last one.
#include "pld/grid/grid_index.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sotto::pld_detail {
namespace {

TEST(GridIndex, SaturatesInsteadOfOverflowing) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(grid_index(-3), -3);
  EXPECT_EQ(grid_index(0x1p51), std::int64_t{1} << 51U);
  for (const double far : {0x1p53, 1.6e22, 1e300, infinity}) {
    EXPECT_EQ(grid_index(far), std::int64_t{1} << 52U) << far;
    EXPECT_EQ(grid_index(-far), -(std::int64_t{1} << 52U)) << far;
  }
  EXPECT_THROW((void)grid_index(std::numeric_limits<double>::quiet_NaN()), OutsideConditions);
}

}  // namespace
}  // namespace sotto::pld_detail
