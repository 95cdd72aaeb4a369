// Studies that several parties answer together: each on its own table, under its own ledger and
// currency.
#include "study/api/federated.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <thread>

#include "../../../support/federation.hpp"
#include "../../../support/local_relay.hpp"
#include "../../../support/one_text.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::LocalRelay;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

const std::string head =
    "title = \"Together\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = "
    "\"p.csv\"\npublic_rows = 2000\n"
    "[columns.a]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n[columns.b]\ntype = "
    "\"text\"\nnull = \"drop\"\nvalues = [\"x\", \"y\"]\n"
    "[columns.c]\ntype = \"boolean\"\nnull = \"drop\"\n"
    "[budget]\nepsilon = 5\ndelta = 1e-6\n";
const std::string questions =
    "[[query]]\nname = \"people\"\nask = \"count\"\nby = [\"b\"]\nshare = 0.1\n[[query]]\nname = "
    "\"level\"\nask = \"mean\"\nof = \"a\"\nshare = "
    "0.1\n";
const std::string model =
    "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"c\"\nunits = 2000\nsteps = 12\ntest "
    "= 0.25\n";

class Together : public ::testing::Test {
 protected:
  static constexpr std::size_t parties = 4;

  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-together-XXXXXX").string();
    folder = mkdtemp(name.data());
    std::mt19937_64 words(1);
    std::uniform_real_distribution<double> number(0, 10);
    const std::vector<Budget> budgets{ZcdpBudget{3, 1e-5}, GdpBudget{3, 1e-5},
                                      ApproximateBudget{6, 1e-5}, GdpBudget{3, 1e-5}};
    for (std::size_t p = 0; p < parties; ++p) {
      fs::create_directory(place(p));
      std::ofstream data(place(p) / "p.csv");
      data << "a,b,c\n";
      for (int i = 0; i < 500; ++i) {
        const double a = number(words);
        const bool x = words() % 2 == 0;
        x_count += x ? 1 : 0;
        a_sum += a;
        data << a << "," << (x ? "x" : "y") << "," << (a + (x ? 2 : -2) > 5 ? "true" : "false")
             << "\n";
      }
      (void)Ledger::create((place(p) / "l.sotto").string(),
                           {"people", "row", Relation::add_remove, budgets[p], "row",
                            (place(p) / "p.csv").string()});
      seeds.push_back(signing_seed());
    }
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }
  [[nodiscard]] fs::path place(std::size_t p) const {
    return folder / ("party-" + std::to_string(p));
  }

  [[nodiscard]] Session session_of(const std::string& text, std::int64_t spare = 0) const {
    Session base = testing::made_up_session(parties, 1, 3, 1, 64, seeds);
    base.title.clear();
    base.spare = spare;
    base.deadline = 5;
    return session_for(study_in(text, place(0)), Relation::add_remove, base);
  }

  // One party's life; what went wrong in it.
  std::string live(const SessionContext& context, LocalRelay& relay, std::size_t p,
                   const std::string& text, std::optional<sotto::RunResult>& found,
                   const Watcher& told = {}) {
    try {
      const Study study = study_in(text, place(p));
      Ledger ledger = Ledger::open((place(p) / "l.sotto").string());
      const auto primitives = real_primitives(64, seeds[p]);
      const PartySide side{context,
                           static_cast<std::int64_t>(p),
                           *primitives,
                           [&] { return relay.connect(); },
                           [&] {
                             Limits limits;
                             limits.duckdb = libduckdb;
                             limits.threads = 1;
                             return open_engine(study.source, stored_columns(study), limits);
                           },
                           {.checkpoints = place(p), .threads = 1},
                           told,
                           std::chrono::seconds(60)};
      found = run_federated(study, ledger, side);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  // Returns the runs of all parties in one session.
  std::vector<std::optional<sotto::RunResult>> live_all(const std::string& text) {
    const SessionContext context = sotto::context_of(parse_session(to_text(session_of(text))));
    std::vector<std::optional<sotto::RunResult>> runs(parties);
    LocalRelay relay(context);
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < parties; ++p) {
      threads.emplace_back([&, p] { EXPECT_EQ(live(context, relay, p, text, runs[p]), ""); });
    }
    for (auto& thread : threads) thread.join();
    return runs;
  }

  fs::path folder;
  std::vector<Bytes> seeds;
  double x_count = 0, a_sum = 0;
};

TEST_F(Together, EveryPartyGetsTheSameAnswersAndPaysInItsOwnCurrency) {
  const std::string text = head + questions + model;
  const SessionContext context = sotto::context_of(parse_session(to_text(session_of(text))));
  std::vector<std::optional<sotto::RunResult>> found(parties);
  {
    LocalRelay relay(context);
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < parties; ++p) {
      threads.emplace_back([&, p] { EXPECT_EQ(live(context, relay, p, text, found[p]), ""); });
    }
    for (auto& thread : threads) thread.join();
  }
  for (std::size_t p = 0; p < parties; ++p) ASSERT_TRUE(found[p]) << p;
  const Release& first = found[0]->release;
  EXPECT_LE(first.epsilon, 5);
  EXPECT_GT(first.epsilon, 4.9);
  const QueryAnswer& count = first.answers[0];
  ASSERT_EQ(count.estimates.size(), 2U);
  const double scale = parse(count.event).as<Gaussian>()->sigma.value() *
                       std::sqrt(4.0 / 2);  // four noises, of which two are sure
  EXPECT_NEAR(count.estimates[0].value, x_count, 6 * scale);
  EXPECT_NEAR(count.estimates[0].high - count.estimates[0].value, 1.96 * scale, 0.05 * scale);
  EXPECT_NEAR(first.answers[1].estimates[0].value, a_sum / 2000, 0.5);
  ASSERT_EQ(first.models.size(), 1U);
  EXPECT_GT(*first.models[0].accuracy, 0.75);
  for (std::size_t p = 1; p < parties; ++p) {
    const Release& other = found[p]->release;
    EXPECT_EQ(other.answers[0].estimates[0].value, count.estimates[0].value);
    EXPECT_EQ(other.models[0].parameters, first.models[0].parameters);
    EXPECT_EQ(other.plan, first.plan);
    const auto entries = Ledger::open((place(p) / "l.sotto").string()).entries();
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].plan, context.session.plan);
    EXPECT_EQ(other.federation->members.size(), 4U);
    EXPECT_TRUE(other.federation->missing.empty());
  }
  // asked again, the kept answer comes back, without a coordinator
  LocalRelay nobody(context);
  std::optional<sotto::RunResult> again;
  EXPECT_EQ(live(context, nobody, 1, text, again), "");
  EXPECT_TRUE(again->repeated);
}

TEST_F(Together, APartyThatIsStoppedAtAnyStepGoesOnUnderItsOneCharge) {
  const std::string text = head + questions + model;
  const SessionContext context = sotto::context_of(session_of(text));
  std::vector<std::optional<sotto::RunResult>> found(parties);
  LocalRelay relay(context);
  std::vector<std::thread> threads;
  for (std::size_t p = 1; p < parties; ++p) {
    threads.emplace_back([&, p] { EXPECT_EQ(live(context, relay, p, text, found[p]), ""); });
  }
  int lives = 0;
  double reached = 0;
  std::string why;
  while (!found[0] && lives < 40) {
    why = live(context, relay, 0, text, found[0], [&](const std::string&, double share) {
      if (share <= reached) return true;
      reached = share;
      return false;
    });
    ++lives;
  }
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(found[0]) << why;
  EXPECT_GT(lives, 3);
  EXPECT_EQ(Ledger::open((place(0) / "l.sotto").string()).entries().size(), 1U);
  EXPECT_EQ(found[0]->release.models[0].parameters, found[1]->release.models[0].parameters);
}

TEST_F(Together, APartyWhoseBoundsDifferIsRefusedBeforeItPays) {
  const std::string text = head + questions;
  const SessionContext context = sotto::context_of(session_of(text));
  std::string other = text;
  other.replace(other.find("[0, 10]"), 7, "[0, 20]");
  LocalRelay relay(context);
  std::optional<sotto::RunResult> found;
  EXPECT_NE(live(context, relay, 1, other, found).find("bounds"), std::string::npos);
  EXPECT_TRUE(Ledger::open((place(1) / "l.sotto").string()).entries().empty());
}

TEST_F(Together, UnsupportedFederatedStudiesAreRefusedWithARemedy) {
  EXPECT_THROW(session_of(head + "[[query]]\nname = \"n\"\nask = \"count\"\nnoise = \"laplace\"\n"),
               StudyError);
  EXPECT_THROW(
      session_of(
          head +
          "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"c\"\nmethod = \"output\"\n"),
      StudyError);
}

TEST_F(Together, NumbersAtHandAreSummedUnderEachPartysLedger) {
  Session session = testing::made_up_session(parties, 1, 3, 2, 64, seeds);
  session.deadline = 5;
  const SessionContext context = sotto::context_of(parse_session(to_text(session)));
  LocalRelay relay(context);
  std::vector<std::optional<SumsRun>> found(parties);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < parties; ++p) {
    threads.emplace_back([&, p] {
      try {
        Ledger ledger = Ledger::open((place(p) / "l.sotto").string());
        const auto primitives = real_primitives(64, seeds[p]);
        found[p] = run_sums({100.25, -1000}, ledger,
                            {context,
                             static_cast<std::int64_t>(p),
                             *primitives,
                             [&] { return relay.connect(); },
                             {},
                             {.checkpoints = place(p)}});
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t p = 0; p < parties; ++p) {
    ASSERT_TRUE(found[p]);
    ASSERT_EQ(found[p]->sums.size(), 1U);
    EXPECT_EQ(found[p]->sums, found[0]->sums);
    EXPECT_NEAR(found[p]->sums[0].numbers[0], 401, 6 * found[p]->sums[0].noise);
    EXPECT_NEAR(found[p]->sums[0].numbers[1], -4000, 6 * found[p]->sums[0].noise);
    EXPECT_NEAR(found[p]->sums[0].noise, 100 * std::sqrt(2.0), 1e-9);
    EXPECT_EQ(Ledger::open((place(p) / "l.sotto").string()).entries().size(), 1U);
  }
  Ledger ledger = Ledger::open((place(0) / "l.sotto").string());
  const auto primitives = real_primitives(64, seeds[0]);
  const PartySide side{
      context, 0, *primitives, [&] { return relay.connect(); }, {}, {.checkpoints = place(0)}};
  EXPECT_THROW(run_sums({1}, ledger, side), InvalidValue);
  EXPECT_THROW(run_sums({1, 1001}, ledger, side), InvalidValue);
  EXPECT_THROW(run_sums({1, NAN}, ledger, side), InvalidValue);
}

double variance_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number * number;
  return sum / static_cast<double>(numbers.size());
}

// Of 40,000 coordinates the variance is known to 0.7 %: five times that is 3.5 %, which chance
// exceeds once in two million; 3 % less noise is 6 %.
TEST_F(Together, TheNoiseOfASumIsThatOfAllItsMembers) {
  Session session = testing::made_up_session(parties, 1, 3, 40000, 64, seeds);
  const SessionContext context = sotto::context_of(session);
  LocalRelay relay(context);
  std::vector<std::optional<SumsRun>> found(parties);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < parties; ++p) {
    threads.emplace_back([&, p] {
      Ledger ledger = Ledger::open((place(p) / "l.sotto").string());
      const auto primitives = real_primitives(64, seeds[p]);
      found[p] = run_sums(std::vector<double>(40000), ledger,
                          {context,
                           static_cast<std::int64_t>(p),
                           *primitives,
                           [&] { return relay.connect(); },
                           {},
                           {.checkpoints = place(p)}});
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(found[0]);
  EXPECT_NEAR(variance_of(found[0]->sums[0].numbers) / (100 * 100 * 4 / 2.0), 1,
              0.035);  // four noises, each of σ²/h with h = 2
}

// Two thousand bins, of which one has all rows: the others' counts are the noise of four parties,
// each of σ²/h with h = 2. The deviation is seen to 1.6 %, and 5.5 times that is allowed: false
// alarm 4e-8.
TEST_F(Together, TheNoiseOfAnAnswerIsThatOfItsEvent) {
  for (std::size_t p = 0; p < parties; ++p) {
    std::ofstream data(place(p) / "p.csv");
    data << "a,b,c\n";
    for (int i = 0; i < 20; ++i) data << "0.001,x,true\n";
  }
  const std::string text =
      head + "[[query]]\nname = \"h\"\nask = \"histogram\"\nof = \"a\"\nstep = 0.005\n";
  const std::vector<std::optional<sotto::RunResult>> found = live_all(text);
  ASSERT_TRUE(found[0]);
  const QueryAnswer& answer = found[0]->release.answers[0];
  ASSERT_EQ(answer.estimates.size(), 2000U);
  std::vector<double> noise;
  for (std::size_t i = 1; i < answer.estimates.size(); ++i)
    noise.push_back(answer.estimates[i].value);
  const double sigma = parse(answer.event).as<Gaussian>()->sigma.value();
  EXPECT_NEAR(std::sqrt(variance_of(noise)) / (sigma * std::sqrt(4.0 / 2)), 1,
              5.5 / std::sqrt(2.0 * static_cast<double>(noise.size())));
}

// One step, and a feature for each of a thousand values that no row has: their weights are noise
// alone. The deviation is seen to 2.2 %, and 5.5 times that is allowed: false alarm 4e-8.
TEST_F(Together, TheNoiseOfAStepIsThatOfItsEvent) {
  constexpr std::size_t unused = 1000;
  std::string text = head;
  std::string values = "[\"x\", \"y\"";
  for (std::size_t i = 0; i < unused; ++i) values += ", \"v" + std::to_string(i) + "\"";
  text.replace(text.find("[\"x\", \"y\""), std::string("[\"x\", \"y\"").size(), values);
  text +=
      "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"c\"\nfeatures = [\"b\"]\nunits = "
      "2000\nsteps = 1\nclip = 0.5\nstep_size = 1\n";
  const std::vector<std::optional<sotto::RunResult>> found = live_all(text);
  ASSERT_TRUE(found[0]);
  const TrainedModel& learned = found[0]->release.models[0];
  ASSERT_EQ(learned.parameters.size(), unused + 3);
  const std::vector<double> noise(learned.parameters.begin() + 2, learned.parameters.end() - 1);
  const double multiplier = parse(learned.event).as<Gaussian>()->sigma.value();
  const double expected = multiplier * 0.5 * std::sqrt(4.0 / 2) / 2000;
  EXPECT_NEAR(std::sqrt(variance_of(noise)) / expected, 1, 5.5 / std::sqrt(2.0 * unused));
}

// Under replace-one a unit's gradient goes and another comes: twice the norm, in the items as in
// the plan.
TEST_F(Together, AReplacedUnitMovesASumByTwiceTheNorm) {
  const Study study = study_in(head + model + "clip = 0.5\n", place(0));
  const FederatedDesign replaced = federated_design(study, Relation::replace_one, {2, 1});
  EXPECT_EQ(replaced.items[0].sensitivity, 1);
  EXPECT_EQ(federated_design(study, Relation::add_remove, {2, 1}).items[0].sensitivity, 0.5);
  EXPECT_NE(print(replaced.plan).find(print(gaussian(replaced.items[0].sigma))), std::string::npos)
      << print(replaced.plan);
}

// An item's noise, in units of what one unit moves, is that of the event that the design charges
// for it.
TEST_F(Together, EveryItemHasTheNoiseOfItsEvent) {
  const Study study = study_in(head + questions + model + "clip = 0.5\n", place(0));
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const FederatedDesign found = federated_design(study, relation, {2, 0});
    const TrainDesign& training = found.design.trainings[0];
    const Plan step = training.event.as<Repeat>()->plan;
    const std::vector<Plan> events{
        found.design.measurements[0].event, found.design.measurements[1].event,
        step.as<Poisson>() != nullptr ? step.as<Poisson>()->plan : step, *training.test_event};
    ASSERT_EQ(found.items.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto& event = *events[i].as<Gaussian>();
      EXPECT_NEAR(found.items[i].sigma / found.items[i].sensitivity /
                      (event.sigma.value() / event.sensitivity.value()),
                  1, 1e-12)
          << i;
      EXPECT_EQ(share_of(found.items[i], 2).event(),
                gaussian(found.items[i].sigma, found.items[i].sensitivity));
      EXPECT_NE(print(found.plan).find(print(events[i])), std::string::npos) << print(found.plan);
    }
  }
}

TEST_F(Together, SpareRoundsAreInThePlan) {
  const Session plain = session_of(head + questions);
  const Session spare = session_of(head + questions, 2);
  EXPECT_NE(spare.plan, plain.plan);
  EXPECT_GT(epsilon(parse(spare.plan), Delta(1e-6), {}).value.lower,
            epsilon(parse(plain.plan), Delta(1e-6), {}).value.upper * 1.2);
}

// Checks, to the last bit, the sensitivity that a session states, for random bounds and values.
TEST(MeanOfUnits, OneUnitMovesTheHalvesByTheStatedSensitivity) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [lower, upper] : {std::pair{0.0, 100.0},
                                     {-40.0, 60.0},
                                     {0.0, 5e-324},
                                     {-1e-300, 1e-300},
                                     {-8e307, 8e307},
                                     {1e15, 1e15 + 2},
                                     {0.1, 0.3}}) {
    const SumItem item{.name = "mean",
                       .size = 2,
                       .sensitivity = 1,
                       .most = 1000,
                       .bounds = ValueBounds{lower, upper}};
    std::vector<double> others;
    for (int i = 0; i < 100; ++i) others.push_back(lower + (upper - lower) * (i * 7 % 100) / 99);
    const std::vector<double> without = halves_of(others, item);
    std::vector<double> shares;
    for (const double value : {lower, upper, lower / 2 + upper / 2, lower + (upper - lower) / 3,
                               -infinity, infinity, 0.0, 5e-324, -1e308, 1e308, 50.0}) {
      others.push_back(value);
      const std::vector<double> with = halves_of(others, item);
      others.pop_back();
      const double a = with[0] - without[0];
      const double b = with[1] - without[1];
      EXPECT_EQ(a + b, 1) << value;
      EXPECT_LE(a * a + b * b, 1) << value;
      shares.push_back(a);
    }
    for (const double one : shares) {
      for (const double two : shares) EXPECT_LE(2 * (one - two) * (one - two), 2);
    }
    EXPECT_EQ(shares[0], 0);
    EXPECT_EQ(shares[1], 1);
    EXPECT_EQ(shares[4], 0);
    EXPECT_EQ(shares[5], 1);
    EXPECT_EQ(halves_of({}, item), (std::vector<double>{0, 0}));
    EXPECT_THROW((void)halves_of(std::vector<double>(1001, lower), item), InvalidValue);
    EXPECT_THROW((void)halves_of({std::nan("")}, item), InvalidValue);
  }
}

// The interval's law, on sums with noise of known size; and few units, where it is the bounds.
TEST(MeanOfUnits, TheIntervalCoversTheMean) {
  Session session;
  session.items = {{.name = "mean",
                    .size = 2,
                    .sigma = 5,
                    .grid = -20,
                    .most = 1e6,
                    .bounds = ValueBounds{20, 120}}};
  int covered = 0;
  int counted = 0;
  constexpr int times = 2000;
  for (int i = 0; i < times; ++i) {
    std::vector<double> halves{250, 750};
    RoundedNoise(NoiseKind::gaussian, 5, -20).add(halves);
    const PartyMean found = *mean_of(session, {"mean", {"a", "b", "c"}, {}, halves, 5});
    covered += found.low <= 45 && 45 <= found.high ? 1 : 0;
    counted += found.count_low <= 1000 && 1000 <= found.count_high ? 1 : 0;
    EXPECT_LT(found.high - found.low, 3);
  }
  for (const int good : {covered, counted})
    EXPECT_NEAR(good, 0.95 * times, 6 * std::sqrt(0.95 * 0.05 * times));
  for (const auto& halves : {std::vector<double>{0, 0}, {-3, 2}, {2, -8}, {-1e9, 1e9}}) {
    const PartyMean few = *mean_of(session, {"mean", {"a", "b", "c"}, {}, halves, 5});
    EXPECT_TRUE(20 <= few.low && few.low <= few.mean && few.mean <= few.high && few.high <= 120)
        << few.mean;
    EXPECT_GE(few.count_low, 0);
  }
  session.items[0].bounds.reset();
  EXPECT_FALSE(mean_of(session, {"x", {"a"}, {}, {1, 2}, 5}));
}

}  // namespace
}  // namespace sotto
