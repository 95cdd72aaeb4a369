// Cancellation: when the callback is called, and when not.
#include "core/api/stop.hpp"

#include <gtest/gtest.h>

#include "core/api/work.hpp"

namespace sotto {
namespace {

TEST(Stop, WorkEndsSoonAfterTheCallbackReturnsTrue) {
  int calls = 0;
  const StopCheck check([&] { return ++calls == 3; });
  double done = 0;
  EXPECT_THROW(
      for (;;) {
        spend(1e6);
        done += 1e6;
      },
      Stopped);
  EXPECT_EQ(calls, 3);
  EXPECT_LE(done, 1e8);
}

TEST(Stop, TheCallbackIsNotCalledAfterItsScope) {
  int calls = 0;
  {
    const StopCheck check([&] { return ++calls > 0; });
  }
  spend(1e9);
  EXPECT_EQ(calls, 0);
}

TEST(Stop, ALimitOfWorkStillHolds) {
  const StopCheck check([] { return false; });
  const WorkLimit limit(100);
  EXPECT_THROW(spend(1e9), OutOfWork);
}

}  // namespace
}  // namespace sotto
