#include <gtest/gtest.h>

#include <cmath>

#include "course/api/attack_reconstruction.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(ReconstructionAttack, RecoversAlmostEverythingFromSmallNoise) {
  const ReconstructionAttack attack =
      reconstruction_attack({.people = 100, .queries = 800, .noise = {2, 0.01, 1}, .runs = 5});
  ASSERT_EQ(attack.points.size(), 3u);
  EXPECT_EQ(attack.points[0].noise, 0.01);
  EXPECT_EQ(attack.points[0].recovered, 1);
  EXPECT_GT(attack.points[1].recovered, 0.95);
  EXPECT_GT(attack.points[2].recovered, 0.95);
  EXPECT_GT(attack.points[2].epsilon, 50);
}

TEST(ReconstructionAttack, IsNearChanceWithinASmallBudget) {
  const ReconstructionAttack attack =
      reconstruction_attack({.people = 100, .queries = 400, .noise = {5, 1000}, .runs = 20});
  EXPECT_LE(attack.within_budget.epsilon, 1);
  EXPECT_GT(attack.within_budget.epsilon, 0.999);
  EXPECT_NEAR(attack.within_budget.recovered, 0.52, 0.08);
  EXPECT_NEAR(attack.points[1].recovered, 0.5, 0.07);
}

TEST(ReconstructionAttack, StaysBelowTheBoundForAnyAttacker) {
  const ReconstructionAttack attack =
      reconstruction_attack({.people = 100, .queries = 400, .noise = {3, 10, 30, 100}, .runs = 20});
  EXPECT_GE(attack.sensitivity, std::sqrt(200.0));
  EXPECT_LE(attack.sensitivity, std::sqrt(400.0) + 1e-9);
  for (const ReconstructionPoint& point : attack.points)
    EXPECT_LT(point.recovered, point.ceiling + 0.06) << point.noise;
  // and uses most of it: least squares with four answers a bit loses about a quarter of the signal
  EXPECT_GT(attack.points[0].recovered, 0.85);
}

TEST(ReconstructionAttack, RefusesNonsense) {
  EXPECT_THROW((void)reconstruction_attack({.people = 2000}), InvalidValue);
  EXPECT_THROW((void)reconstruction_attack({.people = 100, .queries = 50}), InvalidValue);
  EXPECT_THROW((void)reconstruction_attack({.noise = {-1}}), InvalidValue);
}

}  // namespace
}  // namespace sotto
