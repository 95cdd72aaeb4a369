// Models in a study's page and text: accuracy on public rows, weights, noise, and nothing about the
// private fit.
#include <gtest/gtest.h>

#include <cmath>

#include "../../../support/one_text.hpp"
#include "report/api/study.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

const std::string head =
    "[data]\nname = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\npublic_rows = 2000\n"
    "[columns.a]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n[columns.c]\ntype = "
    "\"boolean\"\nnull = \"drop\"\n"
    "[budget]\nepsilon = 2\ndelta = 1e-6\n[[query]]\nname = \"n\"\nask = \"count\"\n"
    "[[train]]\nname = \"m\"\nmodel = \"logistic\"\ntarget = \"c\"\nshare = 3\n";

struct Fixture {
  Terms terms{"people", "row", Relation::add_remove, ApproximateBudget{10, 1e-4}};
  Study study;
  Design design;
  Release release;

  explicit Fixture(const std::string& more = "")
      : study(study_in(head + more)), design(sotto::make_design(study, terms)) {
    release = {
        "r",  "2026-01-01T00:00:00Z", "",          "people", "1", "l",  "row",      "add-remove",
        0.95, print(design.plan),     design.cost, 1e-6,     2,   1e-6, study.text, {}};
    release.answers.push_back({"n",
                               Aggregation::count,
                               "",
                               {},
                               "",
                               "",
                               {{{}, std::nullopt, std::nullopt, std::nullopt, 5, 4, 6}}});
    TrainedModel model;
    model.name = "m";
    model.description = "linear(width=1, loss=logistic, classes=2)";
    model.target = "c";
    model.features = design.trainings[0].query.features;
    model.parameters = {1.5, -0.5};
    model.event = print(design.trainings[0].event);
    model.how = "80 steps";
    model.evaluation =
        PublicEvaluation{"open", "1", 1000, true, {{1, 0.7, 500}, {40, 0.5, 700}, {80, 0.4, 800}}};
    release.models.push_back(model);
  }
  [[nodiscard]] std::string page() const {
    Filter filter(terms.budget, terms.relation);
    const Charge cost = filter.admit(design.plan, design.at).cost;
    const LedgerState ledger{"l",
                             "2026-01-01T00:00:00Z",
                             terms,
                             filter,
                             {{1, "2026-01-01T00:00:10Z", "r", "c", print(design.plan), cost, "h"}},
                             {1, "abc"},
                             filter.claim(Delta(1e-4)),
                             4.0};
    return study_page({study, design, release, {}, ledger, "p.sotto", "9.8.7"});
  }
  [[nodiscard]] std::string text() const {
    return release_text(release, {1, "abc"}, {}, Format::table);
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(StudyModels, RightPredictionsOnPublicRowsHaveTheExactBinomialInterval) {
  // 800 of 1000: Clopper and Pearson's 95 % interval is [0.77383, 0.82437]
  // (scipy.stats.binomtest(800, 1000).proportion_ci())
  const std::string words =
      "right in 80 % of the 1000 public rows of \"open\" (77.38 to 82.44 % with 95 % confidence); "
      "mean loss 0.4";
  EXPECT_TRUE(holds(Fixture().text(), words)) << Fixture().text();
}

TEST(StudyModels, ThePageDrawsPublicLossRightPredictionsAndCostOverTheSteps) {
  const std::string page = Fixture().page();
  EXPECT_TRUE(holds(
      page, "The loss as it learned. The mean loss on the 1000 rows of “open”, which are public."));
  EXPECT_TRUE(holds(page, "Right predictions as it learned."));
  EXPECT_TRUE(holds(page, "ε as it learned."));
  EXPECT_TRUE(holds(page, "How well a model fits the private rows is shown nowhere"));
  Fixture without;
  without.release.models[0].evaluation.reset();
  EXPECT_FALSE(holds(without.page(), "The loss as it learned"));
  EXPECT_FALSE(holds(without.text(), "public rows"));
}

TEST(StudyModels, ThePageSaysHowNoisyTheWeightsAre) {
  const Fixture gradient;
  EXPECT_TRUE(holds(gradient.page(), "to each coordinate of the mean gradient"));
  EXPECT_TRUE(holds(gradient.page(), "<td>tight</td>"));
  EXPECT_TRUE(holds(gradient.page(), "<td>rdp</td>"));
  EXPECT_TRUE(holds(gradient.page(), "<td>closed form</td>"));
  EXPECT_TRUE(holds(Fixture("method = \"output\"\n").page(),
                    "Each weight has Gaussian noise of standard deviation"));
  EXPECT_TRUE(holds(Fixture("method = \"objective\"\n").page(), "A random line, whose slopes"));
  const std::string individual = Fixture("accounting = \"individual\"\n").page();
  EXPECT_TRUE(holds(
      individual,
      "So 100 steps were taken where an account of the worst case would have ended after 80"));
  EXPECT_TRUE(holds(individual, "Which units were left out, and when, is a secret of the data"));
}

TEST(StudyModels, TheCostTableListsModelsWithTheirShare) {
  const std::string page = Fixture("test = 0.2\n").page();
  EXPECT_TRUE(holds(page, "<td>75 %</td>"));
  EXPECT_TRUE(holds(page, "<td>25 %</td>"));  // the query's, of all
  EXPECT_TRUE(holds(page, "in each step the sum of the units’ gradients"));
  EXPECT_TRUE(holds(page, "in a private test</td>"));
}

TEST(StudyModels, TheErrorOfARegressionIsTheRootMeanSquare) {
  Fixture fixture;
  fixture.release.models[0].evaluation = PublicEvaluation{
      "open", "1", 10, false, {{.step = 1, .loss = 0.1, .right = 0, .squared_error = 9}}};
  EXPECT_TRUE(holds(fixture.text(),
                    "off by 3 (the root of the mean square) on the 10 public rows of \"open\""))
      << fixture.text();
  EXPECT_FALSE(holds(fixture.page(), "The loss as it learned"));  // one point is no curve
}

}  // namespace
}  // namespace sotto
