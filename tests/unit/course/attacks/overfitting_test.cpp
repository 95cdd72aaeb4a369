#include <gtest/gtest.h>

#include <cmath>

#include "course/api/attack_overfitting.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(OverfittingAttack, ExactAnswersFitTheHoldoutSet) {
  const OverfittingAttack attack =
      overfitting_attack({.people = 500, .questions = 500, .runs = 10});
  EXPECT_EQ(attack.points.front().questions, 1);
  EXPECT_EQ(attack.points.back().questions, 500);
  // each feature agrees with the label by √(2/π)/√people more than chance: Φ(√(2/π)) in the end
  EXPECT_NEAR(attack.points.back().exact, 0.7875, 0.03);
  EXPECT_LT(attack.points.front().exact, 0.6);
}

TEST(OverfittingAttack, PrivateAnswersDoNot) {
  const OverfittingAttack attack =
      overfitting_attack({.people = 500, .questions = 500, .runs = 20, .epsilon = 0.2});
  EXPECT_NEAR(attack.usual, std::expm1(0.2) + 1e-6, 1e-9);
  EXPECT_NEAR(attack.gap, std::tanh(0.1), 1e-5);
  for (const OverfittingPoint& point : attack.points) {
    EXPECT_LE(point.noisy - 2 * point.margin, point.most) << point.questions;
    EXPECT_LE(point.most, 0.5 + attack.gap);
    EXPECT_GT(point.most, 0.5);
  }
  EXPECT_LT(attack.points.back().noisy, 0.55);
  EXPECT_GT(attack.points.back().exact, attack.points.back().noisy + 0.2);
}

TEST(OverfittingAttack, MoreBudgetFitsMore) {
  const OverfittingAttack attack =
      overfitting_attack({.people = 500, .questions = 500, .runs = 5, .epsilon = 1000});
  EXPECT_NEAR(attack.points.back().noisy, attack.points.back().exact, 0.03);
  EXPECT_EQ(attack.gap, 1);
}

TEST(OverfittingAttack, RefusesNonsense) {
  EXPECT_THROW((void)overfitting_attack({.people = 1}), InvalidValue);
  EXPECT_THROW((void)overfitting_attack({.questions = 0}), InvalidValue);
  EXPECT_THROW((void)overfitting_attack({.people = 1'000'000, .questions = 1'000'000}),
               InvalidValue);
  EXPECT_THROW((void)overfitting_attack({.epsilon = 0}), InvalidValue);
}

}  // namespace
}  // namespace sotto
