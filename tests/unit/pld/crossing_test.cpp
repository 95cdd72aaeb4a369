// The inverse of a profile: its ends are proved by the profile itself, whatever the search does.
#include "pld/crossing.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto::pld_detail {
namespace {

TEST(BracketCrossing, EnclosesTheRootOfAnExponentialProfile) {
  const double width = 1e-9;  // of the profile's bounds
  const Profile profile = [width](double epsilon) {
    return Bound{std::exp(-2 * epsilon) * (1 - width), std::exp(-2 * epsilon) * (1 + width)};
  };
  const double exact = std::log(1e4) / 2;
  for (const double c : {0.1, 2.0, 30.0}) {  // the search's guess of the decay is 2 at best
    for (const double from : {0.0, 4.0, 49.0}) {
      const Bound epsilon = bracket_crossing(profile, c, 50, {1e-4, 1e-4}, from, 1e-12);
      EXPECT_LE(epsilon.lower, exact) << c << " " << from;
      EXPECT_GE(epsilon.upper, exact) << c << " " << from;
      EXPECT_LE(epsilon.upper - epsilon.lower, 1e-7) << c << " " << from;
    }
  }
}

TEST(BracketCrossing, HoldsForEveryDeltaOfARange) {
  const Profile profile = [](double epsilon) {
    return Bound{std::exp(-epsilon), std::exp(-epsilon)};
  };
  const Bound epsilon = bracket_crossing(profile, 1, 50, {1e-4, 2e-4}, 9, 1e-12);
  EXPECT_GE(epsilon.upper, std::log(1e4));
  EXPECT_LE(epsilon.lower, std::log(5e3));
}

TEST(BracketCrossing, EnclosesAJump) {
  const Profile profile = [](double epsilon) {
    const double delta = epsilon < 1 ? 0.3 : epsilon < 2 ? 0.1 : 0;
    return Bound{delta, delta};
  };
  const Bound epsilon = bracket_crossing(profile, 1, 2, {0.2, 0.2}, 1.7, 1e-9);
  EXPECT_LE(epsilon.lower, 1);
  EXPECT_GE(epsilon.upper, 1);
}

TEST(BracketCrossing, OfATrivialProfileIsTheWholeRange) {
  const Bound epsilon = bracket_crossing(
      [](double) {
        return Bound{0, 1};
      },
      1, 5, {1e-3, 1e-3}, 2, 1e-9);
  EXPECT_EQ(epsilon.lower, 0);
  EXPECT_EQ(epsilon.upper, 5);
}

}  // namespace
}  // namespace sotto::pld_detail
