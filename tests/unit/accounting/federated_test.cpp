// Leaves for learning without a trusted curator: against enumerated distributions
// (tests/oracle/make_federated.py), the figures of their papers, and each other.
#include "privacy/api/federated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/compose.hpp"
#include "pld/api/privacy_loss.hpp"
#include "pld/api/token_walk.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

double cost(const std::string& plan, double delta, Method by = Method::tight) {
  return epsilon(parse(plan), Delta(delta), {.by = by}).value.upper;
}

// Expects an upper bound that exceeds the truth by a relative `width` at most.
void expect_above(double bound, double exact, double width, const std::string& what) {
  EXPECT_GE(bound, exact * (1 - 1e-9)) << what;
  EXPECT_LE(bound, exact * (1 + width)) << what;
}

TEST(Shuffle, IsTheClonesPair) {
  for (const oracle::Row& row : oracle::rows("federated", "kind", "shuffle")) {
    const Real local = row.number("a");
    const Real p = row.count("c") == 2022 ? 2 / (exp(local) + 1) : exp(-local);
    const double e = row.number("epsilon");
    const TruncatedLoss loss = clones_loss(local, row.count("b"), p);
    expect_above(composed_delta({{loss.loss, 1}}, Bound{e, e}).upper + loss.failure,
                 row.number("value"), 1e-3, row.show());
  }
}

TEST(Shuffle, ReproducesTheFiguresOfThePapers) {
  EXPECT_NEAR(cost("shuffle(1, 10000)", 1e-6), 0.0432, 1e-4);
  EXPECT_NEAR(cost("shuffle(1, 10000)", 1e-6, Method::theorem), 0.214, 5e-4);
  const PrivacyLossPtr older = clones_loss(1, 10000, exp(Real(-1))).loss;
  EXPECT_NEAR(composed_epsilon({{older, 1}}, Bound{1e-6, 1e-6}).upper, 0.0531, 1e-4);
}

TEST(Shuffle, IsAttainedByRandomizedResponse) {
  // two users, enumerated: the count is Bin(1, w) + B
  const double w = 1 / (std::exp(1.0) + 1);
  const double e = 0.3;
  const double p[] = {w * (1 - w), (1 - w) * (1 - w) + w * w,
                      (1 - w) * w};  // truth 1, the other one says 0
  const double q[] = {(1 - w) * (1 - w), 2 * w * (1 - w), w * w};
  double there = 0;
  double back = 0;
  for (int k = 0; k < 3; ++k) {
    there += std::max(0.0, p[k] - std::exp(e) * q[k]);
    back += std::max(0.0, q[k] - std::exp(e) * p[k]);
  }
  EXPECT_NEAR(shuffled_response_delta(e, 1, 2).estimate(), std::max(there, back), 1e-14);
  for (const char* plan :
       {"shuffle(1, 2)", "shuffle(0.3, 100)", "shuffle(3, 10000)", "shuffle(1, 10000)"}) {
    const Bound both = epsilon(parse(plan), Delta(1e-6), {.by = Method::pld}).value;
    EXPECT_LE(both.lower, both.upper) << plan;
    EXPECT_GT(both.lower, 0.5 * both.upper) << plan;
  }
}

TEST(Shuffle, ComposesAndIsNeverAboveTheLocalGuarantee) {
  const double once = cost("shuffle(1, 10000)", 1e-6);
  const double thrice = cost("3 * shuffle(1, 10000)", 1e-6);
  EXPECT_GT(thrice, 1.5 * once);  // as the square root, not three times
  EXPECT_LT(thrice, 2 * once);
  EXPECT_LE(cost("shuffle(1, 2)", 1e-6), 1);
  EXPECT_NEAR(cost("shuffle(1, 1)", 0), 1, 1e-12);  // nobody to hide among
  EXPECT_EQ(cost("shuffle(0, 10)", 0), 0);
  EXPECT_LT(cost("shuffle(1, 1000000)", 1e-6), cost("shuffle(1, 100000)", 1e-6) / 3);
  EXPECT_LE(cost("group(2, shuffle(1, 10000))", 1e-6), 3 * once);
  EXPECT_EQ(epsilon(parse("shuffle(1, 100)"), Delta(1e-6)).relation, Relation::replace_one);
}

// Beyond a local ε of about 34.5, tanh(ε/2) rounds to 1.
TEST(Shuffle, KeepsItsMassAtALargeLocalEpsilon) {
  for (const double local : {20.0, 33.9, 34.0, 34.5, 35.0, 35.2, 35.4, 36.0, 37.0, 38.0, 40.0, 41.0,
                             50.0, 60.0, 100.0, 300.0, 599.0, 600.0, 601.0}) {
    const Plan once = shuffle(local, 1000);
    const std::string what = print(once);
    // Another report is rarely a clone: one report reveals everything except with probability
    // e^-local.
    for (const Method by : {Method::tight, Method::pld, Method::rdp}) {
      const Bound value = epsilon(once, Delta(1e-5), {.by = by}).value;
      EXPECT_GE(value.upper, local - 1e-3) << what;
      EXPECT_LE(value.lower, local) << what;
    }
    EXPECT_LE(epsilon(once, Delta(1e-5)).value.upper, local * (1 + 1e-12)) << what;
    EXPECT_GE(delta(once, Epsilon(local - 0.5)).value.upper, 0.393) << what;
    EXPECT_GE(divergence(once, Order(2)).value.upper, local - 0.01) << what;
    EXPECT_GE(Tradeoff(once).advantage().upper, 1 - 1e-5) << what;
    EXPECT_GE(epsilon(10 * shuffle(local, 100), Delta(1e-5)).value.upper, 10 * (local - 1e-3))
        << what;
    EXPECT_GE(epsilon(once + laplace(1), Delta(1e-5)).value.upper, local) << what;
  }
}

TEST(RingHistogram, KeepsItsMassIfAnswersAreRarelyRandom) {
  for (const char* plan : {"ring_histogram(1e-17, 10, 1000)", "ring_histogram(1e-100, 10, 1000)",
                           "ring_histogram(1e-300, 2, 3)"}) {
    EXPECT_GE(cost(plan, 1e-5), 41) << plan;
    EXPECT_GE(delta(parse(plan), Epsilon(30)).value.upper, 0.99998) << plan;
    EXPECT_GE(divergence(parse(plan), Order(2)).value.upper, 41) << plan;
  }
  EXPECT_LE(cost("ring_histogram(1e-17, 10, 1000)", 1e-5), 41.4466);
}

TEST(AggregatedGaussian, IsTheGaussianOfTheHonestNoise) {
  EXPECT_NEAR(cost("aggregated_gaussian(2, 9, sensitivity=3)", 1e-5), cost("gaussian(2)", 1e-5),
              1e-9);
  EXPECT_NEAR(cost("group(2, aggregated_gaussian(2, 4))", 1e-5), cost("gaussian(2)", 1e-5), 1e-9);
}

TEST(RingSum, IsTheGaussianAndThePaperIsLoose) {
  // ten passes, each with the classical noise for (1, 1e-8), and δ' = 1e-7: sqrt(20 log(1e7)) + 10
  // (e - 1)
  EXPECT_NEAR(cost("10 * ring_sum(6.107)", 2e-7, Method::theorem), 35.1, 0.05);
  EXPECT_EQ(cost("10 * ring_sum(6.107)", 2e-7), cost("10 * gaussian(6.107)", 2e-7));
  EXPECT_LT(cost("10 * ring_sum(6.107)", 2e-7), 3.06);
  EXPECT_THROW(cost("10 * ring_sum(1)", 1e-7, Method::theorem), OutsideConditions);
}

TEST(GopaLeaves, AreOrderedAndBeatTheirTheorems) {
  // the paper's noise for (0.1, 1e-5): what the theorem says it is, what it really is
  const double theorem = cost("gopa_complete(1.676, 3.784, 1000)", 1e-5, Method::theorem);
  const double exact = cost("gopa_complete(1.676, 3.784, 1000)", 1e-5);
  EXPECT_NEAR(theorem, 0.1, 0.002);
  EXPECT_LT(exact, 0.8 * theorem);
  EXPECT_LE(exact, cost("gopa_connected(1.676, 3.784, 1000)", 1e-5));
  EXPECT_LE(cost("gopa_connected(1.676, 2184.1, 1000)", 1e-5, Method::theorem), 0.1005);
  EXPECT_LE(cost("gopa_connected(1.676, 2184.1, 1000)", 1e-5),
            cost("gopa_connected(1.676, 2184.1, 1000)", 1e-5, Method::theorem));
  // With masks that are much wider than the independent noise, the result is the noise of a trusted
  // curator.
  EXPECT_NEAR(cost("gopa_complete(1, 1e6, 100)", 1e-5), cost("gaussian(10)", 1e-5), 1e-6);
  // With tiny masks the result is local noise.
  EXPECT_NEAR(cost("gopa_complete(1, 1e-6, 100)", 1e-5), cost("gaussian(1)", 1e-5), 1e-6);
  EXPECT_NEAR(cost("2 * gopa_complete(1, 1, 50)", 1e-5),
              cost("group(1, gopa_complete(1, 1, 50, sensitivity=1.4142135623730951))", 1e-5),
              1e-9);
}

TEST(GopaLeaves, CountABadGraphAsDelta) {
  const std::string plan = "gopa_random(0.611, 44.8, 10000, 10000, 105, 2.666e-8)";
  EXPECT_THROW(cost("gopa_random(0.611, 44.8, 10000, 10000, 100, 2.666e-8)", 1e-7),
               OutsideConditions);
  EXPECT_TRUE(std::isinf(cost(plan, 5e-8)));  // less than three times the graph's
  const double all = cost(plan, 1e-7);
  EXPECT_LT(all, 0.1);
  EXPECT_GE(all, cost("gopa_complete(0.611, 44.8, 10000)", 1e-7 - 3 * 2.666e-8) * (1 - 1e-9));
  EXPECT_GE(delta(parse(plan), Epsilon(10)).value.upper, 3 * 2.666e-8 * (1 - 1e-9));
  for (const Comparison& row : compare(parse(plan), Delta(1e-7))) {
    if (row.answer) {
      EXPECT_GE(row.answer->value.upper, all * (1 - 1e-6)) << name(row.method);
    }
  }
}

TEST(Walk, IsTheMixtureOverTheWalk) {
  for (const oracle::Row& row : oracle::rows("federated", "kind", "gap")) {
    const double mu = row.number("a");
    const double e = row.number("epsilon");
    const PrivacyLossPtr loss = gaussian_mixture_loss(
        walk_gap_mixture(mu * mu, {row.count("b"), row.count("c")})->components);
    expect_above(composed_delta({{loss, row.number("count")}}, Bound{e, e}).upper,
                 row.number("value"), 1e-3, row.show());
  }
  for (const oracle::Row& row : oracle::rows("federated", "kind", "cycle")) {
    const double mu = row.number("a");
    const double e = row.number("epsilon");
    const auto mixture = walk_cycle_mixture(mu * mu, {row.count("b"), row.count("c")});
    EXPECT_LT(mixture->failure, 1e-30);
    expect_above(gaussian_mixture_delta(mixture->components, e), row.number("value"), 5e-4,
                 row.show());
    expect_above(
        composed_delta({{gaussian_mixture_loss(mixture->components), 1}}, Bound{e, e}).upper,
        row.number("value"), 5e-3, row.show());
  }
  // a group of `count` users
  for (const oracle::Row& row : oracle::rows("federated", "kind", "group-cycle")) {
    const double mu = row.number("a");
    const auto mixture =
        walk_cycle_mixture(mu * mu, {row.count("b"), row.count("c"), row.count("count")});
    EXPECT_LT(mixture->failure, 1e-30);
    expect_above(gaussian_mixture_delta(mixture->components, row.number("epsilon")),
                 row.number("value"), 1e-3, row.show());
  }
  for (const oracle::Row& row : oracle::rows("federated", "kind", "group-gap")) {
    const double mu = row.number("a");
    const double e = row.number("epsilon");
    const auto mixture =
        walk_gap_mixture(mu * mu, {row.count("b"), row.count("c"), row.count("count")});
    const PrivacyLossPtr loss =
        repeated_loss(gaussian_mixture_loss(mixture->components), row.count("count"));
    expect_above(composed_delta({{loss, 1}}, Bound{e, e}).upper, row.number("value"), 1e-3,
                 row.show());
  }
}

// A split mixture has a larger δ at every ε, and an equal total variation.
TEST(GaussianMixture, IsSplitFromAbove) {
  std::vector<GaussianComponent> shares;
  for (int i = 1; i <= 20; ++i) shares.push_back({0.03 * i * i, Real(1) / 20});
  const auto profile = [](const std::vector<GaussianComponent>& of, double e) {
    double sum = 0;
    for (const GaussianComponent& share : of)
      sum +=
          share.mass.estimate() * gaussian_delta(e, sqrt(share.squared_mu).estimate()).estimate();
    return sum;
  };
  const auto few = coarsen_mixture(shares, 5);
  EXPECT_LE(few.size(), 6U);
  for (const double e : {0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0})
    EXPECT_GE(profile(few, e), profile(shares, e) * (1 - 1e-9)) << e;
  EXPECT_NEAR(profile(few, 0), profile(shares, 0), 1e-9);
}

TEST(Walk, ReproducesTheFigures) {
  EXPECT_NEAR(cost("100 * walk_sgd(20, 100)", 1e-7), 0.704, 0.002);
  EXPECT_NEAR(cost("100 * walk_sgd(20, 1000)", 1e-7), 0.327, 0.002);
  EXPECT_NEAR(cost("100 * walk_sgd(20, 10000)", 1e-7), 0.190, 0.002);
  EXPECT_NEAR(cost("100 * walk_sgd(20, 10000, colluders=10)", 1e-7), 0.277, 0.002);
  EXPECT_NEAR(cost("100 * walk_sgd(20, 10000, colluders=100)", 1e-7), 0.554, 0.003);
  EXPECT_NEAR(cost("100 * walk_sgd(20, 10000, colluders=1000)", 1e-7), 1.236, 0.005);
  EXPECT_NEAR(cost("100 * walk_sgd(20, 10000)", 1e-7, Method::theorem), 2.279, 5e-4);
  // a hundred visits, simulated: 0.337 and 0.107
  EXPECT_NEAR(cost("100 * walk_sum(20, 100)", 1e-7), 0.337, 0.005);
  EXPECT_NEAR(cost("100 * walk_sum(20, 1000)", 1e-7), 0.107, 0.003);
}

TEST(Walk, IsLocalIfEverybodyElseColludes) {
  for (const int n : {2, 5, 100}) {
    const std::string plan = "7 * walk_sgd(3, " + std::to_string(n) +
                             ", colluders=" + std::to_string(n - 1) + ", sensitivity=2)";
    EXPECT_EQ(cost(plan, 1e-5), cost("7 * gaussian(3, sensitivity=2)", 1e-5)) << n;
  }
  EXPECT_LT(cost("7 * walk_sgd(3, 100)", 1e-5), cost("7 * walk_sgd(3, 100, colluders=50)", 1e-5));
  EXPECT_LE(cost("7 * walk_sgd(3, 100, colluders=98)", 1e-5), cost("7 * gaussian(3)", 1e-5));
  EXPECT_THROW(parse("walk_sgd(3, 100, colluders=100)"), ParseError);
}

TEST(RingHistogram, IsReportsShuffledOverAPass) {
  // one of two values, γ = 0.9: ε₀ = log(1 + 0.1 · 2/0.9)
  EXPECT_NEAR(cost("ring_histogram(0.9, 2, 10001)", 1e-6),
              cost("shuffle(0.20067069546215124, 10000)", 1e-6), 1e-6);
  EXPECT_LT(cost("10 * ring_histogram(0.9, 2, 10001)", 1e-6),
            0.3 * cost("10 * ring_histogram(0.9, 2, 10001)", 1e-6, Method::theorem));
}

TEST(TheoremRow, IsPartOfComparesOfTheseLeavesOnly) {
  const auto has = [](const std::string& plan) {
    const auto rows = compare(parse(plan), Delta(1e-6));
    return std::any_of(rows.begin(), rows.end(),
                       [](const Comparison& row) { return row.method == Method::theorem; });
  };
  EXPECT_TRUE(has("gopa_complete(1, 4, 100)"));
  EXPECT_TRUE(has("7 * walk_sgd(20, 8, colluders=7)"));
  EXPECT_FALSE(has("gaussian(1)"));
  EXPECT_FALSE(has("aggregated_gaussian(1, 4)"));
  EXPECT_THROW(cost("gaussian(1)", 1e-6, Method::theorem), OutsideConditions);
}

// The bounds of one table must not contradict each other for any number of colluders.
TEST(TheoremRow, IsNeverBelowALowerBound) {
  for (const char* plan :
       {"100 * walk_sgd(20, 10, colluders=9)", "1000 * walk_sgd(20, 1000, colluders=990)",
        "1000 * walk_sgd(20, 1000, colluders=999)", "70 * walk_sgd(20, 2)",
        "10000 * walk_sgd(20, 1000, colluders=900)"}) {
    const auto rows = compare(parse(plan), Delta(1e-5));
    double best = INFINITY;
    for (const Comparison& row : rows) {
      if (row.answer && row.method != Method::theorem)
        best = std::min(best, row.answer->value.upper);
    }
    for (const Comparison& row : rows) {
      if (row.answer && row.method == Method::theorem) {
        EXPECT_GE(row.answer->value.upper, best) << plan;
      }
    }
  }
  EXPECT_GE(cost("1000 * walk_sgd(20, 1000, colluders=990)", 1e-5, Method::theorem),
            7.279);  // an attack proves so much
  EXPECT_GE(cost("1000 * walk_sgd(20, 1000, colluders=900)", 1e-5, Method::theorem), 6.235);
}

TEST(Calibration, FindsTheNoiseOfEachLeaf) {
  for (const char* plan :
       {"aggregated_gaussian(?, 10)", "gopa_complete(?, 4, 100)", "100 * walk_sgd(?, 1000)"}) {
    const Plan hole = parse(plan);
    const auto result = calibrate(hole, Epsilon(0.5), Delta(1e-6));
    EXPECT_LE(cost(print(result.plan), 1e-6), 0.5) << plan;
    EXPECT_GE(cost(print(result.plan), 1e-6), 0.49) << plan;
  }
}

}  // namespace
}  // namespace sotto
