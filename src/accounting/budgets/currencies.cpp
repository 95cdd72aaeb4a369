// Budgets in different currencies with one claim, and texts about budgets.
#include "accounting/api/currencies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "accounting/api/approximate_gdp.hpp"
#include "core/api/percent.hpp"
#include "numerics/api/search.hpp"
#include "privacy/api/conversions.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace {

// The largest argument, rounded down to six digits, at which an increasing function is at most
// `epsilon`.
double largest_argument(const std::function<double(double)>& epsilon_of, double epsilon) {
  double low = 1e-12;
  double high = 1;
  while (epsilon_of(high) <= epsilon && high < 1e9) high *= 2;
  for (int turn = 0; turn < 40; ++turn) {
    const double middle = std::sqrt(low * high);
    (epsilon_of(middle) <= epsilon ? low : high) = middle;
  }
  return read_number(rounded(low, 6, Side::lower));
}

// The fraction of an ApproximateBudget that an event uses, at the δ at which its fractions of ε and
// δ are about equal.
std::optional<double> fraction_of_sum(const ApproximateBudget& budget, Relation relation,
                                      const Plan& event) {
  const auto at = [&](double share) {
    const auto requested = relation == Relation::as_stated ? std::nullopt : std::optional(relation);
    return epsilon(event, Delta(share * budget.delta), {.relation = requested}).value.upper /
           budget.epsilon;
  };
  if (budget.delta == 0) return at(0);
  double low = 1e-6;
  double high = 1;
  for (int turn = 0; turn < 12; ++turn) {
    const double middle = std::sqrt(low * high);
    (at(middle) > middle ? low : high) = middle;
  }
  return std::max(high, at(high));
}

// Rounds to six digits. A tenth of 1e-6 becomes 1e-7 although the quotient of doubles is slightly
// less.
double six_digits(double x) { return read_number(rounded(x * (1 + 5e-7), 6, Side::lower)); }

std::string percent(double part) { return percent_text(part, 3, Side::upper); }

// The claim of a filter's budget: "ε = 3 at δ = 1e-06". ε is rounded up to four digits after
// subtracting the allowance of 2^-50 that every limit has.
std::string promise_text(const Filter& filter) {
  const Delta delta = promised_delta(filter.budget());
  const double epsilon = filter.claim(delta).epsilon;
  if (!std::isfinite(epsilon)) return "the budget";
  const bool is_pure =
      std::holds_alternative<ApproximateBudget>(filter.budget()) && filter.limit().delta == 0;
  return "ε = " + rounded(epsilon * (1 - 1e-12), 4, Side::upper) +
         (is_pure ? "" : " at δ = " + shortest(delta.value()));
}

}  // namespace

GdpBudget gaussian_budget(double epsilon, double delta, std::optional<double> slack) {
  require_open_unit(delta, "delta");
  const double aside = slack ? *slack : six_digits(delta / 10);
  return {gdp_budget_mu(epsilon, delta, aside), aside};
}

Delta promised_delta(const Budget& budget) {
  static constexpr double usual = 1e-6;
  const auto beyond = [](double aside) {
    return Delta(std::min(std::max(usual, 2 * aside), (1 + aside) / 2));
  };
  if (const auto* b = std::get_if<ApproximateBudget>(&budget))
    return Delta(b->delta > 0 ? b->delta : usual);
  if (const auto* b = std::get_if<ZcdpBudget>(&budget)) return beyond(b->delta);
  if (const auto* b = std::get_if<RenyiBudget>(&budget)) return beyond(b->delta);
  const auto* gaussian = std::get_if<GdpBudget>(&budget);
  if (gaussian == nullptr || gaussian->delta == 0) return Delta(usual);
  return Delta(gaussian->delta < 0.05 ? six_digits(10 * gaussian->delta)
                                      : (1 + gaussian->delta) / 2);
}

Claim promise_of(const Budget& budget, Relation relation) {
  return Filter(budget, relation).claim(promised_delta(budget));
}

double percent_left(const Filter& filter) {
  const double limit = filter.limit().amount;
  const double left = filter.left().amount;
  if (left <= 0x1p-48 * limit) return 0;  // only the limit's allowance for rounding remains
  return read_number(rounded(100 * std::min(1.0, left / limit), 3, Side::lower));
}

std::string remaining_budget_text(const Filter& filter) {
  if (std::holds_alternative<CommittedBudget>(filter.budget())) {
    return shortest(filter.left().amount) + " of " + shortest(filter.limit().amount) + " parts";
  }
  return shortest(percent_left(filter)) + " % of " + promise_text(filter);
}

std::string percent_of_budget(const Budget& budget, const Charge& cost) {
  const Charge limit = Filter(budget).limit();
  const double delta = cost.delta == 0 ? 0 : cost.delta / limit.delta;
  const double part =
      std::max(cost.amount == 0 ? 0 : cost.amount / limit.amount, delta) * (1 - 0x1p-48);
  return std::isfinite(part) ? percent(part) : "more than all";
}

std::string refusal_text(const Filter& filter, const Decision& decision) {
  if (std::holds_alternative<CommittedBudget>(filter.budget())) return decision.reason;
  return "it takes " + percent_of_budget(filter.budget(), decision.cost) + " of the budget, and " +
         remaining_budget_text(filter) + " is left (" + decision.reason + ")";
}

std::optional<double> share_of_delta(const Budget& budget, Relation relation,
                                     std::optional<double> epsilon, std::optional<double> rho) {
  if (std::holds_alternative<CommittedBudget>(budget) || (!epsilon && !rho)) return std::nullopt;
  const bool is_gaussian =
      std::holds_alternative<GdpBudget>(budget);  // its δ is promised_delta(), also without slack
  const Filter filter(budget, relation);
  const auto* concentrated = std::get_if<ZcdpBudget>(&budget);
  const double all = is_gaussian || std::holds_alternative<ApproximateBudget>(budget)
                         ? promised_delta(budget).value()
                         : filter.limit().delta;
  if (!is_gaussian && filter.limit().delta == 0) return std::nullopt;
  const double part = rho && concentrated != nullptr ? *rho / concentrated->rho
                      : epsilon ? *epsilon / promise_of(budget, relation).epsilon
                                : 0;
  if (!(part > 0) || !std::isfinite(part)) return std::nullopt;
  return std::min(all, read_number(rounded(all * std::min(1.0, part) * (1 + 1e-6), 3,
                                           Side::lower)));  // a third of 3e-7 is 1e-7
}

std::vector<Budget> budgets_for(double epsilon, double delta, double slack) {
  const double mu = gdp_budget_mu(epsilon, delta, slack);
  const double left = ((Real(delta) - Real(slack)) / (1 - Real(slack))).lower() * (1 - 1e-12);
  const double least = epsilon * (1 - 1e-12);
  const double rho = largest_argument(
      [left](double x) { return epsilon_from_zcdp({x}, left).value.upper(); }, least);
  const auto divergence = [&](double order) {
    const double value =
        (Real(least) - epsilon_from_renyi({order, 0}, left))
            .lower();  // the conversion adds a number to ε̄ that depends on the order only
    return value > 0 ? read_number(rounded(value, 6, Side::lower)) : 0;
  };
  // Gaussian noise costs α μ²/2 at order α, so the best order has the largest divergence per order.
  const double u = least_point(std::log(0.01), std::log(1e4), [&](double v) {
    return -divergence(1 + std::exp(v)) / (1 + std::exp(v));
  });
  const double order = read_number(rounded(1 + std::exp(u), 3, Side::upper));
  return {GdpBudget{mu, slack}, ZcdpBudget{rho, slack},
          RenyiBudget{order, divergence(order), slack}, ApproximateBudget{epsilon, delta}};
}

std::string currency_name(const Budget& budget) {
  static constexpr std::array names{"sum", "zcdp", "rdp", "gdp", "plan"};
  return names[budget.index()];
}

std::optional<double> budget_fraction(const Budget& budget, Relation relation, const Plan& event) {
  try {
    if (const auto* sum = std::get_if<ApproximateBudget>(&budget))
      return fraction_of_sum(*sum, relation, event);
    Filter filter(budget, relation);
    const Charge cost = filter.admit(event).cost;
    const double delta = cost.delta == 0 ? 0 : cost.delta / filter.limit().delta;
    return std::max(cost.amount / filter.limit().amount, delta);
  } catch (const OutsideConditions&) {
    return std::nullopt;
  }
}

std::string cheaper_budget_hint(const GdpBudget& budget, Relation relation, const Plan& event) {
  const double delta = promised_delta(budget).value();
  const double epsilon = Filter(budget, relation).claim(Delta(delta)).epsilon;
  const auto own = budget_fraction(budget, relation, event);
  if (!own || !(epsilon > 0) || !std::isfinite(epsilon)) return "";
  std::string best;
  double least = std::min(1.0, 0.99 * *own);  // a currency must save at least 1 %
  for (const Budget& other : budgets_for(epsilon, delta, budget.delta)) {
    if (std::holds_alternative<GdpBudget>(other)) continue;
    const auto part = budget_fraction(other, relation, event);
    if (!part || !(*part < least)) continue;
    least = *part;
    const std::string name = currency_name(other);
    best = "a ledger with the same promise that counts " +
           std::string(name == "zcdp"  ? "rho"
                       : name == "rdp" ? "Rényi divergence"
                                       : "epsilon") +
           " would take it for " + percent(*part) + " of its budget; this one takes " +
           percent(*own);
  }
  return best;
}

}  // namespace sotto
