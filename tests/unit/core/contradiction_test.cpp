// Contradictions: any crossing of two bounds is an error, and its message says what to report.
#include "core/api/contradiction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sotto {
namespace {

TEST(Contradiction, BoundsThatCrossByOneStepAreNoBracket) {
  EXPECT_THROW((void)bracket(std::nextafter(1.0, 2.0), 1.0, "epsilon"), Contradiction);
  EXPECT_THROW((void)bracket(std::numeric_limits<double>::denorm_min(), 0.0, "delta"),
               Contradiction);
  EXPECT_EQ(bracket(1, 1, "epsilon"), (Bound{1, 1}));
  EXPECT_EQ(bracket(-std::numeric_limits<double>::infinity(), 0, "epsilon"),
            (Bound{-std::numeric_limits<double>::infinity(), 0}));
}

TEST(Contradiction, SaysThatTheLibraryIsAtFaultAndWhatToReport) {
  try {
    (void)bracket(2, 1.5, "epsilon at delta = 1e-05 of laplace(1) by pld");
    FAIL();
  } catch (const Contradiction& error) {
    const std::string message = error.what();
    for (const char* part : {"epsilon at delta = 1e-05 of laplace(1) by pld is at least 2",
                             "at most 1.5", "a bug in sotto", "please report"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace sotto
