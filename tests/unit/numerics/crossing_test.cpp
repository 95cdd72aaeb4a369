// The search for a crossing: both results, their gap, and the number of evaluations.
#include "numerics/api/crossing.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

struct Counted {
  Crossing crossing;
  int evaluations = 0;
};

template <class F>
Counted counted(const CrossingRange& range, F f) {
  Counted result;
  result.crossing = find_crossing(range, [&](double x) {
    ++result.evaluations;
    return f(x);
  });
  return result;
}

TEST(Crossing, AdjacentDoublesTakeFewEvaluations) {
  for (const double root : {1e-9, 0.3, 1.0, 37.25, 1e7}) {
    const auto result =
        counted({.low = 1e-150, .high = 1e150, .holds_high = true, .start = 1}, [root](double x) {
          return Excess{std::log(std::sqrt(root / x) + root / x) - std::log(2.0)};
        });
    ASSERT_TRUE(result.crossing.holds && result.crossing.fails);
    EXPECT_EQ(*result.crossing.fails, std::nextafter(*result.crossing.holds, 0));
    EXPECT_NEAR(*result.crossing.holds / root, 1, 1e-14);
    EXPECT_LE(result.evaluations, 20) << root;
  }
}

TEST(Crossing, ResolutionEndsTheSearch) {
  const auto result =
      counted({.low = 1e-150, .high = 1e150, .holds_high = false, .start = 1}, [](double x) {
        return Excess{std::log((x + x * x) / 30), 1e-9};
      });
  EXPECT_NEAR(*result.crossing.holds / 5, 1, 1e-9);
  EXPECT_LE(*result.crossing.holds, 5);
  EXPECT_LE(result.evaluations, 10);
}

TEST(Crossing, WholeNumbersAreAdjacent) {
  for (const double root : {1.0, 2.0, 17.0, 718.0, 12345678.0}) {
    const auto result =
        counted({.low = 1, .high = 0x1p53, .holds_high = false, .start = 16, .whole = true},
                [root](double x) { return Excess{0.5 * std::log(x / (root + 0.4))}; });
    EXPECT_EQ(*result.crossing.holds, root);
    EXPECT_EQ(*result.crossing.fails, root + 1);
    EXPECT_LE(result.evaluations, 12) << root;
  }
}

TEST(Crossing, AnInfiniteExcessStillHasACrossing) {
  for (const bool holds_high : {false, true}) {
    const Crossing crossing = find_crossing(
        {.low = 1e-150, .high = 1, .holds_high = holds_high, .start = 0.1},
        [&](double x) { return Excess{(x > 1e-5) == holds_high ? -INFINITY : INFINITY}; });
    EXPECT_EQ(holds_high ? *crossing.fails : *crossing.holds, 1e-5);
    EXPECT_EQ(holds_high ? *crossing.holds : *crossing.fails, std::nextafter(1e-5, 1));
  }
}

TEST(Crossing, AJumpOfAFlatFunctionIsACrossing) {
  const Crossing crossing =
      find_crossing({.low = 1e-150, .high = 1, .holds_high = false, .start = 0.1},
                    [](double x) { return Excess{x <= 1e-5 ? 0 : INFINITY}; });
  EXPECT_EQ(*crossing.holds, 1e-5);
}

TEST(Crossing, ARangeWithoutACrossingHasOneResult) {
  const auto all = find_crossing({.low = 0.5, .high = 8, .holds_high = false, .start = 1},
                                 [](double) { return Excess{-1}; });
  EXPECT_EQ(*all.holds, 8);
  EXPECT_FALSE(all.fails);
  const auto none = find_crossing({.low = 0.5, .high = 8, .holds_high = false, .start = 1},
                                  [](double) { return Excess{INFINITY}; });
  EXPECT_EQ(*none.fails, 0.5);
  EXPECT_FALSE(none.holds);
}

}  // namespace
}  // namespace sotto
