// Staircase noise: its description against its density, at every distance up to the sensitivity.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "accounting/leaves/leaf.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// The density for sensitivity 1, as [Geng2014] defines it.
double density(double x, double epsilon) {
  const double gamma = 1 / (1 + std::exp(epsilon / 2));
  const double top = -std::expm1(-epsilon) / (2 * (gamma + std::exp(-epsilon) * (1 - gamma)));
  const double steps = std::floor(std::abs(x));
  return top * std::exp(-epsilon * (steps + (std::abs(x) - steps < gamma ? 0 : 1)));
}

// The integral of max(P - e^at Q, 0) at a distance: both are constant between their steps.
double delta_at(double at, double epsilon, double distance) {
  const double gamma = 1 / (1 + std::exp(epsilon / 2));
  std::vector<double> cuts;
  for (int j = 0; j < 200; ++j) {
    for (const double step : {j + gamma, -(j + gamma)}) {
      cuts.push_back(step);
      cuts.push_back(step + distance);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  double total = 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const double middle = (cuts[i] + cuts[i + 1]) / 2;
    total += (cuts[i + 1] - cuts[i]) *
             std::max(0.0, density(middle, epsilon) -
                               std::exp(at) * density(middle - distance, epsilon));
  }
  return total;
}

TEST(Staircase, TheProfileIsThatOfTheDensityAtTheFullDistance) {
  for (const double epsilon : {0.3, 1.0, 2.5}) {
    for (const double share : {0.0, 0.2, 0.7, 0.99}) {
      const Bound delta = sotto::delta(staircase(epsilon), Epsilon(share * epsilon)).value;
      EXPECT_NEAR(delta.upper, delta_at(share * epsilon, epsilon, 1), 1e-12) << epsilon;
      EXPECT_LE(delta.upper - delta.lower, 1e-12);
    }
  }
}

TEST(Staircase, ShorterDistancesCostNoMore) {
  for (const double epsilon : {0.3, 1.0, 2.5}) {
    for (const double share : {0.0, 0.2, 0.7, 0.99}) {
      const double most = sotto::delta(staircase(epsilon), Epsilon(share * epsilon)).value.upper;
      for (int i = 1; i <= 40; ++i)
        EXPECT_LE(delta_at(share * epsilon, epsilon, i / 40.0), most + 1e-12)
            << epsilon << ' ' << i;
    }
  }
}

TEST(Staircase, DivergencesAreThoseOfThreeLosses) {
  const double e = 1.2;
  const double t = std::exp(-e / 2);
  for (const double order : {1.0, 1.01, 1.5, 2.0, 9.0, 300.0}) {
    const double above = 1 - t / 2;
    const double c = order - 1;
    const double mean =
        above * std::exp(c * e) + t * (1 - t) * (1 - t) / 2 + t * t * above * std::exp(-c * e);
    const double expected = order == 1 ? e * above * (1 - t * t) : std::log(mean) / c;
    const Bound result = divergence(staircase(e), Order(order)).value;
    EXPECT_NEAR(result.upper, expected, 1e-12) << order;
    EXPECT_NEAR(result.lower, expected, 1e-12) << order;
  }
  EXPECT_NEAR(divergence(staircase(e), Order(std::numeric_limits<double>::infinity())).value.lower,
              e, 1e-12);
}

TEST(Staircase, CostsNoMoreThanAnyMechanismOfItsEpsilonAndIsKnownFromBothSides) {
  for (const char* form : {"50 * ", "poisson(0.1, ", "200 * poisson(0.1, "}) {
    const std::string start(form);
    const std::string end = start.find('(') == std::string::npos ? "" : ")";
    const Bound own = epsilon(parse(start + "staircase(0.4)" + end), Delta(1e-6)).value;
    const Bound any = epsilon(parse(start + "pure(0.4)" + end), Delta(1e-6)).value;
    EXPECT_LT(own.upper, any.lower) << form;
    EXPECT_LE(own.upper - own.lower, 1e-6 * own.upper) << form;
  }
}

TEST(Staircase, TheSensitivityScalesTheNoiseNotTheCost) {
  const Bound one = epsilon(parse("20 * staircase(0.4)"), Delta(1e-6)).value;
  const Bound wide = epsilon(parse("20 * staircase(0.4, sensitivity=7)"), Delta(1e-6)).value;
  EXPECT_EQ(one.upper, wide.upper);
  EXPECT_EQ(epsilon(parse("group(3, staircase(0.4))"), Delta(0)).value.upper,
            epsilon(parse("pure(1.2)"), Delta(0)).value.upper);
}

TEST(Staircase, CanBeAccountedNotRun) { EXPECT_THROW(Additive(staircase(1)), InvalidValue); }

}  // namespace
}  // namespace sotto
