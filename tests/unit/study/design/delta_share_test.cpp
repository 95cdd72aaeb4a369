// A study that names no delta has its share of the ledger's, a refusal names what costs less, and
// older charges keep their plans.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "../../../support/one_text.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/outlook.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string people =
    "[data]\nname = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = "
    "\"row\"\n[columns.v]\ntype = \"real\"\nnull = \"drop\"\n";
const std::string count = "[[query]]\nname = \"n\"\nask = \"count\"\n";

Study asking(const std::string& budget, const std::string& queries = count,
             const fs::path& folder = "/tmp") {
  return study_in(people + "[budget]\n" + budget + queries, folder);
}
Terms terms(const Budget& budget, const fs::path& folder = "/tmp") {
  return {"people", "row", Relation::add_remove, budget, "row", (folder / "p.csv").string()};
}
bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ShareOfDelta, IsThatOfEpsilon) {
  const auto share = [](const Budget& budget, double epsilon) {
    return share_of_delta(budget, Relation::add_remove, epsilon, std::nullopt);
  };
  EXPECT_EQ(share(gaussian_budget(3, 1e-6), 1), 3.33e-7);
  EXPECT_EQ(share(gaussian_budget(1, 1e-9), 0.1), 1e-10);
  EXPECT_EQ(share(gaussian_budget(3, 1e-6), 3), 1e-6);
  EXPECT_EQ(share(gaussian_budget(3, 1e-6), 30), 1e-6);  // never more than all
  EXPECT_EQ(share(ApproximateBudget{2, 1e-6}, 0.5), 2.5e-7);
  EXPECT_EQ(share_of_delta(ZcdpBudget{0.5, 1e-6}, Relation::add_remove, std::nullopt, 0.05), 1e-7);
}

TEST(ShareOfDelta, IsAbsentIfTheLedgerHasNoDelta) {
  const auto share = [](const Budget& budget) {
    return share_of_delta(budget, Relation::add_remove, 0.1, std::nullopt);
  };
  EXPECT_FALSE(share(ApproximateBudget{1, 0}));
  EXPECT_FALSE(share(ZcdpBudget{1, 0}));
  EXPECT_FALSE(share(RenyiBudget{8, 1, 0}));
  EXPECT_FALSE(share(CommittedBudget{gaussian(5)}));
  EXPECT_FALSE(
      share_of_delta(gaussian_budget(3, 1e-6), Relation::add_remove, std::nullopt, std::nullopt));
}

TEST(StudyWithoutDelta, CostsWhatOneWithItsShareCosts) {
  const Terms ledger = terms(gaussian_budget(3, 1e-6));
  const Design found = make_design(asking("epsilon = 1\n"), ledger);
  const Design typed = make_design(asking("epsilon = 1\ndelta = 3.33e-7\n"), ledger);
  EXPECT_TRUE(found.shares_delta);
  EXPECT_FALSE(typed.shares_delta);
  EXPECT_EQ(print(found.plan), print(typed.plan));
  EXPECT_EQ(found.cost, typed.cost);
  EXPECT_EQ(found.total_delta->value(), 3.33e-7);
  EXPECT_EQ(percent_of_budget(ledger.budget, found.cost), "12.2 %");
}

TEST(StudyWithoutDelta, ZeroIsPureNoise) {
  const Design pure =
      make_design(asking("epsilon = 1\ndelta = 0\n"), terms(gaussian_budget(3, 1e-6)));
  EXPECT_EQ(print(pure.plan), "laplace(1)");
  EXPECT_FALSE(pure.shares_delta);
  EXPECT_EQ(pure.total_delta->value(), 0);
}

TEST(StudyWithoutDelta, LaplaceNoiseIsChargedNoDelta) {
  const std::string laplace = count + "noise = \"laplace\"\n";
  const Design found =
      make_design(asking("epsilon = 1\n", laplace), terms(ApproximateBudget{3, 1e-6}));
  EXPECT_EQ(print(found.plan), "laplace(1)");
  EXPECT_EQ(found.cost.delta, 0);
  EXPECT_FALSE(found.shares_delta);
}

TEST(StudyWithoutDelta, SharesOfASumNeverExceedIt) {
  const ApproximateBudget budget{1, 1e-6};
  Filter filter(budget, Relation::add_remove);
  for (int i = 0; i < 3; ++i) {
    const Design found = make_design(asking("epsilon = 0.3\n"), terms(budget));
    ASSERT_TRUE(filter.admit(found.plan, found.at)) << i;
  }
}

TEST(StudyWithoutDelta, PrivateKeysAndModelsNeedNotNameOne) {
  const std::string keys = "[columns.city]\ntype = \"text\"\nnull = \"drop\"\n";
  const std::string by_city =
      "[[query]]\nname = \"n\"\nask = \"count\"\nby = [\"city\"]\nkeys = \"private\"\n";
  EXPECT_TRUE(make_design(study_in(people + keys + "[budget]\nepsilon = 1\n" + by_city, "/tmp"),
                          terms(gaussian_budget(3, 1e-6)))
                  .shares_delta);
  EXPECT_TRUE(make_design(study_in(people + keys + "[budget]\nrho = 0.1\n" + by_city, "/tmp"),
                          terms(ZcdpBudget{1, 1e-6}))
                  .shares_delta);
  EXPECT_FALSE(make_design(asking("rho = 0.1\n"), terms(ZcdpBudget{1, 1e-6})).shares_delta);
}

class Thousand : public Engine {
 public:
  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return "people"; }
  Rows query(const std::string& /*sql*/, const Progress& /*progress*/) override {
    return Rows{1, {std::int64_t{1000}}};
  }
};

class ShareInALedger : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-share-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    (void)Ledger::create(place, terms(gaussian_budget(30, 1e-6), folder));
  }
  void TearDown() override { fs::remove_all(folder); }

  // Earlier releases charged Laplace noise for a study without delta.
  void charge_as_before(const Study& study, bool answers) {
    Study pure = study;
    pure.delta = 0;
    Ledger ledger = Ledger::open(place);
    const Design made = make_design(pure, ledger.terms());
    ASSERT_EQ(print(made.plan), "laplace(1)");
    (void)ledger.charge(request_id(study, ledger), digest(study.text), made.plan, made.at);
    if (!answers) return;
    answered = run(pure, made, ledger, [] { return std::make_unique<Thousand>(); }, {});
  }

  sotto::RunResult go(const Study& study, const RunOptions& which = {}) {
    Ledger ledger = Ledger::open(place);
    return run(
        study, design_for(study, ledger, which), ledger,
        [] { return std::make_unique<Thousand>(); }, which);
  }

  fs::path folder;
  std::string place;
  std::optional<sotto::RunResult> answered;
};

TEST_F(ShareInALedger, AnEarlierAnswerRepeatsWithEqualBytesAndNoCharge) {
  const Study study = asking("epsilon = 1\n", count, folder);
  charge_as_before(study, true);
  const sotto::RunResult found = go(study);
  EXPECT_TRUE(found.repeated);
  EXPECT_EQ(to_json(found.release), to_json(answered->release));
  const Ledger ledger = Ledger::open(place);
  EXPECT_EQ(ledger.entries().size(), 1U);
  EXPECT_EQ(print(design_for(study, ledger).plan), "laplace(1)");  // of the report
  EXPECT_TRUE(preview_charge(study, design_for(study, ledger), ledger, false).answered);
}

TEST_F(ShareInALedger, AnEarlierChargeRunsUnderItsPlan) {
  const Study study = asking("epsilon = 1\n", count, folder);
  charge_as_before(study, false);
  EXPECT_TRUE(
      preview_charge(study, design_for(study, Ledger::open(place)), Ledger::open(place), false)
          .charged);
  const sotto::RunResult found = go(study);
  EXPECT_FALSE(found.repeated);
  EXPECT_EQ(found.release.plan, "laplace(1)");
  EXPECT_EQ(Ledger::open(place).entries().size(), 1U);
  EXPECT_TRUE(
      mentions(go(study, {.again = true}).release.plan, "gaussian"));  // anew is a new charge
  const Ledger ledger = Ledger::open(place);
  EXPECT_TRUE(
      mentions(print(design_for(study, ledger, {.request = request_id(study, ledger) + "/2"}).plan),
               "gaussian"));
}

TEST_F(ShareInALedger, TheReleaseSaysWhereItsDeltaIsFrom) {
  const sotto::RunResult found = go(asking("epsilon = 1\n", count, folder));
  EXPECT_TRUE(found.release.shares_delta);
  EXPECT_EQ(found.release.delta, 3.33e-8);
  EXPECT_TRUE(read_release(to_json(found.release)).shares_delta);
  EXPECT_FALSE(go(asking("epsilon = 1\ndelta = 1e-8\n", count, folder)).release.shares_delta);
}

std::string refused(const Study& study, const fs::path& place) {
  Ledger ledger = Ledger::open(place.string());
  try {
    (void)run(study, design_for(study, ledger), ledger, [] { return std::make_unique<Thousand>(); },
              {});
  } catch (const BudgetRefused& error) {
    return error.what();
  }
  return "";
}

TEST_F(ShareInALedger, ARefusalNamesACheaperAlternative) {
  const fs::path small = folder / "small.sotto";
  (void)Ledger::create(small.string(), terms(gaussian_budget(3, 1e-6), folder));
  const Study pure = asking("epsilon = 1\ndelta = 0\n", count, folder);
  const std::string said = refused(pure, small);
  EXPECT_TRUE(mentions(
      said, "it takes 256 % of the budget, and 100 % of ε = 3 at δ = 1e-06 is left (mu^2 costs"))
      << said;
  EXPECT_TRUE(mentions(said, "with delta = 3.33e-07 and Gaussian noise it takes 12.2 %")) << said;
  const Ledger ledger = Ledger::open(small.string());
  EXPECT_TRUE(mentions(preview_charge(pure, design_for(pure, ledger), ledger, false).refusal,
                       "with delta = 3.33e-07 and Gaussian noise it takes 12.2 %"));
  (void)refused(asking("epsilon = 2\n", count, folder), small);  // admitted
  const std::string large = refused(asking("epsilon = 2.5\n", count, folder), small);
  EXPECT_TRUE(mentions(large, "; with epsilon = 2.1 it takes 51.3 %")) << large;
  EXPECT_EQ(refused(asking("epsilon = 2.1\n", count, folder), small), "");  // what it says is true
}

TEST_F(ShareInALedger, TheRemainingBudgetIsInPercentOfThePromise) {
  EXPECT_EQ(remaining_budget_text(Ledger::open(place).filter()), "100 % of ε = 30 at δ = 1e-06");
  EXPECT_EQ(remaining_budget_text(Filter(ApproximateBudget{1, 0})), "100 % of ε = 1");
  Filter sum(ApproximateBudget{1, 1e-6}, Relation::add_remove);
  (void)sum.admit(laplace(3));
  EXPECT_EQ(remaining_budget_text(sum), "66.6 % of ε = 1 at δ = 1e-06");
  for (int i = 0; i < 2; ++i) (void)sum.admit(laplace(3));
  EXPECT_EQ(remaining_budget_text(sum), "0 % of ε = 1 at δ = 1e-06");
  EXPECT_EQ(remaining_budget_text(Filter(CommittedBudget{3 * gaussian(5)}, Relation::add_remove)),
            "3 of 3 parts");
}

}  // namespace
}  // namespace sotto
