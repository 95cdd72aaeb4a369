#include <gtest/gtest.h>

#include <cmath>

#include "course/api/attack_differencing.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(DifferencingAttack, IsAlwaysRightOnExactCounts) {
  EXPECT_EQ(differencing_attack({.epsilons = {1}, .trials = 1000}).exact, 1);
}

TEST(DifferencingAttack, IsRightUnderNoiseAsOftenAsPredicted) {
  for (const DifferencingPoint& point :
       differencing_attack({.epsilons = {0.2, 1, 4}, .trials = 20000}).points) {
    const double e = std::exp(point.epsilon);
    EXPECT_NEAR(point.ceiling, e / (1 + e), 1e-12);
    EXPECT_GE(point.ceiling, e / (1 + e) - 1e-16);
    // seven deviations
    EXPECT_NEAR(point.response, point.ceiling, 0.025) << point.epsilon;
    EXPECT_NEAR(point.informed, 1 - std::exp(-point.epsilon / 4) / 2, 0.025) << point.epsilon;
    // the difference of two Laplace noises exceeds t with probability (2 + t/b) e^(-t/b)/4
    const double t = point.epsilon / 4;
    EXPECT_NEAR(point.difference, 1 - (2 + t) * std::exp(-t) / 4, 0.025) << point.epsilon;
    EXPECT_LE(point.mechanism, point.ceiling * (1 + 1e-9));
    EXPECT_LT(point.informed, point.mechanism + 0.025);
  }
}

TEST(DifferencingAttack, RefusesNonsense) {
  EXPECT_THROW((void)differencing_attack({.people = 0}), InvalidValue);
  EXPECT_THROW((void)differencing_attack({.epsilons = {-1}}), InvalidValue);
}

}  // namespace
}  // namespace sotto
