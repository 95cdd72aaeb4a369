// Fits of rows that are handed over: one charge each, however often they are stopped.
#include "study/api/fit.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "core/api/stop.hpp"
#include "ledger/api/checkpoint.hpp"
#include "ledger/api/request.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

Examples rows() {
  std::mt19937_64 words(3);
  std::vector<double> values;
  std::vector<double> targets;
  for (int i = 0; i < 600; ++i) {
    const double x = static_cast<double>(words() % 2000) / 1000 - 1;
    values.push_back(x);
    targets.push_back(x > 0 ? 1 : 0);
  }
  return examples_of({values, 1, {{-1, 1}}, targets});
}

class FitOfRows : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-fit-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    (void)Ledger::create(place, {"fits", "row", Relation::add_remove, ZcdpBudget{3, 1e-5}});
  }
  void TearDown() override { fs::remove_all(folder); }

  [[nodiscard]] FitOptions asking(const std::string& request, bool keeps = true) const {
    return {.request = request, .checkpoints = keeps ? folder : fs::path(), .threads = 1};
  }
  // Until a step; -1: to the end. What it said, if it failed.
  std::string go(const FitTask& fit, const FitOptions& asked, int until = -1) {
    Ledger ledger = Ledger::open(place);
    steps.clear();
    reads = 0;
    try {
      found = sotto::fit(
          ledger, fit, asked,
          [&] {
            ++reads;
            return rows();
          },
          [&](std::int64_t step, std::int64_t) {
            steps.push_back(step);
            return step != until;
          });
      return "";
    } catch (const LedgerError& error) {
      return error.what();
    }
  }
  [[nodiscard]] std::size_t charges() const { return Ledger::open(place).entries().size(); }
  [[nodiscard]] std::vector<fs::path> checkpoints() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".checkpoint") files.push_back(entry.path());
    }
    return files;
  }

  const std::shared_ptr<const Model> model = make_model(LinearModel{1, {LossKind::logistic}});
  const Training training{.steps = 20,
                          .noise = 40,
                          .batch = 600,
                          .optimiser = {.kind = OptimiserKind::momentum, .size = 0.2}};
  const FitTask twenty{model, training};
  fs::path folder;
  std::string place;
  std::vector<std::int64_t> steps;
  int reads = 0;
  std::optional<Fitted> found;
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(FitOfRows, OneThatWasStoppedGoesOnUnderItsChargeAndTakesNoStepTwice) {
  EXPECT_TRUE(mentions(go(twenty, asking("a"), 7), "stopped at step 7 of 20"));
  EXPECT_TRUE(mentions(go(twenty, asking("a"), 12), "resumes from the last checkpoint"));
  EXPECT_EQ(steps.front(), 8);
  EXPECT_EQ(go(twenty, asking("a")), "");
  EXPECT_EQ(steps.front(), 13);
  EXPECT_EQ(steps.back(), 20);
  EXPECT_FALSE(found->repeated);
  const std::vector<double> parameters = found->parameters;
  EXPECT_EQ(go(twenty, asking("a")), "");
  EXPECT_TRUE(found->repeated);
  EXPECT_EQ(found->parameters, parameters);  // to the bit
  EXPECT_EQ(reads, 0);
  EXPECT_TRUE(steps.empty());
  EXPECT_TRUE(checkpoints().empty());
  EXPECT_EQ(charges(), 1U);
  EXPECT_EQ(Ledger::open(place).entries()[0].plan, print(plan_of(training)));
}

TEST_F(FitOfRows, OneThatWasKilledGoesOnUnderItsCharge) {
  for (int kill_at : {1, 20}) {
    const std::string request = "killed " + std::to_string(kill_at);
    const pid_t child = fork();
    if (child == 0) {
      Ledger ledger = Ledger::open(place);
      (void)sotto::fit(ledger, twenty, asking(request), rows, [&](std::int64_t step, std::int64_t) {
        if (step == kill_at) (void)kill(getpid(), SIGKILL);
        return true;
      });
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(go(twenty, asking(request)), "");
    // from the checkpoint before the first step, or from the one behind the last: nobody saw a step
    // between them
    if (kill_at == 1)
      EXPECT_EQ(steps.front(), 1);
    else
      EXPECT_TRUE(steps.empty());
  }
  EXPECT_EQ(charges(), 2U);
}

TEST_F(FitOfRows, WithoutCheckpointsOneThatWasStoppedIsClosed) {
  EXPECT_TRUE(mentions(go(twenty, asking("a", false), 7), "is closed and stays charged"));
  EXPECT_TRUE(mentions(go(twenty, asking("a", false)), "stays charged and is not run again"));
  EXPECT_TRUE(steps.empty());
  EXPECT_EQ(charges(), 1U);
}

TEST_F(FitOfRows, AnOlderCheckpointIsRefused) {
  EXPECT_NE(go(twenty, asking("a"), 7), "");
  const fs::path file = checkpoints().at(0);
  std::ifstream in(file, std::ios::binary);
  const std::string old{std::istreambuf_iterator<char>(in), {}};
  EXPECT_FALSE(mentions(old, "parameters"));  // sealed
  EXPECT_NE(go(twenty, asking("a"), 12), "");
  const fs::path last = checkpoints().at(0);
  std::ofstream(last, std::ios::binary | std::ios::trunc) << old;
  EXPECT_TRUE(mentions(go(twenty, asking("a")), "is not the one that the ledger marks"));
  EXPECT_TRUE(steps.empty());
}

TEST_F(FitOfRows, ARequestIsOfOneFit) {
  EXPECT_EQ(go(twenty, asking("a")), "");
  FitTask other = twenty;
  std::get<Training>(other.how).optimiser.size = 0.1;
  EXPECT_TRUE(mentions(go(other, asking("a")), "different content"));
  other = twenty;
  other.start = {1, 1};
  EXPECT_TRUE(mentions(go(other, asking("a")), "different content"));
  FitOptions elsewhere = asking("a");
  elsewhere.settings = "other bounds";
  EXPECT_TRUE(mentions(go(twenty, elsewhere), "different content"));
  EXPECT_EQ(charges(), 1U);
}

TEST_F(FitOfRows, AFurtherOneStartsWhereTheLastEnded) {
  // noise of 0.2 clipping norms in 600 units: it stays near where it starts
  FitTask near{model,
               Training{.steps = 1, .noise = 0.2, .batch = 600, .optimiser = {.size = 1e-6}},
               {3, -2}};
  const std::vector<double> parameters = learn(near, rows());
  EXPECT_NEAR(parameters[0], 3, 1e-5);
  EXPECT_NEAR(parameters[1], -2, 1e-5);
  EXPECT_EQ(plan_of(near), plan_of(std::get<Training>(near.how)));
  near.start = {1};
  EXPECT_THROW((void)learn(near, rows()), InvalidValue);
  EXPECT_THROW(
      (void)learn({model, SufficientStatistics{.width = 1, .norm = 2, .noise = 5}, {0, 0}}, rows()),
      InvalidValue);
  EXPECT_THROW((void)learn(twenty, rows(), 1, [](std::int64_t, std::int64_t) { return false; }),
               Stopped);
}

TEST_F(FitOfRows, MomentsAreMeasuredOnce) {
  const FitTask line{make_model(LinearModel{1, {LossKind::squared}}),
                     SufficientStatistics{.width = 1, .norm = 2, .noise = 5}};
  EXPECT_EQ(go(line, asking("line")), "");
  const std::vector<double> parameters = found->parameters;
  EXPECT_EQ(go(line, asking("line")), "");
  EXPECT_TRUE(found->repeated);
  EXPECT_EQ(found->parameters, parameters);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(FitOfRows, AFailureBeforeTheNoiseCostsNothing) {
  Ledger ledger = Ledger::open(place);
  EXPECT_THROW(
      (void)fit(ledger, twenty, asking("a"), []() -> Examples { throw InvalidValue("no rows"); }),
      InvalidValue);
  FitOptions nowhere = asking("a");
  nowhere.checkpoints = folder / "none";
  EXPECT_THROW((void)fit(ledger, twenty, nowhere, rows), LedgerError);
  EXPECT_EQ(charges(), 0U);
}

}  // namespace
}  // namespace sotto
