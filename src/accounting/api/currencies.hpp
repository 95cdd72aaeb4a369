// Budgets of one (ε, δ) guarantee in different currencies (ε, ρ, Rényi divergence, μ²), and texts
// that say how much of a budget is spent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/filter.hpp"

namespace sotto {

/// Returns the Gaussian budget that claims at most ε at δ. If `slack` is empty, it is a tenth of δ.
/// Throws InvalidValue unless 0 <= slack < δ < 1 and ε > 0.
GdpBudget gaussian_budget(double epsilon, double delta, std::optional<double> slack = std::nullopt);

/// Returns the δ at which the claim of a budget is shown to users. For an ApproximateBudget it is
/// the budget's δ. For a GdpBudget with slack it is ten times the slack, the δ from which
/// gaussian_budget() chose that slack. For a ZcdpBudget or RenyiBudget it lies above the δ that the
/// budget sets aside. Else it is 1e-6.
Delta promised_delta(const Budget& budget);

/// Returns the claim of a budget at promised_delta(), which holds whatever is charged. ε is
/// infinite if no theorem gives a finite one.
Claim promise_of(const Budget& budget, Relation relation);

/// Returns the remaining part of a budget's amount in percent, rounded down to three digits.
double percent_left(const Filter& filter);
/// Returns the remaining part as a text: "88.7 % of ε = 3 at δ = 1e-06"; for a committed plan
/// "4 of 7 parts".
std::string remaining_budget_text(const Filter& filter);
/// Returns the cost of an event as a part of the budget, rounded up: "11.3 %".
std::string percent_of_budget(const Budget& budget, const Charge& cost);
/// Returns a text that says why a filter refused an event: in percent of the budget, then in its
/// currency.
std::string refusal_text(const Filter& filter, const Decision& decision);

/// Returns the δ for an event that states ε (or ρ, for a ZcdpBudget) but no δ: the budget's δ times
/// the fraction of the budget's ε (or ρ) that the event uses, with three digits. Empty if the
/// budget has no δ to share, and for a committed plan.
std::optional<double> share_of_delta(const Budget& budget, Relation relation,
                                     std::optional<double> epsilon, std::optional<double> rho);

/// Returns budgets that claim at most ε at δ, one in each currency: approximate Gaussian DP, zCDP,
/// Rényi DP at the order that admits the most Gaussian events, and sums of ε and δ. `slack` is the
/// part of δ that the first three reserve for the δ of events. Throws InvalidValue unless 0 <=
/// slack < δ < 1 and ε > 0.
std::vector<Budget> budgets_for(double epsilon, double delta, double slack);

/// Returns "gdp", "zcdp", "rdp", "sum" or "plan".
std::string currency_name(const Budget& budget);

/// Returns the fraction of the budget that an event alone would use: the larger one of the
/// fractions of amount and δ. An ApproximateBudget is charged at the δ that makes the two fractions
/// about equal. Empty if the event has no cost in the budget's currency.
std::optional<double> budget_fraction(const Budget& budget, Relation relation, const Plan& event);

/// Returns a hint for an event that a Gaussian budget refused: which new budget with an equal
/// claim, in another currency, would admit the event for a smaller fraction. Empty if no currency
/// would.
std::string cheaper_budget_hint(const GdpBudget& budget, Relation relation, const Plan& event);

}  // namespace sotto
