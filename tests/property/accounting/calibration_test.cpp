// Compares calibration with a bisection by `epsilon` on random plans with a hole, of every family.
#include "../../../bench/calibration.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

// How many of the plans end further than a part in 10000 from a bisection. Each meets its target,
// within its work.
long far_ones(long plans, std::uint64_t seed) {
  bench::Draw draw(seed);
  long far = 0;
  for (long n = 0; n < plans; ++n) {
    const bench::HoledPlan question = bench::holed_plan(draw);
    const bench::CalibrationGap gap = bench::calibration_gap(question);
    const std::string words = question.plan + " at (" + std::to_string(question.epsilon) + ", " +
                              std::to_string(question.delta) + ")";
    EXPECT_LE(gap.work, 4.1 * allowance_of({}).work) << words;
    EXPECT_TRUE(gap.refused || gap.epsilon <= question.epsilon) << words;
    if (gap.ratio > 1 + 1e-4) {
      ++far;
      std::printf("%s: %g times what a bisection finds\n", words.c_str(), gap.ratio);
    }
  }
  return far;
}

TEST(Calibration, IsThatOfABisectionByEpsilonFor12Plans) { EXPECT_EQ(far_ones(12, 7), 0); }

TEST(SlowCalibration, IsThatOfABisectionByEpsilonFor500Plans) { EXPECT_LE(far_ones(500, 2), 5); }

}  // namespace
}  // namespace sotto
