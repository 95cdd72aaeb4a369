// Suggestions for words and numbers, and the words that get none.
#include "core/api/suggestion.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Words = std::vector<std::string>;

const Words mechanisms{"gaussian",
                       "laplace",
                       "discrete_gaussian",
                       "discrete_laplace",
                       "randomized_response",
                       "staircase",
                       "ring_sum",
                       "ring_histogram",
                       "rdp",
                       "poisson",
                       "without_replacement"};
const Words columns{"sex", "education", "education-num", "age", "hours_per_week", "x", "y"};

TEST(Suggestions, FindAMisspeltWord) {
  EXPECT_EQ(closest("gausian", mechanisms), "gaussian");
  EXPECT_EQ(closest("gaussain", mechanisms), "gaussian");
  EXPECT_EQ(closest("poison", mechanisms), "poisson");
  EXPECT_EQ(closest("ru", {"run", "data"}), "run");
  EXPECT_EQ(closest("agee", columns), "age");
}

TEST(Suggestions, FoldCaseAndPunctuation) {
  EXPECT_EQ(closest("Hours-per-week", columns), "hours_per_week");
  EXPECT_EQ(closest("HoursPerWeek", columns), "hours_per_week");
  EXPECT_EQ(closest("hours per week", columns), "hours_per_week");
  EXPECT_EQ(closest("education_num", columns), "education-num");
  EXPECT_EQ(closest("SEX", columns), "sex");
  EXPECT_TRUE(same_folded("Add_Remove", "add-remove"));
  EXPECT_FALSE(same_folded("add", "add-remove"));
}

TEST(Suggestions, KnowAbbreviations) {
  EXPECT_EQ(closest("rr", mechanisms), "randomized_response");
  EXPECT_EQ(closest("wor", mechanisms), "without_replacement");
  EXPECT_EQ(closest("gauss", mechanisms), "gaussian");
  EXPECT_EQ(closest("lap", mechanisms), "laplace");
  EXPECT_EQ(closest("dgauss", mechanisms), "discrete_gaussian");
  EXPECT_EQ(closest("dlap", mechanisms), "discrete_laplace");
  EXPECT_EQ(closest("laplace_noise", mechanisms), "laplace");
  EXPECT_EQ(closest("educ", columns), "education");
}

TEST(Suggestions, KnowSynonyms) {
  const std::vector<Synonym> synonyms{{"avg", "mean"}, {"stddev", "deviation"}};
  EXPECT_EQ(closest("AVG", {"mean", "deviation"}, synonyms), "mean");
  EXPECT_EQ(closest("std_dev", {"mean", "deviation"}, synonyms), "deviation");
}

TEST(Suggestions, AreAbsentForDistantWords) {
  EXPECT_EQ(closest("q", columns), "") << "one letter has no likeness to another";
  EXPECT_EQ(closest("Male", columns), "");
  EXPECT_EQ(closest("weight", columns), "");
  EXPECT_EQ(closest("", columns), "");
  EXPECT_EQ(closest("---", columns), "");
  EXPECT_EQ(closest("a", {}), "");
  EXPECT_EQ(closest("a", {""}), "");
  EXPECT_EQ(closest(std::string(5000, 'a'), {std::string(5000, 'a')}), "");
}

TEST(Suggestions, CorrectDecimalCommasAndPercentSigns) {
  EXPECT_EQ(advice_on_number("0,5"), ": write a decimal point, 0.5");
  EXPECT_EQ(advice_on_number("-1,25e-3"), ": write a decimal point, -1.25e-3");
  EXPECT_EQ(advice_on_number("1%"), ": write a share, 0.01");
  EXPECT_EQ(advice_on_number("2,5 %"), ": write a share, 0.025");
  EXPECT_EQ(advice_on_number("1e-5%"), ": write a share, 1e-07");
  EXPECT_EQ(advice_on_number("1E+2%"), ": write a share, 1");
  EXPECT_EQ(advice_on_number("7%"), ": write a share, 0.07");
  for (const char* other : {"", "%", "0.5", ",5", "5,", "0,5,5", "1.000,5", "a,b", "1,a", "inf%",
                            "nan%", "1e400%", "1,0x", "%5", "1%%", "e%"}) {
    EXPECT_EQ(advice_on_number(other), "") << other;
  }
  EXPECT_EQ(advice_on_number(std::string(500, '1') + "%"), "");
}

TEST(Suggestions, ListTheKnownWords) {
  EXPECT_EQ(suggestion("agee", {"sex", "age"}), "did you mean \"age\"? There are: sex, age");
  EXPECT_EQ(suggestion("weight", {"sex", "age"}), "there are: sex, age");
  EXPECT_EQ(suggestion("age", {}), "");
  EXPECT_EQ(suggestion("agee", {"a\x1bge", "age", "\xff", ""}),
            "did you mean \"age\"? There are: age");
  const std::string many = suggestion("zzz", Words(60, "column"));
  EXPECT_TRUE(many.ends_with("column, …")) << many;
  EXPECT_LT(many.size(), 400U);
}

}  // namespace
}  // namespace sotto
