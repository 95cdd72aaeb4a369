// The same properties as bounds_test.cpp over many more plans, and over parameters of every magnitude.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "../random_plan.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// Each test is a process of its own, so the number of cases can be set before RapidCheck reads it.
void ask_for(const char* cases) { setenv("RC_PARAMS", cases, 1); }

TEST(SlowBounds, NoMethodContradictsAnotherOn1000Plans) {
  ask_for("max_success=1000 max_discard_ratio=100");
  EXPECT_TRUE(rc::check([] {
    const Plan plan = testing::any_plan(3, 2);
    RC_LOG() << print(plan);
    try {
      // an upper bound below what is reached from below throws Contradiction, by however little
      for (const Comparison& row : compare(plan, Delta(*testing::magnitude(-30, -1)))) {
        if (row.answer) RC_ASSERT(row.answer->value.lower <= row.answer->value.upper);
      }
    } catch (const OutsideConditions&) {
    } catch (const InvalidValue&) {
    }
  }));
}

TEST(SlowBounds, NothingHangsOverflowsOrIsNaNOn5000ExtremePlans) {
  ask_for("max_success=5000 max_discard_ratio=100");
  EXPECT_TRUE(rc::check([] {
    const Plan plan = testing::any_plan(3, 300);
    RC_LOG() << print(plan);
    try {
      const Answer answer = epsilon(plan, Delta(*testing::magnitude(-300, -1)));
      RC_ASSERT(answer.value.upper >= 0);  // false for NaN
      RC_ASSERT(answer.value.lower <= answer.value.upper);
    } catch (const OutsideConditions&) {
    } catch (const InvalidValue&) {
    }
  }));
}

}  // namespace
}  // namespace sotto
