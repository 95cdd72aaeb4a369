// A party's share of a step: the exact sum and the noise that it says, in whole grid steps.
#include "learning/api/share.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

TEST(GradientShare, AddsItsNoiseToTheExactSum) {
  const auto model = make_model(
      LinearModel{.width = 40000, .loss = {LossKind::logistic}, .classes = 2, .intercept = false});
  const Clipping clipping{.norm = 1};
  const GradientShare share(
      *model, clipping,
      PartyNoise(GaussianNoise(6, clipping.norm), 4));  // each of four parties adds 3
  EXPECT_EQ(share.event(), gaussian(6));
  const int exponent = model->exponents(clipping)[0];
  const std::int64_t total = std::int64_t{7} << (share.grid() - exponent);  // seven grid steps
  const auto steps = share.noisy(std::vector<std::int64_t>(model->parameters(), total));
  double sum = 0;
  double squares = 0;
  for (const std::int64_t step : steps) {
    const double noise = std::ldexp(static_cast<double>(step - 7), share.grid());
    sum += noise;
    squares += noise * noise;
  }
  const auto count = static_cast<double>(steps.size());
  EXPECT_NEAR(
      squares / count, 9,
      9 * 0.035);  // five standard deviations of a variance of so many: 3 % less noise is 6 %
  EXPECT_NEAR(sum / count, 0, 5.1 * 3 / std::sqrt(count));
}

}  // namespace
}  // namespace sotto
