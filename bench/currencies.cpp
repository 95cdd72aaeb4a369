// Compares the currencies of a ledger: ε of work that is chosen adaptively, against the tight total
// of the same work fixed in advance.
#include "accounting/api/currencies.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/concentrated.hpp"
#include "accounting/api/renyi.hpp"
#include "numerics/api/search.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace {

using namespace sotto;

constexpr Relation relation = Relation::add_remove;

struct Events {
  Plan event;
  int count;
};
using Work = std::vector<Events>;

int events_in(const Work& work) {
  int all = 0;
  for (const Events& e : work) all += e.count;
  return all;
}

// Returns nothing if an event has no cost in the currency.
std::optional<double> attempt(const std::function<double()>& epsilon_by) {
  try {
    const double value = epsilon_by();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  } catch (const OutsideConditions&) {
    return std::nullopt;
  }
}

double fixed_in_advance(const Work& work, double delta) {
  std::vector<Plan> parts;
  for (const Events& e : work) parts.push_back(e.count == 1 ? e.event : e.count * e.event);
  return epsilon(parts.size() == 1 ? parts.front() : Plan(Sum{parts}), Delta(delta),
                 {.relation = relation})
      .value.upper;
}

double own_of(const Plan& event) {
  return RenyiAccountant(event, Side::upper).delta_set_aside().upper();
}

// A tenth of δ is slack, shared in proportion to μ², in addition to the events' own δ.
double by_gdp(const Work& work, double delta) {
  const auto squares = [&](const std::function<double(std::size_t)>& slack, double& spent) {
    std::vector<double> all;
    spent = 0;
    for (std::size_t i = 0; i < work.size(); ++i) {
      const ApproximateGDP cost =
          approximate_gdp_of(work[i].event, own_of(work[i].event) + slack(i));
      all.push_back(cost.mu * cost.mu);
      spent += work[i].count * cost.slack;
    }
    return all;
  };
  double spent = 0;
  const std::vector<double> first =
      squares([&](std::size_t) { return delta / 10 / events_in(work); }, spent);
  double sum = 0;
  for (std::size_t i = 0; i < work.size(); ++i) sum += work[i].count * first[i];
  const std::vector<double> second =
      squares([&](std::size_t i) { return delta / 10 * first[i] / sum * (1 - 1e-9); }, spent);
  sum = 0;
  for (std::size_t i = 0; i < work.size(); ++i) sum += work[i].count * second[i];
  const double whole =
      std::max(spent, delta / 10);  // a budget sets all of its slack aside, whether used or not
  return epsilon_of(gaussian_profile(std::sqrt(sum) * (1 + 1e-15)), (delta - whole) / (1 - whole),
                    Side::upper);
}

double rest_of(const Work& work, double delta) {
  double own = 0;
  for (const Events& e : work) own += e.count * own_of(e.event);
  return (delta - own) / (1 - own);
}

double by_zcdp(const Work& work, double delta) {
  Real rho = 0;
  for (const Events& e : work) rho += Real(e.count) * zcdp_of(e.event, RhoConversion::better).rho;
  return epsilon_from_zcdp({rho}, rest_of(work, delta)).value.upper();
}

// At the one order that is best for all events, as if it had been known in advance.
double by_rdp(const Work& work, double delta) {
  std::vector<RenyiAccountant> curves;
  for (const Events& e : work) curves.emplace_back(e.event, Side::upper);
  const auto at = [&](double order) {
    Real sum = 0;
    for (std::size_t i = 0; i < work.size(); ++i) sum += Real(work[i].count) * curves[i].at(order);
    return epsilon_from_renyi({order, sum}, rest_of(work, delta)).upper();
  };
  const double u =
      least_point(std::log(0.02), std::log(2000.0), [&](double v) { return at(1 + std::exp(v)); });
  return at(1 + std::exp(u));
}

// Charges each event its tight ε at an equal share of δ.
double by_sum(const Work& work, double delta) {
  double sum = 0;
  for (const Events& e : work) {
    const double share = delta / events_in(work) * (1 - 1e-12);
    sum += e.count * epsilon(e.event, Delta(share), {.relation = relation}).value.upper;
  }
  return sum;
}

std::string cell(const std::optional<double>& value, double tight) {
  if (!value) return "—";
  char text[64];
  const double more = 100 * (*value / tight - 1);
  std::snprintf(text, sizeof text,
                std::abs(more) < 1e-6  ? "%.4g (+0 %%)"
                : std::abs(more) < 100 ? "%.4g (%+.2g %%)"
                                       : "%.4g (%+.0f %%)",
                *value, more);
  return text;
}

void row(const std::string& name, const Work& work, double delta) {
  const double tight = fixed_in_advance(work, delta);
  const auto gdp = attempt([&] { return by_gdp(work, delta); });
  const auto zcdp = attempt([&] { return by_zcdp(work, delta); });
  const auto rdp = attempt([&] { return by_rdp(work, delta); });
  const auto sum = attempt([&] { return by_sum(work, delta); });
  std::printf("| %s | %.4g | %s | %s | %s | %s |\n", name.c_str(), tight, cell(gdp, tight).c_str(),
              cell(zcdp, tight).c_str(), cell(rdp, tight).c_str(), cell(sum, tight).c_str());
  std::fflush(stdout);
}

void head(const std::string& what) {
  std::printf(
      "\n| %s | fixed in advance | Gaussian DP with slack | zCDP | Rényi, best order | sums of ε, "
      "δ |\n|---|---|---|---|---|---|\n",
      what.c_str());
}

Work times(int count, const char* event) { return {{parse(event), count}}; }

const char* const training = "10000 * poisson(0.01, gaussian(1))";
const char* const selection = "gaussian(10) + gaussian(20, sensitivity=2) + approx(0, 1e-10)";

void mixes() {
  constexpr double delta = 1e-5;
  std::printf(
      "ε at δ = 1e-5 of work that is chosen adaptively; in brackets the surcharge over the same "
      "work fixed in advance\n");
  head("work");
  row("100 releases of `gaussian(20)`", times(100, "gaussian(20)"), delta);
  row("10 studies, each `" + std::string(selection) + "`", times(10, selection), delta);
  row("one training, `" + std::string(training) + "`", times(1, training), delta);
  row("the same as two events", times(2, "5000 * poisson(0.01, gaussian(1))"), delta);
  row("the same as ten events", times(10, "1000 * poisson(0.01, gaussian(1))"), delta);
  row("ten such trainings", times(10, training), delta);
  row("one training, `3500 * poisson(0.00427, gaussian(1.1))`",
      times(1, "3500 * poisson(0.00427, gaussian(1.1))"), delta);
  row("10 releases of `laplace(10)`", times(10, "laplace(10)"), delta);
  row("1,000 releases of `laplace(100)`", times(1000, "laplace(100)"), delta);
  Work all = times(10, selection);
  all.push_back({parse("2000 * poisson(0.0064, gaussian(1))"), 2});
  all.push_back({parse("laplace(30)"), 5});
  row("10 studies, 5 of `laplace(30)` and 2 of `2000 * poisson(0.0064, gaussian(1))`", all, delta);
}

void numbers() {
  constexpr double delta = 1e-6;
  std::printf("\nε at δ = 1e-6 of n studies\n");
  for (const auto& [name, event] : std::vector<std::pair<std::string, const char*>>{
           {"`gaussian(50)`", "gaussian(50)"},
           {"key selection, `gaussian(50) + approx(0, 1e-11)`", "gaussian(50) + approx(0, 1e-11)"},
           {"`laplace(50)`", "laplace(50)"},
           {"`100 * poisson(0.01, gaussian(2))`", "100 * poisson(0.01, gaussian(2))"}}) {
    head(name);
    for (const int count : {1, 10, 100, 1000})
      row(std::to_string(count), times(count, event), delta);
  }
}

// Keeps a promise of (3, 1e-6): ten studies and two trainings, then small studies until one is
// refused.
void one_ledger() {
  std::printf(
      "\nA promise of (3, 1e-6), ten studies and two trainings in turn, then releases of "
      "`gaussian(40)` as long as they are admitted\n\n");
  std::printf(
      "| budget | of the ten studies | of the two trainings | of `gaussian(40)` after them | left "
      "of the budget before those "
      "|\n|---|---|---|---|---|\n");
  std::vector<std::pair<Plan, bool>> work;
  for (int i = 0; i < 10; ++i) {
    work.emplace_back(parse(i % 3 == 0   ? "gaussian(20) + gaussian(40) + approx(0, 2e-9)"
                            : i % 3 == 1 ? "2 * gaussian(20)"
                                         : "laplace(60)"),
                      false);
    if (i == 4 || i == 9) work.emplace_back(parse("2000 * poisson(0.006, gaussian(1))"), true);
  }
  for (const Budget& budget : budgets_for(3, 1e-6, 1e-7)) {
    Filter filter(budget, relation);
    const auto at = std::holds_alternative<ApproximateBudget>(budget)
                        ? std::optional(Delta(1e-6 / 13))
                        : std::nullopt;
    int studies = 0;
    int trainings = 0;
    bool covered = true;
    for (const auto& [event, is_training] : work) {
      try {
        if (filter.admit(event, at)) ++(is_training ? trainings : studies);
      } catch (const OutsideConditions&) {
        covered = false;
      }
    }
    const double left = filter.left().amount / filter.limit().amount;
    int more = 0;
    while (more < 100000 && filter.admit(parse("gaussian(40)"),
                                         at ? std::optional(Delta(1e-6 / 13 / 100)) : std::nullopt))
      ++more;
    std::printf("| `%s` | %d | %s | %d | %.3g %% |\n", currency_name(budget).c_str(), studies,
                covered ? std::to_string(trainings).c_str() : "no cost", more, 100 * left);
  }
}

void charges() {
  std::printf(
      "\nTime of one charge, at a slack of 1e-7\n\n| event | ms | μ | they touch at ε "
      "|\n|---|---|---|---|\n");
  for (const char* text :
       {"gaussian(20)", training, "3500 * poisson(0.00427, gaussian(1.1))",
        "1000 * without_replacement(100, 10000, gaussian(1))", "laplace(30)", "10 * laplace(10)",
        "1000 * laplace(10)", "laplace(30) + 3 * gaussian(20)", "20 * poisson(0.1, laplace(1))"}) {
    const Plan event = parse(text);
    double best = 1e9;
    std::optional<ApproximateGDP> cost;
    for (int turn = 0; turn < 5; ++turn) {
      const auto start = std::chrono::steady_clock::now();
      cost = approximate_gdp_of(event, 1e-7);
      best = std::min(
          best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                    .count());
    }
    std::printf("| `%s` | %.2g | %.6g | %s |\n", text, best, cost->mu,
                cost->exact ? "—" : std::to_string(cost->touch).c_str());
  }
}

}  // namespace

int main() {
  mixes();
  one_ledger();
  numbers();
  charges();
}
