// The error terms of a bracket: parameters in their balls, tails and truncations. Each test makes
// one of them large, and compares its bound with the error that it covers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/compose.hpp"
#include "pld/grid/fft_compose.hpp"
#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;

Real ball(double centre, double relative) { return Real::ball(centre, 0, relative * centre); }

PrivacyLossPtr response_loss(const Real& epsilon) {
  const RoundedDouble near(epsilon);
  return symmetric_atoms_loss({{epsilon, 1 / (exp(epsilon / 2) + exp(-(epsilon / 2)))}},
                              Lattice{near.value, 2 * near.value, near.relative + 8 * unit});
}

struct Family {
  std::string name;
  double centre;
  std::vector<double> counts;
  std::function<PrivacyLossPtr(const Real&)> loss;
};

std::vector<Family> families() {
  return {{"gaussian", 0.6, {1, 2, 30}, [](const Real& x) { return gaussian_loss(x * x); }},
          {"laplace", 0.6, {1, 2, 30}, [](const Real& x) { return laplace_loss(x); }},
          {"exponential", 0.6, {1, 2, 30}, [](const Real& x) { return exponential_loss(x); }},
          {"randomized response", 0.6, {1, 2, 30}, [](const Real& x) { return response_loss(x); }},
          {"discrete gaussian",
           1.7,
           {1, 2, 30},
           [](const Real& x) { return discrete_gaussian_loss(x, 1); }},
          {"narrow discrete gaussian",
           0.4,
           {1, 2, 30},
           [](const Real& x) { return discrete_gaussian_loss(x, 1); }},
          {"narrowest discrete gaussian",
           0.15,
           {1, 2, 30},
           [](const Real& x) { return discrete_gaussian_loss(x, 1); }},
          {"arsinh", 3, {100}, [](const Real& x) { return arsinh_loss(x, Real(1) / 5); }},
          {"arsinh, shift", 0.2, {100}, [](const Real& x) { return arsinh_loss(Real(3), x); }},
          {"sampled gaussian",
           0.6,
           {1, 2, 30},
           [](const Real& x) { return poisson_gaussian_loss(x, Real(1) / 10, Direction::remove); }},
          {"sampled gaussian, added",
           0.6,
           {1, 2, 30},
           [](const Real& x) { return poisson_gaussian_loss(x, Real(1) / 10, Direction::add); }},
          {"sampled gaussian, rate",
           0.1,
           {1, 2, 30},
           [](const Real& x) { return poisson_gaussian_loss(Real(1), x, Direction::remove); }},
          {"sampled laplace",
           0.6,
           {1, 2, 30},
           [](const Real& x) { return poisson_laplace_loss(x, Real(1) / 10, Direction::remove); }},
          {"sampled laplace, rate", 0.1, {1, 2, 30}, [](const Real& x) {
             return poisson_laplace_loss(Real(1), x, Direction::add);
           }}};
}

// With a parameter that is known to a part in 10⁸ only, the bracket contains the values for both
// ends of its ball: at an ε that is a possible loss, and elsewhere.
TEST(Rounding, EveryParameterInItsBallIsCovered) {
  constexpr double relative = 1e-8;
  const Precision precision{1e-7, 1e-5, 1e6};
  for (const Family& family : families()) {
    for (const double count : family.counts) {
      const std::vector<LossStep> wide{{family.loss(ball(family.centre, relative)), count}};
      for (const double side : {-0.99, 0.99}) {
        const double end = family.centre * (1 + side * relative);
        const std::vector<LossStep> exact{{family.loss(Real(end)), count}};
        std::vector<double> at{0.05, 0.4, 1.3};
        // just below the largest loss, and just below another possible loss
        if (const double worst = exact.front().loss->max_loss(); std::isfinite(worst) && count == 1)
          at.push_back(count * worst * (1 - 3e-8));
        if (const auto lattice = exact.front().loss->lattice()) {
          const double index = std::ceil((0.8 - count * lattice->start) / lattice->spacing);
          at.push_back((count * lattice->start + index * lattice->spacing) * (1 - 3e-8));
        }
        for (const double epsilon : at) {
          const WorkLimit limit(3e8);  // the limit of one command
          const Bound all = composed_delta(wide, {epsilon, epsilon}, precision);
          const Bound one = composed_delta(exact, {epsilon, epsilon}, precision);
          EXPECT_LE(all.lower, one.upper)
              << family.name << " ± " << relative << ", " << count << " times at " << epsilon;
          EXPECT_GE(all.upper, one.lower)
              << family.name << " ± " << relative << ", " << count << " times at " << epsilon;
          // wider than for an exact parameter, but still a bracket: at a loss that is reached δ has
          // a kink, whose place is known as well as the ball
          const bool at_a_loss = epsilon != 0.05 && epsilon != 0.4 && epsilon != 1.3;
          const double error_bound =
              3e-4 * one.upper + (at_a_loss ? 30 * relative * std::max(1.0, epsilon) : 0);
          EXPECT_LE(all.upper - all.lower, error_bound)
              << family.name << " ± " << relative << ", " << count << " times at " << epsilon;
        }
      }
    }
  }
}

// A lattice whose spacing has a relative error, of atoms without one: just below an atom that
// counts.
TEST(Rounding, ErrorOfALatticeSpacingIsCovered) {
  constexpr double off = 1e-8;
  const Real loss = Real(6) / 10;
  const std::vector<SymmetricAtom> atoms{{loss, 1 / (exp(loss / 2) + exp(-(loss / 2)))}};
  int narrow = 0;
  for (const double count : {1.0, 3.0, 12.0}) {
    const std::vector<LossStep> exact{
        {symmetric_atoms_loss(atoms, Lattice{0.6, 1.2, 8 * unit}), count}};
    for (const double side : {-off, off}) {
      const std::vector<LossStep> wide{
          {symmetric_atoms_loss(atoms, Lattice{0.6 * (1 + side), 1.2 * (1 + side), 1.01 * off}),
           count}};
      for (const double epsilon :
           {0.6 * count * (1 - 3e-8), 0.6 * count - 1e-3, 0.6 * (count - 2) * (1 - 3e-8), 0.3}) {
        if (!(epsilon > 0)) continue;
        for (const double c : {2.0, 20.0}) {
          const auto delta_at = [&](const std::vector<LossStep>& steps) {
            return InversionIntegral(steps, c, epsilon, std::log(1e-3), 1e-12, 0, 1e6)
                .delta(epsilon);
          };
          const Bound all = delta_at(wide);
          const Bound one = delta_at(exact);
          EXPECT_LE(all.lower, one.upper) << count << " at " << epsilon;
          EXPECT_GE(all.upper, one.lower) << count << " at " << epsilon;
          narrow += one.upper - one.lower < 1e-11;
        }
      }
    }
  }
  EXPECT_GE(narrow, 10);
}

double gaussian_delta(double mu, double epsilon) {
  const Long a = (static_cast<Long>(epsilon) / mu - static_cast<Long>(mu) / 2) / std::sqrt(2.0L);
  const Long b = (static_cast<Long>(epsilon) / mu + static_cast<Long>(mu) / 2) / std::sqrt(2.0L);
  return static_cast<double>((std::erfc(a) - std::exp(static_cast<Long>(epsilon)) * std::erfc(b)) /
                             2);
}

// Truncated losses are bounded, however close the truncation: against the closed form of Gaussian
// steps.
TEST(Rounding, TruncatedLossesAreBounded) {
  const double small = 0.3;
  const double large = 1.1;
  const auto steps = with_distributions({{gaussian_loss(Real(small) * Real(small)), 4},
                                         {gaussian_loss(Real(large) * Real(large)), 2}});
  ASSERT_TRUE(steps);
  const double mu = std::sqrt(4 * small * small + 2 * large * large);
  int negligible = 0;
  for (const double epsilon : {3.0, 8.0, 16.0}) {
    const double truth = gaussian_delta(mu, epsilon);
    for (const double depth : {-1.0, 0.0, 1.0, 3.0, 8.0}) {
      const GridChoice choice(*steps, epsilon, std::log(truth), depth);
      if (choice.failed()) continue;
      negligible += choice.truncation(0).negligible || choice.truncation(1).negligible;
      const double up = FftComposition(*steps, choice, Side::upper, 1 << 15).delta(epsilon);
      const double down = FftComposition(*steps, choice, Side::lower, 1 << 15).delta(epsilon);
      EXPECT_GE(up, truth * (1 - 1e-12)) << epsilon << " " << depth;
      EXPECT_LE(down, truth * (1 + 1e-12)) << epsilon << " " << depth;
      EXPECT_LE(up, truth * (1.01 + 4 * std::exp(-depth))) << epsilon << " " << depth;
    }
  }
  EXPECT_GE(negligible, 5);
}

// For losses so large that e^spacing would overflow there is no grid, and no bound below the cost
// of the Gaussian step alone.
TEST(Rounding, TooLargeASpacingIsRefused) {
  const Real square = Real(4e7) * Real(4e7);
  const std::vector<LossStep> losses{{gaussian_loss(square), 1}, {laplace_loss(Real(1e-66)), 1}};
  const auto steps = with_distributions(losses);
  ASSERT_TRUE(steps);
  for (const double epsilon : {7.9998e14, 8e14}) {
    const GridChoice choice(*steps, epsilon, std::log(1e-300));
    EXPECT_GE(FftComposition(*steps, choice, Side::upper, 4096).delta(epsilon), 0.4) << epsilon;
  }
  EXPECT_GE(composed_epsilon(losses, {1e-300, 1e-300}, {}).upper,
            composed_epsilon({losses.front()}, {1e-300, 1e-300}, {}).lower);
}

// With losses in the thousands, masses that are raised to the first grid point may underflow, and
// must still count. One step's loss is 5000 with certainty.
TEST(Rounding, MassesThatUnderflowAreNotLost) {
  const std::vector<LossStep> losses{{laplace_loss(Real(1)), 1},
                                     {gaussian_loss(Real(1)), 1},
                                     {discrete_gaussian_loss(Real(1) / 100, 1), 1}};
  for (const double delta : {1e-2, 1e-7, 1e-15, 1e-20, 1e-30}) {
    const Bound epsilon = composed_epsilon(losses, {delta, delta}, {});
    EXPECT_GT(epsilon.upper, 5000) << delta;
    EXPECT_LT(epsilon.lower, 5020) << delta;
  }
}

// Two discrete steps, whose δ jumps: ε from both sides against the sum over all outcomes, also at a
// precision that doubles do not have.
TEST(Rounding, BothSidesHoldWhereDeltaJumps) {
  const double sigma = 0.75;
  const double b = 1.5;
  const std::vector<LossStep> losses{{discrete_gaussian_loss(Real(sigma), 1), 1},
                                     {laplace_loss(Real(1) / Real(b)), 1}};
  const auto delta_at =
      [&](double epsilon) {  // the Laplace step's profile at ε less the other loss
        Long total = 0;
        Long sum = 0;
        for (int x = -60; x <= 60; ++x) {
          const Long mass =
              std::exp(-static_cast<Long>(x) * x / (2 * static_cast<Long>(sigma) * sigma));
          total += mass;
          const Long rest =
              epsilon - (1 - 2 * static_cast<Long>(x)) / (2 * static_cast<Long>(sigma) * sigma);
          const Long most = 1 / static_cast<Long>(b);
          sum += mass * (rest >= most    ? 0
                         : rest <= -most ? 1 - std::exp(rest)
                                         : 1 - std::exp((rest - most) / 2));
        }
        return static_cast<double>(sum / total);
      };
  for (const double delta : {1e-3, 1e-9, 1e-20}) {
    for (const Precision& precision : {Precision{}, Precision{1e-15, 1e-14}}) {
      const Bound epsilon = composed_epsilon(losses, {delta, delta}, precision);
      EXPECT_LE(delta_at(epsilon.upper), delta * (1 + 1e-12)) << delta;
      EXPECT_GE(delta_at(epsilon.lower), delta * (1 - 1e-12)) << delta;
      EXPECT_LE(epsilon.upper - epsilon.lower, 2e-6 * epsilon.upper) << delta;
    }
  }
}

}  // namespace
}  // namespace sotto::pld_detail
