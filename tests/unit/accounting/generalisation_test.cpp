#include "accounting/api/generalisation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

TEST(GeneralisationGap, UsualIsExpEpsilonMinusOnePlusDeltaUnderReplaceOne) {
  const Real gap = usual_generalisation_gap(Real(0.2), Real(1e-3), Relation::replace_one);
  EXPECT_GE(gap.upper(), std::expm1(0.2) + 1e-3);
  EXPECT_NEAR(gap.upper(), std::expm1(0.2) + 1e-3, 1e-12);
}

TEST(GeneralisationGap, CountsARemovalAndAnAdditionUnderAddRemove) {
  for (const Relation relation : {Relation::add_remove, Relation::zero_out, Relation::as_stated}) {
    EXPECT_NEAR(usual_generalisation_gap(Real(0.2), Real(1e-3), relation).upper(),
                std::expm1(0.4) + 1e-3 * (1 + std::exp(0.2)), 1e-12);
    EXPECT_NEAR(
        generalisation_gap(Real(0.2), Real(1e-3), relation).upper(),
        generalisation_gap(Real(0.4), Real(1e-3 * (1 + std::exp(0.2))), Relation::replace_one)
            .upper(),
        1e-12);
  }
}

TEST(GeneralisationGap, IsNeverAboveTheUsualOneNorAboveOne) {
  for (const double epsilon : {0.01, 0.3, 1.0, 5.0, 50.0, 1000.0}) {
    for (const double delta : {0.0, 1e-6, 0.5}) {
      const double gap =
          generalisation_gap(Real(epsilon), Real(delta), Relation::replace_one).upper();
      EXPECT_LE(
          gap, usual_generalisation_gap(Real(epsilon), Real(delta), Relation::replace_one).upper());
      EXPECT_LE(gap, 1);
    }
  }
  EXPECT_EQ(generalisation_gap(Real(INFINITY), Real(0), Relation::replace_one).upper(), 1);
}

TEST(GeneralisationGap, IsTheTotalVariationThatEpsilonAndDeltaAllow) {
  // with δ everything is revealed, else randomized response: TV = δ + (1 - δ)(e^ε - 1)/(e^ε + 1)
  const double delta = 0.1;
  const double epsilon = 0.5;
  EXPECT_NEAR(generalisation_gap(Real(epsilon), Real(delta), Relation::replace_one).upper(),
              delta + (1 - delta) * std::tanh(epsilon / 2), 1e-12);
}

TEST(GeneralisationGap, IsTwiceTheGapOfRandomizedResponse) {
  // one record, a fair bit: the released bit is right with e^ε/(1 + e^ε), and about a new record
  // half the time
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const double reached = std::exp(epsilon) / (1 + std::exp(epsilon)) - 0.5;
    EXPECT_NEAR(generalisation_gap(Real(epsilon), Real(0), Relation::replace_one).upper(),
                2 * reached, 1e-12);
  }
}

}  // namespace
}  // namespace sotto
