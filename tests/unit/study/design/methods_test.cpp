// Ways to train in a study: on public rows as it goes, by noise on a minimum or in an objective,
// and with an account for each unit.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <regex>

#include "../../../support/number.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

const std::string columns =
    "[columns.a]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n[columns.b]\ntype = "
    "\"text\"\nnull = \"drop\"\nvalues = [\"x\", \"y\"]\n"
    "[columns.c]\ntype = \"boolean\"\nnull = \"drop\"\n[columns.d]\ntype = \"real\"\nnull = "
    "\"drop\"\nbounds = [0, 20]\n"
    "[columns.who]\ntype = \"integer\"\nnull = \"drop\"\n";
const std::string head = "data = \"people\"\n[budget]\nepsilon = 5\ndelta = 1e-6\n";
const std::string logistic =
    "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"c\"\nfeatures = [\"a\", \"b\"]\n";

class Methods : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-methods-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    write_rows("p.csv", 2000, 1);
    write_rows("q.csv", 500, 2);
    write("people.data.toml",
          "name = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = \"row\"\npublic_rows = "
          "2000\nledger = \"l.sotto\"\n" +
              columns);
    write("open.data.toml",
          "name = \"open\"\nversion = \"7\"\nsource = \"q.csv\"\npublic = true\n" + columns);
    create(Relation::add_remove, ZcdpBudget{3, 1e-5});
  }
  void TearDown() override { fs::remove_all(folder); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder / file) << text;
  }
  void write_rows(const std::string& file, int count, unsigned seed) const {
    std::ofstream data(folder / file);
    std::mt19937_64 words(seed);
    std::uniform_real_distribution<double> number(0, 10);
    data << "a,b,c,d,who\n";
    for (int i = 0; i < count; ++i) {
      const double a = number(words);
      const bool x = words() % 2 == 0;
      data << a << "," << (x ? "x" : "y") << "," << (a + (x ? 2 : -2) > 5 ? "true" : "false") << ","
           << a + (x ? 10 : 5) << "," << i / 4 << "\n";
    }
  }
  void create(Relation relation, const Budget& budget, const std::string& unit = "row") const {
    fs::remove(place);
    fs::remove(folder / "l.key");
    (void)Ledger::create(place, {"people", unit, relation, budget,
                                 unit == "row" ? "row" : "integer", (folder / "p.csv").string()});
  }
  [[nodiscard]] Study study_of(const std::string& text) const {
    const Catalogue catalogue(folder);
    return parse_study(text, catalogue.find(data_of(text)),
                       [&](const std::string& name) { return catalogue.find(name); });
  }
  [[nodiscard]] Design design_of(const std::string& text) const {
    return make_design(study_of(text), Ledger::open(place).terms());
  }
  [[nodiscard]] static std::unique_ptr<Engine> opened(const Source& source,
                                                      const std::vector<Column>& stored) {
    Limits limits;
    limits.duckdb = libduckdb;
    limits.threads = 2;
    return open_engine(source, stored, limits);
  }
  [[nodiscard]] sotto::RunResult go(const std::string& text, const Watcher& told = {},
                                    std::optional<Delta> epsilon_at = std::nullopt) const {
    const Study study = study_of(text);
    Ledger ledger = Ledger::open(place);
    return run(
        study, make_design(study, ledger.terms()), ledger,
        [&] { return opened(study.source, stored_columns(study)); },
        {.checkpoints = folder, .threads = 2, .open_public = opened, .epsilon_at = epsilon_at},
        told);
  }
  [[nodiscard]] std::string refusal(const std::string& text) const {
    try {
      (void)design_of(text);
    } catch (const StudyError& error) {
      return error.what();
    } catch (const OutsideConditions& error) {
      return std::string("outside: ") + error.what();
    }
    return "nothing";
  }
  [[nodiscard]] std::size_t charges() const { return Ledger::open(place).entries().size(); }

  fs::path folder;
  std::string place;
};

#define EXPECT_SAYS(text, part) \
  EXPECT_NE(refusal(text).find(part), std::string::npos) << refusal(text)

TEST_F(Methods, PublicRowsAreMeasuredAsATrainingGoesAndCostNothing) {
  const sotto::RunResult found = go(head + logistic + "evaluate = \"open\"\n");
  const TrainedModel& model = found.release.models[0];
  ASSERT_TRUE(model.evaluation.has_value());
  EXPECT_EQ(model.evaluation->data, "open");
  EXPECT_EQ(model.evaluation->version, "7");
  EXPECT_EQ(model.evaluation->rows, 500);
  ASSERT_GE(model.evaluation->points.size(), 20U);
  ASSERT_LE(model.evaluation->points.size(), 40U);
  EXPECT_EQ(model.evaluation->points.front().step, 1);
  EXPECT_EQ(model.evaluation->points.back().step, 80);
  EXPECT_LT(model.evaluation->points.back().loss, 0.5);
  EXPECT_LT(model.evaluation->points.back().loss, model.evaluation->points.front().loss);
  EXPECT_GT(model.evaluation->points.back().right, 425);  // of 500
  EXPECT_LE(model.evaluation->points.back().right, 500);
  EXPECT_FALSE(model.accuracy.has_value());  // nothing was measured on private rows
  EXPECT_EQ(to_json(read_release(to_json(found.release))), to_json(found.release));
  EXPECT_EQ(print(design_of(head + logistic).plan), found.release.plan);
}

TEST_F(Methods, AnErrorInNumbersIsInUnitsOfTheTarget) {
  for (const char* how : {"", "method = \"gradient\"\n"}) {
    const sotto::RunResult found = go(head +
                                      "[[train]]\nname = \"line\"\nmodel = \"linear\"\ntarget = "
                                      "\"d\"\nfeatures = [\"a\", \"b\"]\nevaluate = \"open\"\n" +
                                      how);
    const PublicEvaluation& evaluation = *found.release.models[0].evaluation;
    EXPECT_FALSE(evaluation.is_of_classes);
    const double error = std::sqrt(evaluation.points.back().squared_error);
    EXPECT_LT(error, 2) << how;  // d reaches from 5 to 20, with a deviation of about 3.8
    EXPECT_GT(error, 0.001) << how;
  }
}

TEST_F(Methods, ANewVersionOfPublicRowsIsANewRequest) {
  const std::string text = head + logistic + "evaluate = \"open\"\n";
  const std::string before = request_id(study_of(text), Ledger::open(place));
  write("open.data.toml",
        "name = \"open\"\nversion = \"8\"\nsource = \"q.csv\"\npublic = true\n" + columns);
  EXPECT_NE(request_id(study_of(text), Ledger::open(place)), before);
}

TEST_F(Methods, OnlyTheCuratorDeclaresDataPublic) {
  EXPECT_SAYS(head + logistic + "evaluate = \"people\"\n", "\"people\" are not public data");
  EXPECT_SAYS(head + logistic + "evaluate = \"../people\"\n", "never a path");
  EXPECT_SAYS(head + logistic + "evaluate = \"nowhere\"\n", "there are no data \"nowhere\"");
  EXPECT_SAYS("data = \"open\"\n" + head.substr(head.find('\n') + 1) + logistic,
              "evaluate = \"open\"");
  write("open.data.toml",
        "name = \"open\"\nversion = \"7\"\nsource = \"q.csv\"\npublic = true\n[columns.a]\ntype = "
        "\"real\"\nnull = \"drop\"\n");
  EXPECT_SAYS(head + logistic + "evaluate = \"open\"\n", "have no column \"b\" of type text");
  write("open.data.toml",
        "name = \"open\"\nversion = \"7\"\nsource = \"q.csv\"\npublic = true\nledger = "
        "\"o.sotto\"\n" +
            columns);
  EXPECT_SAYS(head + logistic + "evaluate = \"open\"\n", "public data have no ledger");
}

TEST_F(Methods, TheStudysOwnDataCannotBePublic) {
  fs::create_symlink(folder / "p.csv", folder / "link.csv");
  for (const char* file : {"p.csv", "./p.csv", "link.csv"}) {
    write("open.data.toml", "name = \"open\"\nversion = \"7\"\nsource = \"" + std::string(file) +
                                "\"\npublic = true\n" + columns);
    EXPECT_SAYS(head + logistic + "evaluate = \"open\"\n", "which are not public: name other data");
  }
}

TEST_F(Methods, HowManyRowsAUnitHasIsNotInTheSpeed) {
  write("people.data.toml",
        "name = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = \"who\"\npublic_rows = "
        "2000\nledger = \"l.sotto\"\n" +
            columns);
  create(Relation::add_remove, ZcdpBudget{3, 1e-5}, "who");
  std::string last;
  (void)go(head + logistic + "rows = 4\n", [&](const std::string& what, double) {
    last = what;
    return true;
  });
  EXPECT_NE(last.find(" units/s"), std::string::npos) << last;
}

TEST_F(Methods, PublicRowsThatCannotBeReadCostNothing) {
  fs::remove(folder / "q.csv");
  EXPECT_THROW((void)go(head + logistic + "evaluate = \"open\"\n"), EngineError);
  EXPECT_EQ(charges(), 0U);
}

TEST_F(Methods, OutputPerturbationIsOneGaussianEventWithIntervals) {
  const sotto::RunResult found = go(head + logistic + "method = \"output\"\nevaluate = \"open\"\n");
  const TrainedModel& model = found.release.models[0];
  EXPECT_EQ(found.release.plan, model.event);
  const Plan plan = parse(found.release.plan);
  ASSERT_NE(plan.as<Gaussian>(), nullptr) << found.release.plan;
  EXPECT_LE(found.release.epsilon, 5);
  EXPECT_GT(found.release.epsilon, 4.99);
  EXPECT_GT(model.evaluation->points.back().right, 400);
  ASSERT_EQ(model.intervals.size(), model.parameters.size());
  // the interval is the noise's: two deviations of noise times sensitivity, to either side
  const auto& how = std::get<OutputPerturbation>(
      design_of(head + logistic + "method = \"output\"\n").trainings[0].how);
  EXPECT_EQ(how.noise, plan.as<Gaussian>()->sigma.value());
  EXPECT_NEAR(model.intervals[0].upper - model.parameters[0],
              1.96 * how.noise * sensitivity_of(how), 0.01 * how.noise * sensitivity_of(how));
  EXPECT_EQ(charges(), 1U);
}

TEST_F(Methods, ThePenaltyOfAMinimumIsTheStudysOrFollowsTheNoise) {
  const auto strength = [&](const std::string& more) {
    return std::get<OutputPerturbation>(
               design_of(head + logistic + "method = \"output\"\n" + more).trainings[0].how)
        .problem.strength;
  };
  EXPECT_EQ(strength("l2 = 0.25\n"), 500);
  EXPECT_GT(strength(""), 1);
  EXPECT_LT(strength(""), 500);
  EXPECT_SAYS(head + logistic + "method = \"output\"\nl2 = 0\n", "`l2` must be above 0");
}

TEST_F(Methods, ObjectivePerturbationIsChargedAsTheGuaranteeItIs) {
  create(Relation::add_remove, ApproximateBudget{10, 1e-5});
  const sotto::RunResult found =
      go(head + logistic + "method = \"objective\"\nevaluate = \"open\"\n");
  EXPECT_NE(found.release.plan.find("approx("), std::string::npos) << found.release.plan;
  EXPECT_NE(found.release.plan.find("gaussian(1000"), std::string::npos) << found.release.plan;
  EXPECT_LE(found.release.epsilon, 5);
  EXPECT_GT(found.release.epsilon, 4.5);
  EXPECT_EQ(Ledger::open(place).entries().at(0).plan, found.release.plan);
  EXPECT_GT(found.release.models[0].evaluation->points.back().right, 400);
  EXPECT_TRUE(found.release.models[0].intervals.empty());
}

TEST_F(Methods, ObjectivePerturbationLeavesOthersWhatItsShareLeaves) {
  create(Relation::add_remove, ApproximateBudget{10, 1e-5});
  const std::string text = head + "[[query]]\nname = \"n\"\nask = \"count\"\n" + logistic +
                           "method = \"objective\"\nshare = 3\ntest = 0.2\n";
  const Design found = design_of(text);
  EXPECT_LE(found.total->value.upper, 5);
  EXPECT_GT(found.total->value.upper, 4.9);
  const auto& how = std::get<ObjectivePerturbation>(found.trainings[0].how);
  EXPECT_LT(how.epsilon, 5 * 0.75);
  EXPECT_GT(how.epsilon, 5 * 0.75 * 0.8);
}

TEST_F(Methods, UnderReplaceOneAMinimumMovesTwiceAsFar) {
  create(Relation::replace_one, ApproximateBudget{10, 1e-5});
  const Design objective = design_of(head + logistic + "method = \"objective\"\n");
  EXPECT_NE(print(objective.plan).find("group(2, approx("), std::string::npos)
      << print(objective.plan);
  EXPECT_LE(objective.total->value.upper, 5);
  const auto replaced = std::get<OutputPerturbation>(
      design_of(head + logistic + "method = \"output\"\nl2 = 0.1\n").trainings[0].how);
  create(Relation::add_remove, ApproximateBudget{10, 1e-5});
  const auto added = std::get<OutputPerturbation>(
      design_of(head + logistic + "method = \"output\"\nl2 = 0.1\n").trainings[0].how);
  EXPECT_NEAR(sensitivity_of(replaced) / sensitivity_of(added), 2, 0.01);
  EXPECT_EQ(replaced.noise, added.noise);
}

TEST_F(Methods, SettingsWithoutATheoremAreRefusedWithARemedy) {
  const std::string svm = "[[train]]\nname = \"m\"\nmodel = \"svm\"\ntarget = \"c\"\n";
  EXPECT_SAYS(head + svm + "method = \"output\"\n",
              "model = \"logistic\" or \"huber\"; otherwise method = \"gradient\"");
  EXPECT_SAYS(head + svm + "method = \"objective\"\n", "model = \"logistic\" or \"huber\"");
  EXPECT_SAYS(
      head + "[[train]]\nname = \"m\"\nmodel = \"linear\"\ntarget = \"d\"\nmethod = \"output\"\n",
      "method = \"moments\"");
  EXPECT_SAYS(head + logistic + "method = \"output\"\nsteps = 10\n", "only has the setting `l2`");
  EXPECT_SAYS(head + logistic + "method = \"best\"\n", "`method` is");
  EXPECT_SAYS("data = \"people\"\n[budget]\nrho = 0.1\n" + logistic + "method = \"objective\"\n",
              "method = \"output\"");
  EXPECT_SAYS(head + logistic + "method = \"objective\"\nl2 = 1e-9\n", "declare a strength above");
  EXPECT_SAYS(head + logistic + "accounting = \"individual\"\nbatch = 100\n", "leave out `batch`");
  EXPECT_SAYS(head + logistic + "accounting = \"individual\"\nclipping = \"adaptive\"\n",
              "leave out `clipping`");
  EXPECT_SAYS(head + logistic + "accounting = \"individual\"\nmethod = \"output\"\n",
              "method = \"gradient\"");
  EXPECT_SAYS(head + logistic + "accounting = \"alone\"\n", "\"uniform\" or \"individual\"");
  create(Relation::add_remove, GdpBudget{5, 1e-6});
  EXPECT_SAYS(head + logistic + "method = \"objective\"\n",
              "or make a ledger that adds up ε and δ");
  create(Relation::replace_one, ZcdpBudget{3, 1e-5});
  EXPECT_SAYS(head + logistic + "accounting = \"individual\"\n",
              "the ledger's relation is replace-one");
}

TEST_F(Methods, UnitsWithSeveralRowsHaveNoObjectivePerturbation) {
  write("people.data.toml",
        "name = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = \"who\"\npublic_rows = "
        "2000\nledger = \"l.sotto\"\n" +
            columns);
  create(Relation::add_remove, ApproximateBudget{10, 1e-5}, "who");
  EXPECT_SAYS(head + logistic + "method = \"objective\"\nrows = 4\n", "units with one row");
  const sotto::RunResult one =
      go(head + logistic + "method = \"objective\"\nrows = 1\nunits = 500\nevaluate = \"open\"\n");
  EXPECT_GT(one.release.models[0].evaluation->points.back().right, 350);
  const sotto::RunResult mean =
      go(head + logistic + "method = \"output\"\nrows = 4\nunits = 500\nevaluate = \"open\"\n");
  EXPECT_GT(mean.release.models[0].evaluation->points.back().right, 350);
}

TEST_F(Methods, AnIndividualAccountIsChargedWhatItGuarantees) {
  const std::string text = head + logistic + "accounting = \"individual\"\nevaluate = \"open\"\n";
  const sotto::RunResult found = go(text);
  const Plan plan = parse(found.release.plan);
  ASSERT_NE(plan.as<Gdp>(), nullptr) << found.release.plan;
  EXPECT_LE(found.release.epsilon, 5);
  EXPECT_GT(found.release.epsilon, 4.99);
  const auto& how = std::get<IndividualTraining>(design_of(text).trainings[0].how);
  EXPECT_EQ(how.mu, plan.as<Gdp>()->mu.value());
  EXPECT_EQ(how.training.steps, 100);
  EXPECT_EQ(uniform_steps(how), 80);  // the noise is that of fewer steps
  EXPECT_EQ(found.release.models[0].evaluation->points.back().step, 100);
  EXPECT_GT(found.release.models[0].evaluation->points.back().right, 425);
  // ρ of μ-GDP is μ²/2
  EXPECT_NEAR(Ledger::open(place).filter().tally().amount.upper(), how.mu * how.mu / 2, 1e-9);
}

TEST_F(Methods, AnIndividualAccountThatIsStoppedStartsAnewUnderItsCharge) {
  const std::string text = head + logistic + "accounting = \"individual\"\n";
  const auto stop = [](const std::string& what, double) {
    return what.find("step 30 of") == std::string::npos;
  };
  EXPECT_THROW((void)go(text, stop), LedgerError);
  int first = 0;
  const sotto::RunResult found = go(text, [&](const std::string& what, double) {
    const auto at = what.find("step ");
    if (first == 0 && at != std::string::npos) first = std::stoi(what.substr(at + 5));
    return true;
  });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(Methods, ProgressReportsStepsCostAndSpeed) {
  std::vector<std::string> told;
  const auto note = [&](const std::string& what, double) {
    told.push_back(what);
    return true;
  };
  const sotto::RunResult found = go(head + logistic, note, Delta(1e-6));
  EXPECT_NE(told.back().find("m: step 80 of 80, ε ≤ 5 so far, "), std::string::npos) << told.back();
  EXPECT_NE(told.back().find(" rows/s"), std::string::npos) << told.back();
  // what is told is a bound at every step: that after 20 of 80 is not below what they cost
  const auto at = std::find_if(told.begin(), told.end(), [](const std::string& what) {
    return what.find("step 20 of 80") != std::string::npos;
  });
  ASSERT_NE(at, told.end());
  const double said = number_in(at->substr(at->find("ε ≤ ") + std::string("ε ≤ ").size()));
  const auto& how = std::get<Training>(design_of(head + logistic).trainings[0].how);
  const double cost = epsilon(20.0 * gaussian(how.noise), Delta(1e-6)).value.upper;
  EXPECT_GE(said, cost);
  EXPECT_LT(said, 1.2 * cost);
}

// What a command writes to a terminal until `enough` says so or a minute is over; then it is
// killed.
std::string seen_on_a_terminal(const std::vector<std::string>& words,
                               const std::function<bool(const std::string&)>& enough) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  std::string seen;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!enough(seen) && std::chrono::steady_clock::now() < end) {
    pollfd ready{terminal, POLLIN, 0};
    char bytes[4096];
    if (poll(&ready, 1, 1000) <= 0) continue;
    const ssize_t count = read(terminal, bytes, sizeof bytes);
    if (count <= 0) break;
    seen.append(bytes, static_cast<std::size_t>(count));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(terminal);
  return seen;
}

TEST_F(Methods, ATerminalShowsStepCostSpeedAndRemainingTime) {
  write("s.toml",
        head + logistic + "steps = 50000000\n");  // it is stopped when it has said all that
  const auto enough = [](const std::string& seen) {
    return seen.find(" s left") != std::string::npos;
  };
  const std::string seen =
      seen_on_a_terminal({SOTTO_COMMAND_PATH, "run", (folder / "s.toml").string(), "--catalogue",
                          folder.string(), "--duckdb", libduckdb},
                         enough);
  const std::regex line(
      R"(m: step [0-9]+ of 50000000, ε ≤ [0-9.e-]+ so far, [0-9]+ rows/s, [0-9]+ s left)");
  EXPECT_TRUE(std::regex_search(seen, line)) << seen.substr(0, 2000);
}

}  // namespace
}  // namespace sotto
