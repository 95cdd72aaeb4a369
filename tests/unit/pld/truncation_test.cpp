// Truncation of unbounded losses: the leak bound against an integral of the exact leak, and the
// truncations against the share of δ that they may cost.
#include <gtest/gtest.h>

#include <cmath>

#include "pld/grid/choose_grid.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;

Long upper_tail(Long z) { return std::erfc(z / std::sqrt(2.0L)) / 2; }

// Two Gaussian steps, L_i = μz_i - μ²/2 under Q. Returns 2 E_Q[(e^ε - e^(L₁+L₂))₊; L₁ > w], which
// is at least the exact leak, by Simpson's rule over z₁.
Long leak_of_two(Long mu, Long epsilon, Long truncation) {
  const Long first = truncation / mu + mu / 2;
  constexpr int cells = 20000;
  const Long width = 14.0L / cells;
  Long sum = 0;
  for (int i = 0; i <= cells; ++i) {
    const Long z = first + i * width;
    const Long own = mu * z - mu * mu / 2;
    const Long rest = (epsilon - own) / mu + mu / 2;  // the z₂ at which L₁ + L₂ = ε
    const Long inner =
        std::exp(epsilon) * (1 - upper_tail(rest)) - std::exp(own) * (1 - upper_tail(rest - mu));
    const Long density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0L));
    sum += (i == 0 || i == cells ? 1 : i % 2 == 1 ? 4 : 2) * density * inner;
  }
  return 2 * sum * width / 3;
}

TEST(GridChoice, LeakBoundCoversTheLeak) {
  const double mu = 1.1;
  const auto steps = with_distributions({{gaussian_loss(Real(mu) * Real(mu)), 2}});
  ASSERT_TRUE(steps);
  int checked = 0;
  for (const double epsilon : {4.0, 8.0, 16.0}) {
    const Long total = mu * std::sqrt(2.0L);
    const Long delta =
        upper_tail(epsilon / total - total / 2) -
        std::exp(static_cast<Long>(epsilon)) * upper_tail(epsilon / total + total / 2);
    for (const double depth : {1.0, 6.0, 20.0}) {
      const GridChoice choice(*steps, epsilon, static_cast<double>(std::log(delta)), depth);
      ASSERT_FALSE(choice.failed());
      const GridChoice::Truncation truncation = choice.truncation(0);
      ASSERT_TRUE(std::isfinite(truncation.loss));
      if (truncation.negligible) {  // P(some loss is truncated) is below δ e^-depth
        EXPECT_LE(2 * upper_tail(truncation.loss / mu - mu / 2),
                  delta * std::exp(static_cast<Long>(-depth)) * 1.001L)
            << epsilon << " " << depth;
        continue;
      }
      const Long q_above = 2 * upper_tail(truncation.loss / mu + mu / 2);
      const Long bound = std::exp(static_cast<Long>(choice.log_leak(truncation.loss)) +
                                  static_cast<Long>(choice.leak_growth()) * epsilon) *
                         q_above;
      EXPECT_GE(bound, leak_of_two(mu, epsilon, truncation.loss)) << epsilon << " " << depth;
      EXPECT_LE(bound, delta * std::exp(static_cast<Long>(-depth)) * 1.001L)
          << epsilon << " " << depth;
      ++checked;
    }
  }
  EXPECT_GE(checked, 3);
}

TEST(GridChoice, BoundedLossesAreNotTruncated) {
  const auto steps = with_distributions({{laplace_loss(1), 3}});
  const GridChoice choice(*steps, 1, std::log(1e-3));
  EXPECT_TRUE(std::isinf(choice.truncation(0).loss));
}

}  // namespace
}  // namespace sotto::pld_detail
