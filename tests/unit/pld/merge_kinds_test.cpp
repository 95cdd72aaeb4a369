// Merging of similar sampled steps: few kinds, all steps counted, and cumulants on the right side.
#include "pld/subsampling/merge_kinds.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

std::vector<LossStep> schedule(int kinds) {
  std::vector<LossStep> steps{{gaussian_loss(Real(1) / 4), 7}};
  for (int i = 0; i < kinds; ++i) {
    steps.push_back({poisson_gaussian_loss(1 + Real(i) / 1000, Real(1) / 100 + Real(i) / 10000,
                                           Direction::remove),
                     10.0 + i});
  }
  return steps;
}

TEST(MergeKinds, KeepsTheNumberOfStepsAndTheOthersUnchanged) {
  const std::vector<LossStep> steps = schedule(20);
  const auto merged = merge_kinds(steps, 4);
  ASSERT_TRUE(merged);
  for (const auto* side : {&merged->dominating, &merged->dominated}) {
    EXPECT_LE(side->size(), 5U);
    EXPECT_EQ(side->front().loss, steps.front().loss);
    double count = 0;
    for (const LossStep& step : *side) count += step.count;
    EXPECT_EQ(count, 7 + 20 * 10 + 190);
  }
}

// log M(c) grows with the profile, so the merged compositions enclose the original one at every c.
TEST(MergeKinds, EnclosesTheComposition) {
  const std::vector<LossStep> steps = schedule(20);
  const auto merged = merge_kinds(steps, 4);
  ASSERT_TRUE(merged);
  for (const double c : {0.5, 2.0, 8.0}) {
    EXPECT_GT(cumulant(merged->dominating, c), cumulant(steps, c)) << c;
    EXPECT_LT(cumulant(merged->dominated, c), cumulant(steps, c)) << c;
  }
}

TEST(MergeKinds, DoesNothingForFewKinds) {
  EXPECT_FALSE(merge_kinds(schedule(4), 4));
  EXPECT_FALSE(merge_kinds({{gaussian_loss(1), 1}, {laplace_loss(1), 1}}, 0));
}

TEST(MergeKinds, KeepsMechanismsAndDirectionsApart) {
  std::vector<LossStep> steps;
  for (int i = 0; i < 4; ++i) {
    steps.push_back(
        {poisson_gaussian_loss(1 + Real(i) / 1000, Real(1) / 100, Direction::remove), 1});
    steps.push_back(
        {poisson_laplace_loss(1 + Real(i) / 1000, Real(1) / 100, Direction::remove), 1});
  }
  const auto merged = merge_kinds(steps, 2);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->dominating.size(), 2U);
  for (const LossStep& step : merged->dominating) EXPECT_EQ(step.count, 4);
}

}  // namespace
}  // namespace sotto::pld_detail
