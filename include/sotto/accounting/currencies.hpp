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
