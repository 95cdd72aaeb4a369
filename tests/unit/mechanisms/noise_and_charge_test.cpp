// The noise that each mechanism draws is the noise of the event that it charges.
//
// Every test measures the noise from releases, and compares it with the event's own numbers. The
// tests never ask a mechanism how large its noise is, so a mechanism that draws other noise than it
// states and charges is found out. A standard deviation is estimated from n draws to 1/√(2n) of
// itself; 5.5 times that is allowed, which chance exceeds with probability 4e-8.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "mechanisms/api/noisy_sum.hpp"
#include "mechanisms/api/objective.hpp"
#include "mechanisms/api/partition_selection.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// A scale without an event makes no mechanism, and a party's share is not the noise of a release.
static_assert(!std::is_constructible_v<NoisySum, double, std::vector<int>>);
static_assert(!std::is_constructible_v<NoisySum, Plan, double, std::vector<int>>);
static_assert(!std::is_constructible_v<NoisyShare, double, int>);
static_assert(!std::is_constructible_v<NoisyShare, GaussianNoise, int>);
static_assert(!std::is_constructible_v<Additive, PartyNoise>);
static_assert(!std::is_constructible_v<Additive, double>);
static_assert(!std::is_convertible_v<PartyNoise, GaussianNoise>);

constexpr std::size_t draws = 40000;

double deviation_of(const std::vector<double>& errors) {
  double squares = 0;
  for (const double error : errors) squares += error * error;
  return std::sqrt(squares / static_cast<double>(errors.size()));
}

void expect_deviation(const std::vector<double>& errors, double expected) {
  EXPECT_NEAR(deviation_of(errors) / expected, 1,
              5.5 / std::sqrt(2 * static_cast<double>(errors.size())));
}

// The standard deviation that a Gaussian event needs where one unit moves the numbers by this much.
double deviation_for(const Plan& event, double moved) {
  const auto& gaussian = *event.as<Gaussian>();
  return gaussian.sigma.value() / gaussian.sensitivity.value() * moved;
}

std::vector<double> errors_of(const std::function<double()>& release, double truth) {
  std::vector<double> errors(draws);
  for (double& error : errors) error = release() - truth;
  return errors;
}

TEST(NoiseAndCharge, AGaussianNoiseIsItsMultiplierTimesItsLength) {
  const GaussianNoise noise(1.5, 0.3, 2);
  EXPECT_EQ(noise.event(), gaussian(1.5, 2));
  EXPECT_GE(static_cast<long double>(noise.scale()), 1.5L * 0.3);  // rounded up
  EXPECT_LE(noise.scale(), 1.5 * 0.3 * (1 + 0x1p-51));
  EXPECT_EQ(noise.sensitivity(), 0.6);
  EXPECT_GE(noise.scale(), deviation_for(noise.event(), noise.sensitivity()) * (1 - 0x1p-50));
  const GaussianNoise leaf(gaussian(7, 3));
  EXPECT_EQ(leaf.event(), gaussian(7, 3));
  EXPECT_EQ(leaf.scale(), 7);
  EXPECT_EQ(leaf.sensitivity(), 3);
  EXPECT_THROW(GaussianNoise(laplace(1)), InvalidValue);
  EXPECT_THROW(GaussianNoise(gaussian(hole)), InvalidValue);
  EXPECT_THROW(GaussianNoise(0, 1), InvalidValue);
}

TEST(NoiseAndCharge, ANumberOrAVectorHasTheNoiseOfItsEvent) {
  const Additive of_leaf(gaussian(2.5, 3));
  expect_deviation(errors_of([&] { return of_leaf.release(7); }, 7),
                   deviation_for(of_leaf.event(), 3));
  const Additive of_length(GaussianNoise(2.5, 12, 2));  // one unit moves the numbers by 24
  EXPECT_EQ(of_length.event(), gaussian(2.5, 2));
  expect_deviation(errors_of([&] { return of_length.release(7); }, 7),
                   deviation_for(of_length.event(), 24));
  expect_deviation(of_length.release(std::vector<double>(draws)),
                   deviation_for(of_length.event(), 24));
  expect_deviation(of_length.release_each(std::vector<double>(draws)),
                   deviation_for(of_length.event(), 24));
}

// The mean of |noise| is b, and its standard deviation b/√n.
TEST(NoiseAndCharge, LaplaceNoiseIsThatOfItsEvent) {
  const Additive mechanism(laplace(4, 3));
  double sum = 0;
  for (const double error : errors_of([&] { return mechanism.release(7); }, 7))
    sum += std::abs(error);
  EXPECT_NEAR(sum / draws / mechanism.event().as<Laplace>()->b.value(), 1,
              5.5 / std::sqrt(static_cast<double>(draws)));
}

// A sinh(noise/A) is Gaussian of standard deviation sensitivity/√(2ρ).
TEST(NoiseAndCharge, ArsinhNoiseIsThatOfItsEvent) {
  const Additive mechanism(arsinh(0.02, 30, 2));
  const auto& event = *mechanism.event().as<Arsinh>();
  std::vector<double> errors = errors_of([&] { return mechanism.release(7); }, 7);
  for (double& error : errors) error = 30 * std::sinh(error / 30);
  expect_deviation(errors, event.sensitivity.value() / std::sqrt(2 * event.rho.value()));
}

TEST(NoiseAndCharge, ASumHasTheNoiseOfItsEvent) {
  const NoisySum sum(GaussianNoise(3, 0.25, 2), {-30, -20});  // one unit moves the sums by 0.5
  EXPECT_EQ(sum.event(), gaussian(3, 2));
  for (const std::size_t layer : {0U, 1U}) {
    std::vector<double> many(draws);
    sum.release(layer, std::vector<std::int64_t>(draws), many);
    expect_deviation(many, deviation_for(sum.event(), 0.5));
    expect_deviation(errors_of([&] { return sum.release(layer, 0); }, 0),
                     deviation_for(sum.event(), 0.5));
  }
}

TEST(NoiseAndCharge, TheSharesOfTheHonestPartiesAreTheNoiseOfTheSum) {
  for (const std::int64_t honest : {1, 3, 7}) {
    const PartyNoise share(GaussianNoise(3, 0.25, 2), honest);
    EXPECT_EQ(share.event(), gaussian(3, 2));
    EXPECT_GE(share.scale() * share.scale() * static_cast<double>(honest),
              share.sum().scale() * share.sum().scale() * (1 - 0x1p-50));
    EXPECT_NEAR(share.scale_of(4), 2 * share.scale(), 1e-12);
    const NoisySum totals(share, {-30});
    const NoisyShare numbers(share, share.grid());
    EXPECT_EQ(totals.event(), share.event());
    EXPECT_EQ(numbers.event(), share.event());
    std::vector<double> of_totals(draws);
    std::vector<double> of_numbers(draws);
    for (std::int64_t party = 0; party < honest; ++party) {
      std::vector<double> own(draws);
      totals.release(0, std::vector<std::int64_t>(draws), own);
      const std::vector<std::int64_t> steps = numbers.release(std::vector<double>(draws));
      for (std::size_t i = 0; i < draws; ++i) {
        of_totals[i] += own[i];
        of_numbers[i] += std::ldexp(static_cast<double>(steps[i]), numbers.grid());
      }
    }
    expect_deviation(of_totals, deviation_for(totals.event(), 0.5));
    expect_deviation(of_numbers, deviation_for(numbers.event(), 0.5));
  }
}

TEST(NoiseAndCharge, AShareIsAroundThePartysNumbers) {
  const NoisyShare share(PartyNoise(GaussianNoise(gaussian(0.001)), 2), -20);
  const std::vector<std::int64_t> steps = share.release({1.5, -3});
  EXPECT_NEAR(std::ldexp(static_cast<double>(steps[0]), -20), 1.5, 0.01);
  EXPECT_NEAR(std::ldexp(static_cast<double>(steps[1]), -20), -3, 0.01);
  EXPECT_EQ(in_grid_steps(std::vector<double>{0.5, -2}, -3), (std::vector<std::int64_t>{4, -16}));
}

// δ = 2 δ_μ(ε - log(1 + curvature/Λ)) at μ = G/σ, for the σ that is drawn. It falls by more than 3
// % for a σ that is 1 % larger.
TEST(NoiseAndCharge, TheNoiseInsideAnObjectiveIsThatOfItsGuarantee) {
  for (const bool replaces : {false, true}) {
    const ObjectiveNoise noise({.epsilon = 1,
                                .delta = 1e-3,
                                .gradient = 3,
                                .curvature = 2,
                                .strength = 20,
                                .replaces = replaces});
    const Plan minimum = approx(1, 1e-3);
    EXPECT_EQ(noise.event(), replaces ? group(2, minimum) : minimum);
    const double sigma = deviation_of(noise.draw(draws, -10));
    const double seen = 5.5 / std::sqrt(2 * static_cast<double>(draws));
    const double left = 1 - std::log1p(2.0 / 20);
    EXPECT_LE(2 * gaussian_delta(left, 3 / (sigma * (1 + seen))).lower(), 1e-3);
    EXPECT_GE(2 * gaussian_delta(left, 3 / (sigma * (1 - seen))).upper(), 1e-3);
    EXPECT_THROW((void)noise.draw(2, -60), OutsideConditions);
  }
}

// A group whose count is one standard deviation (or b) above the threshold is selected with a
// probability that the noise alone decides.
TEST(NoiseAndCharge, ASelectionHasTheNoiseOfItsEvent) {
  for (const Plan& leaf : {gaussian(20, 2), laplace(20, 2)}) {
    const bool is_laplace = leaf.as<Laplace>() != nullptr;
    const PartitionSelection selection(leaf, 1e-4, 2);
    EXPECT_EQ(selection.event(), leaf + approx(0, 1e-4));
    const double scale =
        is_laplace ? leaf.as<Laplace>()->b.value() : leaf.as<Gaussian>()->sigma.value();
    for (const double above : {-1.0, 0.0, 1.0}) {
      const auto units =
          static_cast<std::int64_t>(std::ceil(selection.threshold() + above * scale));
      const double reach = (static_cast<double>(units) - selection.threshold()) / scale;
      const double tail = is_laplace ? std::exp(-std::abs(reach)) / 2
                                     : std::erfc(std::abs(reach) / std::sqrt(2.0)) / 2;
      const double expected = reach > 0 ? 1 - tail : tail;
      double selected = 0;
      for (std::size_t i = 0; i < draws; ++i) selected += selection.selects(units) ? 1 : 0;
      // half a step of the grid is 0.05 % of the scale
      EXPECT_NEAR(selected / draws, expected,
                  5.5 * std::sqrt(expected * (1 - expected) / draws) + 0.0005)
          << print(leaf) << " " << above;
    }
    // a unit alone in its two groups is shown in one of them with probability 1e-4 at most, in
    // 40000 draws about twice
    double alone = 0;
    for (std::size_t i = 0; i < draws; ++i) alone += selection.selects(1) ? 1 : 0;
    EXPECT_LE(alone, 16) << print(leaf);  // Poisson of mean 2: above 16 once in 10^10
  }
  EXPECT_THROW(PartitionSelection(arsinh(0.1, 5), 1e-4, 1), InvalidValue);
}

}  // namespace
}  // namespace sotto
