// What a study is charged is what its noise costs, never more than it allows, and its errors are as
// asked.
#include "study/api/design.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../support/one_text.hpp"
#include "accounting/api/currencies.hpp"
#include "random_table.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/release.hpp"

namespace sotto {
namespace {

using namespace awkward;

std::string with_budget(std::string text, const std::string& budget) {
  const std::string old = "rho = 1\ndelta = 1e-6\n";
  return text.replace(text.find(old), old.size(), budget);
}

Plan sum_of(const Design& design) {
  std::vector<Plan> all;
  for (const Measurement& m : design.measurements) {
    all.push_back(m.event);
    if (m.search) all.push_back(m.search->selection.event());
  }
  Plan plan = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) plan = plan + all[i];
  return plan;
}

// Pr[release of 1 >= τ], for the noise that is sampled and rounded to its grid, from the law
// itself.
double shown_alone(const PartitionSelection& s) {
  const long double scale = s.counts().scale();
  const long double reach = static_cast<long double>(s.threshold()) - 1 - s.counts().grid() / 2;
  if (s.counts().event().as<Laplace>() != nullptr) {
    return static_cast<double>(reach <= 0 ? 1 - 0.5L * std::exp(reach / scale)
                                          : 0.5L * std::exp(-reach / scale));
  }
  return static_cast<double>(0.5L * std::erfc(reach / scale / std::sqrt(2.0L)));
}

void check(const Design& found, const Terms& terms, const std::string& text) {
  SCOPED_TRACE(text);
  for (const Measurement& m : found.measurements) {
    const auto* laplace = m.event.as<Laplace>();
    const auto* gaussian = m.event.as<Gaussian>();
    ASSERT_TRUE(laplace != nullptr || gaussian != nullptr);
    ASSERT_EQ(laplace != nullptr, m.kind == NoiseKind::laplace);
    const double claimed =
        laplace != nullptr ? laplace->sensitivity.value() : gaussian->sensitivity.value();
    ASSERT_GE(claimed, laplace != nullptr ? m.l1 : m.l2);
    // the noise that is drawn is the event's
    const Additive noise(m.event);
    ASSERT_EQ(noise.scale(), m.scale);
    ASSERT_EQ(print(noise.event()), print(m.event));
    if (!m.search) continue;
    const PartitionSelection& s = m.search->selection;
    const double unit = static_cast<double>(m.search->aggregate.groups_a_unit);
    ASSERT_LE(shown_alone(s), s.delta() / unit);
    ASSERT_GE(shown_alone(s), s.delta() / unit * 0.95);  // and no later than needed
    ASSERT_NE(print(s.event()).find("approx(0, "), std::string::npos);
  }
  // the charge is that of the plan, and the plan is the noise
  const Decision again = Filter(terms.budget, terms.relation).admit(sum_of(found), found.at);
  ASSERT_EQ(found.cost.amount, again.cost.amount);
  ASSERT_EQ(found.cost.delta, again.cost.delta);
  ASSERT_EQ(print(found.plan), print(sum_of(found)));
}

struct Ledgers {
  std::string name;
  Budget budget;
  std::vector<std::string> budgets;
};
const std::vector<Ledgers> kinds{
    {"zcdp",
     ZcdpBudget{100, 0.1},
     {"rho = 0.3\ndelta = 1e-6\n", "epsilon = 0.7\ndelta = 1e-6\n", "epsilon = 0.7\n"}},
    {"approx", ApproximateBudget{100, 0.1}, {"epsilon = 0.7\ndelta = 1e-6\n", "epsilon = 2\n"}},
    {"pure", ApproximateBudget{100, 0}, {"epsilon = 0.7\n"}},
    {"rdp", RenyiBudget{8, 100, 0.1}, {"epsilon = 0.7\ndelta = 1e-6\n", "epsilon = 0.7\n"}},
    {"gdp", GdpBudget{50}, {"epsilon = 0.7\ndelta = 1e-6\n"}},
    {"slack", GdpBudget{50, 1e-2}, {"epsilon = 0.7\ndelta = 1e-6\n", "epsilon = 0.7\n"}},
};

TEST(DesignProperty, TheChargeIsWhatTheNoiseCostsAndWithinTheStudysBudget) {
  int tried = 0;
  int searched = 0;
  for (const Ledgers& kind : kinds) {
    for (int i = 0; i < 30; ++i) {
      Dice dice(static_cast<std::uint64_t>(i) * 31 + kind.name.size());
      const std::string& budget = kind.budgets[static_cast<std::size_t>(i) % kind.budgets.size()];
      const bool has_delta = budget.find("delta") != std::string::npos;
      const bool is_private = has_delta && kind.name != "gdp" && one_in(dice, 3);
      const Asked asked =
          random_study(dice, namings[0], one_in(dice, 3), one_in(dice, 4), is_private);
      const Terms terms{"people", "person",
                        any(dice, std::vector<Relation>{Relation::add_remove, Relation::replace_one,
                                                        Relation::zero_out}),
                        kind.budget};
      const Study study = study_in(with_budget(asked.text, budget), "/");
      std::optional<Design> found;
      try {
        found = make_design(study, terms);
      } catch (const StudyError& error) {
        ASSERT_NE(std::string(error.what()).find("parts"), std::string::npos) << error.what();
        continue;
      }
      ++tried;
      check(*found, terms, kind.name + "\n" + study.text);
      if (HasFatalFailure()) return;
      for (const Measurement& m : found->measurements) searched += m.search ? 1 : 0;
      if (study.rho) {
        EXPECT_LE(found->cost.amount, *study.rho * (1 + 1e-14)) << study.text;
        EXPECT_GE(found->cost.amount, *study.rho * 0.999) << study.text;
        EXPECT_LE(found->cost.delta, *study.delta);
      } else {
        if (kind.name == "slack") {  // its share of each
          EXPECT_LE(found->cost.delta / 1e-2, 2 * found->cost.amount / 2500) << study.text;
        }
        // what the whole costs, asked of the accountant anew
        const Delta at = found->shares_delta ? *found->total_delta : Delta(study.delta.value_or(0));
        EXPECT_TRUE(!found->shares_delta || at.value() <= promised_delta(kind.budget).value())
            << study.text;
        const Answer total =
            epsilon(found->plan, at, {Method::tight, std::nullopt, terms.relation, std::nullopt});
        EXPECT_LE(total.value.upper, *study.epsilon * (1 + 1e-14)) << study.text;
        EXPECT_GE(total.value.upper, *study.epsilon * 0.99) << study.text;
      }
    }
  }
  EXPECT_GE(tried, 120);
  EXPECT_GE(searched, 20);
}

const std::string head =
    "[data]\nname = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\n[columns.v]\ntype = "
    "\"real\"\nnull = { value = 0 }\nbounds = [-10, 30]\n"
    "[columns.k]\ntype = \"text\"\nnull = \"drop\"\nvalues = [\"a\", \"b\"]\n";
std::string query(const std::string& name, const std::string& ask, const std::string& more) {
  return "[[query]]\nname = \"" + name + "\"\nask = \"" + ask + "\"\n" +
         (ask == "count" || ask == "distinct" ? "" : "of = \"v\"\n") + more;
}

double margin(const Study& study, const Design& found, std::size_t q) {
  for (const Measurement& m : found.measurements) {
    if (std::find(m.queries.begin(), m.queries.end(), q) == m.queries.end()) continue;
    // far above 0, so that nothing is cut off
    const QueryAnswer a =
        answer(study, study.queries[q], m, m.aggregate.groups,
               std::vector<double>(m.aggregate.groups.size() * numbers_of_group(m), 1e12));
    return (a.estimates[0].high - a.estimates[0].low) / 2;
  }
  return -1;
}

TEST(DesignProperty, NumbersThatDoNotFitAMeasurementAreRefused) {
  const Study study =
      study_in(head + "[budget]\nepsilon = 1\n" + query("q", "histogram", "step = 2\n"), "/");
  const Design found = make_design(study, {"people", "row", Relation::add_remove, kinds[0].budget});
  const Measurement& m = found.measurements.at(0);
  const std::size_t all = m.aggregate.groups.size() * numbers_of_group(m);
  for (const std::size_t size : {std::size_t{0}, all - 1, all + 1}) {
    EXPECT_THROW((void)answer(study, study.queries[0], m, m.aggregate.groups,
                              std::vector<double>(size, 1.0)),
                 InvalidValue)
        << size;
  }
}

TEST(DesignProperty, AnErrorThatIsAskedForIsMet) {
  for (const Ledgers& kind : kinds) {
    for (const std::string noise : {"", "noise = \"laplace\"\n", "noise = \"gaussian\"\n"}) {
      if (kind.name == "pure" && noise.find("gauss") != std::string::npos) continue;
      for (const std::string ask : {"count", "sum", "histogram"}) {
        const std::string budget =
            std::get_if<ApproximateBudget>(&kind.budget) != nullptr
                ? "[budget]\nepsilon = 50\n" +
                      std::string(kind.name == "pure" ? "" : "delta = 1e-6\n")
                : "";
        const Study study = study_in(head + budget + query("q", ask, "error = 50\n" + noise), "/");
        const Design found =
            make_design(study, {"people", "row", Relation::add_remove, kind.budget});
        check(found, {"people", "row", Relation::add_remove, kind.budget}, kind.name);
        EXPECT_LE(margin(study, found, 0), 50 * (1 + 1e-9)) << kind.name << ask << noise;
        EXPECT_GE(margin(study, found, 0), 49.9) << kind.name << ask << noise;
      }
    }
  }
}

TEST(DesignProperty, EveryErrorIsMetWhereOneMeasurementServesSeveral) {
  for (const std::string noise : {"laplace", "gaussian"}) {
    for (const double of_count : {0.5, 1.0, 1.3, 1.6, 2.0, 4.0}) {
      const std::string n = "noise = \"" + noise + "\"\n";
      const Study study =
          study_in(head + query("n", "count", "error = " + shortest(of_count) + "\n" + n) +
                       query("s", "sum", "error = 30\n" + n) + query("v", "variance", n),
                   "/");
      const Design found =
          make_design(study, {"people", "row", Relation::add_remove, ZcdpBudget{1e6, 0}});
      ASSERT_EQ(found.measurements.size(), 1U);
      EXPECT_LE(margin(study, found, 0), of_count * (1 + 1e-9)) << noise;
      EXPECT_LE(margin(study, found, 1), 30 * (1 + 1e-9)) << noise << " " << of_count;
      EXPECT_TRUE(margin(study, found, 0) > of_count * 0.99 || margin(study, found, 1) > 29.7);
    }
  }
}

TEST(DesignProperty, TheCheaperNoiseIsTaken) {
  for (const Ledgers& kind : kinds) {
    if (kind.name == "pure" || kind.name == "gdp") continue;
    for (const std::string by : {"", "by = [\"k\"]\n"}) {
      for (const std::string ask : {"count", "histogram"}) {
        const std::string budget =
            kind.name == "approx" ? "[budget]\nepsilon = 50\ndelta = 1e-6\n" : "";
        const Terms terms{"people", "row", Relation::replace_one, kind.budget};
        const auto cost = [&](const std::string& noise) {
          return make_design(
                     study_in(head + budget + query("q", ask, "error = 20\n" + by + noise), "/"),
                     terms)
              .cost.amount;
        };
        EXPECT_LE(
            cost(""),
            std::min(cost("noise = \"laplace\"\n"), cost("noise = \"gaussian\"\n")) * (1 + 1e-12))
            << kind.name << ask << by;
      }
    }
  }
}

TEST(DesignProperty, QueriesThatNameDifferentNoisesAreMeasuredApart) {
  const Study study =
      study_in(head + "[budget]\nrho = 1\n" + query("a", "count", "noise = \"laplace\"\n") +
                   query("b", "count", "noise = \"gaussian\"\n") + query("c", "count", ""),
               "/");
  const Design found =
      make_design(study, {"people", "row", Relation::add_remove, ZcdpBudget{5, 0}});
  ASSERT_EQ(found.measurements.size(), 2U);
  EXPECT_EQ(found.measurements[0].kind, NoiseKind::laplace);
  EXPECT_EQ(found.measurements[1].kind, NoiseKind::gaussian);
}

TEST(DesignProperty, ACommittedPlanAdmitsTheStudyItWasMadeFor) {
  for (const std::string noise : {"laplace", "gaussian"}) {
    const Study study =
        study_in(head + query("q", "count", "error = 20\nnoise = \"" + noise + "\"\n") +
                     query("s", "sum", "error = 90\nwhere = \"v > 1\"\n"),
                 "/");
    const Plan plan =
        make_design(study, {"people", "row", Relation::add_remove, ZcdpBudget{5, 0}}).plan;
    const Terms terms{"people", "row", Relation::add_remove, CommittedBudget{plan}};
    const Design found = make_design(study, terms);
    EXPECT_EQ(print(found.plan), print(plan));
    EXPECT_TRUE(Filter(terms.budget, terms.relation).admit(found.plan).admitted);
    EXPECT_EQ(found.cost.amount, 2);
  }
}

TEST(DesignProperty, ShareIsFollowed) {
  const Study study = study_in(head + "[budget]\nrho = 1\n" +
                                   query("a", "count", "share = 3\nnoise = \"gaussian\"\n") +
                                   query("b", "count", "where = \"v > 0\"\nnoise = \"gaussian\"\n"),
                               "/");
  const Design found =
      make_design(study, {"people", "row", Relation::add_remove, ZcdpBudget{5, 0}});
  ASSERT_EQ(found.measurements.size(), 2U);
  EXPECT_NEAR(found.measurements[1].scale / found.measurements[0].scale, std::sqrt(3.0), 1e-5);
}

}  // namespace
}  // namespace sotto
