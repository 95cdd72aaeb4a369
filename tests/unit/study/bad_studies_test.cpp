// Studies that cannot be run: each is refused before anything is charged or opened, with the line and with what to type.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>

#include "sotto/core/errors.hpp"
#include "sotto/study/design.hpp"

namespace sotto {
namespace {

const std::string good = R"toml([data]
name = "people"
version = "1"
source = "p.csv"
unit = "person"
groups = 2
rows = 3
[columns.person]
type = "integer"
null = "drop"
[columns.region]
type = "text"
null = "drop"
values = ["north", "south"]
[columns.born]
type = "date"
null = "drop"
[columns.income]
type = "real"
null = { value = 0 }
bounds = [0, 100000]
[columns.decade]
type = "integer"
derive = "EXTRACT(year FROM born)"
null = "drop"
[budget]
epsilon = 1
delta = 1e-6
[[query]]
name = "n"
ask = "count"
by = ["region"]
[[query]]
name = "m"
ask = "mean"
of = "income"
[[query]]
name = "q"
ask = "quantiles"
of = "income"
quantiles = [0.5]
where = "income > 10"
)toml";

// What parsing and designing say, or "fine".
std::string verdict(const std::string& text, const Budget& budget = ZcdpBudget{5, 1e-3}) {
  try {
    (void)design(parse_study(text, "/"), {"people", "person", Relation::add_remove, budget});
    return "fine";
  } catch (const StudyError& error) {
    return error.what();
  } catch (const OutsideConditions& error) {
    return std::string("outside: ") + error.what();
  }
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no " + from);
  return text.replace(at, from.size(), to);
}

TEST(BadStudies, TheGoodOneIsFine) {
  EXPECT_EQ(verdict(good), "fine");
  EXPECT_EQ(verdict(good, ApproximateBudget{5, 1e-3}), "fine");
  EXPECT_EQ(verdict(good, RenyiBudget{8, 5, 1e-3}), "fine");
  EXPECT_EQ(verdict(good, GdpBudget{5}), "fine");
}

// tests/unit/study/bad_studies.txt: a change of the good study, and what is said. SOTTO_FIX=1 rewrites the file, for reading.
TEST(BadStudies, EachIsRefusedInTheseWords) {
  const std::string path = SOTTO_SOURCE_DIR "/tests/unit/study/bad_studies.txt";
  const bool fix = std::getenv("SOTTO_FIX") != nullptr;
  std::ifstream in(path);
  ASSERT_TRUE(in);
  std::string line;
  std::string right;
  int cases = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') {
      right += line + "\n";
      continue;
    }
    // from => to, in which \n is a new line
    const std::size_t arrow = line.find(" => ");
    ASSERT_NE(arrow, std::string::npos) << line;
    const auto unfolded = [](const std::string& text) { return std::regex_replace(text, std::regex("\\\\n"), "\n"); };
    const std::string found = verdict(changed(unfolded(line.substr(0, arrow)), unfolded(line.substr(arrow + 4))));
    std::string expected;
    std::getline(in, expected);
    if (expected.rfind("    ", 0) == 0) expected = expected.substr(4);
    right += line + "\n    " + found + "\n";
    ++cases;
    EXPECT_NE(found, "fine") << line;
    EXPECT_EQ(found, fix ? found : expected) << line;
  }
  EXPECT_GE(cases, 60);
  if (fix) std::ofstream(path) << right;
}

TEST(BadStudies, TheLedgersBudgetIsPartOfIt) {
  EXPECT_NE(verdict(changed("epsilon = 1\ndelta = 1e-6", "rho = 0.1"), ApproximateBudget{5, 0}).find("write epsilon"), std::string::npos);
  EXPECT_NE(verdict(changed("[budget]\nepsilon = 1\ndelta = 1e-6\n", ""), ApproximateBudget{5, 0}).find("how much may this study spend"),
            std::string::npos);
  EXPECT_NE(verdict(changed("epsilon = 1\ndelta = 1e-6", "epsilon = 1"), GdpBudget{5}).find("Laplace noise needs a ledger that is not gdp"),
            std::string::npos);
  EXPECT_NE(verdict(changed("ask = \"count\"", "ask = \"count\"\nnoise = \"laplace\""), GdpBudget{5}).find("gdp"), std::string::npos);
}

TEST(BadStudies, MoreThanAMillionGroupsAreTooMany) {
  std::string values;
  for (int i = 0; i < 4000; ++i) values += (i == 0 ? "" : ", ") + std::to_string(i);
  std::string text = changed("by = [\"region\"]", "by = [\"person\", \"decade\"]");
  text.insert(text.find("[columns.region]"), "values = [" + values + "]\n");
  text.insert(text.find("[budget]"), "values = [" + values + "]\n");
  EXPECT_NE(verdict(text).find("query \"n\": more than a million groups"), std::string::npos);
}

TEST(BadStudies, AnythingCutOffIsAnErrorOrAStudy) {
  for (std::size_t size = 0; size < good.size(); ++size) (void)verdict(good.substr(0, size));
}

}  // namespace
}  // namespace sotto
