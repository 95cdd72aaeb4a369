// The order of a run: charge, data, noise, keep, show. The engine here is a witness: it notes what
// the ledger holds when the data are asked.
#include "study/api/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "../../../support/one_text.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string count_study =
    "title = \"A count\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = "
    "\"p.csv\"\n[columns.v]\ntype = \"real\"\nnull = \"drop\"\nbounds = "
    "[0, 10]\n"
    "[budget]\nrho = 0.1\n[[query]]\nname = \"n\"\nask = \"count\"\n";

/// What was seen, over all engines of a test.
struct Witnessed {
  int opened = 0, asked = 0;
  std::size_t entries_at_open = 0, entries_when_asked = 0;
  bool kept_when_asked = false;
  RequestState state_when_asked = RequestState::unknown;
  bool fails = false;
  std::int64_t memory = 0;
  std::vector<Rows> answers;  // the first look's, the second's, …; none: a count of 1000
};

class Witness : public Engine {
 public:
  Witness(std::string place, Witnessed& seen, std::function<void()> meanwhile = {})
      : place_(std::move(place)), seen_(seen), meanwhile_(std::move(meanwhile)) {
    ++seen_.opened;
    seen_.entries_at_open = Ledger::open(place_).entries().size();
  }
  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return "people"; }
  [[nodiscard]] std::int64_t memory() const override { return seen_.memory; }
  Rows query(const std::string& /*sql*/, const Progress& progress) override {
    ++seen_.asked;
    const Ledger ledger = Ledger::open(place_);
    const auto entries = ledger.entries();
    seen_.entries_when_asked = entries.size();
    seen_.state_when_asked =
        entries.empty() ? RequestState::unknown : ledger.state(entries.back().request);
    seen_.kept_when_asked = !entries.empty() && ledger.answer(entries.back().request).has_value();
    if (meanwhile_) meanwhile_();
    if (seen_.fails || (progress && !progress(0.5)))
      throw EngineError("the engine failed on a statement that sotto wrote", "secret 4711");
    const auto look = static_cast<std::size_t>(seen_.asked) - 1;
    return look < seen_.answers.size() ? seen_.answers[look] : Rows{1, {std::int64_t{1000}}};
  }

 private:
  std::string place_;
  Witnessed& seen_;
  std::function<void()> meanwhile_;
};

class RunOrder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-run-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    (void)Ledger::create(place, {"people", "row", Relation::add_remove, ZcdpBudget{0.35, 0}, "row",
                                 (folder / "p.csv").string()});
  }
  void TearDown() override { fs::remove_all(folder); }

  sotto::RunResult go(bool again = false, const std::string& text = count_study,
                      const Watcher& told = {}) {
    const Study study = study_in(text, folder);
    Ledger ledger = Ledger::open(place);
    return run(
        study, make_design(study, ledger.terms()), ledger,
        [&] { return std::make_unique<Witness>(place, seen, meanwhile); }, {.again = again}, told);
  }
  [[nodiscard]] std::vector<Entry> entries() const { return Ledger::open(place).entries(); }

  fs::path folder;
  std::string place;
  Witnessed seen;
  std::function<void()> meanwhile;
};

TEST_F(RunOrder, TheChargePrecedesTheDataAndTheAnswerIsStoredBeforeItIsReturned) {
  const sotto::RunResult found = go();
  EXPECT_EQ(seen.entries_at_open, 0U);  // the schema is public
  EXPECT_EQ(seen.entries_when_asked, 1U);
  EXPECT_FALSE(seen.kept_when_asked);
  EXPECT_FALSE(found.repeated);
  const auto kept = Ledger::open(place).answer(entries().at(0).request);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(*kept, to_json(found.release));
  EXPECT_EQ(found.release.request, entries()[0].request);
  EXPECT_EQ(found.release.plan, entries()[0].plan);
  EXPECT_EQ(found.release.cost, entries()[0].cost);
  EXPECT_NEAR(found.release.answers.at(0).estimates.at(0).value, 1000, 60);
  EXPECT_NE(found.release.answers[0].estimates[0].value, 1000);
}

TEST_F(RunOrder, AStoredAnswerIsReturnedAgainWithoutDataOrBudget) {
  const sotto::RunResult first = go();
  const Head head = Ledger::open(place).head();
  seen = {};
  for (int i = 0; i < 50; ++i) {
    const sotto::RunResult found = go();
    EXPECT_TRUE(found.repeated);
    EXPECT_EQ(to_json(found.release), to_json(first.release));
  }
  EXPECT_EQ(seen.opened, 0);
  EXPECT_EQ(Ledger::open(place).head().hash, head.hash);
}

TEST_F(RunOrder, AFailureAfterTheChargeIsRunAgainUnderTheOneCharge) {
  seen.fails = true;
  try {
    (void)go();
    FAIL() << "the engine failed";
  } catch (const EngineError& error) {
    EXPECT_EQ(std::string(error.what()).find("4711"), std::string::npos);
  }
  ASSERT_EQ(entries().size(), 1U);
  EXPECT_FALSE(Ledger::open(place).answer(entries()[0].request).has_value());
  seen.fails = false;
  EXPECT_FALSE(go().repeated);
  EXPECT_EQ(entries().size(), 1U);
  EXPECT_TRUE(go().repeated);
}

TEST_F(RunOrder, AllDataAreReadBeforeTheFirstNoise) {
  std::string two = count_study;
  two += "[[query]]\nname = \"two\"\nask = \"count\"\nwhere = \"v > 1\"\n";
  (void)go(false, two);
  EXPECT_EQ(seen.asked, 2);
  EXPECT_EQ(seen.state_when_asked, RequestState::charged);
  EXPECT_EQ(Ledger::open(place).state(entries()[0].request), RequestState::answered);
}

// The first look finds the keys, under noise; the second counts for the keys that were found, and
// fails.
TEST_F(RunOrder, AFailureAfterTheFirstNoiseClosesTheRequest) {
  const std::string keys =
      "title = \"Keys\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = "
      "\"p.csv\"\n[columns.k]\ntype = \"text\"\nnull = "
      "\"drop\"\n[budget]\nrho = 0.1\n"
      "delta = 1e-6\n[[query]]\nname = \"n\"\nask = \"count\"\nby = [\"k\"]\nkeys = \"private\"\n";
  place = (folder / "keys.sotto").string();
  (void)Ledger::create(place, {"people", "row", Relation::add_remove, ZcdpBudget{0.35, 1e-5}, "row",
                               (folder / "p.csv").string()});
  seen.answers = {Rows{2, {std::string("a"), std::int64_t{100000}}}};
  meanwhile = [&] {
    if (seen.asked == 2) throw EngineError("the engine failed", "secret");
  };
  EXPECT_THROW((void)go(false, keys), EngineError);
  ASSERT_EQ(seen.asked, 2);
  EXPECT_EQ(seen.state_when_asked, RequestState::begun);
  EXPECT_THROW((void)go(false, keys), RequestClosed);
  EXPECT_EQ(seen.asked, 2);
  EXPECT_EQ(entries().size(), 1U);
}

// 4000 keys, all with as many units as the threshold and one standard deviation more: the share of
// those that are shown tells how large the noise on the counts is. It is seen to 0.6 %, and 5.5
// times that is allowed: false alarm 4e-8. Half the noise would show 97.7 % of them and not 84 %.
// The noise on the answers is measured as well.
TEST_F(RunOrder, TheNoiseOfAKeySearchIsThatOfItsEvent) {
  const std::string keys =
      "title = \"Keys\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = "
      "\"p.csv\"\n[columns.k]\ntype = \"text\"\nnull = "
      "\"drop\"\n[budget]\nrho = 0.001\n"
      "delta = 1e-6\n[[query]]\nname = \"n\"\nask = \"count\"\nby = [\"k\"]\nkeys = "
      "\"private\"\nnoise = \"gaussian\"\n";
  place = (folder / "keys.sotto").string();
  (void)Ledger::create(place, {"people", "row", Relation::add_remove, ZcdpBudget{0.35, 1e-5}, "row",
                               (folder / "p.csv").string()});
  const Design made = make_design(study_in(keys, folder), Ledger::open(place).terms());
  const PartitionSelection& selection = made.measurements[0].search->selection;
  const Gaussian& noise = *selection.event().as<Sum>()->parts[0].as<Gaussian>();
  const double sigma = noise.sigma.value();
  const auto units = static_cast<std::int64_t>(std::ceil(selection.threshold() + sigma));
  constexpr std::size_t count = 4000;
  Rows present{2, {}};
  for (std::size_t i = 0; i < count; ++i) {
    present.cells.emplace_back("k" + std::to_string(i));
    present.cells.emplace_back(units);
  }
  seen.answers = {
      present,
      Rows{2, {}}};  // the second look finds no rows: what is released of each key is noise alone
  const sotto::RunResult run = go(false, keys);
  EXPECT_EQ(entries()[0].plan, print(made.measurements[0].event + selection.event()));

  const std::vector<Estimate>& shown = run.release.answers[0].estimates;
  const double reach = (static_cast<double>(units) - selection.threshold()) / sigma;
  const double expected = std::erfc(-reach / std::sqrt(2.0)) / 2;
  EXPECT_NEAR(static_cast<double>(shown.size()) / count, expected,
              5.5 * std::sqrt(expected * (1 - expected) / count) + 0.0005);

  double squares = 0;
  for (const Estimate& estimate : shown) squares += estimate.value * estimate.value;
  const double of_counts = made.measurements[0].event.as<Gaussian>()->sigma.value();
  const auto released = static_cast<double>(shown.size());
  EXPECT_NEAR(std::sqrt(squares / released) / of_counts, 1, 5.5 / std::sqrt(2 * released));
}

TEST_F(RunOrder, AFailedRunOfNewIsRepeatedByItsRequest) {
  (void)go();
  seen.fails = true;
  std::string words;
  try {
    (void)go(true);
  } catch (const EngineError& error) {
    words = error.what();
    EXPECT_EQ(error.detail(), "secret 4711");
    EXPECT_EQ(error.remedy(), Remedy::repeat_request);
  }
  const std::string request = entries().back().request;
  EXPECT_NE(words.find("request " + request + " can be run again"), std::string::npos) << words;
  EXPECT_EQ(words.find("4711"), std::string::npos);
  EXPECT_EQ(entries().size(), 2U);
  seen.fails = false;
  Ledger ledger = Ledger::open(place);
  const Study study = study_in(count_study, folder);
  const auto open = [&] { return std::make_unique<Witness>(place, seen); };
  const sotto::RunResult found =
      run(study, make_design(study, ledger.terms()), ledger, open, {.request = request});
  EXPECT_FALSE(found.repeated);
  EXPECT_EQ(found.release.request, request);
  EXPECT_EQ(entries().size(), 2U);
  EXPECT_TRUE(
      run(study, make_design(study, ledger.terms()), ledger, open, {.request = request}).repeated);
  EXPECT_THROW(
      (void)run(study, make_design(study, ledger.terms()), ledger, open, {.request = "nobody's"}),
      LedgerError);
}

// An error would tell of the data, after the charge.
TEST_F(RunOrder, AGroupOfMoreThanFourBillionRowsIsNoError) {
  const Study study = study_in(count_study, folder);
  const Measurement counts = make_design(study, Ledger::open(place).terms()).measurements.at(0);
  for (const std::int64_t rows :
       {std::int64_t{1} << 32U, (std::int64_t{1} << 32U) + 1, std::int64_t{1} << 53U}) {
    EXPECT_EQ(coordinates(counts, {{rows}, {}, {}}).at(0), static_cast<double>(rows));
  }
  EXPECT_EQ(coordinates(counts, {{std::int64_t{1} << 60U}, {}, {}}).at(0), 0x1p53);
}

TEST_F(RunOrder, AStoppedRunIsNoAnswer) {
  EXPECT_THROW((void)go(false, count_study, [](const std::string&, double) { return false; }),
               EngineError);
  ASSERT_EQ(entries().size(), 1U);
  EXPECT_FALSE(Ledger::open(place).answer(entries()[0].request).has_value());
}

TEST_F(RunOrder, AskingAnewChargesAnewUntilTheBudgetIsSpent) {
  const sotto::RunResult first = go();
  const sotto::RunResult second = go(true);
  const sotto::RunResult third = go(true);
  EXPECT_NE(first.release.request, second.release.request);
  EXPECT_EQ(entries().size(), 3U);
  seen = {};
  EXPECT_THROW((void)go(true), BudgetRefused);
  EXPECT_EQ(seen.asked, 0);
  EXPECT_EQ(entries().size(), 3U);
  EXPECT_EQ(to_json(go().release), to_json(first.release));
}

TEST_F(RunOrder, TwoRunsOfOneRequestAtOnceGiveOneAnswer) {
  std::optional<sotto::RunResult> other;
  bool first = true;
  meanwhile = [&] {
    if (!first) return;
    first = false;
    other = go();  // a second run, start to end, while the first waits for its data
  };
  const sotto::RunResult found = go();
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(to_json(found.release), to_json(other->release));
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(RunOrder, AnotherTextOrVersionIsAnotherRequest) {
  (void)go();
  std::string text = count_study;
  text.replace(text.find("version = \"1\""), 13, "version = \"2\"");
  EXPECT_FALSE(go(false, text).repeated);
  EXPECT_EQ(entries().size(), 2U);
}

TEST_F(RunOrder, AStudyOfOtherDataOrAnotherUnitIsRefusedBeforeAnything) {
  std::string other = count_study;
  other.replace(other.find("\"people\""), 8, "\"others\"");
  EXPECT_THROW((void)go(false, other), StudyError);
  std::string unit = count_study;
  unit.insert(unit.find("source"), "unit = \"w\"\n");
  unit.insert(unit.find("[columns.v]"), "[columns.w]\ntype = \"integer\"\nnull = \"drop\"\n");
  EXPECT_THROW((void)go(false, unit), StudyError);
  EXPECT_EQ(seen.opened, 0);
  EXPECT_TRUE(entries().empty());
}

// Of two ways out the one that protects more comes first.
TEST_F(RunOrder, ADifferingUnitIsNotAnsweredWithTheAdviceToProtectLess) {
  const auto says = [&](const std::string& unit, const Terms& terms) {
    std::string text = count_study;
    text.insert(text.find("source"), "unit = \"" + unit + "\"\n");
    text.insert(text.find("[columns.v]"), "[columns.w]\ntype = \"integer\"\nnull = \"drop\"\n");
    try {
      require_fit(study_in(text, folder), terms);
    } catch (const StudyError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string source = (folder / "p.csv").string();
  const std::string ledger_of_rows =
      says("w", {"people", "row", Relation::add_remove, ZcdpBudget{1, 0}, "row", source});
  EXPECT_LT(ledger_of_rows.find("make a ledger for each \"w\""),
            ledger_of_rows.find("write unit = \"row\""))
      << ledger_of_rows;
  const std::string ledger_of_units =
      says("row", {"people", "w", Relation::add_remove, ZcdpBudget{1, 0}, "integer", source});
  EXPECT_LT(ledger_of_units.find("write unit = \"w\""),
            ledger_of_units.find("make a ledger for each \"row\""))
      << ledger_of_units;
  const std::string another_type =
      says("w", {"people", "w", Relation::add_remove, ZcdpBudget{1, 0}, "text", source});
  EXPECT_NE(another_type.find("unit of type"), std::string::npos) << another_type;
  EXPECT_EQ(says("w", {"people", "w", Relation::add_remove, ZcdpBudget{1, 0}, "integer", source}),
            "");
}

// From public numbers: the groups and bins that are asked for.
TEST_F(RunOrder, MoreGroupsThanMemoryHoldsAreRefusedBeforeTheCharge) {
  seen.memory = 100'000;
  const std::string many =
      count_study + "[[query]]\nname = \"h\"\nask = \"histogram\"\nof = \"v\"\nstep = 0.001\n";
  EXPECT_THROW((void)go(false, many), InvalidValue);
  EXPECT_TRUE(entries().empty());
  EXPECT_EQ(seen.asked, 0);
  EXPECT_NO_THROW((void)go());
}

TEST_F(RunOrder, AReleaseReadsBackAsItWas) {
  const std::string text = count_study +
                           "[[query]]\nname = \"m ä\\\"\"\nask = \"mean\"\nof = \"v\"\nwhere = \"v "
                           "> 1\"\n[[query]]\nname = \"h\"\nask = \"histogram\"\nof = \"v\"\n"
                           "[[query]]\nname = \"q\"\nask = \"median\"\nof = \"v\"\nstep = 1\n";
  const Study study = study_in(text, folder);
  const Design found = make_design(study, Ledger::open(place).terms());
  Release release{"r",         "2026-01-01T00:00:00Z",
                  study.title, "people",
                  "1",         "id",
                  "row",       "add-remove",
                  0.95,        "plan",
                  found.cost,  1e-6,
                  1.5,         1e-6,
                  text,        {}};
  for (const Measurement& m : found.measurements) {
    const std::size_t q = m.queries.front();
    release.answers.push_back(
        answer(study, study.queries[q], m, m.aggregate.groups,
               std::vector<double>(m.aggregate.groups.size() * numbers_of_group(m), 3.25)));
  }
  EXPECT_EQ(to_json(read_release(to_json(release))), to_json(release));
  release.epsilon = INFINITY;
  EXPECT_EQ(to_json(read_release(to_json(release))), to_json(release));
  EXPECT_THROW((void)read_release("{"), LedgerError);
  EXPECT_THROW((void)read_release("{}"), LedgerError);
  EXPECT_THROW((void)read_release("[]"), LedgerError);
}

}  // namespace
}  // namespace sotto
