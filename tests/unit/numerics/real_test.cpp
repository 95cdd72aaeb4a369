// Certified reals: every operation against exact references, radii, bounds and readings.
#include "sotto/numerics/real.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "../../oracle/oracle.hpp"

namespace sotto {
namespace {

using oracle::encloses;
using oracle::infinity;
using oracle::Row;
using oracle::smallest;

constexpr double largest = std::numeric_limits<double>::max();

bool is_exactly(const Real& x, double value) {
  return x.lower() == value && x.upper() == value && x.radius() == 0;
}
bool is_unknown(const Real& x) { return x.lower() == -infinity && x.upper() == infinity; }
bool holds(const Real& x, double value) { return x.lower() <= value && value <= x.upper(); }

using Operation = Real (*)(const Real&, const Real&);

// Away from underflow the bounds are adjacent doubles, and the radius is that of 106-bit
// operations.
void check_operation(const char* name, Operation f) {
  for (const Row& row : oracle::rows("arithmetic", "operation", name)) {
    const Real a = Real::ball(row.number("a_high"), row.number("a_low"), 0);
    const Real b = Real::ball(row.number("b_high"), row.number("b_low"), 0);
    const Real x = f(a, b);
    const double result = std::fabs(row.value().high);
    EXPECT_TRUE(encloses(x, row.value())) << row.show() << "\n  got " << oracle::show(x);
    if (std::min({std::fabs(a.high()), std::fabs(b.high()), result}) > 0x1p-900) {
      EXPECT_TRUE(oracle::tight(x, row.value(), {.relative = 0x1p-51, .absolute = 0}))
          << row.show();
      EXPECT_LE(x.radius(), 0x1p-99 * result) << row.show();
    }
  }
}

TEST(Real, SumsEncloseTheExactResult) {
  check_operation("add", [](const Real& a, const Real& b) { return a + b; });
}
TEST(Real, DifferencesEncloseTheExactResult) {
  check_operation("subtract", [](const Real& a, const Real& b) { return a - b; });
}
TEST(Real, ProductsEncloseTheExactResult) {
  check_operation("multiply", [](const Real& a, const Real& b) { return a * b; });
}
TEST(Real, QuotientsEncloseTheExactResult) {
  check_operation("divide", [](const Real& a, const Real& b) { return a / b; });
}

TEST(Real, WholeNumbersStayExact) {
  EXPECT_TRUE(is_exactly(Real(3) + Real(4), 7));
  EXPECT_TRUE(is_exactly(Real(3) - Real(4), -1));
  EXPECT_TRUE(is_exactly(Real(3) * Real(4), 12));
  EXPECT_TRUE(is_exactly(Real(12) / Real(4), 3));
  EXPECT_TRUE(is_exactly(Real(94906265) * Real(94906265), 94906265.0 * 94906265.0));
  EXPECT_TRUE(is_exactly(Real(0x1p53) - Real(1), 0x1p53 - 1));
  EXPECT_TRUE(is_exactly(Real(0) * Real(5), 0));
  EXPECT_TRUE(is_exactly(Real(0) / Real(5), 0));
  EXPECT_TRUE(is_exactly(-Real(5), -5));
  EXPECT_EQ((Real(1) / Real(3)).radius() > 0, true);
}

TEST(Real, AThirdTimesThreeHoldsOne) {
  const Real one = Real(1) / 3 * 3;
  EXPECT_TRUE(holds(one, 1));
  EXPECT_LT(one.radius(), 1e-29);
}

TEST(Real, BoundsAreTheNearestDoublesOutside) {
  const Real x = Real::ball(1, 0x1p-60, 0);
  EXPECT_EQ(x.lower(), 1);
  EXPECT_EQ(x.upper(), next_up(1));
  EXPECT_EQ(Real::ball(1, -0x1p-60, 0).lower(), next_down(1));
  EXPECT_EQ(Real::ball(1, -0x1p-60, 0).upper(), 1);
  EXPECT_EQ(Real(1).widened(0x1p-70).upper(), next_up(1));
  EXPECT_EQ(Real(1).widened(0x1p-70).lower(), next_down(1));
  // low + radius itself is rounded, here down to 2^-52, before it is added
  EXPECT_EQ(Real::ball(1, 0x1p-53, 0x1p-53 + 0x1p-105).upper(), 1 + 0x1p-51);
  EXPECT_EQ(Real::ball(-1, -0x1p-53, 0x1p-53 + 0x1p-105).lower(), -1 - 0x1p-51);
  EXPECT_EQ(Real::ball(1, 0x1p-53, 0x1p-120).upper(), next_up(1));
  EXPECT_EQ(Real::ball(0x1p-60, 0, 0x1p-120).upper(), next_up(0x1p-60));
  EXPECT_EQ(x.at(Side::lower), x.lower());
  EXPECT_EQ(x.at(Side::upper), x.upper());
  EXPECT_EQ(x.bound(), (Bound{x.lower(), x.upper()}));
}

TEST(Real, ReadingAWholeNumberIsExact) {
  for (const double x : {0.0, 1.0, -7.0, 1e6, 0x1p53 - 1, 1 - 0x1p53})
    EXPECT_TRUE(is_exactly(Real::reading(x), x));
}

TEST(Real, ReadingHoldsTheDecimalAndTheBinaryNumber) {
  const Real tenth = Real::reading(0.1);
  EXPECT_TRUE(encloses(tenth, Real(1) / 10));
  EXPECT_TRUE(holds(tenth, 0.1));
  EXPECT_LE(tenth.radius(), 0x1p-56);
  EXPECT_FALSE(encloses(tenth, Real(next_up(0.1))));
  for (int n = 1; n < 2000; ++n) {
    const double x = n / 1000.0;  // the double nearest to the decimal
    ASSERT_TRUE(encloses(Real::reading(x), Real(n) / 1000)) << x;
    ASSERT_TRUE(encloses(Real::reading(-x), Real(-n) / 1000)) << x;
  }
  // the doubles next to a power of two have different distances
  for (const double x : {0.5, 0.25, 0x1p-30}) {
    EXPECT_TRUE(encloses(Real::reading(x), Real(x) + (Real(next_up(x)) - Real(x)) / 2));
    EXPECT_TRUE(encloses(Real::reading(x), Real(x) - (Real(x) - Real(next_down(x))) / 2));
  }
  const double beyond = 0x1p53 + 2;
  EXPECT_TRUE(encloses(Real::reading(beyond), Real(beyond) + 1));
}

// The double of 1e-310 is 9.99999999999996939e-311: half a unit in the last place of a subnormal
// must not underflow.
TEST(Real, ReadingOfASubnormalHoldsTheDecimal) {
  for (const double x : {5e-324, 1e-310, 3e-308}) {
    EXPECT_GT(Real::reading(x).upper(), x) << x;
    EXPECT_LT(Real::reading(x).lower(), x) << x;
  }
}

TEST(Real, UnknownPropagates) {
  const Real u = Real::unknown();
  for (const Real& x : {u + 1, 1 - u, u * 2, 2 * u, u / 3, 3 / u, -u, u + u, u * u, u - u, 0 * u,
                        u * 0.0, scale(u, 3), u.widened(1), Real::hull(u, 1), Real::hull(1, u)}) {
    EXPECT_TRUE(is_unknown(x)) << oracle::show(x);
  }
}

TEST(Real, DivisionByABallThatHoldsZeroIsUnknown) {
  EXPECT_TRUE(is_unknown(Real(1) / Real(0)));
  EXPECT_TRUE(is_unknown(Real(0) / Real(0)));
  EXPECT_TRUE(is_unknown(Real(1) / Real(0).widened(1)));
  EXPECT_TRUE(is_unknown(Real(1) / Real(1).widened(1)));
  EXPECT_TRUE(is_unknown(Real(1) / Real(-1).widened(2)));
  EXPECT_TRUE(is_unknown(Real(1) / Real::ball(1, 0, 0.9999999)) ||
              holds(Real(1) / Real::ball(1, 0, 0.9999999), 1e7));
  EXPECT_FALSE(is_unknown(Real(1) / Real(1).widened(0.5)));
}

TEST(Real, OverflowGivesTheWholeLine) {
  EXPECT_TRUE(is_unknown(Real(largest) + Real(largest)));
  EXPECT_TRUE(is_unknown(Real(-largest) - Real(largest)));
  EXPECT_TRUE(is_unknown(Real(1e200) * Real(1e200)));
  EXPECT_TRUE(is_unknown(Real(1e200) * Real(-1e200)));
  EXPECT_TRUE(is_unknown(Real(1e200) / Real(1e-200)));
  EXPECT_TRUE(is_unknown(scale(Real(1), 2000)));
  EXPECT_TRUE(is_unknown(Real(1).widened(infinity)));
  EXPECT_TRUE(is_unknown(Real::ball(infinity, 0, 0)));
  EXPECT_TRUE(is_unknown(Real::ball(NAN, 0, 0)));
  EXPECT_TRUE(is_unknown(Real::ball(0, 0, NAN)));
  const Real edge = Real(largest).widened(1e300);
  EXPECT_EQ(edge.upper(), infinity);
}

TEST(Real, UnderflowKeepsAnEnclosure) {
  const Real product = Real(1e-200) * Real(1e-200);
  EXPECT_LE(product.lower(), 0);
  EXPECT_GT(product.upper(), 0);
  const Real quotient = Real(1e-300) / Real(1e300);
  EXPECT_LE(quotient.lower(), 0);
  EXPECT_GT(quotient.upper(), 0);
  const Real scaled = scale(Real(3), -1075);  // 1.5 times the smallest double
  EXPECT_LE(scaled.lower(), smallest);
  EXPECT_GE(scaled.upper(), 2 * smallest);
  const Real tiny = scale(Real(1).widened(0x1p-60), -1074);
  EXPECT_LT(tiny.lower(), smallest);
  EXPECT_GT(tiny.upper(), smallest);
}

TEST(Real, HullHoldsBothAndNothingFarAway) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    const double a = std::ldexp(unit(random), static_cast<int>(300 * unit(random)));
    const double b = std::ldexp(unit(random), static_cast<int>(300 * unit(random)));
    const Real x = Real::hull(Real(a).widened(std::fabs(a) * 1e-3), b);
    ASSERT_LE(x.lower(), Real(a).widened(std::fabs(a) * 1e-3).lower());
    ASSERT_GE(x.upper(), Real(a).widened(std::fabs(a) * 1e-3).upper());
    ASSERT_TRUE(holds(x, b));
    ASSERT_LE(x.upper() - x.lower(),
              (std::fabs(a - b) + 1e-3 * std::fabs(a)) * 1.01 + std::fabs(a) * 1.1e-3);
  }
  EXPECT_TRUE(is_exactly(Real::hull(2, 2), 2));
  EXPECT_TRUE(
      is_exactly(Real::hull(-largest, largest) - Real::hull(-largest, largest).widened(0), 0) ||
      is_unknown(Real::hull(-largest, largest)) || holds(Real::hull(-largest, largest), largest));
}

// Half of an odd subnormal is rounded, and the hull must still hold its ends.
TEST(Real, HullOfSubnormalsHoldsBoth) {
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) {
      const double a = i * smallest;
      const double b = j * smallest;
      const Real x = Real::hull(a, b);
      EXPECT_TRUE(holds(x, a) && holds(x, b))
          << i << " and " << j << " smallest doubles: " << oracle::show(x);
    }
  }
}

TEST(Real, MinAndMaxHoldTheSmallerAndTheLarger) {
  EXPECT_TRUE(is_exactly(min(2, 3), 2));
  EXPECT_TRUE(is_exactly(max(2, 3), 3));
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    const double a = unit(random);
    const double b = i % 2 == 0 ? unit(random) : a + 1e-3 * unit(random);
    const Real x = Real(a).widened(1e-3 * std::fabs(unit(random)));
    const Real y = Real(b).widened(1e-3 * std::fabs(unit(random)));
    for (const double s : {x.lower(), a, x.upper()}) {
      for (const double t : {y.lower(), b, y.upper()}) {
        ASSERT_TRUE(holds(min(x, y), std::min(s, t)));
        ASSERT_TRUE(holds(max(x, y), std::max(s, t)));
      }
    }
    ASSERT_LE(min(x, y).upper(), std::min(x.upper(), y.upper()) + 1e-12);
    ASSERT_GE(max(x, y).lower(), std::max(x.lower(), y.lower()) - 1e-12);
  }
}

TEST(Real, OrderIsCertainOnlyForDisjointBalls) {
  EXPECT_TRUE(certainly_less(1, 2));
  EXPECT_FALSE(certainly_less(2, 2));
  EXPECT_TRUE(certainly_at_most(2, 2));
  EXPECT_FALSE(certainly_less(Real(1).widened(1), 2));
  EXPECT_FALSE(certainly_at_most(Real(2).widened(1e-20), 2));
  EXPECT_FALSE(certainly_less(Real::unknown(), 2));
  EXPECT_FALSE(certainly_at_most(Real::unknown(), 2));
  EXPECT_FALSE(certainly_at_most(2, Real::unknown()));
  // closer to each other than doubles are
  EXPECT_TRUE(certainly_less(Real(1), Real::ball(1, 0x1p-80, 0)));
  EXPECT_FALSE(certainly_less(Real::ball(1, 0x1p-80, 0), Real(1)));
}

TEST(Real, ScaleIsExactAwayFromTheEnds) {
  const Real x = scale(Real(1) / 3, 40);
  EXPECT_EQ(x.high(), std::ldexp(1.0 / 3, 40));
  EXPECT_EQ(x.radius(), std::ldexp((Real(1) / 3).radius(), 40));
  EXPECT_TRUE(is_exactly(scale(Real(3), 1000), 3 * 0x1p1000));
}

// The ball of a result must hold the result for every pair of numbers of the operands.
TEST(Real, EveryOperationHoldsEveryPairOfMembers) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto draw = [&] {
    return std::ldexp(unit(random) < 0.5 ? -1 - unit(random) : 1 + unit(random),
                      static_cast<int>(40 * unit(random)) - 20);
  };
  for (int i = 0; i < 4000; ++i) {
    const Real a = Real(draw()) / 3;
    const Real b = Real(draw()) / 7;
    const double ra = i % 3 == 0 ? 0 : std::fabs(a.high()) * std::exp(-60 * unit(random)) * 0.9;
    const double rb = i % 3 == 1 ? 0 : std::fabs(b.high()) * std::exp(-60 * unit(random)) * 0.9;
    const Real x = a.centre().widened(ra);
    const Real y = b.centre().widened(rb);
    for (const double s : {-1.0, 1.0, 0.25}) {
      for (const double t : {-1.0, 1.0, -0.75}) {
        const Real u = a.centre() + Real(ra * s);
        const Real v = b.centre() + Real(rb * t);
        ASSERT_TRUE(encloses(x + y, u + v)) << oracle::show(x) << oracle::show(y);
        ASSERT_TRUE(encloses(x - y, u - v)) << oracle::show(x) << oracle::show(y);
        ASSERT_TRUE(encloses(x * y, u * v)) << oracle::show(x) << oracle::show(y);
        ASSERT_TRUE(encloses(x / y, u / v)) << oracle::show(x) << oracle::show(y);
      }
    }
    const double relative = ra / std::fabs(a.high()) + rb / std::fabs(b.high());
    ASSERT_LE((x * y).radius(), (2 * relative + 1e-29) * std::fabs((x * y).high()));
    if (relative < 0.5) {
      ASSERT_LE((x / y).radius(), (4 * relative + 1e-29) * std::fabs((x / y).high()));
    }
  }
}

TEST(Real, CompoundAssignmentIsTheOperation) {
  Real x = 7;
  x += 1;
  x *= 3;
  x -= 4;
  x /= 5;
  EXPECT_TRUE(is_exactly(x, 4));
}

}  // namespace
}  // namespace sotto
