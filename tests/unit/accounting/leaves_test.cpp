// The values of each leaf's description agree with each other; plans as events.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "accounting/events/events.hpp"
#include "accounting/leaves/leaf.hpp"
#include "privacy/api/conversions.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using accounting_detail::DominatingPair;
using accounting_detail::Event;
using accounting_detail::events_of;
using accounting_detail::leaf_of;
using accounting_detail::Proved;

const std::vector<std::string> leaves{"gaussian(2)",
                                      "gaussian(2, 1.5)",
                                      "laplace(1.5)",
                                      "laplace(3, 2)",
                                      "discrete_gaussian(1.7)",
                                      "discrete_gaussian(4, 3)",
                                      "discrete_laplace(1.2)",
                                      "discrete_laplace(2, 3)",
                                      "randomized_response(0.7)",
                                      "randomized_response(0.6, 5)",
                                      "arsinh(0.02, 40)",
                                      "exponential(0.8)",
                                      "catastrophe(0.5, 0)",
                                      "pure(0.7)",
                                      "approx(0.7, 0)",
                                      "gdp(0.6)"};
constexpr double orders[] = {1.25, 2, 3.5, 12};

// D_α of the leaf's pair, from the logarithm of its moment generating function.
Real divergence_of(const DominatingPair& pair, double order) {
  const LogMgfValue at = pair.removed->log_mgf(order - 1)->at(0);
  return Real(at.log.re).widened(at.error) / (Real(order) - 1);
}

TEST(Leaves, TheRenyiCurveHoldsThatOfThePair) {
  for (const std::string& text : leaves) {
    for (const std::int64_t units : {1, 2}) {
      const auto leaf = leaf_of(parse(text), units);
      const auto known = leaf->pair();
      const auto* pair = std::get_if<Proved<DominatingPair>>(&known);
      ASSERT_NE(pair, nullptr) << text;
      for (const double order : orders) {
        const Real of_pair = divergence_of(pair->value, order);
        const auto above = leaf->renyi(order, Side::upper);
        const auto below = leaf->renyi(order, Side::lower);
        if (above && pair->value.attained) {
          EXPECT_GE(above->value.upper(), of_pair.lower()) << text << ' ' << units << ' ' << order;
        }
        if (below) {
          EXPECT_LE(below->value.lower(), of_pair.upper()) << text << ' ' << units << ' ' << order;
        }
        if (leaf->has_exact_renyi_curve() && units == 1) {
          EXPECT_NEAR(above->value.upper(), of_pair.upper(), 1e-12) << text << ' ' << order;
        }
      }
    }
  }
}

TEST(Leaves, ThePureEpsilonIsThePairsLargestLoss) {
  for (const std::string& text : leaves) {
    for (const std::int64_t units : {1, 3}) {
      const auto leaf = leaf_of(parse(text), units);
      const auto epsilon = leaf->pure_epsilon(1);
      const auto pair = std::get<Proved<DominatingPair>>(leaf->pair()).value;
      if (!epsilon) {
        EXPECT_TRUE(std::isinf(pair.removed->max_loss()) || text.starts_with("arsinh")) << text;
        continue;
      }
      EXPECT_GE(pair.removed->max_loss(), epsilon->lower()) << text << ' ' << units;
      EXPECT_LE(pair.removed->max_loss(), epsilon->upper() * (1 + 0x1p-40)) << text << ' ' << units;
      const auto at_infinity = leaf->renyi(std::numeric_limits<double>::infinity(), Side::upper);
      EXPECT_NEAR(at_infinity->value.upper(), epsilon->upper(), 1e-12) << text << ' ' << units;
    }
  }
}

TEST(Leaves, RhoBoundsTheRenyiCurve) {
  for (const std::string& text : leaves) {
    const auto leaf = leaf_of(parse(text), 1);
    for (const RhoConversion conversion : {RhoConversion::classic, RhoConversion::better}) {
      const auto known = leaf->rho(conversion);
      const auto* rho = std::get_if<Proved<Real>>(&known);
      if (rho == nullptr) continue;
      for (const double order : orders) {
        EXPECT_GE((Real(order) * rho->value).upper() * (1 + 1e-12),
                  leaf->renyi(order, Side::upper)->value.lower())
            << text << ' ' << order;
      }
    }
  }
}

TEST(Leaves, AGroupCostsAtLeastOneUnit) {
  for (const std::string& text : leaves) {
    const auto one = leaf_of(parse(text), 1);
    const auto three = leaf_of(parse(text), 3);
    EXPECT_GE(
        three->approximate(1e-6, accounting_detail::GaussianConversion::exact)
            .value.epsilon.upper(),
        one->approximate(1e-6, accounting_detail::GaussianConversion::exact).value.epsilon.upper())
        << text;
    for (const double order : orders) {
      const auto more = three->renyi(order, Side::upper);
      if (more) {
        EXPECT_GE(more->value.upper(), one->renyi(order, Side::upper)->value.lower())
            << text << ' ' << order;
      }
    }
  }
}

TEST(Leaves, ARefusalNamesAMethod) {
  for (const std::string text : {"rdp(4, 0.1)", "tcdp(0.1, 8)", "zcdp(0.2)", "catastrophe(1, 1e-6)",
                                 "arsinh(0.001, 9)", "discrete_laplace(1, 30000)"}) {
    const auto leaf = leaf_of(parse(text), 1);
    const auto pair = leaf->pair();
    const auto rho = leaf->rho(RhoConversion::better);
    const auto* no_pair = std::get_if<accounting_detail::Refusal>(&pair);
    const auto* no_rho = std::get_if<accounting_detail::Refusal>(&rho);
    ASSERT_TRUE(no_pair != nullptr || no_rho != nullptr) << text;
    for (const auto* refusal : {no_pair, no_rho}) {
      if (refusal != nullptr) {
        EXPECT_NE(refusal->reason.find("use "), std::string::npos) << refusal->reason;
      }
    }
  }
}

TEST(Events, EqualPartsAreCountedAtAllPlaces) {
  const auto events =
      events_of(parse("2 * (laplace(3) + gaussian(2)) + 5 * laplace(3) + group(1, gaussian(2))"));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(print(events[0].plan), "laplace(3)");
  EXPECT_EQ(events[0].count, 7);
  EXPECT_EQ(events[1].count, 3);
}

TEST(Events, GroupsAreCarriedIntoTheParts) {
  const auto events = events_of(parse("group(2, 3 * laplace(3) + group(5, gaussian(2)))"));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].units, 2);
  EXPECT_EQ(events[0].leaf->units(), 2);
  EXPECT_EQ(events[1].units, 10);
  EXPECT_EQ(print(events[1].with_group()), "group(10, gaussian(2))");
}

TEST(Events, ASampleIsOneEventWithNestedRatesMultiplied) {
  const auto events =
      events_of(parse("100 * poisson(0.5, poisson(0.1, laplace(3) + gaussian(2)))"));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].leaf, nullptr);
  ASSERT_TRUE(events[0].sampling);
  EXPECT_NEAR(events[0].sampling->rate.estimate(), 0.05, 1e-15);
  EXPECT_TRUE(events[0].needs_share);
  EXPECT_EQ(print(events[0].sampling->body), "laplace(3) + gaussian(2)");
}

TEST(Events, PartsInParallelInAGroupAreNotFlattened) {
  EXPECT_NE(events_of(parse("parallel(laplace(3), gaussian(2))"))[0].parallel(), nullptr);
  EXPECT_EQ(events_of(parse("group(2, parallel(laplace(3), gaussian(2)))"))[0].parallel(), nullptr);
}

}  // namespace
}  // namespace sotto
