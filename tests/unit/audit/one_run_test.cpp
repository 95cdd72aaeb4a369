// Auditing in one run: the p-value equals the theorem's, and the bound is wrong at most as often as
// its confidence allows.
#include "sotto/audit/one_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// The theorem, term by term in doubles.
double plain_p_value(int records, int guesses, int right, double epsilon, double delta) {
  const double q = 1 / (1 + std::exp(-epsilon));
  const auto mass = [&](int k) {
    return std::exp(std::lgamma(guesses + 1.0) - std::lgamma(k + 1.0) -
                    std::lgamma(guesses - k + 1.0) + k * std::log(q) +
                    (guesses - k) * std::log1p(-q));
  };
  double tail = 0;
  for (int k = right; k <= guesses; ++k) tail += mass(k);
  double most = 0;
  double sum = 0;
  for (int i = 1; i <= right; ++i) {
    sum += mass(right - i);
    most = std::max(most, sum / i);
  }
  return std::min(1.0, tail + 2 * records * delta * most);
}

TEST(OneRun, ThePValueIsTheTheorems) {
  for (const double epsilon : {0.0, 0.3, 2.0}) {
    for (const double delta : {0.0, 1e-5, 1e-2}) {
      for (const int right : {1, 60, 75, 99, 100}) {
        const double plain = plain_p_value(1000, 100, right, epsilon, delta);
        EXPECT_NEAR(one_run_p_value(1000, 100, right, epsilon, delta) / plain, 1, 1e-9)
            << epsilon << " " << delta << " " << right;
      }
    }
  }
  EXPECT_EQ(one_run_p_value(10, 10, 0, 1, 0), 1);
  EXPECT_NEAR(one_run_p_value(100, 100, 100, 1, 0), std::pow(1 / (1 + std::exp(-1.0)), 100), 1e-20);
}

TEST(OneRun, TheBoundIsTheLargestRejectedEpsilon) {
  const double epsilon = one_run_epsilon(1000, 500, 450, 1e-5, 0.05);
  EXPECT_LE(one_run_p_value(1000, 500, 450, epsilon, 1e-5), 0.05);
  EXPECT_GT(one_run_p_value(1000, 500, 450, epsilon + 1e-6, 1e-5), 0.05);
  EXPECT_EQ(one_run_epsilon(1000, 500, 240, 1e-5, 0.05), 0);
  EXPECT_LT(one_run_epsilon(1000, 500, 450, 1e-3, 0.05), epsilon);  // more is explained by δ
}

TEST(OneRun, OnRandomizedResponseItIsWrongAtMostAsOftenAsItsConfidenceAllows) {
  std::mt19937_64 random(1);
  std::bernoulli_distribution coin(0.5);
  const double truth = 1;
  std::bernoulli_distribution honest(1 / (1 + std::exp(-truth)));
  int wrong = 0;
  double mean = 0;
  const int runs = 300;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> scores;
    std::vector<bool> included;
    for (int i = 0; i < 1000; ++i) {
      included.push_back(coin(random));
      scores.push_back(included.back() == honest(random) ? 1 : 0);
    }
    const OneRun result = one_run_audit(scores, included, 0, 0.9);
    wrong += result.epsilon > truth ? 1 : 0;
    mean += result.epsilon / runs;
  }
  EXPECT_LE(wrong, 45);  // 30 expected at most; 45 is three deviations above
  EXPECT_GT(mean, 0.75);
}

TEST(OneRun, RefusesNonsense) {
  EXPECT_THROW((void)one_run_p_value(10, 11, 5, 1, 0), InvalidValue);
  EXPECT_THROW((void)one_run_p_value(10, 5, 6, 1, 0), InvalidValue);
  EXPECT_THROW((void)one_run_epsilon(10, 5, 5, 0, 0), InvalidValue);
  EXPECT_THROW((void)one_run_audit(std::vector<double>{1}, {true, false}, 0, 0.9), InvalidValue);
}

}  // namespace
}  // namespace sotto
