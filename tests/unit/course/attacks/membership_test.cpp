#include <gtest/gtest.h>

#include <cmath>

#include "course/api/attack_membership.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace sotto {
namespace {

TEST(MembershipAttack, FindsMembersFromExactFrequencies) {
  const MembershipAttack attack = membership_attack({.sites = 2000, .people = 50, .runs = 10});
  EXPECT_EQ(attack.members, 500);
  EXPECT_EQ(attack.points.front().fpr, 0.01);
  EXPECT_GT(attack.points.front().exact, 0.9);  // the scores are six deviations apart
}

TEST(MembershipAttack, FindsHardlyAnyoneFromAPrivateRelease) {
  const MembershipAttack attack =
      membership_attack({.sites = 500, .people = 100, .runs = 20, .epsilon = 1});
  EXPECT_GE(attack.sensitivity, std::sqrt(500.0) / 100);
  EXPECT_NEAR(attack.sensitivity, std::sqrt(500.0) / 100, 1e-12);
  EXPECT_NEAR(attack.noise / attack.sensitivity, gaussian_for(Epsilon(1), Delta(1e-6), 1).scale(),
              1e-6);
  EXPECT_LT(attack.points.front().ceiling, 0.02);
  for (const MembershipPoint& point : attack.points) {
    EXPECT_LT(point.noisy, point.ceiling + (point.fpr < 0.05 ? 0.02 : 0.08)) << point.fpr;
    EXPECT_LT(point.ceiling, 1);
    EXPECT_GT(point.ceiling, point.fpr);
  }
  EXPECT_EQ(attack.curve.back().fpr, 1);
  EXPECT_EQ(attack.curve.back().noisy, 1);
}

TEST(MembershipAttack, SucceedsOnALooseRelease) {
  const MembershipAttack attack =
      membership_attack({.sites = 2000, .people = 50, .runs = 10, .epsilon = 1000});
  EXPECT_GT(attack.points.front().noisy, 0.8);
}

TEST(MembershipAttack, RefusesNonsense) {
  EXPECT_THROW((void)membership_attack({.people = 1}), InvalidValue);
  EXPECT_THROW((void)membership_attack({.sites = 1'000'000, .people = 1000}), InvalidValue);
  EXPECT_THROW((void)membership_attack({.delta = 0}), InvalidValue);
}

}  // namespace
}  // namespace sotto
