// Sensitivities under each relation, their errors and rounding, and the names of relations.
#include "sotto/privacy/sensitivity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr Relation relations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};
constexpr Relation absent[] = {Relation::add_remove, Relation::zero_out};

void expect(const Sensitivity& got, const Real& l1, const Real& l2) {
  EXPECT_TRUE(oracle::encloses(got.l1, l1)) << oracle::show(got.l1) << " for " << oracle::show(l1);
  EXPECT_TRUE(oracle::encloses(got.l2, l2)) << oracle::show(got.l2) << " for " << oracle::show(l2);
  EXPECT_LE(got.l1.radius(), 1e-28 * (1 + std::fabs(got.l1.high())));
  EXPECT_LE(got.l2.radius(), 1e-28 * (1 + std::fabs(got.l2.high())));
}

TEST(Sensitivity, OfACountIsOneUnderEveryRelation) {
  for (const Relation r : relations) expect(count_sensitivity(r), 1, 1);
}

TEST(Sensitivity, OfASumUnderAddRemoveIsTheLargestMagnitude) {
  for (const Relation r : absent) {
    for (const Presence p : {Presence::certain, Presence::uncertain}) {
      expect(sum_sensitivity({-2, 5}, r, p), 5, 5);
      expect(sum_sensitivity({-7, 5}, r, p), 7, 7);
      expect(sum_sensitivity({3, 5}, r, p), 5, 5);
      expect(sum_sensitivity({-5, -3}, r, p), 5, 5);
      expect(sum_sensitivity({0, 0}, r, p), 0, 0);
    }
  }
}

TEST(Sensitivity, OfASumUnderReplaceOneIsTheRangeIfEveryRowIsCertain) {
  expect(sum_sensitivity({-2, 5}, Relation::replace_one, Presence::certain), 7, 7);
  expect(sum_sensitivity({3, 5}, Relation::replace_one, Presence::certain), 2, 2);
  expect(sum_sensitivity({-5, -3}, Relation::replace_one, Presence::certain), 2, 2);
  expect(sum_sensitivity({4, 4}, Relation::replace_one, Presence::certain), 0, 0);
}

TEST(Sensitivity, OfASumUnderReplaceOneIsTheLargerIfARowMayBeMissing) {
  expect(sum_sensitivity({-2, 5}, Relation::replace_one, Presence::uncertain), 7, 7);
  expect(sum_sensitivity({3, 5}, Relation::replace_one, Presence::uncertain), 5, 5);
  expect(sum_sensitivity({-5, -3}, Relation::replace_one, Presence::uncertain), 5, 5);
}

TEST(Sensitivity, OfAHistogram) {
  for (const Relation r : absent) expect(histogram_sensitivity(r), 1, 1);
  expect(histogram_sensitivity(Relation::replace_one), 2, sqrt(Real(2)));
}

TEST(Sensitivity, OfSumsOverGroupsUnderAddRemove) {
  for (const Relation r : absent) {
    expect(grouped_sum_sensitivity({-2, 5}, {.groups = 3, .rows = 4}, r), 60, sqrt(Real(3)) * 20);
    expect(grouped_sum_sensitivity({0, 1}, {.groups = 4, .rows = 1}, r), 4, 2);
    expect(grouped_sum_sensitivity({0, 1}, {}, r), 1, 1);
  }
}

TEST(Sensitivity, OfSumsOverGroupsUnderReplaceOne) {
  // sqrt(2) B is larger: two groups change by B each
  expect(grouped_sum_sensitivity({3, 5}, {.groups = 3, .rows = 4}, Relation::replace_one), 120,
         sqrt(Real(3)) * 4 * sqrt(Real(2)) * 5);
  expect(grouped_sum_sensitivity({0, 1}, {.groups = 9, .rows = 2}, Relation::replace_one), 36,
         6 * sqrt(Real(2)));
  // high - low is larger: one group changes from one end to the other
  expect(grouped_sum_sensitivity({-5, 5}, {.groups = 3, .rows = 4}, Relation::replace_one), 120,
         sqrt(Real(3)) * 40);
  expect(grouped_sum_sensitivity({-2, 5}, {.groups = 1, .rows = 1}, Relation::replace_one), 10,
         sqrt(Real(2)) * 5);
}

TEST(Sensitivity, NeedsARelation) {
  EXPECT_THROW(count_sensitivity(Relation::as_stated), InvalidValue);
  EXPECT_THROW(sum_sensitivity({0, 1}, Relation::as_stated, Presence::certain), InvalidValue);
  EXPECT_THROW(histogram_sensitivity(Relation::as_stated), InvalidValue);
  EXPECT_THROW(grouped_sum_sensitivity({0, 1}, {}, Relation::as_stated), InvalidValue);
}

TEST(Sensitivity, RefusesInvalidBounds) {
  for (const Clamp clamp :
       {Clamp{1, 0}, Clamp{NAN, 1}, Clamp{0, NAN}, Clamp{-INFINITY, 1}, Clamp{0, INFINITY}}) {
    EXPECT_THROW(sum_sensitivity(clamp, Relation::add_remove, Presence::certain), InvalidValue);
    EXPECT_THROW(sum_sensitivity(clamp, Relation::replace_one, Presence::certain), InvalidValue);
    EXPECT_THROW(grouped_sum_sensitivity(clamp, {}, Relation::replace_one), InvalidValue);
  }
}

TEST(Sensitivity, RefusesEmptyContributions) {
  EXPECT_THROW(grouped_sum_sensitivity({0, 1}, {.groups = 0, .rows = 1}, Relation::add_remove),
               InvalidValue);
  EXPECT_THROW(grouped_sum_sensitivity({0, 1}, {.groups = 1, .rows = 0}, Relation::add_remove),
               InvalidValue);
  EXPECT_THROW(grouped_sum_sensitivity({0, 1}, {.groups = -1, .rows = 1}, Relation::add_remove),
               InvalidValue);
}

// No double is 0.1 + 0.2: the difference of the bounds is enclosed, and its bounds are rounded
// outward.
TEST(Sensitivity, RoundsOutward) {
  const Sensitivity sum = sum_sensitivity({-0.1, 0.2}, Relation::replace_one, Presence::certain);
  EXPECT_TRUE(certainly_at_most(Real(0.1) + Real(0.2), sum.l1.upper()));
  EXPECT_EQ(sum.l1.radius(), 0);
}

TEST(Relation, NamesRoundTrip) {
  for (const Relation r : relations) EXPECT_EQ(relation_named(name(r)), r);
  EXPECT_EQ(name(Relation::add_remove), "add-remove");
  EXPECT_EQ(name(Relation::replace_one), "replace-one");
  EXPECT_EQ(name(Relation::zero_out), "zero-out");
  EXPECT_EQ(name(Relation::as_stated), "as stated");
  EXPECT_EQ(relation_named("as stated"), std::nullopt);
  EXPECT_EQ(relation_named("add_remove"), std::nullopt);
  EXPECT_EQ(relation_named(""), std::nullopt);
}

}  // namespace
}  // namespace sotto
