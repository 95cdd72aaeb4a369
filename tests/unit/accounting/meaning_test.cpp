// One test for each sentence of "What a plan means" in docs/reference/plan.md.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "accounting/api/pld.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Answer cost(const std::string& plan, double delta, const Question& question = {}) {
  return epsilon(parse(plan), Delta(delta), question);
}
double upper(const std::string& plan, double delta = 1e-5, Method by = Method::tight) {
  return cost(plan, delta, {.by = by}).value.upper;
}

std::string refusal(const std::string& plan, const Question& question = {}) {
  try {
    cost(plan, 1e-5, question);
  } catch (const OutsideConditions& e) {
    return e.what();
  }
  return "not refused";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Meaning, M1_OnlyTheRatioOfNoiseToSensitivityMatters) {
  EXPECT_EQ(upper("gaussian(6, sensitivity=3)"), upper("gaussian(2)"));
  EXPECT_EQ(upper("laplace(6, sensitivity=3)"), upper("laplace(2)"));
}

TEST(Meaning, M2_SamplingFixesTheRelation) {
  EXPECT_EQ(cost("poisson(0.1, gaussian(1))", 1e-5).relation, Relation::add_remove);
  EXPECT_EQ(cost("parallel(laplace(1), laplace(2))", 1e-5).relation, Relation::add_remove);
  EXPECT_EQ(cost("without_replacement(10, 100, gaussian(1))", 1e-5).relation,
            Relation::replace_one);
  EXPECT_EQ(cost("randomized_response(0.75)", 1e-5).relation, Relation::replace_one);
  EXPECT_EQ(cost("gaussian(1)", 1e-5, {.relation = Relation::zero_out}).relation,
            Relation::zero_out);
}

TEST(Meaning, M3_OtherwiseTheRelationIsAsStated) {
  EXPECT_EQ(cost("laplace(10)", 0).relation, Relation::as_stated);
}

TEST(Meaning, M4_TwoRelationsAreRefusedByName) {
  const std::string text =
      refusal("poisson(0.1, gaussian(1)) + without_replacement(10, 100, gaussian(1))");
  EXPECT_TRUE(mentions(text, "poisson(0.1, gaussian(1)) fixes add-remove")) << text;
  EXPECT_TRUE(mentions(text, "without_replacement(10, 100, gaussian(1)) fixes replace-one"))
      << text;
  EXPECT_TRUE(mentions(text, "group(2, poisson(0.1, gaussian(1)))")) << text;
  EXPECT_TRUE(mentions(refusal("poisson(0.1, randomized_response(0.75))"), "fixes replace-one"));
}

TEST(Meaning, M5_AnUncoveredRelationIsRefused) {
  EXPECT_TRUE(mentions(refusal("poisson(0.1, gaussian(1))", {.relation = Relation::replace_one}),
                       "put group(2, ·) around the whole plan"));
  EXPECT_TRUE(mentions(refusal("poisson(0.1, gaussian(1))", {.relation = Relation::zero_out}),
                       "under zero-out"));
  EXPECT_TRUE(
      mentions(refusal("parallel(laplace(1), laplace(2))", {.relation = Relation::replace_one}),
               "under replace-one"));
  EXPECT_TRUE(mentions(
      refusal("without_replacement(10, 100, laplace(1))", {.relation = Relation::add_remove}),
      "under add-remove"));
  EXPECT_TRUE(mentions(refusal("randomized_response(0.75)", {.relation = Relation::add_remove}),
                       "under add-remove"));
}

TEST(Meaning, M6_AGroupOfTwoCountsAsOneReplacement) {
  const Answer answer =
      cost("group(2, poisson(0.1, gaussian(1)))", 1e-5, {.relation = Relation::replace_one});
  EXPECT_EQ(answer.relation, Relation::replace_one);
  ASSERT_FALSE(answer.notes.empty());
  EXPECT_TRUE(mentions(answer.notes.back(), "one replacement"));
  EXPECT_EQ(
      cost("group(2, poisson(0.1, gaussian(1))) + without_replacement(10, 100, gaussian(1))", 1e-5)
          .relation,
      Relation::replace_one);
  EXPECT_NE(refusal("group(3, poisson(0.1, gaussian(1)))", {.relation = Relation::replace_one}),
            "not refused");
}

TEST(Meaning, M7_OneSampleIsNotTwoSamples) {
  const double one = upper("poisson(0.1, gaussian(2) + gaussian(2))");
  const double merged = upper("poisson(0.1, gaussian(1.4142135623730951))");
  EXPECT_NEAR(one, merged, 1e-12);
  EXPECT_GT(std::fabs(one - upper("poisson(0.1, gaussian(2)) + poisson(0.1, gaussian(2))")), 1e-3);
}

TEST(Meaning, M8_NestedRatesMultiply) {
  EXPECT_NEAR(upper("100 * poisson(0.5, poisson(0.5, gaussian(2)))"),
              upper("100 * poisson(0.25, gaussian(2))"), 1e-8);
}

TEST(Meaning, TheRequestedPrecisionIsMetForAtoms) {
  const Bound fine = cost("100 * laplace(20)", 1e-6, {.precision = 1e-10}).value;
  EXPECT_LE(fine.upper - fine.lower, 1e-10 * fine.upper);
}

TEST(Meaning, TheRemedyForTwoRelationsWorks) {
  EXPECT_TRUE(mentions(refusal("poisson(0.1, randomized_response(0.75))"), "put pure(eps)"));
  EXPECT_LT(upper("poisson(0.1, pure(1.0987))"), 0.19);
  EXPECT_TRUE(mentions(refusal("without_replacement(10, 100, poisson(0.1, gaussian(1)))"),
                       "group(2, poisson(0.1, gaussian(1)))"));
  EXPECT_LT(upper("without_replacement(10, 100, group(2, poisson(0.1, gaussian(1))))"), 4.5);
  EXPECT_TRUE(mentions(refusal("poisson(0.1, gaussian(1)) + randomized_response(0.75)"),
                       "group(2, poisson(0.1, gaussian(1)))"));
  EXPECT_LT(upper("group(2, poisson(0.1, gaussian(1))) + randomized_response(0.75)"), 8);
}

TEST(Meaning, TheMostExpensiveParallelPartComposesAlone) {
  const std::pair<const char*, const char*> pairs[] = {
      {"parallel(laplace(2), laplace(1)) + gaussian(3)", "laplace(1) + gaussian(3)"},
      {"3 * parallel(2 * laplace(2), laplace(3)) + gaussian(3)", "6 * laplace(2) + gaussian(3)"},
      {"parallel(gaussian(2), 2 * gaussian(3) + gaussian(7), gaussian(1)) + laplace(2)",
       "gaussian(1) + laplace(2)"},
      {"5 * parallel(poisson(0.1, gaussian(2)), poisson(0.2, gaussian(1))) + gaussian(3)",
       "5 * poisson(0.2, gaussian(1)) + gaussian(3)"},
      {"parallel(pure(0.5), laplace(4), exponential(0.25), approx(0.125, 0)) + gaussian(1)",
       "pure(0.5) + gaussian(1)"},
  };
  for (const auto& [parallel, dearest] : pairs)
    EXPECT_EQ(upper(parallel, 1e-5, Method::pld), upper(dearest, 1e-5, Method::pld)) << parallel;
  // No part clearly dominates, and there is no closed form: more steps and less noise; samples; a
  // group.
  for (const char* plan :
       {"parallel(laplace(1), 2 * laplace(1.5)) + gaussian(3)",
        "parallel(poisson(0.1, gaussian(1)), poisson(0.2, gaussian(2))) + gaussian(3)",
        "group(2, parallel(laplace(1), laplace(2)) + gaussian(3))"}) {
    EXPECT_THROW(loss_of(parse(plan), Side::upper), OutsideConditions) << plan;
  }
}

TEST(Meaning, M9_ParallelCostsTheWorstPart) {
  EXPECT_EQ(upper("parallel(laplace(1), laplace(2)) + laplace(4)", 0), 1.25);
  EXPECT_EQ(upper("parallel(gaussian(1), gaussian(3))"), upper("gaussian(1)"));
  EXPECT_EQ(upper("parallel(zcdp(0.1), laplace(100))", 1e-5, Method::zcdp),
            upper("zcdp(0.1)", 1e-5, Method::zcdp));
  // where the curves cross, the maximum is above each part
  EXPECT_GE(upper("parallel(gaussian(1), laplace(1))"),
            std::max(upper("gaussian(1)"), upper("laplace(1)")));
}

TEST(Meaning, M10_GroupsScaleTheLeaves) {
  EXPECT_EQ(upper("group(3, 10 * laplace(100) + gaussian(30))"),
            upper("10 * laplace(100, sensitivity=3) + gaussian(30, sensitivity=3)"));
  EXPECT_EQ(upper("group(3, pure(2))", 0), 6);
  EXPECT_EQ(upper("group(2, group(3, gdp(0.1)))"), upper("gdp(0.6)"));
  EXPECT_NEAR(upper("group(3, zcdp(0.01))"), upper("zcdp(0.09)"), 1e-12);
  EXPECT_NEAR(upper("group(2, tcdp(0.01, 100))"), upper("tcdp(0.04, 50)"), 1e-12);
  EXPECT_TRUE(mentions(refusal("group(3, tcdp(0.01, 2))", {.by = Method::tcdp}), "omega > k"));
  // A part that cannot be scaled converts its total to (2ε, δ(1 + e^ε)), which is at least twice
  // the cost of one unit.
  EXPECT_GT(upper("group(2, 100 * poisson(0.1, gaussian(2)))"),
            2 * upper("100 * poisson(0.1, gaussian(2))"));
}

TEST(Meaning, M11_TheDeltaOfApproxIsSetAside) {
  const double aside = -std::expm1(10 * std::log1p(-1e-7));
  const double rest = (1.1e-5 - aside) / (1 - aside);
  EXPECT_NEAR(upper("10 * approx(0.1, 1e-7)", 1.1e-5, Method::rdp),
              upper("10 * pure(0.1)", rest, Method::rdp), 1e-9);
  EXPECT_EQ(upper("10 * approx(0.1, 1e-7)", 0.9e-6, Method::rdp), infinity);
}

TEST(Meaning, M11_ApproxAtItsOwnDeltaCostsItsEpsilon) {
  const Bound b = cost("approx(0.3, 1e-6)", 1e-6).value;
  EXPECT_NEAR(b.lower, 0.3, 1e-15);
  EXPECT_NEAR(b.upper, 0.3, 1e-15);
  EXPECT_EQ(upper("approx(0.3, 1e-6)", 0.99e-6), infinity);
}

TEST(Meaning, M12_RdpHoldsUpToItsOrder) {
  EXPECT_NEAR(divergence(parse("rdp(8, 0.5)"), Order(4)).value.upper, 0.5, 1e-15);
  EXPECT_NEAR(divergence(parse("rdp(8, 0.5)"), Order(8)).value.upper, 0.5, 1e-15);
  EXPECT_EQ(divergence(parse("rdp(8, 0.5)"), Order(9)).value.upper, infinity);
}

TEST(Meaning, M13_LeavesWithoutAPairAreCostedByAMethodForTheWholePlan) {
  const Answer answer = cost("zcdp(0.01) + laplace(10)", 1e-5);
  EXPECT_EQ(answer.by, Method::rdp);
  EXPECT_TRUE(mentions(refusal("zcdp(0.01) + laplace(10)", {.by = Method::pld}),
                       "no pair of distributions is worst"));
}

TEST(Meaning, M14_GdpIsNeverAnEstimate) {
  // The central limit estimate is 0.4376, and no such mu covers the profile.
  const Answer answer = cost("1000 * poisson(0.01, gaussian(1))", 1e-5, {.by = Method::gdp});
  EXPECT_GE(answer.value.upper, upper("1000 * poisson(0.01, gaussian(1))"));
  EXPECT_LT(answer.value.upper, 1.01 * upper("1000 * poisson(0.01, gaussian(1))"));
  ASSERT_FALSE(answer.notes.empty());
  EXPECT_TRUE(mentions(answer.notes.front(), "an upper bound")) << answer.notes.front();
  EXPECT_TRUE(mentions(refusal("catastrophe(1, 1e-4) + gaussian(1)", {.by = Method::gdp}),
                       "above its slack"));
}

TEST(Meaning, M15_TheLowerEndIsAttainedOrUnknown) {
  const Bound zcdp = cost("zcdp(0.5)", 1e-5).value;
  EXPECT_NEAR(zcdp.lower, upper("gaussian(1)"), 1e-12);
  EXPECT_GT(zcdp.upper, zcdp.lower);
  EXPECT_EQ(cost("rdp(8, 0.5)", 1e-5).value.lower, -infinity);
  // leaving parts out cannot cost more
  EXPECT_GE(cost("gaussian(1) + laplace(10)", 1e-5).value.lower,
            upper("gaussian(1)") * (1 - 1e-12));
}

TEST(Meaning, M16_EpsilonIsZeroWhenDeltaAtZeroSuffices) {
  EXPECT_EQ(cost("gaussian(100)", 0.01).value, (Bound{0, 0}));
  EXPECT_GT(upper("gaussian(100)", 0.001), 0);
}

TEST(Meaning, M17_DeltaZeroIsPure) {
  EXPECT_EQ(cost("3 * laplace(2)", 0).value, (Bound{1.5, 1.5}));
  EXPECT_EQ(cost("gaussian(1)", 0).value, (Bound{infinity, infinity}));
  const Bound tenths = cost("10 * laplace(10)", 0).value;
  EXPECT_LE(tenths.lower, 1.0);
  EXPECT_GE(tenths.upper, 1.0);
  EXPECT_LE(tenths.width(), 1e-15);
}

TEST(Meaning, M18_DecimalAndBinaryReadingsAreBothInside) {
  // 1/0.1 is 10 in decimals and just below 10 for the double 0.1.
  const Bound b = divergence(parse("laplace(0.1)"), Order(infinity)).value;
  EXPECT_LE(b.lower, std::nextafter(10.0, 0.0));
  EXPECT_GE(b.upper, 10.0);
  EXPECT_EQ(divergence(parse("laplace(4)"), Order(infinity)).value, (Bound{0.25, 0.25}));
}

TEST(Meaning, M19_TheOrderIsSoughtOverTheReals) {
  const Answer best = cost("500 * gaussian(200)", 1e-5, {.by = Method::rdp_classic});
  EXPECT_NEAR(*best.order, 1 + std::sqrt(std::log(1e5) / 0.00625), 1e-3);
  EXPECT_EQ(
      *cost("500 * gaussian(200)", 1e-5, {.by = Method::rdp_classic, .order = Order(60)}).order,
      60);
}

TEST(Meaning, M20_TheCatastropheHasNoDivergence) {
  EXPECT_EQ(divergence(parse("catastrophe(1, 1e-6)"), Order(2)).value, (Bound{infinity, infinity}));
  EXPECT_TRUE(mentions(refusal("10 * catastrophe(0.1, 1e-7)", {.by = Method::rdp}),
                       "every order is infinite"));
  EXPECT_TRUE(
      mentions(refusal("catastrophe(0.1, 1e-7)", {.by = Method::zcdp}), "reveals everything"));
  EXPECT_NEAR(upper("10 * catastrophe(0.1, 1e-7)", 1e-5, Method::basic), 1.0, 1e-12);
  EXPECT_NEAR(upper("catastrophe(1, 1e-6)", 1.000001e-6), 1.0, 1e-9);
  EXPECT_EQ(upper("catastrophe(1, 1e-6)", 0.999e-6), infinity);
}

TEST(Meaning, M21_GroupsGoAroundSamples) {
  EXPECT_TRUE(
      mentions(refusal("poisson(0.1, group(2, laplace(1)))"), "put group(k, ·) around the sample"));
  EXPECT_GT(upper("group(2, poisson(0.1, laplace(1)))"), upper("poisson(0.1, laplace(1))"));
}

TEST(Meaning, M22_SamplingEverythingIsNoSampling) {
  EXPECT_EQ(cost("poisson(1, laplace(2))", 0).value, (Bound{0.5, 0.5}));
  EXPECT_EQ(cost("poisson(1, laplace(2))", 0).relation, Relation::as_stated);
  EXPECT_EQ(upper("without_replacement(10, 10, gaussian(1))"), upper("gaussian(1)"));
}

TEST(Meaning, M23_PartsForDifferentNumbersOfUnitsAreNoted) {
  const auto note = [](const std::string& plan, std::optional<Relation> relation = std::nullopt) {
    const std::vector<std::string> notes = cost(plan, 1e-5, {.relation = relation}).notes;
    return notes.empty() ? "" : notes.back();
  };
  const std::string note_text = note("poisson(0.1, gaussian(1)) + group(2, laplace(1))");
  EXPECT_TRUE(mentions(note_text,
                       "poisson(0.1, gaussian(1)) is costed for one unit, group(2, laplace(1)) for "
                       "2 units together"))
      << note_text;
  EXPECT_TRUE(mentions(note("laplace(1) + group(3, gaussian(1))"), "for 3 units together"));
  EXPECT_TRUE(mentions(note("group(2, laplace(1) + group(3, laplace(1)))"),
                       "laplace(1) is costed for 2 units together, group(3, laplace(1)) for 6"));
  EXPECT_TRUE(mentions(note("5 * (laplace(9) + group(2, 3 * laplace(9)))"),
                       "group(2, 3 * laplace(9)) for 2"));
  EXPECT_TRUE(mentions(note("group(2, poisson(0.1, gaussian(1))) + laplace(1)"),
                       "ask for the relation replace-one"));
  // one replacement is one unit
  EXPECT_FALSE(
      mentions(note("group(2, poisson(0.1, gaussian(1))) + laplace(1)", Relation::replace_one),
               "costed for"));
  EXPECT_FALSE(mentions(
      note("group(2, poisson(0.1, gaussian(1))) + without_replacement(10, 100, gaussian(1))"),
      "costed for"));
  EXPECT_TRUE(mentions(note("group(2, laplace(1)) + without_replacement(10, 100, gaussian(1))"),
                       "costed for"));
  for (const char* plan : {"group(3, 10 * laplace(100) + gaussian(30))",
                           "group(2, laplace(1)) + group(2, gaussian(1))",
                           "laplace(1) + gaussian(1)", "group(2, poisson(0.1, gaussian(1)))",
                           "parallel(group(2, laplace(1)), group(2, laplace(2)))"}) {
    EXPECT_EQ(note(plan), "") << plan;
  }
}

TEST(Meaning, APrecisionAppliesToGroups) {
  const auto width = [](const std::string& plan, double precision) {
    const Bound value = cost(plan, 1e-5, {.by = Method::pld, .precision = precision}).value;
    return value.upper - value.lower;
  };
  for (const double precision : {0.1, 1e-3, 1e-9}) {
    EXPECT_NEAR(width("group(2, 30 * laplace(20))", precision),
                width("30 * laplace(10)", precision), 1e-12)
        << precision;
  }
  EXPECT_GT(width("group(2, 30 * laplace(20))", 0.1), 1e-6);
  EXPECT_THROW(cost("group(2, gaussian(1))", 1e-5, {.precision = 2}), InvalidValue);
  EXPECT_THROW(cost("gaussian(1)", 1e-5, {.by = Method::rdp, .precision = 2}), InvalidValue);
}

}  // namespace
}  // namespace sotto
