// The same promise in several currencies, and which of them takes an event for the smallest part of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/filter.hpp"

namespace sotto {

/// The Gaussian budget that claims at most ε at δ; a tenth of δ is the slack, unless it is said. InvalidValue unless 0 <= slack < δ < 1 and ε > 0.
GdpBudget gaussian_budget(double epsilon, double delta, std::optional<double> slack = std::nullopt);

/// The δ at which a budget's promise is best told: its own; ten times a slack, which is what gaussian_budget was given; for a δ that is set aside
/// some more; else 1e-6.
Delta promised_delta(const Budget& budget);

/// What a budget promises at promised_delta, whatever is charged. ε is infinite where no theorem gives one.
Claim promise_of(const Budget& budget, Relation relation);

/// How many percent of a budget's amount are left, of three digits, rounded down.
double percent_left(const Filter& filter);
/// The same in words: "88.7 % of ε = 3 at δ = 1e-06". Of a committed plan "4 of 7 parts".
std::string left_of_promise(const Filter& filter);
/// The same of what an event costs, rounded up: "11.3 %".
std::string percent_of_budget(const Budget& budget, const Charge& cost);
/// Why a filter refused an event, in percent of its promise first and then in its currency.
std::string refusal_words(const Filter& filter, const Decision& decision);

/// The δ of an event that asks for ε, or for ρ where the budget counts that, and names no δ: as much of the ledger's δ as ε is of its ε, of three
/// digits. Empty where the budget has no δ to share, and for a committed plan.
std::optional<double> share_of_delta(const Budget& budget, Relation relation, std::optional<double> epsilon, std::optional<double> rho);

/// Budgets that claim at most ε at δ, where `slack` of δ is for the slack and the δ of events: Gaussian DP with slack, zCDP, Rényi DP at the one
/// order that admits the most Gaussian noise, and sums of ε and δ. InvalidValue unless 0 <= slack < δ < 1 and ε > 0.
std::vector<Budget> budgets_for(double epsilon, double delta, double slack);

/// "gdp", "zcdp", "rdp", "sum" or "plan".
std::string name_of_currency(const Budget& budget);

/// The part of the budget that an event takes by itself: the larger of amount and δ; nothing where it has no cost. Where ε and δ are summed it is
/// charged at the part of δ that makes the two equal, about.
std::optional<double> part_of(const Budget& budget, Relation relation, const Plan& event);

/// For a Gaussian budget that refused an event: which fresh budget of the same promise takes it for a smaller part, in words; empty if none does.
std::string cheaper_elsewhere(const GdpBudget& budget, Relation relation, const Plan& event);

}  // namespace sotto
