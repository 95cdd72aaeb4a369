// Studies that cannot be run: each is refused before anything is charged or opened, with the line
// and with what to type.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>

#include "sotto/core/errors.hpp"
#include "study/api/design.hpp"

namespace sotto {
namespace {

const std::string good_data = R"toml(name = "people"
version = "1"
source = "p.csv"
unit = "person"
ledger = "people.sotto"
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
)toml";

const std::string good_study = R"toml(title = "People"
data = "people"
groups = 2
rows = 3
[columns.decade]
type = "integer"
derive = "EXTRACT(year FROM born)"
null = "drop"
[columns.income]
bounds = [0, 90000]
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

struct Files {
  std::string data = good_data;
  std::string study = good_study;
};

// What parsing and designing say, or "fine".
std::string verdict(const Files& files, const Budget& budget = ZcdpBudget{5, 1e-3}) {
  DataFile data;
  try {
    data = parse_data_file(files.data, "/");
  } catch (const StudyError& error) {
    return std::string("data file, ") + error.what();
  }
  try {
    (void)data_of(files.study);
    (void)make_design(parse_study(files.study, data),
                      {"people", "person", Relation::add_remove, budget});
    return "fine";
  } catch (const StudyError& error) {
    return error.what();
  } catch (const OutsideConditions& error) {
    return std::string("outside: ") + error.what();
  }
}

// The text is first looked for in the study, then in the data file; ^ in front of it means the data
// file alone.
Files changed(std::string from, const std::string& to) {
  Files files;
  const bool in_data = from.rfind('^', 0) == 0;
  if (in_data) from = from.substr(1);
  std::string& text =
      !in_data && files.study.find(from) != std::string::npos ? files.study : files.data;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no " + from);
  text.replace(at, from.size(), to);
  return files;
}

TEST(BadStudies, TheGoodOneIsFine) {
  EXPECT_EQ(verdict(Files{}), "fine");
  EXPECT_EQ(verdict(Files{}, ApproximateBudget{5, 1e-3}), "fine");
  EXPECT_EQ(verdict(Files{}, RenyiBudget{8, 5, 1e-3}), "fine");
  EXPECT_EQ(verdict(Files{}, GdpBudget{5}), "fine");
  EXPECT_EQ(verdict(Files{}, GdpBudget{5, 1e-3}), "fine");
}

// tests/unit/study/files/bad_studies.txt: a change of the good study, and what is said. SOTTO_FIX=1
// rewrites the file, for reading.
TEST(BadStudies, EachIsRefusedInTheseWords) {
  const std::string path = SOTTO_SOURCE_DIR "/tests/unit/study/files/bad_studies.txt";
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
    const auto unfolded = [](const std::string& text) {
      return std::regex_replace(text, std::regex("\\\\n"), "\n");
    };
    const std::string found =
        verdict(changed(unfolded(line.substr(0, arrow)), unfolded(line.substr(arrow + 4))));
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
  EXPECT_NE(verdict(changed("epsilon = 1\ndelta = 1e-6", "rho = 0.1"), ApproximateBudget{5, 0})
                .find("write epsilon"),
            std::string::npos);
  EXPECT_NE(verdict(changed("[budget]\nepsilon = 1\ndelta = 1e-6\n", ""), ApproximateBudget{5, 0})
                .find("the study has no budget"),
            std::string::npos);
  EXPECT_EQ(verdict(changed("epsilon = 1\ndelta = 1e-6", "epsilon = 1"), GdpBudget{5}),
            "fine");  // Laplace noise, covered by its largest loss
  EXPECT_EQ(verdict(changed("ask = \"count\"", "ask = \"count\"\nnoise = \"laplace\""),
                    GdpBudget{5, 1e-4}),
            "fine");
}

TEST(BadStudies, MoreThanAMillionGroupsAreTooMany) {
  std::string values;
  for (int i = 0; i < 4000; ++i) values += (i == 0 ? "" : ", ") + std::to_string(i);
  Files files = changed("by = [\"region\"]", "by = [\"person\", \"decade\"]");
  files.data.insert(files.data.find("[columns.region]"), "values = [" + values + "]\n");
  files.study.insert(files.study.find("[columns.income]"), "values = [" + values + "]\n");
  EXPECT_NE(verdict(files).find("query \"n\": `by` makes more than a million groups"),
            std::string::npos);
}

TEST(BadStudies, AnythingCutOffIsAnErrorOrAStudy) {
  for (std::size_t size = 0; size < good_study.size(); ++size)
    (void)verdict({good_data, good_study.substr(0, size)});
  for (std::size_t size = 0; size < good_data.size(); ++size)
    (void)verdict({good_data.substr(0, size), good_study});
}

}  // namespace
}  // namespace sotto
