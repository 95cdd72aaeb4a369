// Mechanisms: what they release, what they cost, how they are calibrated.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "accounting/api/concentrated.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/choice.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

double variance(const Additive& mechanism, double value, int draws) {
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += std::pow(mechanism.release(value) - value, 2);
  return sum / draws;
}

TEST(Additive, ReleasesWhatItsEventSays) {
  const Additive laplace_noise(laplace(2.5, 3));
  EXPECT_EQ(laplace_noise.event(), laplace(2.5, 3));
  EXPECT_NEAR(variance(laplace_noise, 7, 200'000), 2 * 2.5 * 2.5, 0.35);
  const Additive gaussian_noise(gaussian(2.5, 3));
  EXPECT_NEAR(variance(gaussian_noise, -7, 200'000), 2.5 * 2.5, 0.15);
  EXPECT_EQ(gaussian_noise.scale(), 2.5);
  EXPECT_EQ(gaussian_noise.grid(), 0x1p-9);
}

TEST(Additive, AVectorIsOneEventWithNoiseInEachCoordinate) {
  const Additive mechanism(gaussian(10, 2));
  const std::vector<double> zeros(1000);
  const std::vector<double> released = mechanism.release(zeros);
  double sum = 0;
  for (const double x : released) sum += x * x;
  EXPECT_NEAR(sum / 1000, 100, 25);
  EXPECT_NE(released[0], released[1]);
  EXPECT_EQ(mechanism.event(), gaussian(10, 2));
}

TEST(Additive, NoiseInPlaceIsThatOfARelease) {
  const Additive mechanism(gaussian(10));
  std::vector<double> values(20'000, 5.0);
  const double* place = values.data();
  mechanism.release_in_place(values);
  EXPECT_EQ(values.data(), place);
  double sum = 0;
  for (const double value : values) {
    EXPECT_EQ(std::remainder(value, mechanism.grid()), 0);
    sum += (value - 5) * (value - 5);
  }
  EXPECT_NEAR(std::sqrt(sum / 20'000), 10, 0.25);  // five standard errors
  std::vector<double> bad{1, INFINITY, 2};
  EXPECT_THROW(mechanism.release_in_place(bad), InvalidValue);
  EXPECT_EQ(bad[0], 1);
  EXPECT_EQ(bad[2], 2);
  EXPECT_THROW(Additive(arsinh(0.5, 8)).release_in_place(values), OutsideConditions);
}

TEST(Additive, ArsinhNoiseIsPricedForOneNumberAlone) {
  const Additive mechanism(arsinh(0.1, 5));
  const std::vector<double> four{1, 2, 3, 4};
  try {
    (void)mechanism.release(four);
    FAIL() << "a vector was released at the price of one number";
  } catch (const OutsideConditions& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("4 * arsinh("), std::string::npos) << refusal.what();
  }
  EXPECT_EQ(mechanism.release_each(four).size(), 4U);
  EXPECT_EQ(mechanism.release(std::vector<double>{1}).size(), 1U);
}

TEST(Additive, CalibrationsSufficeAndAreNotWasteful) {
  const double epsilon = 0.3;
  const Additive pure = laplace_for(Epsilon(epsilon), 0.7);
  for (const double target : {0.1, 0.3, 0.5, 1.0, 2.7}) {
    for (const double l1 : {0.7, 1.0, 3.0, 1e-7, 12345.678}) {
      EXPECT_LE(sotto::epsilon(laplace_for(Epsilon(target), l1).event(), Delta(0)).value.upper,
                target)
          << target << " " << l1;
      EXPECT_LE(zcdp_of(gaussian_for_zcdp(target, l1).event(), RhoConversion::better).rho.upper(),
                target * (1 + 0x1p-52))
          << target << " " << l1;
    }
  }
  EXPECT_EQ(laplace_for(Epsilon(0.5), 1).event(), laplace(2));
  EXPECT_NEAR(pure.scale(), 0.7 / 0.3, 1e-12);
  const Additive analytic = gaussian_for(Epsilon(epsilon), Delta(1e-6), 2);
  EXPECT_LE(sotto::epsilon(analytic.event(), Delta(1e-6)).value.upper, epsilon * (1 + 1e-15));
  const Additive classical =
      gaussian_for(Epsilon(epsilon), Delta(1e-6), 2, GaussianRule::classical);
  EXPECT_NEAR(classical.scale(), 2 * std::sqrt(2 * std::log(1.25e6)) / 0.3, 1e-9);
  EXPECT_GT(classical.scale(), analytic.scale());
  EXPECT_NEAR(gaussian_for_zcdp(0.02, 3).scale(), 3 / std::sqrt(0.04), 1e-12);
  EXPECT_NEAR(gaussian_for_renyi(Order(8), 0.5, 3).scale(), 3 * std::sqrt(8.0), 1e-12);
  EXPECT_THROW((void)gaussian_for(Epsilon(2), Delta(1e-6), 1, GaussianRule::classical),
               OutsideConditions);
  // where doubles end: an answer or an error, at once
  for (const double target : {0x1p-1074, 1e-300, 1.0, 1e300, std::numeric_limits<double>::max()}) {
    for (const double l1 : {0x1p-1074, 1e-300, 1.0, 1e300, std::numeric_limits<double>::max()}) {
      try {
        EXPECT_LE(sotto::epsilon(laplace_for(Epsilon(target), l1).event(), Delta(0)).value.upper,
                  target)
            << target << " " << l1;
      } catch (const InvalidValue&) {
        EXPECT_TRUE(target != 1 || l1 != 1);
      }
    }
    for (const std::int64_t k : {2, 3, 1000})
      EXPECT_LE(Respondent::with_epsilon(Epsilon(target), k).p(), 1) << target;
  }
  EXPECT_THROW((void)laplace_for(Epsilon(0), 1), InvalidValue);
  EXPECT_THROW((void)laplace_for(Epsilon(1), -1), InvalidValue);
}

TEST(Additive, AHoleIsCalibratedAndItsLeafApplied) {
  const Additive mechanism = additive_for(parse("100 * gaussian(?, 2)"), Epsilon(1), Delta(1e-5));
  EXPECT_LE(epsilon(100 * mechanism.event(), Delta(1e-5)).value.upper, 1 + 1e-15);
  EXPECT_THROW((void)additive_for(parse("gaussian(?) + laplace(3)"), Epsilon(1), Delta(1e-5)),
               InvalidValue);
}

TEST(Additive, ArsinhCarriesTheRhoOfItsRoundedSigma) {
  const Additive mechanism(arsinh(0.01, 100));
  const auto* event = mechanism.event().as<Arsinh>();
  ASSERT_NE(event, nullptr);
  EXPECT_NEAR(event->rho.value(), 0.01, 1e-15);
  EXPECT_GE(mechanism.scale(), 1 / std::sqrt(0.02) * (1 - 1e-15));
  EXPECT_NEAR(mechanism.scale() * mechanism.scale() * 2 * event->rho.value(), 1, 1e-14);
}

// Where σ has few bits left no rho may fit it: refused, in good time.
TEST(Additive, ArsinhAtTheEndOfTheDoublesIsRefusedOrFits) {
  for (const double sensitivity : {5e-324, 2.9e-318, 1e-300, 1e300}) {
    try {
      const Additive mechanism(arsinh(0.01, 100, sensitivity));
      EXPECT_TRUE(std::isfinite(mechanism.release(0)));
    } catch (const InvalidValue&) {
      EXPECT_LT(sensitivity, 1e-300);
    }
  }
}

TEST(Additive, ReleasesStayWithinTheirMargin) {
  for (const Plan& leaf : {laplace(3), gaussian(3), arsinh(0.02, 30)}) {
    const Additive mechanism(leaf);
    const double margin = mechanism.margin(0.9);
    int outside = 0;
    for (int i = 0; i < 40'000; ++i) outside += std::abs(mechanism.release(5) - 5) > margin ? 1 : 0;
    EXPECT_NEAR(outside, 4000, 300) << print(leaf);
  }
}

TEST(Additive, SaysWhereAReleaseIsAtTheEndOfTheGrid) {
  const Additive mechanism(laplace(1));
  EXPECT_TRUE(mechanism.saturates(mechanism.release(1e300)));
  EXPECT_TRUE(mechanism.saturates(mechanism.release(-1e300)));
  EXPECT_FALSE(mechanism.saturates(mechanism.release(1e9)));
}

TEST(Additive, RefusesWhatAddsNoNoise) {
  EXPECT_THROW(Additive{catastrophe(1, 0.1)}, InvalidValue);
  EXPECT_THROW(Additive{zcdp(1)}, InvalidValue);
  EXPECT_THROW(Additive{gaussian(hole)}, InvalidValue);
  EXPECT_THROW((void)Additive(laplace(1)).release(std::nan("")), InvalidValue);
}

TEST(Additive, ThreadsShareIt) {
  const Additive mechanism(laplace(1));
  std::vector<std::thread> threads;
  std::vector<double> sums(4);
  for (double& sum : sums) {
    threads.emplace_back([&mechanism, &sum] {
      for (int i = 0; i < 20'000; ++i) sum += std::abs(mechanism.release(0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double sum : sums) EXPECT_NEAR(sum / 20'000, 1, 0.06);
}

TEST(RandomizedResponse, KeepsTheTruthWithItsProbability) {
  const Respondent respondent(0.6, 4);
  std::vector<std::int64_t> counts(4);
  for (int i = 0; i < 100'000; ++i) ++counts[static_cast<std::size_t>(respondent.respond(2))];
  EXPECT_NEAR(static_cast<double>(counts[2]), 60'000, 900);
  for (const std::size_t other : {0U, 1U, 3U})
    EXPECT_NEAR(static_cast<double>(counts[other]), 40'000 / 3.0, 700);
  const std::vector<double> estimates = respondent.estimate(counts);
  EXPECT_NEAR(estimates[2], 100'000, 5 * respondent.deviation(100'000));
  EXPECT_NEAR(estimates[0], 0, 5 * respondent.deviation(100'000));
  EXPECT_NEAR(std::accumulate(estimates.begin(), estimates.end(), 0.0), 100'000, 1e-6);
  EXPECT_THROW((void)respondent.respond(4), InvalidValue);
  EXPECT_THROW((void)respondent.respond(-1), InvalidValue);
}

TEST(RandomizedResponse, IsCalibratedToTheSafeSide) {
  for (const double target : {0.1, 1.0, 3.0}) {
    for (const std::int64_t k : {2, 5}) {
      const Respondent respondent = Respondent::with_epsilon(Epsilon(target), k);
      EXPECT_LE(epsilon(respondent.event(), Delta(0)).value.upper, target * (1 + 0x1p-52));
      EXPECT_NEAR(epsilon(respondent.event(), Delta(0)).value.upper, target, 1e-12);
    }
  }
}

TEST(Selection, ChoosesInProportion) {
  const Selection selection(Epsilon(2), 1);
  EXPECT_EQ(selection.event(), exponential(2));
  const std::vector<double> scores{0, 1, 2.5, -1e300};
  std::vector<int> counts(4);
  for (int i = 0; i < 100'000; ++i) ++counts[selection.choose(scores)];
  const double total = 1 + std::exp(1) + std::exp(2.5);
  EXPECT_NEAR(counts[0], 100'000 / total, 600);
  EXPECT_NEAR(counts[1], 100'000 * std::exp(1) / total, 900);
  EXPECT_NEAR(counts[2], 100'000 * std::exp(2.5) / total, 900);
  EXPECT_EQ(counts[3], 0);
  EXPECT_THROW((void)selection.choose({}), InvalidValue);
  EXPECT_THROW((void)selection.choose(std::vector<double>{1, NAN}), InvalidValue);
}

}  // namespace
}  // namespace sotto
