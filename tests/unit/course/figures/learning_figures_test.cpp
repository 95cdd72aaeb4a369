// The figures on learning show what their captions say.
#include "course/figures/learning_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sotto::course_detail {
namespace {

TEST(LearningFigures, BiasOfClippingVanishesAndItsNoiseIsProportionalToTheNorm) {
  const Chart chart = clipping_figure();
  require_consistent(chart);
  ASSERT_EQ(chart.series.size(), 4U);
  const auto& bias = chart.series[0].y;
  for (std::size_t i = 1; i < bias.size(); ++i) EXPECT_LE(bias[i], bias[i - 1] + 1e-6);
  EXPECT_GT(bias.front(), 0.1);
  EXPECT_LT(bias.back(), 1e-6);
  for (std::size_t s = 1; s < 4; ++s) {
    const auto& both = chart.series[s].y;
    const auto least =
        static_cast<std::size_t>(std::min_element(both.begin(), both.end()) - both.begin());
    EXPECT_GT(least, 0U);
    EXPECT_LT(least, both.size() - 1);
    // where nothing is clipped there is noise alone, in proportion to the norm: a deviation of a
    // part of 1/√(2 · 11 · 100) each, 0.021
    const std::size_t last = both.size() - 1;
    EXPECT_NEAR(both[last] / both[last - 1], chart.series[s].x[last] / chart.series[s].x[last - 1],
                0.25);
  }
  // The best norm grows with the budget.
  ASSERT_EQ(chart.marks.size(), 3U);
  EXPECT_LT(chart.marks[0].x, chart.marks[2].x);
}

TEST(LearningFigures, NoiseOfDpSgdIsLeastByTheTightAccountantAndGrowsWithSteps) {
  const Chart chart = dpsgd_noise_figure();
  require_consistent(chart);
  ASSERT_EQ(chart.series.size(), 4U);
  for (std::size_t i = 0; i < chart.series[0].y.size(); ++i) {
    const double tight = chart.series[0].y[i];
    EXPECT_LE(tight, chart.series[1].y[i] * (1 + 1e-6));
    const double corrected = chart.series[2].y[i];
    const bool holds = chart.series[2].x[i] >= 26;  // ε' = 100/(4 √(2 T log(2e5))) <= 1
    EXPECT_EQ(std::isnan(corrected), !holds);
    if (holds) {
      EXPECT_LT(chart.series[1].y[i], corrected);
      EXPECT_LT(chart.series[3].y[i], corrected);  // the printed logarithm is too small
    }
    if (i > 0) {
      EXPECT_GE(tight, chart.series[0].y[i - 1]);
    }
  }
}

}  // namespace
}  // namespace sotto::course_detail
