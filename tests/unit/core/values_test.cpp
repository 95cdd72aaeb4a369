// Checks of parameters, strong types, bounds and errors.
#include "sotto/core/values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();
const double nan = std::numeric_limits<double>::quiet_NaN();
const double below_one = std::nextafter(1.0, 0.0);
const double above_one = std::nextafter(1.0, 2.0);

struct Interval {
  const char* title;
  double (*require)(double, const char*);
  const char* range;
  std::vector<double> allowed;
  std::vector<double> refused;
};

class Require : public ::testing::TestWithParam<Interval> {};

TEST_P(Require, ReturnsAllowedValues) {
  for (const double x : GetParam().allowed) EXPECT_EQ(GetParam().require(x, "sigma"), x);
}

TEST_P(Require, RefusesOtherValuesAndNamesTheParameterAndTheRange) {
  for (const double x : GetParam().refused) {
    try {
      GetParam().require(x, "sigma");
      ADD_FAILURE() << x << " was let through";
    } catch (const InvalidValue& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("sigma = "), 0U) << message;
      EXPECT_NE(message.find(GetParam().range), std::string::npos) << message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Values, Require,
    ::testing::Values(Interval{"Positive",
                               require_positive,
                               "(0, inf)",
                               {smallest, 1, largest},
                               {0, -0.0, -smallest, -1, nan, infinity, -infinity}},
                      Interval{"NonNegative",
                               require_non_negative,
                               "[0, inf)",
                               {0, -0.0, smallest, 1, largest},
                               {-smallest, -1, nan, infinity, -infinity}},
                      Interval{"Rate",
                               require_rate,
                               "(0, 1]",
                               {smallest, 0.5, 1},
                               {0, -0.0, -1, above_one, 2, nan, infinity, -infinity}},
                      Interval{"OpenUnit",
                               require_open_unit,
                               "(0, 1)",
                               {smallest, 0.5, below_one},
                               {0, -0.0, 1, -1, 2, nan, infinity, -infinity}},
                      Interval{"ProbabilityBelowOne",
                               require_probability_below_one,
                               "[0, 1)",
                               {0, smallest, below_one},
                               {-smallest, 1, above_one, nan, infinity, -infinity}},
                      Interval{"AboveOne",
                               require_above_one,
                               "(1, inf)",
                               {above_one, 2, largest},
                               {1, below_one, 0, -2, nan, infinity, -infinity}}),
    [](const auto& instance) { return std::string(instance.param.title); });

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const InvalidValue& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Values, EpsilonIsNonNegativeAndFinite) {
  for (const double x : {0.0, smallest, largest}) EXPECT_EQ(Epsilon(x).value(), x);
  for (const double x : {-smallest, nan, infinity, -infinity})
    EXPECT_NE(refusal([x] { Epsilon{x}; }).find("[0, inf)"), std::string::npos) << x;
  EXPECT_EQ(refusal([] { Epsilon{-1.0}; }).find("epsilon = -1"), 0U);
}

TEST(Values, DeltaIsAProbabilityBelowOne) {
  for (const double x : {0.0, smallest, below_one}) EXPECT_EQ(Delta(x).value(), x);
  for (const double x : {-smallest, 1.0, nan, infinity, -infinity})
    EXPECT_NE(refusal([x] { Delta{x}; }).find("[0, 1)"), std::string::npos) << x;
  EXPECT_EQ(refusal([] { Delta{1.0}; }).find("delta = 1"), 0U);
}

TEST(Values, OrderIsFromOneToInfinity) {
  for (const double x : {1.0, above_one, infinity}) EXPECT_EQ(Order(x).value(), x);
  for (const double x : {below_one, 0.0, nan, -infinity})
    EXPECT_NE(refusal([x] { Order{x}; }).find("[1, inf]"), std::string::npos) << x;
  EXPECT_EQ(refusal([] { Order{0.5}; }).find("order = 0.5"), 0U);
}

TEST(Values, CountsAreFromLeastToTwoToThe53) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  EXPECT_EQ(require_count(1, 1, "k"), 1);
  EXPECT_EQ(require_count(0, 0, "k"), 0);
  EXPECT_EQ(require_count(most, 1, "k"), most);
  for (const std::int64_t k :
       {std::int64_t{0}, std::int64_t{-1}, most + 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    try {
      require_count(k, 1, "k");
      ADD_FAILURE() << k << " was let through";
    } catch (const InvalidValue& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("k = " + std::to_string(k)), 0U) << message;
      EXPECT_NE(message.find("from 1 to 2^53"), std::string::npos) << message;
    }
  }
  EXPECT_THROW(require_count(1, 2, "k"), InvalidValue);
}

TEST(Bound, ContainsItsEndsAndKnowsItsWidth) {
  const Bound bound{1, 3};
  EXPECT_TRUE(bound.contains(1) && bound.contains(2) && bound.contains(3));
  EXPECT_FALSE(bound.contains(0.999) || bound.contains(3.001) || bound.contains(nan));
  EXPECT_EQ(bound.width(), 2);
  EXPECT_TRUE(Bound{}.contains(largest) && Bound{}.contains(-infinity));
}

TEST(Errors, AParseErrorKnowsItsColumn) { EXPECT_EQ(ParseError("here", 7).column(), 7U); }

}  // namespace
}  // namespace sotto
