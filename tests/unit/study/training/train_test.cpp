// Models in a study: one budget, one charge; a run that is stopped goes on, and neither loses a
// charge nor draws noise twice.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "../../../support/one_text.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/model_file.hpp"
#include "study/api/run.hpp"
#include "study/api/weights.hpp"
#include "study/training/train_run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

const std::string head =
    "title = \"Models\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = "
    "\"p.csv\"\npublic_rows = 2000\n"
    "[columns.a]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n[columns.b]\ntype = "
    "\"text\"\nnull = \"drop\"\nvalues = [\"x\", \"y\"]\n"
    "[columns.c]\ntype = \"boolean\"\nnull = \"drop\"\n[columns.who]\ntype = \"integer\"\nnull = "
    "\"drop\"\n"
    "[budget]\nepsilon = 5\ndelta = 1e-6\n";
const std::string logistic = "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"c\"\n";

class Train : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-train-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    std::ofstream data(folder / "p.csv");
    std::mt19937_64 words(1);
    std::uniform_real_distribution<double> number(0, 10);
    data << "a,b,c,who\n";
    for (int i = 0; i < 2000; ++i) {
      const double a = number(words);
      const bool x = words() % 2 == 0;
      data << a << "," << (x ? "x" : "y") << "," << (a + (x ? 2 : -2) > 5 ? "true" : "false") << ","
           << i / 4 << "\n";
    }
    create({"people", "row", Relation::add_remove, ZcdpBudget{3, 1e-5}, "row",
            (folder / "p.csv").string()});
  }
  void TearDown() override { fs::remove_all(folder); }
  void create(const Terms& terms) const {
    fs::remove(place);
    fs::remove(folder / "l.key");
    (void)Ledger::create(place, terms);
  }
  [[nodiscard]] std::unique_ptr<Engine> engine(const Study& study) const {
    Limits limits;
    limits.duckdb = libduckdb;
    limits.threads = 2;
    return open_engine(study.source, stored_columns(study), limits);
  }
  [[nodiscard]] sotto::RunResult go(const std::string& text, const Watcher& told = {},
                                    bool with_checkpoint = true) const {
    const Study study = study_in(text, folder);
    Ledger ledger = Ledger::open(place);
    return run(
        study, make_design(study, ledger.terms()), ledger, [&] { return engine(study); },
        {.checkpoints = with_checkpoint ? folder : fs::path(), .threads = 2}, told);
  }
  [[nodiscard]] std::vector<Entry> entries() const { return Ledger::open(place).entries(); }
  [[nodiscard]] int checkpoints() const {
    int count = 0;
    for (const auto& file : fs::directory_iterator(folder))
      count += file.path().extension() == ".checkpoint" ? 1 : 0;
    return count;
  }

  fs::path folder;
  std::string place;
};

TEST_F(Train, AModelAndAQueryAreOnePlanAndOneCharge) {
  const sotto::RunResult found =
      go(head + "[[query]]\nname = \"n\"\nask = \"count\"\nshare = 0.1\n" + logistic +
         "test = 0.25\n");
  ASSERT_EQ(entries().size(), 1U);
  EXPECT_EQ(entries()[0].plan, found.release.plan);
  EXPECT_NE(found.release.plan.find("80 * gaussian("), std::string::npos) << found.release.plan;
  EXPECT_LE(found.release.epsilon, 5);
  EXPECT_GT(found.release.epsilon, 4.9);
  ASSERT_EQ(found.release.models.size(), 1U);
  const TrainedModel& model = found.release.models[0];
  ASSERT_EQ(model.parameters.size(), 4U);  // a, b=x, b=y and the intercept: the unit and the target
                                           // are no features… who has no bounds
  EXPECT_GT(model.parameters[0], 0.5);
  EXPECT_GT(model.parameters[1], model.parameters[2]);
  ASSERT_TRUE(model.accuracy.has_value());
  EXPECT_GT(*model.accuracy, 0.85);
  EXPECT_LT(*model.accuracy_low, *model.accuracy);
  EXPECT_EQ(to_json(read_release(to_json(found.release))), to_json(found.release));
  EXPECT_EQ(checkpoints(), 0);
  EXPECT_TRUE(go(head + "[[query]]\nname = \"n\"\nask = \"count\"\nshare = 0.1\n" + logistic +
                 "test = 0.25\n")
                  .repeated);
}

TEST_F(Train, AStoppedTrainingGoesOnUnderItsChargeFromTheStepItWasAt) {
  const std::string text =
      head + "[[query]]\nname = \"n\"\nask = \"count\"\nshare = 0.1\n" + logistic;
  const auto stop_at = [](int step) {
    return [step](const std::string& what, double) {
      return what.find("step " + std::to_string(step) + " of") == std::string::npos;
    };
  };
  EXPECT_THROW((void)go(text, stop_at(30)), LedgerError);
  ASSERT_EQ(entries().size(), 1U);
  const Tally before = Ledger::open(place).filter().tally();
  EXPECT_EQ(checkpoints(), 1);
  int first = 0;
  int last = 50;
  const auto note_first = [&](const std::string& what, double) {
    const auto at = what.find("step ");
    const int step = at == std::string::npos ? 0 : std::stoi(what.substr(at + 5));
    if (first == 0) first = step;
    return step != last;
  };
  EXPECT_THROW((void)go(text, note_first), LedgerError);
  EXPECT_EQ(first, 31);  // no step that was kept is taken again
  first = 0;
  last = -1;
  const sotto::RunResult found = go(text, note_first);
  EXPECT_EQ(first, 51);
  EXPECT_EQ(found.release.models.size(), 1U);
  EXPECT_EQ(found.release.answers.at(0).estimates.size(), 1U);
  EXPECT_EQ(entries().size(), 1U);
  EXPECT_EQ(Ledger::open(place).filter().tally().amount.upper(), before.amount.upper());
  EXPECT_EQ(checkpoints(), 0);
  EXPECT_TRUE(Ledger::open(place).verify().sound);
}

TEST_F(Train, ACheckpointLeftByAKillAfterTheAnswerIsRemovedByTheNextRun) {
  const std::string text = head + logistic;
  const auto stop = [](const std::string& what, double) {
    return what.find("step 30 of") == std::string::npos;
  };
  EXPECT_THROW((void)go(text, stop), LedgerError);
  fs::path checkpoint;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() == ".checkpoint") checkpoint = file.path();
  }
  ASSERT_FALSE(checkpoint.empty());
  fs::copy_file(checkpoint, folder / "copy");

  EXPECT_FALSE(go(text).repeated);
  EXPECT_EQ(checkpoints(), 0);
  fs::rename(folder / "copy",
             checkpoint);  // as if the process had been killed before it removed its checkpoint
  EXPECT_TRUE(go(text).repeated);
  EXPECT_EQ(checkpoints(), 0);
}

// As a process: killed again and again, each time a little later, until it has its answer. A study
// of a model alone can go on from its first mark; beside a query it is closed if it is killed
// between the query's noise and the first checkpoint.
TEST_F(Train, AKilledTrainingEndsWithTheTotalOfOneThatWasNot) {
  create({"people", "row", Relation::add_remove, GdpBudget{3, 1e-6}, "row",
          (folder / "p.csv").string()});
  const std::string text = head + logistic + "batch = 200\nsteps = 20000\n";
  const TwoFiles files = split_study(text);
  std::ofstream(folder / "people.data.toml")
      << files.data.substr(0, files.data.find("ledger =")) << "ledger = \"l.sotto\"\n"
      << files.data.substr(files.data.find("[columns"));
  std::ofstream(folder / "s.toml") << files.study;
  const auto started = [&] {
    const pid_t child = fork();
    if (child != 0) return child;
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    execl(SOTTO_COMMAND_PATH, "sotto", "run", (folder / "s.toml").c_str(), "--catalogue",
          folder.c_str(), "--duckdb", libduckdb.c_str(), nullptr);
    _exit(127);
  };
  int killed = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = started();
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 100 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    ASSERT_LE(entries().size(), 1U);
    if (!WIFSIGNALED(status)) break;
  }
  EXPECT_GT(killed, 0);
  int status = 0;
  waitpid(started(), &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_EQ(entries().size(), 1U);
  const Ledger ledger = Ledger::open(place);
  const auto release = ledger.answer(entries()[0].request);
  ASSERT_TRUE(release.has_value());
  EXPECT_EQ(read_release(*release).models.size(), 1U);
  const Study study = study_in(text, folder);
  EXPECT_EQ(entries()[0].cost,
            make_design(study, ledger.terms()).cost);  // as a run that nobody stopped
  EXPECT_TRUE(ledger.verify().sound);
  EXPECT_EQ(checkpoints(), 0);
}

// Half of 100,000 predictions are right, so the noisy accuracy has the standard deviation σ/(√2 ·
// 100,000). Of 20,000 tests it is seen to 0.5 %, and 5.5 times that is allowed: false alarm 4e-8.
TEST(PrivateTest, HasTheNoiseOfItsEvent) {
  const double sigma = 500;
  const TrainDesign design{0, {}, 2, "", {}, Training{}, gaussian(1), 0.25, gaussian(sigma, 2)};
  double squares = 0;
  constexpr int tests = 20'000;
  for (int i = 0; i < tests; ++i) {
    TrainedModel model;
    study_detail::add_private_test(model, design, {50'000, 50'000}, 0.95);
    squares += std::pow(*model.accuracy - 0.5, 2);
  }
  EXPECT_NEAR(std::sqrt(squares / tests) / (sigma / std::sqrt(2.0) / 100'000), 1,
              5.5 / std::sqrt(2.0 * tests));
}

TEST_F(Train, WithoutACheckpointAStoppedTrainingIsClosed) {
  const auto stop = [](const std::string& what, double) {
    return what.find("step 3 of") == std::string::npos;
  };
  EXPECT_THROW((void)go(head + logistic, stop, false), LedgerError);
  EXPECT_THROW((void)go(head + logistic, {}, false), RequestClosed);
}

TEST_F(Train, WithoutAPlaceForCheckpointsNothingIsCharged) {
  const Study study = study_in(head + logistic, folder);
  Ledger ledger = Ledger::open(place);
  EXPECT_THROW((void)run(study, make_design(study, ledger.terms()), ledger,
                         [&] { return engine(study); }, {.checkpoints = folder / "nowhere"}),
               LedgerError);
  EXPECT_TRUE(entries().empty());
}

TEST_F(Train, ADamagedCheckpointIsAnErrorAndNothingIsDrawnAnew) {
  const auto stop = [](const std::string& what, double) {
    return what.find("step 3 of") == std::string::npos;
  };
  EXPECT_THROW((void)go(head + logistic, stop), LedgerError);
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() == ".checkpoint") std::ofstream(file.path()) << "{";
  }
  EXPECT_THROW((void)go(head + logistic), LedgerError);
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(Train, ALineComesFromItsMomentsWithIntervals) {
  const sotto::RunResult found =
      go(head +
         "[columns.line]\ntype = \"real\"\nnull = \"drop\"\nderive = \"a * 2 + 1\"\nbounds = [0, "
         "21]\n" +
         "[[train]]\nname = \"m\"\nmodel = \"linear\"\ntarget = \"line\"\nfeatures = [\"a\"]\n");
  const TrainedModel& model = found.release.models.at(0);
  // a is from_zero: line = 20 a' + 1 on [0, 21] scaled to [-1, 1]
  ASSERT_EQ(model.intervals.size(), 2U);
  EXPECT_LT(model.intervals[0].lower, 40.0 / 21);
  EXPECT_GT(model.intervals[0].upper, 40.0 / 21);
  EXPECT_LT(model.intervals[0].upper - model.intervals[0].lower, 0.5);
  EXPECT_EQ(found.release.plan.find("*"), std::string::npos);
}

TEST_F(Train, ALinesWeightsAreInTheDatasUnitsAndTight) {
  // b = "x" adds 4 to d, and a adds 2 for each one: two levels without a reference would have
  // intervals as wide as the penalty lets them drift apart.
  const sotto::RunResult found = go(
      head +
      "[columns.d]\ntype = \"real\"\nnull = \"drop\"\n"
      "derive = \"CASE WHEN b = 'x' THEN a * 2 + 4 ELSE a * 2 END\"\nbounds = [0, 24]\n"
      "[[train]]\nname = \"m\"\nmodel = \"linear\"\ntarget = \"d\"\nfeatures = [\"a\", \"b\"]\n");
  const auto table = weights_in_units(found.release.models.at(0));
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->unit, "d");
  EXPECT_EQ(table->reference, "a = 0, b = x");
  ASSERT_EQ(table->weights.size(), 2U);
  const double truth[] = {2, -4};
  for (std::size_t i = 0; i < 2; ++i) {
    const ModelWeight& one = table->weights[i];
    EXPECT_EQ(one.name, i == 0 ? "a" : "b=y");
    const double width = one.interval->upper - one.interval->lower;
    EXPECT_NEAR(one.value, truth[i], width) << one.name;  // two half widths: four deviations
    EXPECT_LT(width, 1) << one.name;
  }
  EXPECT_NEAR(table->intercept.value, 4,
              table->intercept.interval->upper - table->intercept.interval->lower);
}

TEST_F(Train, ANetworkIsTrainedOnSamplesInALedgerThatCanAccountForThem) {
  create({"people", "row", Relation::add_remove, GdpBudget{3, 1e-6}, "row",
          (folder / "p.csv").string()});
  const sotto::RunResult found = go(
      head +
      "[[train]]\nname = \"m\"\nmodel = \"network\"\nhidden = [8]\ntarget = \"c\"\ntest = 0.25\n");
  EXPECT_NE(found.release.plan.find("poisson("), std::string::npos) << found.release.plan;
  const TrainedModel& model = found.release.models.at(0);
  EXPECT_EQ(model.parameters.size(), 3U * 8 + 8 + 8 * 2 + 2);
  EXPECT_GT(*model.accuracy, 0.8);
  const ModelFile file = read_model_file(
      model_file(found.release, model, SigningKey::read((folder / "l.key").string())));
  EXPECT_EQ(predict(file, *engine(study_in(head + logistic, folder)), {}).size(), 2000U);
}

TEST_F(Train, AnAdaptiveNormIsPaidFor) {
  const sotto::RunResult found = go(head + logistic + "clipping = \"adaptive\"\n");
  EXPECT_NE(found.release.plan.find("gaussian(100, sensitivity=0.5)"), std::string::npos)
      << found.release.plan;
  EXPECT_LE(found.release.epsilon, 5);
  EXPECT_GT(found.release.models.at(0).parameters[0], 0.1);
}

TEST_F(Train, AUnitsRowsAreOneContribution) {
  create({"people", "who", Relation::add_remove, ZcdpBudget{3, 1e-5}, "integer",
          (folder / "p.csv").string()});
  std::string text = head;
  text.insert(text.find("public_rows"), "unit = \"who\"\n");
  const sotto::RunResult found = go(text + logistic + "rows = 4\nunits = 500\ntest = 0.25\n");
  EXPECT_GT(found.release.models.at(0).parameters[0], 0);
  // a unit's gradient is clipped to 1 whatever its rows, but a test counts up to 4 of them
  EXPECT_NE(found.release.plan.find("80 * gaussian("), std::string::npos) << found.release.plan;
  EXPECT_NE(found.release.plan.find(", sensitivity=4)"), std::string::npos) << found.release.plan;
}

TEST_F(Train, UnderReplaceOneAUnitGoesAndAnotherComes) {
  create({"people", "row", Relation::replace_one, ZcdpBudget{3, 1e-5}, "row",
          (folder / "p.csv").string()});
  const sotto::RunResult found = go(head + logistic + "test = 0.25\n");
  EXPECT_NE(found.release.plan.find(", sensitivity=2)"), std::string::npos) << found.release.plan;
  EXPECT_NE(found.release.plan.find(", sensitivity=1.414213562373095"), std::string::npos)
      << found.release.plan;
}

TEST_F(Train, AModelFileBearsItsCostAndIsSigned) {
  const sotto::RunResult found = go(head + logistic);
  const SigningKey key = SigningKey::read((folder / "l.key").string());
  const std::string text = model_file(found.release, found.release.models[0], key);
  const ModelFile file = read_model_file(text);
  EXPECT_EQ(file.signer, key.public_key());
  EXPECT_NE(file.statement.find("differential privacy for each row"), std::string::npos);
  EXPECT_EQ(file.model.parameters, found.release.models[0].parameters);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"delta\":1e-06", "\"delta\":1e-09"},
        {"linear(", "linear( "},
        {"\"parameters\":[", "\"parameters\":[1,"}}) {
    std::string changed = text;
    ASSERT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_THROW((void)read_model_file(changed), InvalidValue) << from;
  }
  EXPECT_THROW((void)read_model_file("{}"), InvalidValue);
  EXPECT_THROW((void)read_model_file("nonsense"), InvalidValue);
  EXPECT_EQ(model_file_name("../../a b"), "------a-b.model.json");

  const Study study = study_in(head + logistic, folder);
  const auto predictions = predict(file, *engine(study), {.target = true});
  ASSERT_EQ(predictions.size(), 2000U);
  int right = 0;
  for (const Prediction& p : predictions) right += *p.right ? 1 : 0;
  EXPECT_GT(right, 1700);
}

TEST_F(Train, UntrainableModelsAreRefusedBeforeTheCharge) {
  const auto says = [&](const std::string& text) {
    try {
      const Study study = study_in(text, folder);
      (void)make_design(study, Ledger::open(place).terms());
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(says(head + "[[train]]\nname = \"m\"\nmodel = \"forest\"\ntarget = \"c\"\n")
                .find("`model` is one of: logistic"),
            std::string::npos);
  EXPECT_NE(says(head + "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"a\"\n")
                .find("has no values"),
            std::string::npos);
  EXPECT_NE(says(head + "[[train]]\nname = \"m\"\nmodel = \"linear\"\ntarget = \"c\"\n")
                .find("no bounds"),
            std::string::npos);
  EXPECT_NE(says(head + logistic + "features = [\"c\"]\n").find("cannot be a feature"),
            std::string::npos);
  EXPECT_NE(says(head + logistic + "features = [\"who\"]\n").find("needs bounds"),
            std::string::npos);
  EXPECT_NE(says(head + logistic + "method = \"moments\"\n").find("for model = \"linear\""),
            std::string::npos);
  EXPECT_NE(says(head + logistic + "batch = 100\n").find("zCDP"),
            std::string::npos);  // sampled, and the ledger counts ρ
  std::string without = head;
  without.replace(without.find("public_rows = 2000\n"), 19, "");
  EXPECT_NE(says(without + logistic).find("units = 10000"), std::string::npos);
  without = head;
  without.replace(without.find("delta = 1e-6\n"), 13, "delta = 0\n");
  EXPECT_NE(says(without + logistic).find("needs a δ"), std::string::npos);
}

}  // namespace
}  // namespace sotto
