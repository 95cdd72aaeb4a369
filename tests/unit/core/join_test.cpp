// join(): texts, members and computed texts with a separator between them.
#include "core/api/join.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace sotto {
namespace {

using Words = std::vector<std::string>;

TEST(Join, WritesASeparatorBetweenTheItems) {
  EXPECT_EQ(join(Words{}), "");
  EXPECT_EQ(join(Words{"sex"}), "sex");
  EXPECT_EQ(join(Words{"sex", "age", "income"}), "sex, age, income");
  EXPECT_EQ(join(Words{"a", "b"}, " AND "), "a AND b");
  EXPECT_EQ(join(std::array<const char*, 2>{"a", "b"}, ""), "ab");
}

TEST(Join, WritesNoSeparatorAfterEmptyTextsAtTheFront) {
  EXPECT_EQ(join(Words{"", "", "a", "", "b"}), "a, , b");
  EXPECT_EQ(join(Words{"a", ""}), "a, ");
}

TEST(Join, ReadsAnItemsTextFromAMemberOrAFunction) {
  struct Column {
    std::string name;
    int place;
  };
  const std::vector<Column> columns{{"sex", 1}, {"age", 2}};
  EXPECT_EQ(join(columns, ", ", &Column::name), "sex, age");
  EXPECT_EQ(join(columns, ";", [](const Column& column) { return std::to_string(column.place); }),
            "1;2");
}

}  // namespace
}  // namespace sotto
