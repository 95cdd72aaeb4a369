// Limits on what a unit contributes: a study without them is refused before anything is charged,
// and each answer names its own.
#include "study/api/limit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "../../../support/one_text.hpp"
#include "study/api/outlook.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string data =
    "[data]\nname = \"visits\"\nversion = \"1\"\nsource = \"v.csv\"\nunit = \"person\"\n"
    "[columns.person]\ntype = \"integer\"\nnull = \"drop\"\n"
    "[columns.month]\ntype = \"integer\"\nnull = \"drop\"\nvalues = [1, 2, 3]\nbounds = [1, 3]\n"
    "[columns.paid]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n"
    "[budget]\nepsilon = 1\ndelta = 1e-6\n";

std::string query(const std::string& name, const std::string& keys) {
  return "[[query]]\nname = \"" + name + "\"\n" + keys + "\n";
}

// What is said of a study with these lines on top and these queries; "fine" if nothing is.
std::string verdict(const std::string& top, const std::string& queries,
                    const std::string& text = data) {
  try {
    require_limits(study_in(top + text + queries, "/tmp"));
    return "fine";
  } catch (const LimitNotChosen& error) {
    return std::string(error.rows() ? "rows " : "") + (error.groups() ? "groups " : "") + "| " +
           error.what();
  }
}

const std::string count = query("n", "ask = \"count\"");
const std::string by_month = query("by month", "ask = \"count\"\nby = [\"month\"]");

TEST(Limits, CountingRowsNeedsRows) {
  for (const char* ask :
       {"count", "sum", "mean", "variance", "deviation", "histogram", "median", "quantiles"}) {
    const bool is_count = std::string(ask) == "count";
    const std::string asked =
        query("n", "ask = \"" + std::string(ask) + (is_count ? "\"" : "\"\nof = \"paid\""));
    EXPECT_EQ(verdict("", asked).rfind("rows | ", 0), 0U) << ask << ": " << verdict("", asked);
    EXPECT_EQ(verdict("rows = 2\n", asked), "fine") << ask;
    EXPECT_EQ(verdict("", asked + "rows = 2\n"), "fine") << ask;
    EXPECT_EQ(verdict("groups = 2\n", asked).rfind("rows | ", 0), 0U) << ask;
  }
}

TEST(Limits, GroupingNeedsGroups) {
  EXPECT_EQ(verdict("", by_month).rfind("rows groups | ", 0), 0U);
  EXPECT_EQ(verdict("rows = 2\n", by_month).rfind("groups | ", 0), 0U);
  EXPECT_EQ(verdict("rows = 2\ngroups = 1\n", by_month), "fine");
  EXPECT_EQ(verdict("rows = 2\n", by_month + "groups = 1\n"), "fine");
  const std::string keys =
      query("private", "ask = \"count\"\nby = [\"month\"]\nkeys = \"private\"");
  EXPECT_EQ(verdict("rows = 2\n", keys).rfind("groups | ", 0), 0U);
}

TEST(Limits, UnitsAndTotalsNeedNoRows) {
  EXPECT_EQ(verdict("", query("n", "ask = \"distinct\"")), "fine");
  EXPECT_EQ(verdict("", query("n", "ask = \"distinct\"\nby = [\"month\"]")).rfind("groups | ", 0),
            0U);
  EXPECT_EQ(verdict("", query("n", "ask = \"sum\"\nof = \"paid\"\nclamp = \"total\"")), "fine");
  EXPECT_EQ(verdict("", query("n", "ask = \"mean\"\nof = \"paid\"\nclamp = \"total\"")), "fine");
}

TEST(Limits, OneQueryWithoutThemIsEnough) {
  const std::string said =
      verdict("", count + "rows = 1\n" + query("paid", "ask = \"sum\"\nof = \"paid\""));
  EXPECT_EQ(said.rfind("rows | ", 0), 0U);
  EXPECT_NE(said.find("\"paid\""), std::string::npos);
  EXPECT_EQ(said.find("\"n\""), std::string::npos);
}

TEST(Limits, RowsAsUnitsNeedNoLimits) {
  std::string rows = data;
  rows.replace(rows.find("unit = \"person\""), 15, "unit = \"row\"");
  EXPECT_EQ(verdict("", count + by_month, rows), "fine");
}

TEST(Limits, AModelNeedsRows) {
  const std::string model =
      "[[train]]\nname = \"paying\"\nmodel = \"linear\"\ntarget = \"paid\"\nfeatures = "
      "[\"month\"]\nunits = 100\n";
  EXPECT_EQ(verdict("", model).rfind("rows | ", 0), 0U);
  EXPECT_EQ(verdict("rows = 2\n", model), "fine");
  EXPECT_EQ(verdict("", model + "rows = 2\n"), "fine");
  const Study study = study_in("rows = 2\n" + data + model, "/tmp");
  EXPECT_EQ(limit_of(study, study.trainings.front())->words, "at most 2 rows per person");
}

TEST(Limits, TheRefusalHasTheLinesToAdd) {
  const std::string said = verdict("", by_month);
  EXPECT_NE(said.find("\nrows = 1 "), std::string::npos) << said;
  EXPECT_NE(said.find("\ngroups = 1 "), std::string::npos) << said;
  EXPECT_NE(said.find("\"by month\""), std::string::npos) << said;
  // the lines, typed as they stand, are enough
  EXPECT_EQ(verdict(said.substr(said.find("\nrows = 1 ") + 1), by_month), "fine");
}

std::string words(const std::string& top, const std::string& asked) {
  const Study study = study_in(top + data + asked, "/tmp");
  const Design found =
      make_design(study, {"visits", "person", Relation::add_remove, GdpBudget{1, 1e-7}});
  const auto limit = limit_of(study, study.queries.front(), found.measurements.front());
  return limit ? limit->words : "nothing";
}

TEST(Limits, EachAnswerNamesItsOwn) {
  EXPECT_EQ(words("rows = 1\n", count), "at most 1 per person");
  EXPECT_EQ(words("rows = 12\ngroups = 5\n", count), "at most 12 per person");
  EXPECT_EQ(words("rows = 1\ngroups = 1\n", by_month), "at most 1 per person, in 1 group");
  EXPECT_EQ(words("rows = 4\ngroups = 2\n", by_month),
            "at most 4 per person in each of at most 2 groups");
  EXPECT_EQ(words("rows = 4\ngroups = 3\n", by_month), "at most 4 per person in each group");
  EXPECT_EQ(words("rows = 4\ngroups = 99\n", by_month), "at most 4 per person in each group");
  EXPECT_EQ(words("rows = 1\n", query("m", "ask = \"mean\"\nof = \"paid\"")),
            "at most 1 row per person");
  EXPECT_EQ(words("", query("d", "ask = \"distinct\"")), "nothing");
  EXPECT_EQ(words("groups = 2\n", query("d", "ask = \"distinct\"\nby = [\"month\"]")),
            "each person in at most 2 groups");
}

class Nothing : public Engine {
 public:
  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return "visits"; }
  Rows query(const std::string& /*sql*/, const Progress& /*progress*/) override {
    return Rows{2, {std::int64_t{0}, std::int64_t{1000}}};
  }
};

class LimitsInARun : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-limit-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    (void)Ledger::create(place, {"visits", "person", Relation::add_remove, GdpBudget{1, 1e-7},
                                 "integer", (folder / "v.csv").string()});
  }
  void TearDown() override { fs::remove_all(folder); }

  sotto::RunResult go(const std::string& top, bool again = false) {
    const Study study = study_in(top + data + count, folder);
    Ledger ledger = Ledger::open(place);
    return run(study, make_design(study, ledger.terms()), ledger,
               [] { return std::make_unique<Nothing>(); }, {.again = again});
  }

  fs::path folder;
  std::string place;
};

TEST_F(LimitsInARun, WithoutThemNothingIsCharged) {
  EXPECT_THROW((void)go(""), LimitNotChosen);
  EXPECT_TRUE(Ledger::open(place).entries().empty());
  const Study study = study_in(data + count, folder);
  const Ledger ledger = Ledger::open(place);
  EXPECT_THROW((void)preview_charge(study, make_design(study, ledger.terms()), ledger, false),
               LimitNotChosen);
  const sotto::RunResult found = go("rows = 3\n");
  ASSERT_TRUE(found.release.answers.front().limit.has_value());
  EXPECT_EQ(found.release.answers.front().limit->words, "at most 3 per person");
  EXPECT_EQ(found.release.answers.front().limit->rows, 3);
}

// An earlier version charged such studies: what they paid for is theirs.
TEST_F(LimitsInARun, AnEarlierChargeContinuesWithItsLimits) {
  {
    const Study study = study_in(data + count, folder);
    Ledger ledger = Ledger::open(place);
    const Design made = make_design(study, ledger.terms());
    (void)ledger.charge(request_id(study, ledger), digest(study.text), made.plan, made.at);
  }
  const sotto::RunResult found = go("");
  EXPECT_FALSE(found.repeated);
  EXPECT_EQ(found.release.answers.front().limit->words, "at most 1 per person");
  EXPECT_TRUE(go("").repeated);
  EXPECT_EQ(Ledger::open(place).entries().size(), 1U);
  EXPECT_THROW((void)go("", true), LimitNotChosen);  // anew is a new charge
}

TEST_F(LimitsInARun, StoredAnswersHaveLimitsAndOlderOnesNeedNone) {
  const std::string kept = to_json(go("rows = 3\n").release);
  EXPECT_EQ(to_json(read_release(kept)), kept);
  std::string older = kept;
  const std::string limit = ",\"limit\":{\"rows\":3,\"words\":\"at most 3 per person\"}";
  ASSERT_NE(older.find(limit), std::string::npos) << older;
  older.erase(older.find(limit), limit.size());
  const Release read = read_release(older);
  EXPECT_FALSE(read.answers.front().limit.has_value());
  EXPECT_EQ(to_json(read), older);
}

}  // namespace
}  // namespace sotto
