#include <gtest/gtest.h>

#include "course/api/attack_gradient_inversion.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(GradientInversionAttack, ReadsARecordExactlyFromAPlainGradient) {
  const GradientInversionAttack attack = gradient_inversion_attack({.runs = 50, .epsilons = {1}});
  EXPECT_LT(attack.plain_error, 1e-14);
  EXPECT_EQ(attack.plain_recovered, 1);
  EXPECT_EQ(attack.plain_whole, 1);
}

TEST(GradientInversionAttack, ReadsARecordFromASmallBatchAndMixturesFromALargeOne) {
  // eight records in 30 classes: one class is nearly always absent and one has a single record
  EXPECT_GT(gradient_inversion_attack({.classes = 30, .batch = 8, .runs = 50, .epsilons = {1}})
                .plain_whole,
            0.99);
  const GradientInversionAttack large =
      gradient_inversion_attack({.batch = 200, .runs = 50, .epsilons = {1}});
  EXPECT_LT(large.plain_whole, 0.1);
  EXPECT_LT(large.plain_recovered, 0.8);
}

TEST(GradientInversionAttack, FailsUnderNoiseAndStaysBelowItsCeiling) {
  constexpr std::int64_t runs = 400;
  const GradientInversionAttack attack =
      gradient_inversion_attack({.runs = runs, .epsilons = {0.5, 30, 1000, 10000}});
  // 400 times 64 fair bits: five deviations of their share are 0.016
  for (const GradientInversionPoint& point : attack.points)
    EXPECT_LE(point.recovered, point.ceiling + 0.016) << point.epsilon;
  EXPECT_NEAR(attack.points.front().recovered, 0.5, 0.016 + 0.05);
  EXPECT_LT(attack.points.front().whole, 0.01);
  EXPECT_GT(attack.points.back().recovered,
            0.99);  // with little noise the attack works, so noise is what stops it above
}

TEST(GradientInversionAttack, ItsNoiseIsForOneReplacedRecord) {
  const GradientInversionAttack attack =
      gradient_inversion_attack({.runs = 1, .epsilons = {1}, .delta = 1e-5, .clip = 3});
  EXPECT_NEAR(attack.points.front().noise, 2 * 3 * 3.7306316348159423, 1e-6);
}

TEST(GradientInversionAttack, RefusesNonsense) {
  EXPECT_THROW((void)gradient_inversion_attack({.features = 0}), InvalidValue);
  EXPECT_THROW((void)gradient_inversion_attack({.classes = 1}), InvalidValue);
  EXPECT_THROW((void)gradient_inversion_attack({.epsilons = {0}}), InvalidValue);
  EXPECT_THROW((void)gradient_inversion_attack({.clip = -1}), InvalidValue);
  EXPECT_THROW((void)gradient_inversion_attack({.features = 1000, .classes = 1000, .runs = 1001}),
               InvalidValue);
}

}  // namespace
}  // namespace sotto
