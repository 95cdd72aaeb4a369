// The textbook's DP-SGD on made-up rows: nothing is clipped, the least loss is a lower bound, and
// the measured risk is below its bound.
#include "course/api/textbook.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(MadeUpRows, HaveNormAtMostOneSoClippingChangesNothing) {
  const MadeUpProblem problem{.rows = 2000, .dimension = 7};
  const Examples examples = made_up_rows(problem);
  ASSERT_EQ(examples.units(), 2000U);
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    std::int64_t square = 0;
    for (std::size_t j = 0; j < 7; ++j)
      square += std::int64_t{examples.row(i)[j]} * examples.row(i)[j];
    ASSERT_LE(square, std::int64_t{feature_one} * feature_one);
  }
  const auto model = made_up_model(problem);
  std::vector<std::uint32_t> units(examples.units());
  std::iota(units.begin(), units.end(), 0U);
  // parameters that are wrong everywhere have the longest gradients
  ExactSum sum(model->parameters());
  model->prepare(std::vector<double>(7, 1e6))->add(examples, units, {.norm = 1}, sum);
  EXPECT_EQ(sum.units, 2000);
  EXPECT_EQ(sum.clipped, 0);
}

TEST(MadeUpRows, AreTheSameForTheSameSeed) {
  const MadeUpProblem problem{.rows = 50, .dimension = 3, .seed = 4};
  EXPECT_EQ(made_up_rows(problem).row(49)[2], made_up_rows(problem).row(49)[2]);
  EXPECT_NE(made_up_rows(problem).row(49)[2],
            made_up_rows({.rows = 50, .dimension = 3, .seed = 5}).row(49)[2]);
  EXPECT_THROW((void)made_up_rows({.rows = 1}), InvalidValue);
  EXPECT_THROW((void)made_up_rows({.dimension = 0}), InvalidValue);
  EXPECT_THROW((void)made_up_rows({.diameter = 0}), InvalidValue);
}

TEST(MadeUpRows, LeastLossIsALowerBound) {
  for (const double diameter : {0.5, 4.0, 40.0}) {
    const MadeUpProblem problem{.rows = 300, .dimension = 3, .diameter = diameter};
    const Examples examples = made_up_rows(problem);
    const auto model = made_up_model(problem);
    const double least = least_loss(problem, examples);
    double best = 1e300;
    std::mt19937_64 words(9);
    std::normal_distribution<double> normal;
    std::vector<double> at(3, 0.0);
    // a random descent within the ball
    for (int i = 0; i < 4000; ++i) {
      std::vector<double> next = at;
      for (double& one : next) one += normal(words) * diameter * (i < 2000 ? 0.05 : 0.001);
      const double length =
          std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
      if (length > diameter / 2) {
        for (double& one : next) one *= diameter / 2 / length;
      }
      if (const double loss = mean_loss(*model, examples, next); loss < best) {
        best = loss;
        at = next;
      }
    }
    EXPECT_GE(best, least - 1e-6) << diameter;
    EXPECT_NEAR(best, least, 1e-3) << diameter;
  }
}

TEST(TextbookDpSgd, ComparesTheThreeCalibrationsBelowTheirBounds) {
  const TextbookResult result = compare_textbook(
      {.problem = {.rows = 100, .dimension = 2}, .batch = 10, .runs = 2}, Epsilon(1), Delta(1e-4));
  EXPECT_EQ(result.steps, 10000);
  ASSERT_EQ(result.methods.size(), 4U);
  for (const MeasuredRisk& method : result.methods) {
    EXPECT_EQ(method.refusal, "");
    ASSERT_EQ(method.risks.size(), 2U);
    for (const double risk : method.risks)
      EXPECT_GE(risk, -1e-6);  // no loss is below the least one
    EXPECT_LT(method.mean(), method.bound);
  }
  EXPECT_LT(result.methods[0].noise, result.methods[1].noise);
  EXPECT_LT(result.methods[1].noise, result.methods[2].noise);
  EXPECT_EQ(result.methods[3].noise, 0);
  EXPECT_LT(result.methods[3].mean(), 0.02);
}

TEST(TextbookDpSgd, SaysWhyTheClosedFormIsRefused) {
  const TextbookResult result = compare_textbook(
      {.problem = {.rows = 1000, .dimension = 2}, .batch = 1, .steps = 20, .runs = 1}, Epsilon(1),
      Delta(1e-5));
  EXPECT_NE(result.methods[2].refusal.find("epsilon' <= 1"), std::string::npos);
  EXPECT_TRUE(result.methods[2].risks.empty());
  EXPECT_EQ(result.methods[0].risks.size(), 1U);
  EXPECT_EQ(result.methods[0].deviation(), 0);
  EXPECT_THROW((void)compare_textbook({.runs = 0}, Epsilon(1), Delta(1e-5)), InvalidValue);
}

}  // namespace
}  // namespace sotto
