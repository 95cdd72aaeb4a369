// Limits of work, of bytes and of time, nested and shared.
#include "core/api/work.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

TEST(Work, IsUnlimitedWithoutALimit) {
  spend(1e18);
  EXPECT_TRUE(std::isinf(work_left()));
  EXPECT_TRUE(std::isinf(bytes_allowed()));
}

TEST(Work, EndsAtItsLimit) {
  const WorkLimit limit(100);
  spend(60);
  EXPECT_EQ(work_left(), 40);
  EXPECT_FALSE(limit.cut());
  EXPECT_THROW(spend(41), OutOfWork);
  EXPECT_TRUE(limit.cut());
}

TEST(Work, AnInnerLimitNeverExceedsAnOuterOne) {
  const WorkLimit outer(Allowance{.work = 100, .bytes = 10});
  {
    const WorkLimit inner(Allowance{.work = 1000, .bytes = 1000});
    EXPECT_EQ(work_left(), 100);
    EXPECT_EQ(bytes_allowed(), 10);
  }
  {
    const WorkLimit inner(30);
    EXPECT_THROW(spend(31), OutOfWork);
  }
  EXPECT_EQ(work_left(), 69);  // work of the inner limit counts
  EXPECT_TRUE(outer.cut());
}

TEST(Work, AStepThatRunsOutLeavesItsResults) {
  const WorkLimit limit(1000);
  int done = 0;
  EXPECT_FALSE(finishes_within(0.5, [&] {
    for (;;) {
      spend(100);
      ++done;
    }
  }));
  EXPECT_EQ(done, 5);
  EXPECT_TRUE(finishes_within(1, [&] { ++done; }));
  EXPECT_EQ(done, 6);
}

TEST(Work, AnAllowanceIsSharedByItsUsers) {
  SharedAllowance pool(Allowance{.work = 1000});
  pool.use(0.5, [] { spend(400); });
  EXPECT_FALSE(pool.cut());
  double left = 0;
  pool.use(1, [&] { left = work_left(); });
  EXPECT_EQ(left, 600);
  pool.use(0.5, [] { spend(301); });
  EXPECT_TRUE(pool.cut());
}

TEST(Work, TheClockCountsOnlyIfSecondsAreSet) {
  const WorkLimit limit(Allowance{.seconds = 1e-3});
  EXPECT_LE(work_left(), 1e6);  // nanoseconds
  EXPECT_THROW(for (;;) spend(1e6), OutOfWork);
  EXPECT_GE(limit.spent(), 1e6);
}

}  // namespace
}  // namespace sotto
