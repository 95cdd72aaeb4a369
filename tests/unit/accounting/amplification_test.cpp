#include "accounting/api/amplification.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/laplace.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using oracle::infinity;
using oracle::Row;

WholeOrderCurve base_of(const Row& row) {
  const double scale = row.number("scale");
  if (row.text("base") == "gaussian")
    return [scale](int order) { return gaussian_renyi(scale, order); };
  return [scale](int order) { return laplace_renyi(scale, order); };
}

// ε(inf) of the base.
Real worst_of(const Row& row) {
  return row.text("base") == "gaussian" ? Real::unknown() : Real(row.number("scale"));
}

void check_line(const char* line, const oracle::Function& f) {
  oracle::check(oracle::rows("amplification", "line", line), f);
}

TEST(PoissonRenyi, OfGaussianAndLaplaceEnclosesTheOracle) {
  check_line("poisson_exact", [](const Row& row) {
    return poisson_renyi(row.number("rate"), row.order("order"), base_of(row), true);
  });
}

TEST(PoissonRenyi, OfAnyBaseHasTheFactorThree) {
  check_line("poisson_general", [](const Row& row) {
    return poisson_renyi(row.number("rate"), row.order("order"), base_of(row), false);
  });
}

TEST(PoissonRenyi, CachedExcessesGiveTheSameBound) {
  const WholeOrderCurve base = [](int order) { return gaussian_renyi(0.7, order); };
  for (const bool exact : {true, false}) {
    const Real direct = poisson_renyi(0.01, 20, base, exact);
    const Real cached =
        poisson_renyi(0.01, 20, [&](int j) { return poisson_log_excess(j, base(j), exact); });
    EXPECT_EQ(direct.bound(), cached.bound());
  }
}

TEST(PoissonRenyi, ExcessOfNothingIsNothing) {
  EXPECT_LE(poisson_log_excess(2, 0, true).upper(), -1e300);
  EXPECT_LE(poisson_log_excess(7, 0, true).upper(), -1e300);
  EXPECT_LE(poisson_log_excess(2, 0, false).upper(), -1e300);
  EXPECT_TRUE(oracle::encloses(poisson_log_excess(7, 0, false), log(Real(2))));
  EXPECT_TRUE(oracle::encloses(poisson_log_excess(3, 0.5, false), log(3 * exp(Real(1)) - 1)));
  EXPECT_TRUE(oracle::encloses(poisson_log_excess(3, 0.5, true), log(exp(Real(1)) - 1)));
  EXPECT_TRUE(oracle::encloses(poisson_log_excess(2, 0.5, false), log(expm1(Real(0.5)))));
}

TEST(PoissonRenyi, AtRateOneIsTheBase) {
  const WholeOrderCurve base = [](int order) { return gaussian_renyi(0.7, order); };
  EXPECT_EQ(poisson_renyi(1, 5, base, true).bound(), base(5).bound());
}

TEST(WithoutReplacement, Theorem9EnclosesTheOracle) {
  check_line("wang9", [](const Row& row) {
    return without_replacement_renyi(row.number("rate"), row.order("order"), base_of(row),
                                     worst_of(row));
  });
}

// The forward differences cancel: from an order on the bound is looser than the formula, but never
// below it, and never worse than Theorem 9 without its ε(inf).
TEST(WithoutReplacement, Theorem27IsAnUpperBoundAndTightUpToOrderFive) {
  for (const Row& row : oracle::rows("amplification", "line", "wang27")) {
    const int order = row.order("order");
    const Real x = without_replacement_renyi_exact_pair(row.number("rate"), order, base_of(row),
                                                        worst_of(row));
    EXPECT_TRUE(row.value().at_most(x.upper())) << row.show() << "\n  got " << oracle::show(x);
    if (order <= 5) {
      EXPECT_LE(x.upper(), row.value().high * (1 + 1e-12))
          << row.show() << "\n  got " << oracle::show(x);
    }
    EXPECT_LE(x.upper(),
              without_replacement_renyi_loose(row.number("rate"), order, base_of(row)).upper() *
                  (1 + 1e-12))
        << row.show();
  }
}

TEST(WithoutReplacement, CheatSheetFormsEncloseTheOracle) {
  check_line("loose", [](const Row& row) {
    return without_replacement_renyi_loose(row.number("rate"), row.order("order"), base_of(row));
  });
  check_line("one_order", [](const Row& row) {
    return without_replacement_renyi_one_order(row.number("rate"), row.order("order"),
                                               base_of(row)(row.order("order")));
  });
}

TEST(WithoutReplacement, NeverCostsMoreThanTheBase) {
  const WholeOrderCurve base = [](int order) { return gaussian_renyi(3, order); };
  EXPECT_LE(without_replacement_renyi(0.9, 10, base, Real::unknown()).upper(), base(10).upper());
  EXPECT_EQ(without_replacement_renyi(1, 10, base, Real::unknown()).bound(), base(10).bound());
  const WholeOrderCurve nothing = [](int) { return Real(0); };
  EXPECT_EQ(without_replacement_renyi(0.5, 10, nothing, 0).upper(), 0);
}

TEST(BetweenWholeOrders, IsTheChordOfTheLogMoment) {
  const auto renyi = [](int order) { return gaussian_renyi(0.7, order); };
  EXPECT_EQ(between_whole_orders(5, renyi).bound(), renyi(5).bound());
  EXPECT_EQ(between_whole_orders(2, renyi).bound(), renyi(2).bound());
  EXPECT_EQ(between_whole_orders(1.5, renyi).bound(), renyi(2).bound());
  // (α-1) D_α at 5.25 lies a quarter of the way from 4 D_5 to 5 D_6.
  const Real chord = (Real(0.75) * 4 * renyi(5) + Real(0.25) * 5 * renyi(6)) / Real(4.25);
  EXPECT_TRUE(oracle::encloses(between_whole_orders(5.25, renyi), chord));
  for (const double order : {1.2, 2.5, 7.75, 100.1})
    EXPECT_GE(between_whole_orders(order, renyi).upper(), gaussian_renyi(0.7, order).lower());
  EXPECT_EQ(between_whole_orders(1024, renyi).bound(), renyi(1024).bound());
  EXPECT_EQ(between_whole_orders(1e9, renyi).upper(), infinity);
}

// --- (ε, δ) and profiles ---

TEST(Amplified, EpsilonEnclosesTheOracle) {
  check_line("approximate", [](const Row& row) {
    return amplified(Real(row.number("rate")), ApproximateDP{row.number("scale"), 1e-6}).epsilon;
  });
}

TEST(Amplified, DeltaIsScaledByTheRate) {
  const ApproximateDP dp = amplified(Real(0.125), ApproximateDP{1, 0.5});
  EXPECT_EQ(dp.delta.bound(), (Bound{0.0625, 0.0625}));
}

// e^ε overflows: the result is an upper bound, at most ε.
TEST(Amplified, HugeEpsilonIsStillAnUpperBound) {
  const ApproximateDP dp = amplified(Real(0.5), ApproximateDP{800});
  EXPECT_GE(dp.epsilon.upper(), 800 + std::log(0.5));
  EXPECT_LE(dp.epsilon.upper(), 800);
}

Profile base_profile(const Row& row) {
  return row.text("base") == "gaussian" ? gaussian_profile(row.number("scale"))
                                        : laplace_profile(row.number("scale"));
}

// The argument of the base is rounded to a double: the profile is a close bound on its side. Near
// the largest loss of a Laplace base the rounding dominates.
TEST(AmplifiedProfile, BracketsTheOracle) {
  for (const Row& row : oracle::table("amplified_profile")) {
    const double epsilon = row.number("epsilon");
    const Real upper = amplified(row.number("rate"), base_profile(row), Side::upper).delta(epsilon);
    const Real lower = amplified(row.number("rate"), base_profile(row), Side::lower).delta(epsilon);
    EXPECT_TRUE(row.value().at_most(upper.upper()))
        << row.show() << "\n  got " << oracle::show(upper);
    EXPECT_TRUE(row.value().at_least(lower.lower()))
        << row.show() << "\n  got " << oracle::show(lower);
    EXPECT_LE(upper.upper() - lower.lower(), 1e-11 * row.value().high +
                                                 2e-16 * (row.text("base") == "laplace" ? 1 : 0) +
                                                 256 * oracle::smallest)
        << row.show();
  }
}

TEST(AmplifiedProfile, TheTwoSidesRoundTheArgumentInOppositeDirections) {
  const Profile upper = amplified(0.3, laplace_profile(1), Side::upper);
  const Profile lower = amplified(0.3, laplace_profile(1), Side::lower);
  bool apart = false;
  for (double e = 0.01; e < 0.4; e += 0.01)
    apart = apart || lower.delta(e).upper() < upper.delta(e).lower();
  EXPECT_TRUE(apart);
}

TEST(AmplifiedProfile, WorstLossIsAmplifiedAndRoundedToItsSide) {
  const Real exact = log1p(Real(0.3) * expm1(Real(1)));
  const double upper = amplified(0.3, laplace_profile(1), Side::upper).worst_loss;
  const double lower = amplified(0.3, laplace_profile(1), Side::lower).worst_loss;
  EXPECT_EQ(upper, exact.upper());
  EXPECT_EQ(lower, exact.lower());
  EXPECT_EQ(amplified(0.3, gaussian_profile(1), Side::upper).worst_loss, infinity);
}

// log(1 + s (e^800 - 1)) = 800 + log s up to e^-800: the lower side must not answer 800.
TEST(AmplifiedProfile, WorstLossOfAHugeEpsilonStaysOnItsSide) {
  const double lower = amplified(0.01, laplace_profile(800), Side::lower).worst_loss;
  const double upper = amplified(0.01, laplace_profile(800), Side::upper).worst_loss;
  EXPECT_LE(lower, 800 + std::log(0.01) + 1e-9);
  EXPECT_GE(upper, 800 + std::log(0.01) - 1e-9);
}

TEST(AmplifiedProfile, TheFailureIsScaledByTheRate) {
  const Profile base{[](double) { return Real(0.5); }, infinity, 0.5};
  EXPECT_EQ(amplified(0.25, base, Side::upper).failure.bound(), (Bound{0.125, 0.125}));
}

TEST(AmplifiedProfile, ItIsABoundAtHugeEpsilon) {
  const Profile base = laplace_profile(650);
  EXPECT_GE(amplified(0.5, base, Side::upper).delta(601).upper(),
            0.5 * laplace_delta(601 + std::log(2.0), 650).lower());
  EXPECT_LE(amplified(0.5, base, Side::lower).delta(601).lower(),
            0.5 * laplace_delta(601 + std::log(2.0), 650).upper());
}

// --- tCDP: each condition fails alone ---

TEST(TruncatedSampling, EnclosesTheOracle) {
  const auto of = [](const Row& row) {
    return amplified(Real(row.number("rate")), TruncatedConcentratedDP{row.number("scale"), 1e9});
  };
  check_line("tcdp_rho", [&](const Row& row) { return of(row).rho; });
  check_line("tcdp_omega", [&](const Row& row) { return of(row).omega; });
}

void expect_refusal(const Real& rate, const TruncatedConcentratedDP& tcdp,
                    const std::string& condition) {
  try {
    amplified(rate, tcdp);
    ADD_FAILURE() << "not refused: " << condition;
  } catch (const OutsideConditions& error) {
    EXPECT_NE(std::string(error.what()).find("the theorem needs " + condition), std::string::npos)
        << error.what();
  }
}

TEST(TruncatedSampling, RefusesARateAboveATenth) {
  expect_refusal(0.101, {0.001, 1e9}, "a rate of at most 0.1");
  expect_refusal(Real(0.099).widened(0.01), {0.001, 1e9}, "a rate of at most 0.1");
  EXPECT_NO_THROW(amplified(Real(0.099), TruncatedConcentratedDP{0.001, 1e9}));
}

TEST(TruncatedSampling, RefusesARhoThatIsZeroOrAboveATenth) {
  expect_refusal(1e-6, {0.101, 1e9}, "rho in (0, 0.1]");
  expect_refusal(1e-6, {0, 1e9}, "rho in (0, 0.1]");
  expect_refusal(1e-6, {-0.01, 1e9}, "rho in (0, 0.1]");
  EXPECT_NO_THROW(amplified(Real(1e-6), TruncatedConcentratedDP{0.099, 1e9}));
}

// For s and ρ up to 0.1 the two other conditions always hold, so no plan can fail only them: 3ρ(2 +
// log2(1/ρ)) is at most 1.6, log(1/s) is at least 2.3, and log(1/s)/(2ρ) at least 11.5.
TEST(TruncatedSampling, TheLogarithmicConditionsFollowFromTheRanges) {
  for (const double rho : {1e-6, 1e-3, 0.03, 0.0999}) {
    const Real need = 3 * Real(rho) * (2 - log(Real(rho)) / log_two());
    EXPECT_LT(need.upper(), 1.6) << rho;
    EXPECT_GT((log(Real(10)) / (2 * Real(rho))).lower(), 11.5) << rho;
    EXPECT_NO_THROW(amplified(Real(0.0999), TruncatedConcentratedDP{rho, 1e9}));
  }
}

TEST(TruncatedSampling, RefusesAnOmegaBelowTheNeededOne) {
  // log(1/s)/(2ρ) at s = 0.01, ρ = 0.01 is 230.26
  expect_refusal(0.01, {0.01, 230.2}, "omega >= log(1/s)/(2 rho)");
  EXPECT_NO_THROW(amplified(Real(0.01), TruncatedConcentratedDP{0.01, 230.3}));
}

// The range includes its end: the decimal 0.1 is in (0, 0.1].
TEST(TruncatedSampling, ATenthItselfIsAllowed) {
  EXPECT_NO_THROW(amplified(Real::reading(0.1), TruncatedConcentratedDP{0.001, 1e9}));
  EXPECT_NO_THROW(amplified(Real(0.01), TruncatedConcentratedDP{Real::reading(0.1), 1e9}));
}

}  // namespace
}  // namespace sotto
