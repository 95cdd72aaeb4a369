// Factorials, binomial coefficients and log_sum_exp against an oracle of many digits.
#include "numerics/api/gamma.hpp"

#include <gtest/gtest.h>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/log_space.hpp"

namespace sotto {
namespace {

using oracle::Row;

// log Γ vanishes at 1 and 2, near which the width is relative to Stirling's sum, about 60.
TEST(Gamma, LogGammaEnclosesTheOracle) {
  oracle::check(oracle::rows("numerics", "function", "log_gamma"),
                [](const Row& row) { return log_gamma(row.number("x")); },
                {.relative = 1e-12, .absolute = 1e-26});
}

TEST(Gamma, LogBinomialEnclosesTheOracle) {
  oracle::check(oracle::rows("numerics", "function", "log_binomial"), [](const Row& row) {
    return log_binomial(static_cast<std::int64_t>(row.number("x")),
                        static_cast<std::int64_t>(row.number("y")));
  });
}

TEST(Gamma, LogBinomialOfTheEndsIsExactlyZero) {
  EXPECT_EQ(log_binomial(10, 0).bound(), (Bound{0, 0}));
  EXPECT_EQ(log_binomial(10, 10).bound(), (Bound{0, 0}));
  EXPECT_EQ(log_binomial(0, 0).bound(), (Bound{0, 0}));
}

TEST(Gamma, LogGammaOfABallHoldsItsMembers) {
  for (const double x : {1.5, 7.25, 100.0, 1e6}) {
    const Real ball = log_gamma(Real(x).widened(0.25));
    EXPECT_TRUE(oracle::encloses(ball, log_gamma(x - 0.25)));
    EXPECT_TRUE(oracle::encloses(ball, log_gamma(x + 0.25)));
  }
}

TEST(LogSpace, LogSumExpOfEqualTermsAddsTheLogOfTheirNumber) {
  const std::vector<Real> terms(1000, Real(-5000));
  EXPECT_TRUE(oracle::encloses(log_sum_exp(terms), log(Real(1000)) - 5000));
  EXPECT_LT(log_sum_exp(terms).radius(), 1e-24);
}

TEST(LogSpace, MuchSmallerTermsAreBoundedFromAbove) {
  const std::vector<Real> terms{Real(0), Real(-99), Real(-101), Real(-1e5)};
  const Real exact = log1p(exp(Real(-99)) + exp(Real(-101)));
  EXPECT_TRUE(oracle::encloses(log_sum_exp(terms), exact)) << oracle::show(log_sum_exp(terms));
  // a hundred thousand terms at -101 sum to 1e5 e^-101, which the ball must hold
  std::vector<Real> many(100000, Real(-101));
  many.emplace_back(0);
  EXPECT_TRUE(oracle::encloses(log_sum_exp(many), log1p(100000 * exp(Real(-101)))));
}

TEST(LogSpace, AnUnknownTermMakesTheSumUnknown) {
  EXPECT_EQ(log_sum_exp({Real(1), Real::unknown()}).upper(), oracle::infinity);
}

TEST(LogSpace, AnEmptySumIsBoundedFromAbove) { EXPECT_LE(log_sum_exp({}).upper(), -1e300); }

TEST(LogSpace, WideTermsWidenTheSum) {
  const Real wide = log_sum_exp({Real(1).widened(0.5), Real(2)});
  EXPECT_TRUE(oracle::encloses(wide, log_sum_exp({Real(0.5), Real(2)})));
  EXPECT_TRUE(oracle::encloses(wide, log_sum_exp({Real(1.5), Real(2)})));
}

}  // namespace
}  // namespace sotto
