// The same properties as bounds_test.cpp over many more plans, and over parameters of every
// magnitude.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "../random_plan.hpp"
#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/exact.hpp"
#include "privacy/api/gaussian.hpp"
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

// A cover holds at every ε, not only at its nodes: no lower bound of the plan exceeds it.
TEST(SlowBounds, ACoverInGaussianDPLiesAboveTheProfileOf300Plans) {
  ask_for("max_success=300 max_discard_ratio=100");
  EXPECT_TRUE(rc::check([] {
    const Plan plan = testing::any_plan(2, 2);
    RC_LOG() << print(plan);
    const double slack = *testing::magnitude(-12, -3);
    try {
      const ApproximateGDP result = approximate_gdp_of(plan, slack);
      RC_ASSERT(result.mu >= 0 && result.slack >= 0);
      for (int i = 0; i < 3; ++i) {
        const double at = *testing::magnitude(-3, 2);
        const Real right = result.mu == 0 ? Real(result.slack)
                                          : Real(result.slack) + (1 - Real(result.slack)) *
                                                                     gaussian_delta(at, result.mu);
        RC_ASSERT(delta_lower(plan, at) <= right.upper());
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
