// parse(print(p)) == p and from_json(to_json(p)) == p for every plan.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../random_plan.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

RC_GTEST_PROP(RoundTrip, ParseOfPrintIsTheSamePlan, ()) {
  const Plan plan = testing::any_plan(4, 300);
  RC_ASSERT(parse(print(plan)) == plan);
}

RC_GTEST_PROP(RoundTrip, PrintIsAFixedPoint, ()) {
  const std::string text = print(testing::any_plan(4, 20));
  RC_ASSERT(print(parse(text)) == text);
}

RC_GTEST_PROP(RoundTrip, JsonReadsBackTheSamePlan, ()) {
  const Plan plan = testing::any_plan(4, 300);
  RC_ASSERT(from_json(to_json(plan)) == plan);
}

RC_GTEST_PROP(RoundTrip, HolesKeepTheirFactors, ()) {
  const Plan holed = testing::any_holed_leaf(300);
  const Plan plan = *rc::gen::inRange(0, 2) == 0
                        ? holed
                        : *testing::count(100) * (holed + testing::any_plan(2, 300));
  RC_ASSERT(parse(print(plan)) == plan);
  RC_ASSERT(from_json(to_json(plan)) == plan);
}

RC_GTEST_PROP(RoundTrip, SpaceDoesNotMatter, ()) {
  const std::string text = print(testing::any_plan(3, 5) + testing::any_holed_leaf(5));
  std::string spread;
  for (const char c : text) {
    const bool separates = c == '(' || c == ')' || c == ',' || c == '*';
    spread += separates ? std::string(" ") + c + " \t" : std::string(1, c);
  }
  RC_ASSERT(parse(spread) == parse(text));
}

RC_GTEST_PROP(RoundTrip, FillingAHoleGivesThePlanWithTheNumber, ()) {
  const double sigma = *testing::magnitude(-5, 5);
  const Plan rest = testing::any_plan(2, 3);
  RC_ASSERT(fill(gaussian(hole) + rest, sigma) == gaussian(sigma) + rest);
  RC_ASSERT(holes_of(gaussian(hole) + rest).size() == 1U);
  const double factor = *testing::magnitude(-5, 5);
  RC_ASSERT(fill(gaussian(factor * hole) + rest, sigma) == gaussian(factor * sigma) + rest);
}

}  // namespace
}  // namespace sotto
