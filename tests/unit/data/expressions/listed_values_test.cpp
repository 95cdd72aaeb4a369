// Constants that are compared with columns that declare their values, in every form of comparison.
#include "data/api/listed_values.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

const std::vector<Column> columns{
    {"sex", Type::text}, {"town", Type::text},  {"name", Type::text}, {"grade", Type::integer},
    {"day", Type::date}, {"ok", Type::boolean}, {"pay", Type::real}};
const ListedValues listed{{"sex", {std::string("Female"), std::string("Male")}},
                          {"town", {std::string("Bonn"), std::string("Kiel")}},
                          {"grade", {std::int64_t{1}, std::int64_t{2}}},
                          {"day", {std::string("2026-01-31")}},
                          {"ok", {false, true}}};

std::optional<UnlistedConstant> found_in(const std::string& text) {
  return unlisted_constant(Expression::parse(text, columns), listed);
}

TEST(ListedValues, FindsUnlistedConstantsInEveryComparison) {
  for (const char* text : {"sex = 'male'",
                           "'male' = sex",
                           "sex <> 'male'",
                           "sex IN ('male')",
                           "sex IN ('Male', 'male')",
                           "sex NOT IN ('Male', 'male')",
                           "'male' IN (sex)",
                           "NOT sex = 'male'",
                           "NOT (pay > 1 AND (grade = 1 OR sex = 'male'))",
                           "sex < 'male'",
                           "sex >= 'male'",
                           "sex BETWEEN 'Female' AND 'male'",
                           "sex NOT BETWEEN 'Female' AND 'male'",
                           "'male' BETWEEN sex AND sex",
                           "CASE sex WHEN 'male' THEN TRUE ELSE FALSE END",
                           "CASE sex WHEN 'Male' THEN TRUE WHEN 'male' THEN FALSE END",
                           "CASE WHEN sex = 'male' THEN TRUE ELSE FALSE END",
                           "CASE WHEN pay > 1 THEN sex = 'male' ELSE FALSE END",
                           "(sex = 'male') = TRUE",
                           "(sex = 'male') IS NULL",
                           "COALESCE(sex = 'male', FALSE)",
                           "COALESCE(sex, 'none') = 'male'",
                           "LEAST(sex, 'Male') = 'male'",
                           "CASE WHEN pay > 1 THEN sex ELSE 'none' END = 'male'",
                           "CASE WHEN pay > 1 THEN sex END = 'male'",
                           "TRY_CAST(sex AS text) = 'male'",
                           "sex = CASE WHEN pay > 1 THEN 'Male' ELSE 'male' END",
                           "sex = ' Male'",
                           "sex = ''",
                           "(CASE WHEN sex = 'male' THEN 1 ELSE 0 END) + 1 > 1"}) {
    const auto unlisted = found_in(text);
    ASSERT_TRUE(unlisted) << text;
    EXPECT_EQ(unlisted->column, "sex") << text;
    EXPECT_GE(unlisted->values.size(), 2U) << text;
  }
  EXPECT_TRUE(found_in("grade = 3"));
  EXPECT_TRUE(found_in("grade IN (1, 3)"));
  EXPECT_TRUE(found_in("grade = 1.5"));
  EXPECT_TRUE(found_in("day = DATE '2026-02-01'"));
  EXPECT_TRUE(found_in("town = 'Bonn' AND sex = 'Bonn'"));
}

TEST(ListedValues, IgnoresOtherConstants) {
  for (const char* text : {"sex = 'Male'",
                           "sex IN ('Male', 'Female')",
                           "name = 'male'",
                           "name = sex",
                           "sex = town",
                           "grade > 3",
                           "grade BETWEEN 0 AND 9",
                           "grade = 1.0",
                           "grade + 1 = 3",
                           "day >= DATE '2020-01-01'",
                           "day = DATE '2026-01-31'",
                           "ok = TRUE",
                           "pay = 3",
                           "COALESCE(sex, 'none') = 'none'",
                           "CASE WHEN pay > 1 THEN sex ELSE 'none' END = 'none'",
                           "sex IS NULL",
                           "CASE WHEN sex = 'Male' THEN 'm' ELSE 'f' END = 'm'",
                           "'Bonn' IN (sex, town)",
                           "CASE sex WHEN 'Male' THEN 'x' ELSE 'y' END = 'y'",
                           "'a' = 'b'",
                           "CASE WHEN pay > 1 THEN name ELSE sex END = 'male'"}) {
    EXPECT_FALSE(found_in(text)) << text;
  }
  // a CASE whose results are all constants reads no column that declares values
  EXPECT_FALSE(found_in("CASE WHEN pay > 1 THEN 'a' ELSE 'b' END = 'c'"));
}

TEST(ListedValues, FollowFromConstants) {
  const auto values = [](const std::string& text) {
    return values_of(Expression::parse(text, columns), listed);
  };
  const std::vector<Value> old_young{std::string("old"), std::string("young")};
  EXPECT_EQ(values("CASE WHEN pay > 1 THEN 'young' ELSE 'old' END"), old_young);
  EXPECT_EQ(values("CASE WHEN pay > 1 THEN 'young' WHEN pay > 0 THEN 'old' END"), old_young);
  EXPECT_EQ(values("CASE grade WHEN 1 THEN 'young' ELSE 'old' END"), old_young);
  EXPECT_EQ(values("COALESCE(sex, 'none')")->size(), 3U);
  EXPECT_EQ(values("name"), std::nullopt);
  EXPECT_EQ(values("CASE WHEN pay > 1 THEN name ELSE 'old' END"), std::nullopt);
  EXPECT_EQ(values("grade + 1"), std::nullopt);
}

TEST(ListedValues, ManyOfThemAndManyComparisonsAreFast) {
  ListedValues many;
  for (int i = 0; i < 100'000; ++i) many["name"].emplace_back("v" + std::to_string(i));
  std::string text = "name = 'v1'";
  for (int i = 0; i < 1'000; ++i) text += " OR name = 'v" + std::to_string(i) + "'";
  EXPECT_FALSE(unlisted_constant(Expression::parse(text, columns), many));
  EXPECT_TRUE(unlisted_constant(Expression::parse(text + " OR name = 'w'", columns), many));
}

}  // namespace
}  // namespace sotto
