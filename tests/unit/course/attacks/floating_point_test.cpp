#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "course/api/attack_floating_point.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace sotto {
namespace {

TEST(FloatingPointAttack, IdentifiesTheValueBehindTextbookNoiseWithCertainty) {
  const FloatingPointAttack attack =
      floating_point_attack({.epsilons = {0.1, 0.5, 1}, .releases = 2000});
  for (const FloatingPointPoint& point : attack.points) {
    EXPECT_GT(point.identified, 0.7) << point.epsilon;
    EXPECT_EQ(point.mistaken, 0) << point.epsilon;
    EXPECT_GT(point.textbook, point.ceiling + 0.1) << point.epsilon;
  }
}

TEST(FloatingPointAttack, IsNeverMistakenWhateverTheValue) {
  for (const double value : {-3.0, 0.1, 10.0, 12345.678, 1e9}) {
    for (const FloatingPointPoint& point :
         floating_point_attack({.value = value, .epsilons = {0.3, 3}, .releases = 300}).points) {
      EXPECT_EQ(point.mistaken, 0) << value;
    }
  }
}

TEST(FloatingPointAttack, LearnsFromSottosOutputsNoMoreThanEpsilonAllows) {
  const FloatingPointAttack attack =
      floating_point_attack({.value = 7, .epsilons = {0.1, 1, 3}, .releases = 10000});
  for (const FloatingPointPoint& point : attack.points) {
    EXPECT_EQ(point.sotto_identified, 0) << point.epsilon;
    EXPECT_NEAR(point.sotto, 1 - std::exp(-point.epsilon / 2) / 2, 0.035)
        << point.epsilon;  // seven deviations
    EXPECT_NEAR(point.ceiling, 1 - std::exp(-point.epsilon / 2) / 2, 1e-6) << point.epsilon;
  }
}

TEST(FloatingPointAttack, SottosOutputsAreReachableFromEveryValue) {
  // On a coarse grid both values produce every multiple near them, even if they are not multiples
  // themselves.
  const Additive mechanism(laplace(1), -2);
  std::set<double> from_first, from_second;
  for (int i = 0; i < 20000; ++i) {
    for (const auto& [value, seen] : {std::pair{0.3, &from_first}, std::pair{1.3, &from_second}}) {
      const double output = mechanism.release(value);
      if (std::abs(output) <= 2) seen->insert(output);
    }
  }
  EXPECT_EQ(from_first.size(), 17u);
  EXPECT_EQ(from_first, from_second);
}

TEST(FloatingPointAttack, RefusesNonsense) {
  EXPECT_THROW((void)floating_point_attack({.value = NAN}), InvalidValue);
  EXPECT_THROW((void)floating_point_attack({.epsilons = {0}}), InvalidValue);
  EXPECT_THROW((void)floating_point_attack({.releases = 0}), InvalidValue);
}

}  // namespace
}  // namespace sotto
