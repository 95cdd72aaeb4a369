#include "core/api/stop.hpp"

#include <gtest/gtest.h>

#include "core/api/work.hpp"

namespace sotto {
namespace {

TEST(Stop, WorkEndsSoonAfterItIsSaid) {
  int asked = 0;
  const StopQuestion question([&] { return ++asked == 3; });
  double done = 0;
  EXPECT_THROW(
      for (;;) {
        spend(1e6);
        done += 1e6;
      },
      Stopped);
  EXPECT_EQ(asked, 3);
  EXPECT_LE(done, 1e8);
}

TEST(Stop, NobodyIsAskedWhenItIsGone) {
  int asked = 0;
  {
    const StopQuestion question([&] { return ++asked > 0; });
  }
  spend(1e9);
  EXPECT_EQ(asked, 0);
}

TEST(Stop, ALimitOfWorkStillHolds) {
  const StopQuestion question([] { return false; });
  const WorkLimit limit(100);
  EXPECT_THROW(spend(1e9), OutOfWork);
}

}  // namespace
}  // namespace sotto
