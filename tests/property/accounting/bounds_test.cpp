// What must hold of every answer, for random plans: no valid method goes below what is proved from
// below; costs move the right way; ε and δ are inverse to each other.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "../random_plan.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using testing::any_plan;
using testing::magnitude;

std::optional<Answer> try_epsilon(const Plan& plan, double delta, Method by = Method::tight) {
  try {
    return epsilon(plan, Delta(delta), {.by = by});
  } catch (const OutsideConditions&) {
    return std::nullopt;
  }
}

bool has_group(const Plan& plan) { return print(plan).find("group(") != std::string::npos; }

double any_delta() { return *magnitude(-30, -1); }

RC_GTEST_PROP(Bounds, NoMethodGoesBelowTheLowerBound, ()) {
  const Plan plan = any_plan(3, 2);
  RC_LOG() << print(plan);
  const double delta = any_delta();
  try {
    for (const Comparison& row : compare(plan, Delta(delta))) {
      if (!row.answer) continue;
      RC_ASSERT(!std::isnan(row.answer->value.upper));
      RC_ASSERT(row.answer->value.upper >= 0);
      RC_ASSERT(row.answer->value.lower <= row.answer->value.upper);
    }
  } catch (const OutsideConditions&) {
    RC_DISCARD("two relations in one plan");
  } catch (const InvalidValue&) {
    RC_DISCARD("more than 2^53 steps");
  }
}

// A bound below what is proved from below throws Contradiction; here what is exact is known in
// another way.
RC_GTEST_PROP(Bounds, EveryMethodIsAboveTheExactGaussian, ()) {
  const Plan plan =
      *testing::count(1000) * gaussian(*magnitude(-1, 3)) + gaussian(*magnitude(-1, 3));
  const double delta = any_delta();
  const double exact = epsilon(plan, Delta(delta), {.by = Method::gdp}).value.upper * (1 - 1e-12);
  for (const Comparison& row : compare(plan, Delta(delta))) {
    if (row.answer) RC_ASSERT(row.answer->value.upper >= exact);
  }
}

// The closed forms of the course material, wherever they are not refused.
RC_GTEST_PROP(Bounds, NoClosedFormGoesBelowTheLowerBound, ()) {
  const bool gaussians = *rc::gen::arbitrary<bool>();
  const Plan plan =
      gaussians ? *testing::count(1000) * gaussian(*magnitude(-1, 3)) : any_plan(2, 1);
  RC_LOG() << print(plan);
  const double delta = any_delta();
  for (const Method by : closed_form_methods) {
    try {
      const auto answer = try_epsilon(plan, delta, by);
      if (!answer) continue;
      RC_ASSERT(answer->value.lower <= answer->value.upper);
      const auto best = try_epsilon(plan, delta);
      RC_ASSERT(!best || !std::isfinite(best->value.lower) ||
                answer->value.upper >= best->value.lower);
    } catch (const InvalidValue&) {
      RC_DISCARD("more than 2^53 steps");
    }
  }
}

RC_GTEST_PROP(Bounds, BasicCompositionOfFailuresIsAboveTheOptimum, ()) {
  const Plan plan = *testing::count(50) * approx(*magnitude(-2, 0), *magnitude(-14, -3)) +
                    approx(*magnitude(-2, 0), *magnitude(-14, -3));
  RC_LOG() << print(plan);
  const double target_delta = *magnitude(-6, -1);
  const auto basic = try_epsilon(plan, target_delta, Method::basic);
  RC_ASSERT(basic->value.upper >=
            epsilon(plan, Delta(target_delta), {.by = Method::pld}).value.lower);
  const double at = *magnitude(-1, 1);
  const Bound failure = delta(plan, Epsilon(at), {.by = Method::basic}).value;
  RC_ASSERT(failure.upper >= delta(plan, Epsilon(at), {.by = Method::pld}).value.lower);
}

RC_GTEST_PROP(Bounds, EveryMethodIsAboveTheOptimumOfEqualSteps, ()) {
  const Plan plan = *testing::count(2000) * approx(*magnitude(-3, 0), *magnitude(-14, -8));
  const double delta = *magnitude(-4, -1);
  const double exact = epsilon(plan, Delta(delta), {.by = Method::pld}).value.upper * (1 - 1e-12);
  for (const Comparison& row : compare(plan, Delta(delta))) {
    if (row.answer) RC_ASSERT(row.answer->value.upper >= exact);
  }
}

RC_GTEST_PROP(Bounds, AClosedFormIsBracketedToAPartIn10To12, ()) {
  const Plan plan = *testing::count(1000) * pure(*magnitude(-3, 1));
  const auto answer = try_epsilon(plan, any_delta());
  RC_ASSERT(answer->value.upper - answer->value.lower <= 1e-12 * answer->value.upper);
}

// How far above the exact value a bracket may lie where pld has one; nothing for the closed
// formulas.
double width(const Answer& answer) {
  return answer.value.lower > 0 && std::isfinite(answer.value.lower)
             ? answer.value.upper - answer.value.lower
             : 0;
}

RC_GTEST_PROP(Bounds, MoreDeltaNeverCostsMore, ()) {
  const Plan plan = any_plan(2, 1);
  RC_LOG() << print(plan);
  const double delta = any_delta();
  const auto strict = try_epsilon(plan, delta);
  const auto loose = try_epsilon(plan, delta * 1.5);
  if (!strict || !loose) return;
  // the split of δ for a whole group is sought to a part in 10^6
  const double tolerance = has_group(plan) ? 1e-5 : 1e-9;
  RC_ASSERT(loose->value.upper <= strict->value.upper * (1 + tolerance) + width(*loose));
}

RC_GTEST_PROP(Bounds, MoreNoiseNeverCostsMore, ()) {
  const double sigma = *magnitude(-1, 2);
  const double rate = *testing::unit();
  const double steps = *testing::count(300);
  const double delta = *magnitude(-10, -2);
  const auto plan = [&](double s) { return steps * poisson(rate, gaussian(s)); };
  const Answer less = *try_epsilon(plan(sigma * 1.25), delta);
  RC_ASSERT(less.value.upper <=
            try_epsilon(plan(sigma), delta)->value.upper * (1 + 1e-9) + width(less));
}

RC_GTEST_PROP(Bounds, DeltaAtEpsilonIsInverseToEpsilonAtDelta, ()) {
  const Plan plan = any_plan(2, 1);
  RC_LOG() << print(plan);
  RC_PRE(!has_group(plan));
  const double target_delta = any_delta();
  for (const Method by : {Method::pld, Method::rdp, Method::zcdp, Method::tcdp}) {
    const auto answer = try_epsilon(plan, target_delta, by);
    if (!answer || !std::isfinite(answer->value.upper) || answer->value.upper == 0) continue;
    // a pure ε, or as good as that: just below it δ jumps, by e^(order·unit) and more
    if (answer->order && !(*answer->order < 1e9)) continue;
    const Bound back = delta(plan, Epsilon(answer->value.upper), {.by = by}).value;
    // the double ε stands for its whole reading; a bracket by pld has a width
    RC_ASSERT((by == Method::pld ? back.lower : back.upper) <= target_delta * (1 + 1e-6) + 1e-14);
  }
}

RC_GTEST_PROP(Bounds, DivergencesGrowWithTheOrder, ()) {
  const Plan plan = any_plan(2, 1);
  RC_LOG() << print(plan);
  const double order = 1 + *magnitude(-1, 2);
  try {
    const Bound low = divergence(plan, Order(order)).value;
    const Bound high = divergence(plan, Order(order * 1.5)).value;
    RC_ASSERT(low.lower <= low.upper);
    RC_ASSERT(low.lower <= high.upper * (1 + 1e-12));
  } catch (const OutsideConditions&) {
    RC_DISCARD("no divergence");
  }
}

}  // namespace
}  // namespace sotto
