// The guarantees of a ledger, each with an attack on it, in a file and in a database.
#include "sotto/ledger/ledger.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/currencies.hpp"
#include "ledger/chain/text.hpp"
#include "places.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

INSTANTIATE_TEST_SUITE_P(In, AnyLedger, ::testing::Values(Kind::file, Kind::database), kind_name);

TEST_P(AnyLedger, ChargesAddUpAcrossOpenings) {
  (void)fresh();
  for (int i = 0; i < 4; ++i)
    open_ledger(place()).charge("q" + std::to_string(i), "", gaussian(4));  // ρ = 1/32 each
  const Ledger ledger = open_ledger(place());
  EXPECT_DOUBLE_EQ(ledger.filter().spent().amount, 0.125);
  EXPECT_EQ(ledger.entries().size(), 4U);
  EXPECT_EQ(ledger.terms().unit, "person");
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
}

TEST_P(AnyLedger, TenTenthsFillTheBudgetExactly) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  for (int i = 0; i < 10; ++i) ledger.charge("q" + std::to_string(i), "", pure(0.1));
  EXPECT_THROW(ledger.charge("one more", "", pure(1e-9)), BudgetRefused);
  EXPECT_EQ(ledger.entries().size(), 10U);
}

// Ten studies, with key selection, and two trainings, the noise of each chosen by the answers so
// far (here: by what its index hashes to), under one promise of (3, 1e-6).
TEST_P(AnyLedger, OneBudgetCoversTenStudiesAndTwoTrainings) {
  Ledger ledger = fresh(GdpBudget{gdp_budget_mu(3, 1e-6, 1e-7), 1e-7});
  EXPECT_LE(ledger.filter().claim(Delta(1e-6)).epsilon, 3);
  for (int i = 0; i < 10; ++i) {
    const double sigma = digest(std::to_string(i))[0] < '8' ? 18 : 22;
    const Plan study = i % 3 == 0   ? gaussian(sigma) + gaussian(2 * sigma) + approx(0, 2e-9)
                       : i % 3 == 1 ? 2 * gaussian(sigma)
                                    : laplace(3 * sigma);
    EXPECT_FALSE(ledger.charge("study " + std::to_string(i), "", study).repeated);
    if (i == 4 || i == 9) {
      const Plan training = parse(sigma == 18 ? "2000 * poisson(0.0064, gaussian(1))"
                                              : "1500 * poisson(0.0064, gaussian(0.9))");
      EXPECT_FALSE(ledger.charge("training " + std::to_string(i), "", training).repeated);
      EXPECT_TRUE(ledger.charge("training " + std::to_string(i), "", training).repeated);
    }
  }
  EXPECT_EQ(ledger.entries().size(), 12U);
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
  EXPECT_EQ(import_ledger(place("copy"), ledger.export_text()).export_text(), ledger.export_text());
  EXPECT_GT(ledger.filter().spent().delta,
            6e-9);  // the searches', and the shares of what is not Gaussian
  EXPECT_LE(ledger.filter().spent().delta, 1e-7);
  // Every other currency with the same guarantee refuses some of them.
  for (const Budget& budget : budgets_for(3, 1e-6, 1e-7)) {
    double parts = 0;
    bool all = true;
    for (const Entry& entry : ledger.entries()) {
      const auto part = budget_fraction(budget, Relation::add_remove, parse(entry.plan));
      all = all && part.has_value();
      parts += part.value_or(0);
    }
    EXPECT_EQ(all && parts <= 1, std::holds_alternative<GdpBudget>(budget))
        << currency_name(budget) << " " << parts;
  }
}

TEST_P(AnyLedger, ARepeatedRequestMustHaveTheSameSlack) {
  Ledger ledger = fresh(GdpBudget{2, 1e-7});
  const Plan training = parse("500 * poisson(0.01, gaussian(1))");
  const Receipt first = ledger.charge("training", "", training, Delta(1e-8));
  EXPECT_EQ(first.entry.cost.delta, 1e-8);
  EXPECT_TRUE(ledger.charge("training", "", training, Delta(1e-8)).repeated);
  EXPECT_TRUE(ledger.charge("training", "", training).repeated);
  EXPECT_THROW(ledger.charge("training", "", training, Delta(1e-9)), LedgerError);
  EXPECT_FALSE(
      ledger.charge("noise", "", gaussian(3), Delta(1e-8)).repeated);  // which needs none of it
  EXPECT_TRUE(ledger.charge("noise", "", gaussian(3), Delta(1e-8)).repeated);
  EXPECT_EQ(ledger.filter().spent().delta, 1e-8);
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
}

TEST_P(AnyLedger, ARefusalNamesACheaperCurrency) {
  Ledger ledger = fresh(GdpBudget{gdp_budget_mu(1, 1e-6, 1e-7), 1e-7});
  try {
    ledger.charge("laplace", "", laplace(1.25));
    FAIL();
  } catch (const BudgetRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("counts epsilon would take it for"),
              std::string::npos)
        << refused.what();
  }
}

TEST_P(AnyLedger, ARefusedEventCostsNothingAndReportsTheShortfall) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  ledger.charge("first", "", pure(0.75));
  try {
    ledger.charge("second", "", pure(0.5));
    FAIL();
  } catch (const BudgetRefused& refused) {
    EXPECT_NEAR(refused.missing().amount, 0.25, 1e-12);
    EXPECT_NE(std::string(refused.what()).find("0.25"), std::string::npos) << refused.what();
  }
  EXPECT_DOUBLE_EQ(ledger.filter().spent().amount, 0.75);
  EXPECT_FALSE(ledger.charge("second", "", pure(0.25)).repeated);
}

TEST_P(AnyLedger, ARequestIsChargedOnceAndItsContentCannotChange) {
  Ledger ledger = fresh();
  EXPECT_FALSE(ledger.charge("study", digest("text"), gaussian(4)).repeated);
  EXPECT_TRUE(ledger.charge("study", digest("text"), gaussian(4)).repeated);
  EXPECT_EQ(ledger.entries().size(), 1U);
  EXPECT_THROW(ledger.charge("study", digest("other text"), gaussian(4)), LedgerError);
  EXPECT_THROW(ledger.charge("study", digest("text"), gaussian(0.1)),
               LedgerError);  // nor what it may run
}

TEST_P(AnyLedger, ADuplicateInABatchIsChargedOnce) {
  Ledger ledger = fresh();
  const std::vector<Receipt> receipts =
      ledger.charge({{"a", "", gaussian(4)}, {"b", "", gaussian(4)}, {"a", "", gaussian(4)}});
  EXPECT_FALSE(receipts.at(0).repeated);
  EXPECT_TRUE(receipts.at(2).repeated);
  EXPECT_EQ(receipts.at(2).entry.number, 1);
  EXPECT_EQ(ledger.entries().size(), 2U);
  EXPECT_THROW(ledger.charge({{"c", "", gaussian(4)}, {"c", "", gaussian(3)}}), LedgerError);
  EXPECT_EQ(ledger.entries().size(), 2U);
  EXPECT_TRUE(ledger.verify().sound);
}

// The ledger stores every bit of a cost.
TEST_P(AnyLedger, NumbersRoundTrip) {
  Ledger ledger = fresh(ApproximateBudget{1e300, 0.5});
  std::vector<Charge> costs;
  for (const double e :
       {0.1, 1.0 / 3, 5e-324, 1e-310, 0x1.fffffffffffffp-3, 123456789.123456789, 1e22, 3e299}) {
    costs.push_back(
        ledger.charge(std::to_string(costs.size()), "", approx(e, e < 1 ? e / 100 : 1e-9))
            .entry.cost);
  }
  const Ledger again = open_ledger(place());
  for (std::size_t i = 0; i < costs.size(); ++i)
    EXPECT_EQ(again.entries().at(i).cost, costs[i]) << i;
  EXPECT_TRUE(again.verify().sound) << again.verify().words;
}

TEST_P(AnyLedger, AnAnswerIsStoredOnceAndOnlyForACharge) {
  Ledger ledger = fresh();
  EXPECT_THROW(ledger.keep_answer("study", "42"), LedgerError);
  ledger.charge("study", "", gaussian(4));
  EXPECT_EQ(ledger.answer("study"), std::nullopt);
  ledger.begin("study");
  ledger.keep_answer("study", "42");
  EXPECT_EQ(open_ledger(place()).answer("study"), "42");
  EXPECT_THROW(ledger.keep_answer("study", "43"), LedgerError);
}

TEST_P(AnyLedger, ABatchOfChargesIsAtomic) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  EXPECT_THROW(ledger.charge({{"a", "", pure(0.5)}, {"b", "", pure(0.75)}}), BudgetRefused);
  EXPECT_TRUE(ledger.entries().empty());
  ledger.charge({{"a", "", pure(0.5)}, {"b", "", pure(0.5)}});
  EXPECT_EQ(ledger.entries().size(), 2U);
  EXPECT_TRUE(ledger.charge(std::vector<Ledger::ChargeRequest>{}).empty());
}

// The charges are one transaction. A sum in doubles would lose those below half a unit in the last
// place of the total.
TEST_P(AnyLedger, ManyTinyChargesAddUp) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  ledger.charge("most", "", pure(1 - 0x1p-30));
  std::vector<Ledger::ChargeRequest> orders;
  for (int i = 0; i < 5'000; ++i)
    orders.push_back({"tiny " + std::to_string(i), "", pure(0x1p-54)});
  ledger.charge(orders);
  EXPECT_GE(ledger.filter().spent().amount, 1 - 0x1p-30 + 5'000 * 0x1p-54);
  EXPECT_TRUE(ledger.verify().sound);
}

// Each question depends on the answers so far. The admitted charges stay within the budget.
TEST_P(AnyLedger, AnAdaptiveAnalystStaysWithinTheBudget) {
  Ledger ledger = fresh(ZcdpBudget{0.5, 0});
  double next = 0.001;
  double admitted = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      ledger.charge("q" + std::to_string(i), "", zcdp(next));
      admitted += next;
      next *= i % 3 == 0 ? 2.5 : 0.9;  // bolder after luck
    } catch (const BudgetRefused&) {
      next /= 2;
    }
  }
  EXPECT_LE(admitted, 0.5 * (1 + 1e-12));
  EXPECT_GT(admitted, 0.499);
  EXPECT_GE(ledger.filter().claim(Delta(1e-6)).epsilon,
            epsilon(zcdp(0.5), Delta(1e-6)).value.upper * (1 - 1e-9));
}

TEST_P(AnyLedger, EightProcessesNeverGetMoreThanTheBudget) {
  (void)fresh(ApproximateBudget{20, 0});
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      int got = 0;
      try {
        Ledger ledger = open_ledger(place());
        for (int i = 0; i < 6; ++i) {
          try {
            ledger.charge(std::to_string(getpid()) + "-" + std::to_string(i), "", pure(1));
            ++got;
          } catch (const BudgetRefused&) {
          }
        }
      } catch (const std::exception&) {
        _exit(100);
      }
      _exit(got);
    }
    children.push_back(child);
  }
  int total = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), 100);
    total += WEXITSTATUS(status);
  }
  EXPECT_EQ(total, 20);
  EXPECT_EQ(open_ledger(place()).entries().size(), 20U);
  EXPECT_TRUE(open_ledger(place()).verify().sound);
}

TEST_P(AnyLedger, AnotherRelationIsRefused) {
  Ledger ledger = fresh();
  EXPECT_THROW(ledger.charge("a", "", randomized_response(0.75)), OutsideConditions);
  EXPECT_TRUE(ledger.entries().empty());
  EXPECT_THROW(
      create_ledger(place("x"), {"people", "person", Relation::as_stated, ZcdpBudget{1, 0}}),
      InvalidValue);
  EXPECT_THROW(
      create_ledger(place("x"), {"people", "person", Relation::add_remove, ZcdpBudget{-1, 0}}),
      InvalidValue);
}

TEST_P(AnyLedger, TamperingIsDetected) {
  Ledger ledger = fresh();
  for (int i = 0; i < 5; ++i) ledger.charge("q" + std::to_string(i), "", gaussian(4));
  EXPECT_TRUE(ledger.verify(ledger.head()).sound);
  int round = 0;
  for (const char* change :
       {"UPDATE entry SET plan='gaussian(400)' WHERE number=3",
        "UPDATE entry SET cost=0.0001 WHERE number=2",
        "UPDATE entry SET amount='0x0p+0 0x0p+0 0x0p+0' WHERE number=5",
        "UPDATE entry SET request='other' WHERE number=1", "DELETE FROM entry WHERE number=3",
        "UPDATE founding SET budget='zcdp(50, 1e-06)'",
        "UPDATE entry SET time='2020-01-01T00:00:00Z' WHERE number=4",
        "UPDATE founding SET unit='row'"}) {
    const std::string name = "copy" + std::to_string(++round);
    EXPECT_TRUE(import_ledger(place(name), ledger.export_text()).verify().sound);
    places().tamper(name, change);
    EXPECT_FALSE(is_sound(place(name))) << change;
  }
  const Head head = ledger.head();
  places().tamper("budget", "DELETE FROM entry WHERE number=5");
  EXPECT_TRUE(open_ledger(place()).verify().sound);  // by itself it is a ledger
  EXPECT_FALSE(open_ledger(place()).verify(head).sound);
}

TEST_P(AnyLedger, RefusesUpdatesAndDeletions) {
  Ledger ledger = fresh();
  ledger.charge("a", "", gaussian(4));
  ledger.begin("a");
  ledger.keep_answer("a", "1");
  for (const char* change :
       {"UPDATE entry SET cost=0", "DELETE FROM entry", "UPDATE answer SET answer='2'",
        "DELETE FROM answer", "UPDATE founding SET budget='zcdp(50, 0)'"}) {
    EXPECT_THROW(places().execute("budget", change), std::runtime_error) << change;
  }
}

TEST_P(AnyLedger, ExportAndImportRoundTrip) {
  Ledger ledger = fresh();
  ledger.charge("a", "c", gaussian(4));
  ledger.charge("b", "", 10 * laplace(20));
  ledger.begin("a");
  ledger.keep_answer("a", "forty-two \"quoted\"");
  const std::string text = ledger.export_text();
  const Ledger copy = import_ledger(place("copy"), text);
  EXPECT_EQ(copy.export_text(), text);
  EXPECT_EQ(copy.head().hash, ledger.head().hash);
  EXPECT_EQ(copy.answer("a"), "forty-two \"quoted\"");
  std::string changed = text;
  changed.replace(changed.find("gaussian(4)"), 11, "gaussian(9)");
  EXPECT_THROW(import_ledger(place("bad"), changed), LedgerError);
  EXPECT_THROW((void)open_ledger(place("bad")), LedgerError);  // nothing was made
  EXPECT_THROW(import_ledger(place("bad"), "nonsense"), LedgerError);
  EXPECT_THROW(import_ledger(place("copy"), text), LedgerError);  // exists
  EXPECT_EQ(open_ledger(place("copy")).export_text(), text);
  Places files(Kind::file);  // and from either kind to a file
  EXPECT_EQ(import_ledger(files.place(), text).export_text(), text);
}

// --- Tight costs ---

TEST_P(AnyLedger, AnEventIsChargedItsTightEpsilonAtItsDelta) {
  Ledger ledger = fresh(ApproximateBudget{2, 1e-5});
  const Plan event = parse("gaussian(5) + laplace(3)");
  EXPECT_THROW(ledger.charge("a", "", event), OutsideConditions);
  const Receipt receipt = ledger.charge("a", "", event, Delta(1e-6));
  EXPECT_EQ(
      receipt.entry.cost,
      (Charge{epsilon(event, Delta(1e-6), {.relation = Relation::add_remove}).value.upper, 1e-6}));
  EXPECT_TRUE(ledger.charge("a", "", event, Delta(1e-6)).repeated);
  EXPECT_TRUE(ledger.charge("a", "", event).repeated);
  EXPECT_THROW(ledger.charge("a", "", event, Delta(1e-7)), LedgerError);
  ledger.charge({{"b", "", 100 * pure(0.005), Delta(1e-6)}, {"c", "", laplace(100)}});
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
  EXPECT_EQ(import_ledger(place("copy"), ledger.export_text()).export_text(), ledger.export_text());
  EXPECT_THROW(ledger.charge("d", "", event, Delta(1e-5)), BudgetRefused);  // Σδ
  EXPECT_THROW(
      create_ledger(place("other"), {"people", "person", Relation::add_remove, ZcdpBudget{1, 0}})
          .charge("a", "", event, Delta(1e-6)),
      InvalidValue);
}

// A plan that reveals everything, or whose cost overflows a double, is refused in every currency,
// and nothing is written.
TEST_P(AnyLedger, APlanWithoutAFiniteCostIsRefusedInEveryCurrency) {
  const std::vector<Plan> plans{
      parse("walk_sgd(1e-200, 20)"), parse("1000 * walk_sgd(1e-200, 20) + laplace(1000)"),
      parse("walk_sum(1e-160, 20)"), parse("5 * parallel(gaussian(1e-160), gaussian(3))"),
      parse("gopa_random(1e-160, 3, 10000, 9000, 1000, 1e-9)")};
  int number = 0;
  for (const Budget& budget :
       std::vector<Budget>{ApproximateBudget{1, 1e-5}, ZcdpBudget{1, 1e-5}, RenyiBudget{4, 1, 1e-5},
                           GdpBudget{1, 0}, GdpBudget{0.3, 1e-5}, CommittedBudget{laplace(1)}}) {
    const bool shares_delta = std::holds_alternative<ApproximateBudget>(budget);
    Ledger ledger = create_ledger(place("in" + std::to_string(number++)),
                                  {"people", "person", Relation::add_remove, budget});
    for (const Plan& plan : plans) {
      const auto charge = [&](std::optional<Delta> at) {
        try {
          (void)ledger.charge("q", "", plan, at);
          ADD_FAILURE() << print(plan) << " was charged";
        } catch (const OutsideConditions&) {
        } catch (const BudgetRefused&) {
        }
      };
      charge(std::nullopt);
      if (shares_delta) charge(Delta(1e-6));
    }
    EXPECT_TRUE(ledger.entries().empty());
  }
  for (const Plan& plan : plans) {
    EXPECT_THROW(create_ledger(place("committed"),
                               {"people", "person", Relation::add_remove, CommittedBudget{plan}}),
                 OutsideConditions)
        << print(plan);
  }
}

TEST_P(AnyLedger, ACommittedPlanIsSpentPartByPart) {
  const Plan plan = parse("3 * gaussian(5) + laplace(3) + 100 * poisson(0.01, gaussian(1))");
  {
    Ledger ledger = fresh(CommittedBudget{plan});
    ledger.charge("a", "", laplace(3));
    ledger.charge("b", "", parse("2 * gaussian(5) + 60 * poisson(0.01, gaussian(1))"));
  }
  Ledger ledger = open_ledger(place());
  EXPECT_EQ(print(*ledger.filter().rest()), "gaussian(5) + 40 * poisson(0.01, gaussian(1))");
  EXPECT_THROW(ledger.charge("c", "", laplace(3)), BudgetRefused);
  EXPECT_THROW(ledger.charge("c", "", gaussian(50)), BudgetRefused);
  EXPECT_THROW(ledger.charge({{"c", "", gaussian(5)}, {"d", "", gaussian(5)}}), BudgetRefused);
  EXPECT_EQ(ledger.entries().size(), 2U);
  EXPECT_EQ(ledger.filter().claim(Delta(1e-6)).epsilon,
            epsilon(plan, Delta(1e-6), {.relation = Relation::add_remove}).value.upper);
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
  const std::string text = ledger.export_text();
  Ledger copy = import_ledger(place("copy"), text);
  EXPECT_EQ(copy.export_text(), text);
  copy.charge("c", "", parse("40 * poisson(0.01, gaussian(1)) + gaussian(5)"));
  EXPECT_EQ(copy.filter().rest(), std::nullopt);
  EXPECT_TRUE(copy.verify().sound) << copy.verify().words;
  EXPECT_THROW(copy.charge("d", "", gaussian(5)), BudgetRefused);
  places().tamper("budget", "UPDATE entry SET amount='used 0 0 0' WHERE number=2");
  EXPECT_FALSE(open_ledger(place()).verify().sound);
  EXPECT_THROW(
      create_ledger(place("x"), {"people", "person", Relation::replace_one, CommittedBudget{plan}}),
      OutsideConditions);
}

TEST_P(AnyLedger, RefusesBytesThatAreNotText) {
  Ledger ledger = fresh();
  const std::string words = "Größe ≤ ½, \"quoted\" 'twice' \\ \n 𝛿";
  ledger.charge(words, words, gaussian(40));
  ledger.begin(words);
  ledger.keep_answer(words, words);
  EXPECT_TRUE(ledger.charge(words, words, gaussian(40)).repeated);
  EXPECT_EQ(ledger.answer(words), words);
  EXPECT_EQ(ledger.entries().at(0).content, words);
  for (const std::string& bytes :
       {std::string("a\0b", 3), std::string("\xff"), std::string("\xc0\x80"),
        std::string("\xed\xa0\x80"), std::string("\xe2\x82")}) {
    EXPECT_THROW(ledger.charge(bytes, "", gaussian(40)), InvalidValue);
    EXPECT_THROW(ledger.charge("b", bytes, gaussian(40)), InvalidValue);
    EXPECT_THROW(ledger.keep_answer(words, bytes), InvalidValue);
  }
  EXPECT_EQ(ledger.entries().size(), 1U);
  EXPECT_EQ(import_ledger(place("copy"), ledger.export_text()).export_text(), ledger.export_text());
}

// --- Chains and text ---

// An attacker who can write the file of version 1 can write a new chain. Totals, plans and budget
// must still agree.
TEST(Chains, VerifyRecomputesTheNumbersOfAForgedChain) {
  const auto forged = [](const std::string& plan, double cost, const std::string& amount,
                         const std::string& budget = "zcdp(0.5, 0)", double delta = 0) {
    const std::string before = ledger_detail::chained(
        "sotto ledger", {"id", "then", "people", "person", "add-remove", budget});
    const std::string none = ledger_detail::exact(delta);
    const std::string hash = ledger_detail::chained(
        before, {"1", "now", "a", "", plan, shortest(cost), shortest(delta), amount, none});
    return R"({"schema":"sotto.ledger/1","id":"id","created":"then","name":"people","unit":"person","relation":"add-remove","budget":")" +
           budget + "\"}\n" + R"({"number":1,"time":"now","request":"a","content":"","plan":")" +
           plan + R"(","cost":)" + shortest(cost) + R"(,"cost_delta":)" + shortest(delta) +
           R"(,"amount":")" + amount + R"(","delta":")" + none + R"(","hash":")" + hash + "\"}\n";
  };
  const auto says = [&](const std::string& text) -> std::string {
    try {
      Places files(Kind::file);
      (void)import_ledger(files.place(), text);
      return "sound";
    } catch (const LedgerError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(says(forged("zcdp(0.25)", 0.25, ledger_detail::exact(0.25))), "sound");
  EXPECT_EQ(says(forged("zcdp(0.2)", 0.25, ledger_detail::exact(0.25))),
            "sound");  // found cheaper since
  EXPECT_NE(says(forged("zcdp(0.25)", 0.125, ledger_detail::exact(0.125)))
                .find("costs more than its charge"),
            std::string::npos);
  EXPECT_NE(says(forged("zcdp(0.25)", 0.25, ledger_detail::exact(0.125))).find("another total"),
            std::string::npos);
  EXPECT_NE(says(forged("zcdp(0.75)", 0.75, ledger_detail::exact(0.75))).find("exceeds the budget"),
            std::string::npos);
  EXPECT_NE(says(forged("nonsense(1)", 0.25, ledger_detail::exact(0.25))).find("cannot be read"),
            std::string::npos);
  EXPECT_NE(says(forged("poisson(0.1, gaussian(1))", 0.25, ledger_detail::exact(0.25)))
                .find("has no cost"),
            std::string::npos);

  // An event with a stated delta: a charge below the proved lower bound is refused, however close
  // it is.
  const std::string both = "approx(2, 1e-05)";
  const Bound tight =
      epsilon(parse("gaussian(5)"), Delta(1e-6), {.relation = Relation::add_remove}).value;
  const auto at = [&](double cost) {
    return says(forged("gaussian(5)", cost, ledger_detail::exact(cost), both, 1e-6));
  };
  EXPECT_EQ(at(tight.upper), "sound");
  EXPECT_EQ(at(2 * tight.upper), "sound");
  EXPECT_NE(at(tight.lower * (1 - 1e-12)).find("costs more than its charge"), std::string::npos);
  EXPECT_NE(says(forged("gaussian(5)", 1.9, ledger_detail::exact(1.9), both, 2e-5))
                .find("exceeds the budget"),
            std::string::npos);

  // Gaussian DP with slack: neither a μ² below the event's least one, nor a slack below the event's
  // δ.
  const std::string gaussian = "gdp(2, 1e-07)";
  const double mu = approximate_gdp_of(parse("500 * poisson(0.01, gaussian(1))"), 1e-8).mu;
  const auto slacked = [&](const char* event, double cost, double slack) {
    return says(forged(event, cost, ledger_detail::exact(cost), gaussian, slack));
  };
  EXPECT_EQ(slacked("500 * poisson(0.01, gaussian(1))", mu * mu, 1e-8), "sound");
  EXPECT_EQ(slacked("500 * poisson(0.01, gaussian(1))", 2 * mu * mu, 1e-8), "sound");
  EXPECT_NE(slacked("500 * poisson(0.01, gaussian(1))", 0.998 * mu * mu, 1e-8)
                .find("costs more than its charge"),
            std::string::npos);
  EXPECT_NE(
      slacked("500 * poisson(0.01, gaussian(1))", mu * mu, 1e-9).find("costs more than its charge"),
      std::string::npos);
  EXPECT_NE(slacked("500 * poisson(0.01, gaussian(1))", mu * mu, 1e-6).find("exceeds the budget"),
            std::string::npos);
  EXPECT_EQ(slacked("gaussian(2)", 0.25 * (1 + 1e-15), 0), "sound");
  EXPECT_NE(slacked("gaussian(2)", 0.25 * (1 - 1e-8), 0).find("costs more than its charge"),
            std::string::npos);
  EXPECT_NE(slacked("gaussian(2) + approx(0, 2e-8)", 0.26, 1e-8).find("has no cost"),
            std::string::npos);

  // A committed plan: neither another part nor other counts.
  const std::string plan = "plan(2 * gaussian(5) + laplace(3))";
  EXPECT_EQ(says(forged("gaussian(5)", 1, "used 1 0", plan)), "sound");
  EXPECT_NE(says(forged("gaussian(5)", 1, "used 0 0", plan)).find("another total"),
            std::string::npos);
  EXPECT_NE(says(forged("2 * gaussian(5)", 1, "used 2 0", plan)).find("another cost"),
            std::string::npos);
  EXPECT_NE(says(forged("3 * gaussian(5)", 3, "used 3 0", plan)).find("exceeds the budget"),
            std::string::npos);
  EXPECT_NE(says(forged("gaussian(6)", 1, "used 1 0", plan)).find("exceeds the budget"),
            std::string::npos);
}

TEST(Budgets, RoundTripAsText) {
  for (const char* text : {"zcdp(0.5, 1e-06)", "approx(1, 0)", "rdp(8, 0.5, 1e-06)", "gdp(0.25)",
                           "gdp(0.25, 1e-07)", "plan(3 * gaussian(5) + laplace(3))"})
    EXPECT_EQ(print(parse_budget(text)), text);
  EXPECT_THROW(parse_budget("zcdp(0.5)"), InvalidValue);
  EXPECT_THROW(parse_budget("money(3)"), InvalidValue);
}

TEST(Digests, AreSha256) {
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sotto
