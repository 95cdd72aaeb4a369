// Arsinh noise: if the doubles are sure, every continuation of the bits has the same rounding.
#include <gtest/gtest.h>

#include <cmath>

#include "scripted.hpp"

namespace sotto {
namespace {

using random_detail::Curve;
using random_detail::Position;
using random_detail::Rounding;
using random_detail::Shape;

TEST(ArsinhRounding, SureDoublesHoldForEveryContinuation) {
  testing::Stream pick(21);
  const std::uint64_t ones = ~std::uint64_t{0};
  int sure = 0;
  constexpr int cells = 5'000;
  for (int i = 0; i < cells; ++i) {
    const double bend = std::ldexp(1 + static_cast<double>(pick.word() >> 11U) * 0x1p-53,
                                   static_cast<int>(pick.word() % 30) - 15);
    const double factor = std::ldexp(1 + static_cast<double>(pick.word() >> 11U) * 0x1p-53,
                                     static_cast<int>(pick.word() % 6) - 3);
    // on the finest grids the interval of y is wider than a step
    const int grid = static_cast<int>(pick.word() % 46) - 40;
    const double value = std::ldexp(static_cast<double>(pick.word() >> 11U),
                                    -53 + static_cast<int>(pick.word() % 8)) -
                         1;
    const Rounding rounding{value,  grid, Shape::arsinh,
                            factor, bend, random_detail::unit_of(Curve::gaussian)};
    const Position y{
        pick.word() >> (64U - 9U - static_cast<unsigned>(random_detail::real_fraction)),
        random_detail::real_fraction,
        true,
        {}};
    const bool negative = pick.word() % 2 == 0;
    const auto attempt = random_detail::try_bent(rounding, negative, y);
    if (!attempt.sure) continue;
    ++sure;
    for (const std::uint64_t rest : {std::uint64_t{0}, ones}) {
      Position end = y;
      end.lower_words = {rest, rest};
      const auto exact = random_detail::rounded(rounding, negative, end);
      ASSERT_TRUE(exact.has_value()) << i;
      ASSERT_EQ(*exact, attempt.whole) << i;
    }
  }
  EXPECT_GT(sure, cells / 2);
  EXPECT_LT(sure, cells);
}

// Outside of the normal doubles nothing is sure.
TEST(ArsinhRounding, DoublesAreNeverSureOutsideTheirNormalRange) {
  const Position y{std::uint64_t{1} << 40U, random_detail::real_fraction, true, {}};
  const auto sure = [&](double factor, double bend, int grid, double value) {
    return random_detail::try_bent(
               {value, grid, Shape::arsinh, factor, bend, random_detail::unit_of(Curve::gaussian)},
               false, y)
        .sure;
  };
  EXPECT_TRUE(sure(1, 1, 0, 0.1));
  EXPECT_FALSE(sure(1e-300, 1e300, 0, 0.1));
  EXPECT_FALSE(sure(1e300, 1e-300, 0, 0.1));
  EXPECT_FALSE(sure(1, 1e-320, 0, 0.1));
  EXPECT_FALSE(sure(1, 1, -1022, 1e300));
}

}  // namespace
}  // namespace sotto
