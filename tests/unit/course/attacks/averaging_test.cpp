#include <gtest/gtest.h>

#include <cmath>

#include "course/api/attack_averaging.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(AveragingAttack, RecoversTheSecretAtAGrowingCost) {
  const AveragingAttack attack =
      averaging_attack({.epsilon = 1, .questions = 2000, .runs = 50, .budget = 5});
  EXPECT_NEAR(attack.guess, static_cast<double>(attack.secret), 0.3);  // nine deviations
  const AveragingPoint& first = attack.points.front();
  const AveragingPoint& last = attack.points.back();
  EXPECT_EQ(first.questions, 1);
  EXPECT_EQ(last.questions, 2000);
  EXPECT_EQ(last.recovered, 1);
  EXPECT_LT(last.large_error, 0.15);
  EXPECT_LT(10 * last.typical_error, first.typical_error + 1);
  EXPECT_NEAR(first.epsilon, 1, 1e-5);
  for (std::size_t i = 1; i < attack.points.size(); ++i) {
    EXPECT_GT(attack.points[i].epsilon, attack.points[i - 1].epsilon);
    EXPECT_LE(attack.points[i].epsilon, static_cast<double>(attack.points[i].questions) + 1e-6);
  }
}

TEST(AveragingAttack, IsStoppedByALedger) {
  const AveragingAttack attack =
      averaging_attack({.epsilon = 0.1, .questions = 1000, .runs = 200, .budget = 1});
  EXPECT_EQ(attack.allowed.questions, 10);
  EXPECT_GT(attack.allowed.typical_error, 1);  // b = 10: about 3
  EXPECT_LT(attack.allowed.recovered, 0.4);
  EXPECT_EQ(
      averaging_attack({.epsilon = 2, .questions = 10, .runs = 1, .budget = 1}).allowed.questions,
      0);
}

TEST(AveragingAttack, UsesTheNoiseThatIsAccounted) {
  // the median of |Laplace| is b log 2; seven deviations of its estimate
  const AveragingAttack attack = averaging_attack({.epsilon = 0.5, .questions = 1, .runs = 40000});
  EXPECT_NEAR(attack.points.front().typical_error / (2 * std::log(2.0)), 1, 0.05);
}

TEST(AveragingAttack, RefusesNonsense) {
  EXPECT_THROW((void)averaging_attack({.epsilon = 0}), InvalidValue);
  EXPECT_THROW((void)averaging_attack({.questions = 0}), InvalidValue);
  EXPECT_THROW((void)averaging_attack({.questions = 1'000'000, .runs = 1000}), InvalidValue);
}

}  // namespace
}  // namespace sotto
