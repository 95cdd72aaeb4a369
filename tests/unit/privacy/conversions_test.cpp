// Conversions between definitions against an oracle of many digits, and the search for the best
// order.
#include "privacy/api/conversions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/best_order.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using oracle::infinity;
using oracle::Row;

RenyiDP renyi_of(const Row& row) { return {row.number("first"), row.number("second")}; }

void check_line(const char* line, const oracle::Function& f, oracle::Width width = {}) {
  oracle::check(oracle::rows("conversions", "line", line), f, width);
}

TEST(FromRenyi, ClassicConversionsEncloseTheOracle) {
  check_line("epsilon_from_renyi_classic", [](const Row& row) {
    return epsilon_from_renyi_classic(renyi_of(row), row.number("third"));
  });
  check_line("delta_from_renyi_classic", [](const Row& row) {
    return delta_from_renyi_classic(renyi_of(row), row.number("third"));
  });
}

TEST(FromRenyi, BetterConversionsEncloseTheOracle) {
  check_line("epsilon_from_renyi",
             [](const Row& row) { return epsilon_from_renyi(renyi_of(row), row.number("third")); });
  check_line("delta_from_renyi",
             [](const Row& row) { return delta_from_renyi(renyi_of(row), row.number("third")); });
}

// Returns the largest p - e^ε q of all pairs of coins whose divergence is at most ε̄, by a search
// over a grid.
double largest_of_coins(double order, double divergence, double epsilon) {
  const double most = std::exp((order - 1) * divergence);
  double largest = 0;
  for (double log_q = -24; log_q < -1e-3; log_q += 1e-2) {
    const double q = std::exp(log_q);
    double low = q;
    double high = 1;
    for (int i = 0; i < 60; ++i) {
      const double p = (low + high) / 2;
      const double f = std::pow(p, order) * std::pow(q, 1 - order) +
                       std::pow(1 - p, order) * std::pow(1 - q, 1 - order);
      (f <= most ? low : high) = p;
    }
    largest = std::max(largest, low - std::exp(epsilon) * q);
  }
  return largest;
}

TEST(FromRenyi, TwoCoinsAttainTheOptimalConversion) {
  for (const double order : {1.5, 2.0, 8.0, 32.0}) {
    for (const double divergence : {0.05, 0.5, 2.0}) {
      for (const double epsilon : {0.1, 1.0, 3.0}) {
        const double best = delta_from_renyi_optimal({order, divergence}, epsilon);
        const double reached = largest_of_coins(order, divergence, epsilon);
        EXPECT_LE(best, delta_from_renyi({order, divergence}, epsilon).upper());
        EXPECT_GE(best, reached * (1 - 1e-12)) << order << " " << divergence << " " << epsilon;
        if (reached > 1e-9) {
          EXPECT_LE(best, reached * (1 + 1e-3)) << order << " " << divergence << " " << epsilon;
        }
      }
    }
  }
}

TEST(FromRenyi, TheBetterConversionIsNeverWorse) {
  for (const Row& row : oracle::rows("conversions", "line", "epsilon_from_renyi")) {
    const double delta = row.number("third");
    EXPECT_LE(epsilon_from_renyi(renyi_of(row), delta).lower(),
              epsilon_from_renyi_classic(renyi_of(row), delta).upper())
        << row.show();
  }
}

TEST(FromRenyi, OrdersUpToOneAndInfiniteOrdersAreRefused) {
  for (const double order :
       {1.0, 0.5, 0.0, -2.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    const RenyiDP renyi{order, 1};
    EXPECT_THROW(epsilon_from_renyi_classic(renyi, 1e-5), OutsideConditions) << order;
    EXPECT_THROW(delta_from_renyi_classic(renyi, 1), OutsideConditions) << order;
    EXPECT_THROW(epsilon_from_renyi(renyi, 1e-5), OutsideConditions) << order;
    EXPECT_THROW(delta_from_renyi(renyi, 1), OutsideConditions) << order;
  }
  try {
    epsilon_from_renyi({0.5, 1}, 1e-5);
  } catch (const OutsideConditions& error) {
    EXPECT_NE(std::string(error.what()).find("above 1"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("0.5"), std::string::npos);
  }
}

TEST(FromRenyi, EpsilonAndDeltaAreInverse) {
  const RenyiDP renyi{8.5, 0.4};
  const Real delta = delta_from_renyi(renyi, 2);
  EXPECT_TRUE(oracle::encloses(epsilon_from_renyi(renyi, delta), Real(2)));
  const Real classic = delta_from_renyi_classic(renyi, 2);
  EXPECT_TRUE(oracle::encloses(epsilon_from_renyi_classic(renyi, classic), Real(2)));
}

TEST(FromRenyi, ABallOfEpsilonWidensTheResult) {
  const RenyiDP wide{8.5, Real(0.4).widened(0.01)};
  for (const double bar : {0.39, 0.41}) {
    EXPECT_TRUE(
        oracle::encloses(epsilon_from_renyi(wide, 1e-5), epsilon_from_renyi({8.5, bar}, 1e-5)));
    EXPECT_TRUE(oracle::encloses(delta_from_renyi(wide, 3), delta_from_renyi({8.5, bar}, 3)));
    EXPECT_TRUE(oracle::encloses(epsilon_from_renyi_classic(wide, 1e-5),
                                 epsilon_from_renyi_classic({8.5, bar}, 1e-5)));
    EXPECT_TRUE(oracle::encloses(delta_from_renyi_classic(wide, 3),
                                 delta_from_renyi_classic({8.5, bar}, 3)));
  }
}

TEST(Target, OrderEnclosesTheOracle) {
  check_line("target_order",
             [](const Row& row) { return target_order(row.number("first"), row.number("third")); });
}

TEST(Target, TheOrderWithHalfOfEpsilonImpliesTheTarget) {
  for (const double epsilon : {0.1, 1.0, 5.0}) {
    const double order = target_order(epsilon, 1e-6).upper();
    EXPECT_LE(epsilon_from_renyi_classic({order, Real(epsilon) / 2}, 1e-6).upper(),
              epsilon * (1 + 1e-15));
  }
}

TEST(FromZcdp, ClassicConversionsEncloseTheOracle) {
  check_line("epsilon_from_zcdp_classic", [](const Row& row) {
    return epsilon_from_zcdp_classic({row.number("first")}, row.number("third"));
  });
  check_line("delta_from_zcdp_classic", [](const Row& row) {
    return delta_from_zcdp_classic({row.number("first")}, row.number("third"));
  });
  check_line("rho_for_target_classic", [](const Row& row) {
    return rho_for_target_classic(row.number("first"), row.number("third"));
  });
}

TEST(FromZcdp, DeltaBelowRhoIsOne) {
  EXPECT_EQ(delta_from_zcdp_classic({2}, 1).bound(), (Bound{1, 1}));
}

TEST(FromZcdp, RhoForATargetGivesTheTarget) {
  const Real rho = rho_for_target_classic(1.5, 1e-6);
  EXPECT_TRUE(oracle::encloses(epsilon_from_zcdp_classic({rho}, 1e-6), Real(1.5)));
}

// The value is a bound at the returned order, and at most that of an independent minimisation.
TEST(FromZcdp, EpsilonIsTheMinimumOverOrders) {
  oracle::check_upper(
      oracle::rows("conversions", "line", "epsilon_from_zcdp"),
      [](const Row& row) {
        const Real rho = row.number("first");
        const BestOrder best = epsilon_from_zcdp({rho}, row.number("third"));
        EXPECT_EQ(
            best.value.bound(),
            epsilon_from_renyi({best.order, Real(best.order) * rho}, row.number("third")).bound());
        return best.value;
      },
      1e-12);
}

TEST(FromZcdp, DeltaIsTheMinimumOverOrders) {
  oracle::check_upper(
      oracle::rows("conversions", "line", "delta_from_zcdp"),
      [](const Row& row) {
        const Real rho = row.number("first");
        const BestOrder best = delta_from_zcdp({rho}, row.number("third"));
        EXPECT_EQ(
            best.value.bound(),
            delta_from_renyi({best.order, Real(best.order) * rho}, row.number("third")).bound());
        return best.value;
      },
      1e-11);
}

TEST(FromZcdp, TheBetterConversionLiesBetweenTheExactGaussianAndTheClassicOne) {
  for (const double mu : {0.1, 0.5, 1.0, 3.0}) {
    const ZeroConcentratedDP zcdp{gaussian_rho(mu)};
    for (const double delta : {1e-3, 1e-6, 1e-12}) {
      const double better = epsilon_from_zcdp(zcdp, delta).value.upper();
      EXPECT_LT(better, epsilon_from_zcdp_classic(zcdp, delta).lower());
      EXPECT_GT(better, epsilon_of(gaussian_profile(mu), delta, Side::lower));
    }
  }
}

TEST(FromTcdp, ClassicConversionEnclosesTheOracle) {
  check_line("epsilon_from_tcdp_classic", [](const Row& row) {
    return epsilon_from_tcdp_classic({row.number("first"), row.number("second")},
                                     row.number("third"));
  });
}

TEST(FromTcdp, EpsilonIsTheMinimumOverOrdersUpToOmega) {
  oracle::check_upper(
      oracle::rows("conversions", "line", "epsilon_from_tcdp"),
      [](const Row& row) {
        const BestOrder best =
            epsilon_from_tcdp({row.number("first"), row.number("second")}, row.number("third"));
        EXPECT_LE(best.order, row.number("second"));
        EXPECT_GT(best.order, 1);
        return best.value;
      },
      1e-12);
}

TEST(FromTcdp, DeltaIsTheMinimumOverOrdersUpToOmega) {
  oracle::check_upper(
      oracle::rows("conversions", "line", "delta_from_tcdp"),
      [](const Row& row) {
        const BestOrder best =
            delta_from_tcdp({row.number("first"), row.number("second")}, row.number("third"));
        EXPECT_LE(best.order, row.number("second"));
        return best.value;
      },
      1e-11);
}

// If ω is a ball, no order above its lower end may be used.
TEST(FromTcdp, TheLargestOrderIsTheLowerEndOfOmega) {
  const BestOrder best = epsilon_from_tcdp({0.01, Real(3).widened(0.5)}, 1e-9);
  EXPECT_LE(best.order, 2.5);
}

// Two coins of the allowed divergence reach almost the result.
TEST(FromRenyi, TheOptimalConversionLiesBetweenTwoCoinsAndTheBetterOne) {
  int better = 0;
  for (const double order : {1.01, 1.5, 2.0, 4.5, 30.0}) {
    for (const double divergence : {1e-3, 0.1, 1.0, 6.0}) {
      for (const double delta : {1e-9, 1e-5, 0.01, 0.3, 0.9}) {
        const RenyiDP renyi{order, divergence};
        const double line = epsilon_from_renyi(renyi, delta).upper();
        const double epsilon = epsilon_from_renyi_optimal(renyi, delta);
        EXPECT_LE(epsilon, line);
        if (epsilon == 0 || epsilon == line) continue;
        ++better;
        EXPECT_LE(delta_from_renyi_optimal(renyi, epsilon), delta * (1 + 1e-9));
        const double below = epsilon * (1 - 1e-6);
        double least = infinity;
        for (double v = -700; v < 0; v += v < -100 ? 0.05 : 2e-3) {
          const double q = std::exp(v);
          const double p = delta + std::exp(below) * q;
          if (p < 1)
            least = std::min(least, p * std::pow(p / q, order - 1) +
                                        (1 - p) * std::pow((1 - p) / (1 - q), order - 1));
        }
        EXPECT_LE(std::log(least), (order - 1) * divergence * (1 + 1e-5))
            << order << " " << divergence << " " << delta;
      }
    }
  }
  EXPECT_GT(better, 40);
}

TEST(BestOrder, FindsTheMinimumOfAParabola) {
  for (const double at : {1.01, 2.0, 17.3, 1e5}) {
    const BestOrder best = best_order(
        infinity, [at](double a) { return square(log((Real(a) - 1) / Real(at - 1))) + 1; });
    EXPECT_NEAR(best.order, at, 1e-4 * at);
    EXPECT_NEAR(best.value.upper(), 1, 1e-8);
  }
}

TEST(BestOrder, NeverPassesTheLargest) {
  const BestOrder best = best_order(5, [](double a) {
    EXPECT_GT(a, 1);
    EXPECT_LE(a, 5);
    return 10 - Real(a);
  });
  EXPECT_EQ(best.order, 5);
  EXPECT_EQ(best.value.upper(), 5);
}

TEST(BestOrder, SkipsInfiniteValues) {
  const BestOrder best =
      best_order(infinity, [](double a) { return a > 6 ? Real::unknown() : square(Real(a) - 5); });
  EXPECT_NEAR(best.order, 5, 1e-3);
}

TEST(BestOrder, WithoutAFiniteValueTheResultIsInfinite) {
  EXPECT_EQ(best_order(infinity, [](double) { return Real::unknown(); }).value.upper(), infinity);
}

}  // namespace
}  // namespace sotto
