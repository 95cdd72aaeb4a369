// The state of a ledger as text and as a chart.
#include "report/api/ledger.hpp"

#include <gtest/gtest.h>

#include "core/api/json.hpp"
#include "report/api/svg.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

LedgerState state(const Budget& budget, const std::vector<Plan>& events,
                  const std::vector<std::string>& times) {
  Filter filter(budget, Relation::add_remove);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Decision decision = filter.admit(events[i]);
    EXPECT_TRUE(decision);
    entries.push_back({static_cast<std::int64_t>(i) + 1, times[i], "r" + std::to_string(i), "",
                       print(events[i]), decision.cost, ""});
  }
  LedgerState result{"id",
                     "2026-02-27T22:00:00Z",
                     {"people", "person", Relation::add_remove, budget},
                     filter,
                     entries,
                     {2, "hash"},
                     {},
                     0.25};
  result.promise = filter.claim(Delta(1e-6));
  return result;
}

const std::vector<std::string> days{"2026-02-28T22:00:00Z", "2026-03-02T10:00:00Z"};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LedgerText, PromisesTheBudgetAndShowsNothingLeftOnceItIsSpent) {
  LedgerState people = state(ApproximateBudget{3, 1e-5}, {pure(1), pure(2)}, days);
  people.promise = people.filter.claim(Delta(1e-5));
  const std::string text = ledger_text(people, Format::table);
  EXPECT_TRUE(mentions(text, "epsilon <= 3 (to 15 digits) at delta = 1e-05 (to 15 digits)"))
      << text;
  EXPECT_TRUE(mentions(text, "left        0 % of ε = 3 at δ = 1e-05 (epsilon 0, delta 1e-05)"))
      << text;
  const Decision refused = Filter(people.filter).admit(pure(0.5));
  EXPECT_TRUE(mentions(refused.reason, "nothing is left")) << refused.reason;
}

TEST(LedgerText, TheChartIsAStepFunctionBelowTheLimit) {
  const LedgerState people = state(ZcdpBudget{0.5, 0}, {zcdp(0.125), zcdp(0.25)}, days);
  const Chart chart = ledger_chart(people);
  ASSERT_EQ(chart.series.size(), 2U);
  const Series& spent = chart.series[0];
  EXPECT_EQ(spent.x, (std::vector<double>{0, 1, 1, 2.5, 2.5, 2.5}));  // over the end of February
  ASSERT_EQ(spent.y.size(), spent.x.size());
  const std::vector<double> heights{0, 0, 0.125, 0.125, 0.375, 0.375};
  for (std::size_t i = 0; i < heights.size(); ++i) EXPECT_NEAR(spent.y[i], heights[i], 1e-12) << i;
  EXPECT_GE(spent.y.back(), people.filter.spent().amount);
  EXPECT_EQ(chart.series[1].y,
            (std::vector<double>{people.filter.limit().amount, people.filter.limit().amount}));
  EXPECT_EQ(chart.x_label, "days since 2026-02-27T22:00:00Z");
  EXPECT_EQ(chart.y_label, "ρ");
  EXPECT_TRUE(mentions(svg(chart), "<path"));
}

TEST(LedgerText, TheTimeAxisFitsItsSpan) {
  const auto label = [](const std::string& last) {
    return ledger_chart(
               state(ZcdpBudget{0.5, 0}, {zcdp(0.125), zcdp(0.25)}, {"2026-02-27T22:00:00Z", last}))
        .x_label;
  };
  EXPECT_TRUE(mentions(label("2026-02-27T22:00:03Z"), "seconds since"));
  EXPECT_TRUE(mentions(label("2026-02-27T22:10:00Z"), "minutes since"));
  EXPECT_TRUE(mentions(label("2026-02-28T10:00:00Z"), "hours since"));
  EXPECT_EQ(label("some day"), "entries");
  EXPECT_NO_THROW((void)svg(ledger_chart(state(ZcdpBudget{0.5, 0}, {}, {}))));
}

TEST(LedgerText, TheTableHasThePromiseAndTheTightTotal) {
  const std::string text =
      ledger_text(state(ZcdpBudget{0.5, 0}, {zcdp(0.125), zcdp(0.25)}, days), Format::table);
  EXPECT_TRUE(mentions(
      text, "promise     epsilon <= 5.221535 at delta = 1e-06, however the analyst goes on\n"))
      << text;
  EXPECT_TRUE(mentions(text, "tight       epsilon <= 0.25 had these 2 been fixed in advance\n"))
      << text;
  EXPECT_TRUE(mentions(text, "[##############################..........] 75")) << text;
}

TEST(LedgerText, ShowsTheRestOfACommittedPlan) {
  const LedgerState some = state(CommittedBudget{parse("3 * gaussian(5) + laplace(3)")},
                                 {gaussian(5), laplace(3)}, days);
  const std::string text = ledger_text(some, Format::table);
  EXPECT_TRUE(mentions(text, "spent       2 of 4 parts\nleft        2 * gaussian(5)\n")) << text;
  const LedgerState all = state(CommittedBudget{gaussian(5)}, {gaussian(5)}, days);
  EXPECT_TRUE(mentions(ledger_text(all, Format::table), "left        nothing\n"));
}

TEST(LedgerText, JsonHasTheWholeState) {
  const auto json = Json::parse(ledger_text(
      state(ApproximateBudget{2, 1e-5}, {approx(0.5, 1e-6), pure(1)}, days), Format::json));
  EXPECT_EQ(json["schema"], "sotto.ledger-state/1");
  EXPECT_EQ(json["tight_if_fixed_in_advance"], 0.25);
  EXPECT_EQ(json["claim"]["epsilon"], "inf");  // δ is below the budget's
  EXPECT_NEAR(json["limit"]["amount"], 2, 1e-12);
  EXPECT_NEAR(json["left"]["amount"], 0.5, 1e-12);
  ASSERT_EQ(json["entries"].size(), 2U);
  EXPECT_NEAR(json["entries"][1]["total"]["amount"], 1.5, 1e-12);
  EXPECT_NEAR(json["entries"][1]["total"]["delta"], 1e-6, 1e-15);
  const auto plan = Json::parse(
      ledger_text(state(CommittedBudget{2 * gaussian(5)}, {gaussian(5)}, days), Format::json));
  EXPECT_EQ(plan["rest"], "gaussian(5)");
}

TEST(LedgerText, CsvHasTheEntries) {
  LedgerState people = state(ZcdpBudget{0.5, 0}, {zcdp(0.125), gaussian(5, 2)}, days);
  people.entries[0].request = "a, \"b\"";
  EXPECT_TRUE(mentions(ledger_text(people, Format::csv),
                       "1,2026-02-28T22:00:00Z,\"a, \"\"b\"\"\",zcdp(0.125),0.125"))
      << ledger_text(people, Format::csv);
}

}  // namespace
}  // namespace sotto
