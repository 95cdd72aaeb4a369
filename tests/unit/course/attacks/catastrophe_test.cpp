#include <gtest/gtest.h>

#include <cmath>

#include "course/api/attack_catastrophe.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace sotto {
namespace {

TEST(CatastropheAttack, RevealsEverythingAsOftenAsDeltaSays) {
  const CatastropheAttack attack =
      catastrophe_attack({.delta = 0.05, .releases = 2000, .people = 30});
  EXPECT_GT(attack.points.back().revealed, 40);  // 100 are expected, six deviations
  EXPECT_LT(attack.points.back().revealed, 160);
  EXPECT_EQ(attack.points.back().revealed, static_cast<std::int64_t>(attack.when.size()));
  EXPECT_EQ(attack.learnt, 30);
  EXPECT_EQ(attack.catastrophe.largest, INFINITY);
  EXPECT_NEAR(attack.points.front().delta, 0.05, 1e-9);
  EXPECT_GT(attack.points.back().delta, 0.999);
}

TEST(CatastropheAttack, HasNoRenyiDivergence) {
  const CatastropheAttack attack = catastrophe_attack({.delta = 1e-9, .releases = 500});
  EXPECT_EQ(attack.learnt, 0);
  EXPECT_TRUE(attack.when.empty());
  EXPECT_LE(attack.catastrophe.largest,
            1 + 1e-9);  // unless the table is revealed, the loss is at most ε
  EXPECT_EQ(attack.catastrophe.divergence, INFINITY);
  EXPECT_TRUE(std::isfinite(attack.gaussian.divergence));
  EXPECT_NE(attack.refusal.find("zCDP"), std::string::npos) << attack.refusal;
}

TEST(CatastropheAttack, GaussianNoiseFailsGracefully) {
  const CatastropheAttack attack = catastrophe_attack({.delta = 0.05, .releases = 2000});
  EXPECT_LT(attack.gaussian.largest, 6);
  EXPECT_GT(attack.gaussian.above_epsilon, 0.05);  // P(L > ε) exceeds δ
}

TEST(CatastropheAttack, IsNoMechanism) {
  EXPECT_THROW(Additive(catastrophe(1, 0.1)), InvalidValue);
  EXPECT_THROW((void)additive_for(catastrophe(1, 0.1), Epsilon(1), Delta(0.5)), InvalidValue);
}

TEST(CatastropheAttack, RefusesNonsense) {
  EXPECT_THROW((void)catastrophe_attack({.delta = 0}), InvalidValue);
  EXPECT_THROW((void)catastrophe_attack({.releases = 0}), InvalidValue);
}

}  // namespace
}  // namespace sotto
