// Mean-preserving merging, with numbers that follow by hand: grid points at e^loss = 1 and 2.
#include "pld/grid/mean_preserving_merge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sotto::pld_detail {
namespace {

const double spacing = std::log(2.0);

void expect_weights(MeanPreservingMerge& merge, const std::vector<double>& expected) {
  const std::vector<double> weights = merge.weights();
  ASSERT_EQ(weights.size(), expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_NEAR(weights[j], expected[j], 1e-13) << j;
    EXPECT_LE(weights[j], expected[j] * (1 + 1e-15)) << j;
  }
}

// Q-mass 1 with E[e^L] = 0.9 needs 0.1 of the Q-mass at e^loss = 2: its mean is then
// (0.9 + 0.2)/1.1 = 1.
TEST(MeanPreservingMerge, RaisesALowMeanWithOutcomesFromAbove) {
  MeanPreservingMerge merge(spacing, 0, 0, 1);
  merge.add(0, {1, std::log(0.9)});
  merge.add(1, {2, 0});
  expect_weights(merge, {1.1, 1.8});
}

// Q-mass 1 with E[e^L] = 2.1 needs 0.1 of the Q-mass at e^loss = 1: its mean is then
// (2.1 + 0.1)/1.1 = 2.
TEST(MeanPreservingMerge, LowersAHighMeanWithOutcomesFromBelow) {
  MeanPreservingMerge merge(spacing, 0, 0, 1);
  merge.add(0, {1, 0});
  merge.add(1, {2, std::log(1.05)});
  expect_weights(merge, {0.9, 2.2});
}

TEST(MeanPreservingMerge, MovesALowMeanOnePointDownIfNothingIsAbove) {
  MeanPreservingMerge merge(spacing, 0, 0, 1);
  merge.add(1, {2, std::log(0.9)});
  expect_weights(merge, {1, 0});
}

TEST(MeanPreservingMerge, MovesOutcomesAboveTheLastPointToIt) {
  MeanPreservingMerge merge(spacing, 0, 0, 1);
  merge.add(3, {8, 0});  // Q-mass 1 at e^loss = 8
  expect_weights(merge, {0, 2});
}

TEST(MeanPreservingMerge, IsEmptyWithoutGridPoints) {
  MeanPreservingMerge merge(spacing, 0, 0, -1);
  merge.add(0, {1, 0});
  EXPECT_TRUE(merge.weights().empty());
}

}  // namespace
}  // namespace sotto::pld_detail
