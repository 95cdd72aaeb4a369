// The plan language: which text is which plan, and where errors point.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

TEST(Parse, OperatorsInCppAreTheSamePlan) {
  EXPECT_EQ(parse("10000 * poisson(0.01, gaussian(1.0))"), 10'000 * poisson(0.01, gaussian(1.0)));
  EXPECT_EQ(parse("laplace(10) + 3 * gaussian(200)"), laplace(10) + 3 * gaussian(200));
  EXPECT_EQ(parse("parallel(laplace(1), laplace(2))"), parallel({laplace(1), laplace(2)}));
  EXPECT_EQ(parse("without_replacement(256, 60000, gaussian(1.1))"),
            without_replacement(256, 60000, gaussian(1.1)));
  EXPECT_EQ(parse("10000 * poisson(0.01, gaussian(?))"), 10'000 * poisson(0.01, gaussian(hole)));
  EXPECT_EQ(parse("? * laplace(1)"), hole * laplace(1));
  EXPECT_EQ(parse("group(3, laplace(1))"), group(3, laplace(1)));
}

TEST(Parse, EveryLeafIsRead) {
  for (const char* text :
       {"gaussian(1)", "laplace(1)", "discrete_gaussian(1)", "discrete_laplace(1)",
        "randomized_response(0.75)", "arsinh(0.1, 20)", "exponential(1)", "catastrophe(1, 1e-05)",
        "pure(1)", "approx(1, 1e-05)", "rdp(2, 1)", "zcdp(1)", "tcdp(1, 2)", "gdp(1)"}) {
    EXPECT_EQ(print(parse(text)), text);
  }
}

TEST(Parse, ParametersMayBeNamed) {
  EXPECT_EQ(parse("gaussian(sigma=2, sensitivity=3)"), gaussian(2, 3));
  EXPECT_EQ(parse("gaussian(2, 3)"), gaussian(2, 3));
  EXPECT_EQ(parse("gaussian(sensitivity=3, sigma=2)"), gaussian(2, 3));
  EXPECT_EQ(print(gaussian(2, 3)), "gaussian(2, sensitivity=3)");
}

// The double of the plan is the real quotient, rounded once.
TEST(Parse, AQuotientOfWholeNumbersIsANumber) {
  EXPECT_EQ(parse("poisson(256/60000, gaussian(1.1))"), poisson(256.0 / 60000.0, gaussian(1.1)));
  EXPECT_EQ(parse("gaussian(7 / 2, sensitivity=1/3)"), gaussian(3.5, 1.0 / 3.0));
  EXPECT_EQ(parse("laplace(?/2)"), laplace(hole / 2));
  for (const char* text : {"poisson(0.1/3, gaussian(1))", "poisson(1/0, gaussian(1))",
                           "laplace(1/-2)", "laplace(1/0.5)", "gaussian(1/)"}) {
    EXPECT_THROW((void)parse(text), ParseError) << text;
  }
}

TEST(Parse, AMisspeltMechanismGetsASuggestion) {
  const auto words = [](const char* text) -> std::string {
    try {
      (void)parse(text);
    } catch (const ParseError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(words("gausian(1)").find("did you mean gaussian?"), std::string::npos);
  EXPECT_NE(words("lapace(1)").find("did you mean laplace?"), std::string::npos);
  EXPECT_EQ(words("banana(1)").find("did you mean"), std::string::npos);
}

TEST(Parse, SumsAreAssociativeAndBindLooserThanRepetition) {
  EXPECT_EQ(parse("laplace(1) + (laplace(2) + laplace(3))"),
            parse("laplace(1) + laplace(2) + laplace(3)"));
  EXPECT_EQ(parse("2 * laplace(1) + laplace(2)"), (2 * laplace(1)) + laplace(2));
  EXPECT_EQ(print(2 * (laplace(1) + laplace(2))), "2 * (laplace(1) + laplace(2))");
  EXPECT_EQ(print(2 * (3 * laplace(1))), "2 * 3 * laplace(1)");
}

TEST(Parse, AHoleMayHaveAFactor) {
  EXPECT_EQ(parse("gaussian(2*?)"), gaussian(2 * hole));
  EXPECT_EQ(parse("gaussian(? * 2)"), gaussian(2 * hole));
  EXPECT_EQ(parse("gaussian(?/4)"), gaussian(0.25 * hole));
  EXPECT_EQ(parse("gaussian(sigma = 3 * ? / 2, sensitivity=?)"), gaussian(1.5 * hole, hole));
  EXPECT_EQ(parse("laplace(?) + gaussian(3*?)"), laplace(hole) + gaussian(3 * hole));
  EXPECT_EQ(parse("poisson(2*?, laplace(1))"), poisson(2 * hole, laplace(1)));
  EXPECT_EQ(print(parse("gaussian(?/4)")), "gaussian(0.25*?)");
  EXPECT_EQ(print(parse("gaussian(?*1)")), "gaussian(?)");
}

TEST(Parse, AFactorOfStepsNeedsParentheses) {
  EXPECT_EQ(parse("(2*?) * laplace(1)"), (2 * hole) * laplace(1));
  EXPECT_EQ(parse("( ? ) * laplace(1)"), hole * laplace(1));
  EXPECT_EQ(parse("2 * ? * laplace(1)"), 2 * (hole * laplace(1)));
  EXPECT_EQ(parse("(? * laplace(1))"), hole * laplace(1));
  EXPECT_EQ(print((2 * hole) * laplace(1)), "(2*?) * laplace(1)");
  EXPECT_EQ(print(2 * (hole * laplace(1))), "2 * ? * laplace(1)");
}

struct BadText {
  const char* text;
  std::size_t column;
  const char* message;  // a part of it
};

TEST(Parse, ErrorsNameTheColumnAndWhatIsExpected) {
  const std::vector<BadText> wrong{
      {"", 1, "expected a plan"},
      {"gaussian", 9, "'(' after gaussian"},
      {"gaussian(", 10, "expected a number"},
      {"gaussian(1", 11, "',' or ')'"},
      {"gaussian(1))", 12, "end of the plan"},
      {"gaussian()", 10, "gaussian needs sigma"},
      {"gausian(1)", 1, "unknown mechanism 'gausian'"},
      {"3 gaussian(1)", 3, "expected '*'"},
      {"laplace(1) +", 13, "expected a plan"},
      {"laplace(1) + + laplace(1)", 14, "expected a plan"},
      {"gaussian(1, 2, 3)", 16, "no further number"},
      {"gaussian(1, beta=3)", 18, "not beta"},
      {"gaussian(sigma=1, 2)", 19,
       "2 has no name and follows a named number: name it, or put it in front"},
      {"gaussian(sigma=1, 2*?)", 19, "2*? has no name"},
      {"gaussian(1, sigma=3)", 19, "sigma is given twice"},
      {"gaussian(-1)", 10, "sigma = -1 is not allowed: it must be a number in (0, inf)"},
      {"gaussian(0)", 10, "(0, inf)"},
      {"gaussian(nan)", 10, "sigma = nan"},
      {"gaussian(inf)", 10, "sigma = inf"},
      {"gaussian(1, sensitivity=0)", 25, "sensitivity = 0"},
      {"discrete_laplace(1, sensitivity=1.5)", 33, "whole number"},
      {"randomized_response(1)", 21, "p = 1 is not allowed: it must be a number in (0, 1)"},
      {"randomized_response(0.5, 1)", 26, "k = 1"},
      {"poisson(0, laplace(1))", 9, "rate = 0 is not allowed: it must be a number in (0, 1]"},
      {"poisson(1.5, laplace(1))", 9, "(0, 1]"},
      {"0 * laplace(1)", 1, "steps = 0 is not allowed: it must be a whole number from 1 to 2^53"},
      {"2.5 * laplace(1)", 1, "whole number"},
      {"without_replacement(10, 5, laplace(1))", 1, "from 1 to the population, 5"},
      {"group(0, laplace(1))", 7, "size = 0"},
      {"gaussian(0*?)", 10, "the factor of '?'"},
      {"gaussian(-2*?)", 10, "the factor of '?'"},
      {"gaussian(?/0)", 10, "the factor of '?'"},
      {"gaussian(?*)", 12, "expected a number"},
      {"gaussian(1, ?*?)", 15, "expected a number"},
      {"gaussian(2*3)", 11, "',' or ')'"},
      {"gaussian(2?)", 11, "',' or ')'"},
      {"?/2 * laplace(1)", 1,
       "steps = 0.5*? is not allowed: a count takes '?' or a whole multiple of it"},
      {"group(1.5*?, laplace(1))", 7, "whole multiple"},
      {"(2*?) laplace(1)", 7, "expected '*'"},
      {"rdp(1, 1)", 5, "alpha = 1 is not allowed: it must be a number in (1, inf)"},
      {"approx(1, 1)", 11, "delta = 1 is not allowed: it must be a number in [0, 1)"},
      {"gaussian(0.99999999999999999)", 10, "more digits than a double can hold"},
      {"gaussian(1e999)", 10, "beyond the range"},
      {"gaussian(1x)", 10, "'1x' is not a number"},
      {"poisson(laplace(1))", 9,
       "rate comes first and the plan last, as in poisson(0.01, gaussian(1))"},
      {"group(laplace(1), 5)", 7,
       "size comes first and the plan last, as in group(5, gaussian(1))"},
      {"poisson(p=0.1, laplace(1))", 9, "expected rate"},
      {"poisson(1%, laplace(1))", 9, "a number has no percent sign: write a share, 0.01"},
      {"poisson(0,01, laplace(1))", 9, "if it has a decimal comma: write a decimal point, 0.01"},
      {"laplace(1) * 10", 12, "the number of steps comes before '*', as in 10 * laplace(1)"},
      {"poisson(0.1)", 12, "',' and a plan"},
  };
  for (const BadText& w : wrong) {
    try {
      parse(w.text);
      ADD_FAILURE() << w.text << " parsed";
    } catch (const ParseError& e) {
      EXPECT_EQ(e.column(), w.column) << w.text << ": " << e.what();
      EXPECT_NE(std::string(e.what()).find(w.message), std::string::npos)
          << w.text << ": " << e.what();
    }
  }
}

TEST(Parse, DeepNestingIsRefusedNotCrashed) {
  EXPECT_THROW(parse(std::string(100000, '(')), ParseError);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "2 * ";
  EXPECT_THROW(parse(deep + "laplace(1)"), ParseError);
  std::string json;
  for (int i = 0; i < 300; ++i) json += R"({"repeat":{"steps":2,"plan":)";
  EXPECT_THROW(from_json(json + R"({"pure":{"eps":1}})" + std::string(600, '}')), InvalidValue);
}

TEST(Plan, ValuesAreCheckedByTheConstructor) {
  EXPECT_THROW(gaussian(-1), InvalidValue);
  EXPECT_THROW(poisson(0, laplace(1)), InvalidValue);
  EXPECT_THROW(0 * laplace(1), InvalidValue);
  EXPECT_THROW(Plan(Gaussian{.sigma = 0}), InvalidValue);
  EXPECT_THROW(parallel({}), InvalidValue);
}

TEST(Json, MalformedTextIsRefusedWithAReason) {
  for (const char* text :
       {"", "[]", "{}", "3", R"({"gaussian":1})", R"({"gaussian":{}})",
        R"({"gaussian":{"sigma":"x"}})", R"({"gaussian":{"sigma":1,"x":2}})", R"({"nothing":{}})",
        R"({"repeat":{"steps":2}})", R"({"sum":{}})", R"({"gaussian":{"sigma":-1}})",
        R"({"sum":[]})", R"({"gaussian":{"sigma":{"hole":0}}})",
        R"({"gaussian":{"sigma":{"hole":"2"}}})", R"({"gaussian":{"sigma":{"hole":2,"x":1}}})",
        R"({"repeat":{"steps":{"hole":1.5},"plan":{"pure":{"eps":1}}}})"}) {
    EXPECT_THROW(from_json(text), InvalidValue) << text;
  }
  try {
    from_json(R"({"repeat":{"steps":2,"plan":{"gaussian":{"sigma":1,"beta":2}}}})");
    ADD_FAILURE();
  } catch (const InvalidValue& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "malformed plan in JSON: gaussian has no parameter \"beta\"; it takes sigma, sensitivity");
  }
  EXPECT_EQ(to_json(2 * gaussian(hole)),
            R"({"repeat":{"steps":2,"plan":{"gaussian":{"sigma":"?","sensitivity":1.0}}}})");
  EXPECT_EQ(to_json((3 * hole) * pure(0.5 * hole)),
            R"({"repeat":{"steps":{"hole":3},"plan":{"pure":{"eps":{"hole":0.5}}}}})");
}

TEST(Holes, AreDescribed) {
  const auto holes = holes_of(parse("? * poisson(?, gaussian(?))"));
  ASSERT_EQ(holes.size(), 3U);
  EXPECT_EQ(holes[0].parameter, "steps");
  EXPECT_TRUE(holes[0].whole);
  EXPECT_EQ(holes[1].parameter, "rate");
  EXPECT_EQ(holes[2].effect, Effect::cheaper);
  EXPECT_EQ(holes_of(parse("gaussian(2*?)"))[0].factor, 2);
}

TEST(Holes, AreFilledWithTheirMultiple) {
  EXPECT_EQ(fill(parse("laplace(?) + (2*?) * gaussian(3*?)"), 5), laplace(5) + 10 * gaussian(15));
  EXPECT_EQ(fill(parse("gaussian(?/3)"), 0.3), gaussian((1.0 / 3) * 0.3));
  EXPECT_THROW(fill(parse("poisson(2*?, laplace(1))"), 0.6), InvalidValue);
}

}  // namespace
}  // namespace sotto
