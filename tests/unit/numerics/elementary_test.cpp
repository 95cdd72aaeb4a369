// Elementary functions against an oracle of many digits, at points and over balls.
#include "numerics/api/elementary.hpp"

#include <gtest/gtest.h>

#include <random>

#include "../../oracle/oracle.hpp"

namespace sotto {
namespace {

using oracle::encloses;
using oracle::Row;

using Unary = Real (*)(const Real&);

void check_unary(const char* name, Unary f, oracle::Width width = {}) {
  oracle::check(
      oracle::rows("numerics", "function", name),
      [f](const Row& row) { return f(row.number("x")); }, width);
}

TEST(Elementary, ExpEnclosesTheOracle) { check_unary("exp", exp); }
TEST(Elementary, Expm1EnclosesTheOracle) { check_unary("expm1", expm1); }
TEST(Elementary, LogEnclosesTheOracle) { check_unary("log", log); }
TEST(Elementary, Log1pEnclosesTheOracle) { check_unary("log1p", log1p); }
TEST(Elementary, SinhEnclosesTheOracle) { check_unary("sinh", sinh); }
TEST(Elementary, TanhEnclosesTheOracle) { check_unary("tanh", tanh); }
TEST(Elementary, Log1pexpEnclosesTheOracle) { check_unary("log1pexp", log1pexp); }

TEST(Elementary, SqrtEnclosesTheOracle) {
  // s² underflows for x < 2^-900; the residue is then only known to a few subnormals over s
  oracle::check(oracle::rows("numerics", "function", "sqrt"),
                [](const Row& row) { return sqrt(row.number("x")); },
                {.relative = 1e-12, .absolute = 1e-159});
  for (const Row& row : oracle::rows("numerics", "function", "sqrt")) {
    if (row.number("x") > 0x1p-900) {
      EXPECT_TRUE(oracle::tight(sqrt(row.number("x")), row.value())) << row.show();
    }
  }
}

TEST(Elementary, PowEnclosesTheOracle) {
  oracle::check(oracle::rows("numerics", "function", "pow"),
                [](const Row& row) { return pow(row.number("x"), row.number("y")); });
}

// The centre is the nearest pair of doubles, and the radius covers its error.
TEST(Elementary, ConstantsAreRight) {
  EXPECT_LE(oracle::distance(pi(), 3.141592653589793, 1.22464679914735317722606593228e-16),
            pi().radius());
  EXPECT_LE(oracle::distance(log_two(), 0.6931471805599453, 2.31904681384629961549485546388e-17),
            log_two().radius());
  EXPECT_GE(pi().radius(), 0x1.fp-109);  // π - high - low = -1.94 · 2^-109
  EXPECT_GE(log_two().radius(), 0x1.7cp-111);
  EXPECT_LT(pi().radius(), 1e-30);
  EXPECT_LT(log_two().radius(), 1e-30);
}

TEST(Elementary, WholeResultsAreExact) {
  EXPECT_EQ(exp(Real(0)).bound(), (Bound{1, 1}));
  EXPECT_EQ(expm1(Real(0)).bound(), (Bound{0, 0}));
  EXPECT_EQ(log(Real(1)).bound(), (Bound{0, 0}));
  EXPECT_EQ(log1p(Real(0)).bound(), (Bound{0, 0}));
  EXPECT_EQ(sqrt(Real(0)).bound(), (Bound{0, 0}));
  EXPECT_EQ(sqrt(Real(144)).bound(), (Bound{12, 12}));
  EXPECT_EQ(square(Real(-7)).bound(), (Bound{49, 49}));
}

TEST(Elementary, OutsideTheDomainTheResultIsUnknown) {
  for (const Real& x :
       {log(Real(0)), log(Real(-1)), log(Real(1).widened(1)), log1p(Real(-1)), log1p(Real(-3)),
        sqrt(Real(-1e-300)), sqrt(Real(0).widened(1e-9)), exp(Real(710)), exp(Real::unknown()),
        log(Real::unknown()), log1p(Real::unknown()), sqrt(Real::unknown()), expm1(Real::unknown()),
        tanh(Real::unknown()), sinh(Real::unknown()), log1pexp(Real::unknown())}) {
    EXPECT_EQ(x.bound(), Real::unknown().bound()) << oracle::show(x);
  }
}

TEST(Elementary, Log1pOfABallThatReachesBelowMinusOneIsUnknown) {
  for (const double radius : {1.0, 1.5, 2.0, 100.0}) {
    const Real x = log1p(Real(0).widened(radius));
    EXPECT_EQ(x.bound(), Real::unknown().bound()) << "radius " << radius << ": " << oracle::show(x);
  }
}

// Below e^-745 the result underflows, and the enclosure must still reach above 0.
TEST(Elementary, ExpOfAVeryNegativeNumberIsPositiveAtMostTheSmallestDouble) {
  for (const double x : {-745.5, -746.0, -800.0, -1e6, -1e300}) {
    EXPECT_LE(exp(Real(x)).lower(), 0);
    EXPECT_GT(exp(Real(x)).upper(), 0) << "e^" << x << " is not 0";
    EXPECT_LE(exp(Real(x)).upper(), 1e-322);
  }
}

struct Case {
  const char* name;
  Unary f;
  double low;
  double high;
};

class OverABall : public ::testing::TestWithParam<Case> {};

// The image of a ball must hold f at its ends and at points inside.
TEST_P(OverABall, TheResultHoldsEveryMember) {
  const auto& [name, f, low, high] = GetParam();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 400; ++i) {
    const double centre = low + (high - low) * unit(random);
    const double radius = std::exp(-70 * unit(random)) * std::min(centre - low, high - centre);
    const Real result = f(Real(centre).widened(radius));
    for (const double t : {-1.0, -0.9, 0.3, 1.0}) {
      const Real member = f(Real(centre) + Real(radius) * Real(t));
      ASSERT_TRUE(encloses(result, member))
          << name << " at " << centre << " ± " << radius << ", member " << t << "\n  ball "
          << oracle::show(result) << "\n  member " << oracle::show(member);
    }
    // its width is at most 20 times the change of f over the ball
    const double change = std::fabs(f(Real(centre) + Real(radius)).estimate() -
                                    f(Real(centre) - Real(radius)).estimate());
    if (radius < 0.05 * std::min(1.0, centre - low)) {
      ASSERT_LE(result.radius(),
                20 * change + 1e-12 * std::fabs(result.estimate()) + 256 * oracle::smallest)
          << name << " at " << centre << " ± " << radius;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Elementary, OverABall,
    ::testing::Values(Case{"exp", exp, -30, 30}, Case{"exp", exp, -720, -650},
                      Case{"exp", exp, 650, 709}, Case{"expm1", expm1, -0.6, 0.6},
                      Case{"expm1", expm1, -20, 20}, Case{"log", log, 1e-3, 50},
                      Case{"log", log, 0.9, 1.1}, Case{"log1p", log1p, -0.3, 0.3},
                      Case{"log1p", log1p, -0.99, 40}, Case{"sqrt", sqrt, 1e-6, 100},
                      Case{"sinh", sinh, -0.6, 0.6}, Case{"sinh", sinh, -30, 30},
                      Case{"tanh", tanh, -3, 3}, Case{"log1pexp", log1pexp, -40, 40},
                      Case{"log1pexp", log1pexp, -760, -700}, Case{"square", square, -10, 10}),
    [](const auto& instance) {
      return std::string(instance.param.name) + "_" + std::to_string(instance.index);
    });

}  // namespace
}  // namespace sotto
