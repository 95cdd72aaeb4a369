// Discretised products of several mechanisms from both sides, against integrals in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "numerics/api/elementary.hpp"
#include "pld/api/compose.hpp"
#include "pld/product/discretized_product.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;

// Returns the profile of Gaussian noise at any real ε.
Long gaussian_delta(Long mu, Long epsilon) {
  const Long root = std::sqrt(2.0L);
  return std::erfc((epsilon / mu - mu / 2) / root) / 2 -
         std::exp(epsilon) * std::erfc((epsilon / mu + mu / 2) / root) / 2;
}

// Returns the mean of f over a Laplace loss under P: atoms ½ at x and e^-x/2 at -x, and the density
// e^((ℓ-x)/2)/4 between, by Simpson's rule.
template <class F>
Long laplace_mean(Long x, F f) {
  Long sum = f(x) / 2 + f(-x) * std::exp(-x) / 2;
  constexpr int cells = 2000;
  for (int j = 0; j <= cells; ++j) {
    const Long loss = -x + 2 * x * j / cells;
    sum += (j == 0 || j == cells ? 1
            : j % 2 == 1         ? 4
                                 : 2) *
           2 * x / cells / 3 * std::exp((loss - x) / 2) / 4 * f(loss);
  }
  return sum;
}

struct Case {
  std::string name;
  std::vector<LossStep> steps;
  std::function<Long(Long)> delta;  // of the product
};

std::vector<Case> cases() {
  const Long half = 0.5L;
  const Long two = 2;
  return {
      {"gaussian 1 and laplace 1/2",
       {{gaussian_loss(1), 1}, {laplace_loss(Real(1) / 2), 1}},
       [=](Long epsilon) {
         return laplace_mean(half, [&](Long loss) { return gaussian_delta(1, epsilon - loss); });
       }},
      {"gaussian 1/4 and laplace 2",
       {{gaussian_loss(Real(1) / 16), 1}, {laplace_loss(2), 1}},
       [=](Long epsilon) {
         return laplace_mean(two, [&](Long loss) { return gaussian_delta(0.25L, epsilon - loss); });
       }},
      {"gaussian 1/2 and laplace 1/2 twice",
       {{gaussian_loss(Real(1) / 4), 1}, {laplace_loss(Real(1) / 2), 2}},
       [=](Long epsilon) {
         return laplace_mean(half, [&](Long first) {
           return laplace_mean(
               half, [&](Long second) { return gaussian_delta(half, epsilon - first - second); });
         });
       }},
      {"gaussian 3/4 and randomized response 1",
       {{gaussian_loss(Real(9) / 16), 1},
        {symmetric_atoms_loss({{1, 1 / (exp(Real(1) / 2) + exp(-Real(1) / 2))}},
                              Lattice{1, 2, 1e-15}),
         1}},
       [](Long epsilon) {
         const Long up = 1 / (1 + std::exp(-1.0L));
         return up * gaussian_delta(0.75L, epsilon - 1) +
                (1 - up) * gaussian_delta(0.75L, epsilon + 1);
       }}};
}

TEST(DiscretizedProduct, IsAPairOfDistributions) {
  for (const Case& one : cases()) {
    for (const Side side : {Side::lower, Side::upper}) {
      const DiscretizedProduct product(one.steps, side);
      ASSERT_FALSE(product.empty()) << one.name;
      Long p = 0;
      Long q = 0;
      for (const ProductOutcome& outcome : product.outcomes()) {
        p += outcome.p;
        q += outcome.q;
        EXPECT_NEAR(std::log(outcome.p / outcome.q), outcome.loss,
                    outcome.loss_error +
                        2 * (outcome.p_error / outcome.p + outcome.q_error / outcome.q) + 1e-12);
      }
      EXPECT_NEAR(static_cast<double>(p), 1, 1e-11) << one.name;
      EXPECT_NEAR(static_cast<double>(q), 1, 1e-11) << one.name;
    }
  }
}

TEST(DiscretizedProduct, EnclosesTheProfileOfTheProduct) {
  for (const Case& one : cases()) {
    const DiscretizedProduct above(one.steps, Side::upper);
    const DiscretizedProduct below(one.steps, Side::lower);
    const auto profile = [](const DiscretizedProduct& product, double epsilon) {
      Long sum = 0;
      for (const ProductOutcome& outcome : product.outcomes())
        sum += std::max<Long>(0, outcome.p - std::exp(static_cast<Long>(epsilon)) * outcome.q);
      return static_cast<double>(sum);
    };
    for (const double epsilon : {0.0, 0.013, 0.2, 0.7, 1.3, 2.6, 5.0}) {
      const auto truth = static_cast<double>(one.delta(epsilon));
      const double upper = profile(above, epsilon);
      const double lower = profile(below, epsilon);
      EXPECT_GE(upper, truth * (1 - 1e-9)) << one.name << " at " << epsilon;
      EXPECT_LE(lower, truth * (1 + 1e-9)) << one.name << " at " << epsilon;
      EXPECT_LE(upper - lower, 2e-3 * truth + 1e-15) << one.name << " at " << epsilon;
    }
  }
}

// One use on a sample has the profile q δ(log(1 + (a-1)/q)) with a record removed, and
// (1 - a(1-q)) δ(log κ) with κ = aq/(1 - a(1-q)) with one added.
TEST(PoissonProduct, EnclosesOneUseOnASample) {
  const Precision rough{1e-5, 1e-4, 1e6};
  for (const Case& one : cases()) {
    for (const double rate : {0.003, 0.4}) {
      const auto above = poisson_product_losses(one.steps, Real(rate), Side::upper);
      const auto below = poisson_product_losses(one.steps, Real(rate), Side::lower);
      ASSERT_TRUE(above && below) << one.name;
      for (const double share : {0.1, 0.7}) {
        const double epsilon = share * -std::log1p(-rate);
        const Long a = std::exp(static_cast<Long>(epsilon));
        const Long rest = 1 - a * (1 - static_cast<Long>(rate));
        const Long removed = rate * one.delta(std::log1p((a - 1) / rate));
        const Long added = rest * one.delta(std::log(a * rate / rest));
        for (const auto& [up, down, truth] :
             {std::tuple{above->removed, below->removed, static_cast<double>(removed)},
              std::tuple{above->added, below->added, static_cast<double>(added)}}) {
          const double upper = composed_delta({{up, 1}}, {epsilon, epsilon}, rough).upper;
          const double lower = composed_delta({{down, 1}}, {epsilon, epsilon}, rough).lower;
          EXPECT_GE(upper, truth * (1 - 1e-9)) << one.name << " " << rate << " at " << epsilon;
          EXPECT_LE(lower, truth * (1 + 1e-9)) << one.name << " " << rate << " at " << epsilon;
          EXPECT_LE(upper - lower, 5e-3 * truth + 1e-12)
              << one.name << " " << rate << " at " << epsilon;
        }
      }
    }
  }
}

TEST(DiscretizedProduct, IsEmptyIfTheLossesDoNotFitAGrid) {
  EXPECT_TRUE(
      DiscretizedProduct({{gaussian_loss(900), 1}, {laplace_loss(1), 1}}, Side::upper).empty());
  EXPECT_TRUE(DiscretizedProduct({{laplace_loss(1), 1e6}}, Side::upper).empty());
}

}  // namespace
}  // namespace sotto::pld_detail
