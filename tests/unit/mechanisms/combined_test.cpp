// Sums of noises: closed forms, and draws. A draw's test fails by chance less than once in a
// million runs.
#include "mechanisms/api/combined.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// n Laplace noises of scale 1: by partial fractions of (1 - s²)^-n, a mixture of Gamma laws of
// shape k with weights C(2n-k-1, n-k)/2^(2n-k).
double tail_of_equal(int n, double t) {
  double all = 0;
  for (int k = 1; k <= n; ++k) {
    const double choose =
        std::exp(std::lgamma(2 * n - k) - std::lgamma(n - k + 1) - std::lgamma(n));
    double beyond = 0;
    double term = std::exp(-t);
    for (int j = 0; j < k; ++j) {
      beyond += term;
      term *= t / (j + 1);
    }
    all += 2 * choose * std::ldexp(1.0, k - 2 * n) * beyond;
  }
  return all;
}

TEST(Combined, TheTailOfEqualLaplaceNoisesIsAboveItsClosedFormAndNear) {
  for (const int n : {1, 2, 3, 4, 5, 8, 15, 30}) {
    for (const double t : {0.01, 0.3, 1.0, 2.5, 6.0, 10.0, 14.0}) {
      const std::vector<Weight> together{{-2.0, static_cast<double>(n)}};
      const std::vector<Weight> apart(static_cast<std::size_t>(n), Weight{2.0});
      const double exact = tail_of_equal(n, t);
      for (const auto& weights : {together, apart}) {
        const double found = tail(NoiseKind::laplace, 3, weights, t * 6);
        EXPECT_GE(found, exact * (1 - 1e-9) - 1e-12) << n << " " << t;
        EXPECT_LE(found, exact * (1 + 2e-3 * (1 + t)) + 1e-12) << n << " " << t;
      }
    }
  }
}

TEST(Combined, TheTailOfGaussianNoisesIsThatOfOne) {
  const std::vector<Weight> weights{{3.0}, {-2.0, 9}, {0.0, 5}};
  for (const double t : {0.1, 1.0, 3.0, 5.0}) {
    const double exact = std::erfc(t / std::sqrt(2.0));
    const double found = tail(NoiseKind::gaussian, 2, weights, t * 2 * std::sqrt(45.0));
    EXPECT_GE(found, exact);
    EXPECT_LE(found, exact * (1 + 1e-5));
  }
}

TEST(Combined, TheTailOfUnequalLaplaceNoisesIsThatOfDraws) {
  const std::vector<std::vector<Weight>> all{{{1.0}, {0.3}},
                                             {{1.0}, {0.999}, {-0.2}},
                                             {{0.25, 3}, {0.75, 12}},
                                             {{0.999, 1}, {0.001, 30}},
                                             {{0.5, 31}, {0.5, 2}}};
  std::mt19937_64 dice(5);
  const auto laplace = [&dice] {
    const double size = -std::log((static_cast<double>(dice() >> 11U) + 0.5) * 0x1p-53);
    return (dice() & 1U) != 0 ? size : -size;
  };
  for (const auto& weights : all) {
    const double at[] = {distance_at(NoiseKind::laplace, 1, weights, 0.5),
                         distance_at(NoiseKind::laplace, 1, weights, 0.05),
                         distance_at(NoiseKind::laplace, 1, weights, 0.005)};
    constexpr int draws = 200'000;
    int beyond[] = {0, 0, 0};
    for (int i = 0; i < draws; ++i) {
      double sum = 0;
      for (const Weight& w : weights) {
        for (int j = 0; j < static_cast<int>(w.times); ++j) sum += w.size * laplace();
      }
      for (int k = 0; k < 3; ++k) beyond[k] += std::abs(sum) > at[k] ? 1 : 0;
    }
    const double expected[] = {0.5, 0.05, 0.005};
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(beyond[k], draws * expected[k],
                  5.5 * std::sqrt(draws * expected[k]) + 3e-3 * draws * expected[k]);
  }
}

TEST(Combined, DistanceAtIsTheInverse) {
  const std::vector<Weight> weights{{1.0}, {0.4, 2}, {0.1, 7}};
  for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::laplace}) {
    for (const double p : {0.9, 0.5, 0.05, 1e-4})
      EXPECT_NEAR(tail(kind, 2, weights, distance_at(kind, 2, weights, p)), p, 1e-6 * p);
  }
  const std::vector<Weight> one{{1.0}};
  EXPECT_NEAR(distance_at(NoiseKind::laplace, 7, one, 0.05), 7 * std::log(20.0), 1e-4);
  EXPECT_THROW((void)distance_at(NoiseKind::laplace, 1, one, 0), InvalidValue);
  EXPECT_THROW((void)distance_at(NoiseKind::laplace, 1, one, 1), InvalidValue);
}

TEST(Combined, NoNoiseHasNoTail) {
  const std::vector<Weight> none{{0.0, 3}};
  EXPECT_EQ(tail(NoiseKind::laplace, 1, none, 0.1), 0);
  EXPECT_EQ(tail(NoiseKind::laplace, 1, std::vector<Weight>{{1.0}}, 0), 1);
}

}  // namespace
}  // namespace sotto
