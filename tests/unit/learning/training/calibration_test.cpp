// Calibrations side by side: the closed form suffices where it applies and is refused elsewhere;
// the excess risk stays below its bound.
#include "learning/api/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

Training fixed(std::int64_t batch, std::int64_t population, std::int64_t steps) {
  return {.sampling = FixedSizeSampling{batch, population},
          .steps = steps,
          .batch = static_cast<double>(batch),
          .relation = Relation::replace_one};
}

TEST(NoiseCalibration, TheClosedFormIsTheTextbooksWithTheCorrectedLogarithm) {
  // on the mean of m records: 16 l √(T log(2/δ) log(2.5 m T/(δ n)))/(n ε), l = 1
  const double n = 1000;
  const double m = 50;
  const double steps = 2000;
  const double mean =
      16 * std::sqrt(steps * std::log(2e5) * std::log(2.5 * m * steps / (1e-5 * n))) / n;
  EXPECT_NEAR(closed_form_noise(fixed(50, 1000, 2000), Epsilon(1), Delta(1e-5)) / m / mean, 1,
              1e-12);
}

TEST(NoiseCalibration, EachSufficesAndTheTightOneNeedsLeast) {
  for (const Training& training :
       {fixed(50, 1000, 2000), Training{.sampling = PoissonSampling{0.05}, .steps = 2000},
        Training{.steps = 100, .relation = Relation::replace_one}, Training{.steps = 50}}) {
    const auto all = noise_by_method(training, Epsilon(1), Delta(1e-5));
    ASSERT_EQ(all.size(), 3U);
    for (const NoiseCalibration& one : all) {
      ASSERT_TRUE(one.noise) << one.method << ": " << one.refusal;
      Training noisy = training;
      noisy.noise = *one.noise;
      EXPECT_LE(epsilon(plan_of(noisy), Delta(1e-5)).value.upper, 1) << one.method;
    }
    EXPECT_LE(*all[0].noise, *all[1].noise * (1 + 1e-9));
    EXPECT_LT(*all[1].noise, *all[2].noise);
  }
}

TEST(NoiseCalibration, TheClosedFormIsRefusedOutsideItsConditions) {
  // the textbook's own example: one record a step, where the step's ε' is far above 1
  EXPECT_THROW((void)closed_form_noise(fixed(1, 10000, 100), Epsilon(1), Delta(1e-5)),
               OutsideConditions);
  const auto all = noise_by_method(fixed(1, 10000, 100), Epsilon(1), Delta(1e-5));
  EXPECT_FALSE(all[2].noise);
  EXPECT_NE(all[2].refusal.find("epsilon' <= 1"), std::string::npos);
  EXPECT_TRUE(all[0].noise);
  // simple composition: e^ε'' too large
  EXPECT_THROW((void)closed_form_noise(Training{.steps = 3}, Epsilon(50), Delta(1e-5)),
               OutsideConditions);
  EXPECT_THROW((void)closed_form_noise(Training{.steps = 3}, Epsilon(0.1), Delta(0)),
               OutsideConditions);
  Training adaptive{.steps = 50};
  adaptive.clipping.adaptive = AdaptiveClipping{};
  EXPECT_THROW((void)closed_form_noise(adaptive, Epsilon(1), Delta(1e-5)), OutsideConditions);
}

TEST(NoiseCalibration, SimpleCompositionIsRefusedWhereItDoesNotHold) {
  // a full batch with ε' just below 1: ε'' = 2ε' = 1.98, and √T (e^1.98 - 1) > √(2 log(2/δ))
  const double epsilon = 0.99 * 4 * std::sqrt(2 * 4 * std::log(2e5));
  try {
    (void)closed_form_noise(Training{.steps = 4}, Epsilon(epsilon), Delta(1e-5));
    FAIL();
  } catch (const OutsideConditions& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("simple form"), std::string::npos);
  }
}

TEST(ExcessRiskBound, IsTwoRGAtTheBestStepSize) {
  const Training training = textbook_training({.population = 100,
                                               .batch = 10,
                                               .diameter = 2,
                                               .lipschitz = 1,
                                               .parameters = 3,
                                               .steps = 1000},
                                              Epsilon(1), Delta(1e-4));
  const double deviation = training.noise / 10;
  const double g = std::sqrt(1 + 3 * deviation * deviation);
  EXPECT_NEAR(excess_risk_bound(training, 1, 3, 100),
              2 * 2 * g * (2 + std::log(1000)) / std::sqrt(1000), 1e-9);
  EXPECT_EQ(
      textbook_training({.population = 20, .batch = 10, .parameters = 3}, Epsilon(1), Delta(1e-4))
          .steps,
      400);
}

TEST(ExcessRiskBound, HoldsForALossWhoseMinimumIsKnown) {
  // Huber loss of one feature and an intercept in a ball: the minimum is at a line that all rows
  // lie on
  Examples::Builder builder(1);
  for (int i = 0; i < 400; ++i) {
    const int x = (i * 79) % 401 - 200;
    builder.add(static_cast<std::int16_t>(x * 20))[0] = static_cast<std::int16_t>(x * 40);
  }
  const Examples examples = std::move(builder).build();
  const LossFunction huber{.kind = LossKind::huber, .bend = 1};
  const std::shared_ptr<const Model> model = make_model(LinearModel{.width = 1, .loss = huber});
  const double lipschitz = std::sqrt(2);
  const Training training = textbook_training({.population = 400,
                                               .batch = 20,
                                               .diameter = 2,
                                               .lipschitz = lipschitz,
                                               .parameters = 2,
                                               .steps = 4000},
                                              Epsilon(1), Delta(1e-5));
  double mean = 0;
  const int runs = 10;
  for (int run = 0; run < runs; ++run) {
    const Iterate found = train(model, examples, training, {.threads = 1});
    std::vector<double> outputs(examples.rows());
    model->prepare(found.parameters)->outputs(examples, 0, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      mean += huber.value(std::span(&outputs[i], 1), examples.target(i)) / 400 / runs;
  }
  const double bound = excess_risk_bound(training, lipschitz, 2, 400);
  EXPECT_LT(mean, bound);
  EXPECT_LT(bound, 10);
}

TEST(ExcessRiskBound, IsRefusedOutsideItsTheorem) {
  const Training good = textbook_training({.population = 100,
                                           .batch = 10,
                                           .diameter = 2,
                                           .lipschitz = 1,
                                           .parameters = 3,
                                           .steps = 1000},
                                          Epsilon(1), Delta(1e-4));
  const auto refused = [&](auto change) {
    Training training = good;
    change(training);
    EXPECT_THROW((void)excess_risk_bound(training, 1, 3, 100), OutsideConditions);
  };
  EXPECT_NO_THROW((void)excess_risk_bound(good, 1, 3, 100));
  refused([](Training& t) { t.clipping.norm = 0.9; });
  refused([](Training& t) { t.batch = 11; });
  refused([](Training& t) { t.optimiser.sizes = StepSizes::constant; });
  refused([](Training& t) { t.optimiser.region.reset(); });
  refused([](Training& t) { t.optimiser.averaging = Averaging::uniform; });
  refused([](Training& t) { t.optimiser.kind = OptimiserKind::adam; });
  refused([](Training& t) { t.optimiser.l2 = 0.1; });
  refused([](Training& t) { t.sampling = PoissonSampling{0.1}; });
}

}  // namespace
}  // namespace sotto
