// Amounts of a ledger as words, for the text output and for pages.
#pragma once

#include <string>

#include "core/api/json.hpp"
#include "report/api/ledger.hpp"
#include "sotto/accounting/filter.hpp"

namespace sotto::report_detail {

/// Returns a charge in the budget's currency: "0.25, delta 1e-07", "0.25" if the budget has no δ,
/// and "mu^2 0.25, slack 1e-07" for a Gaussian budget.
std::string charge_text(const Charge& charge, const Filter& filter);
/// Returns the rest of the budget: {"percent", "amount", "delta"}.
Json left_json(const Filter& filter);
/// Returns "ε = 1 at δ = 3.33e-07". `shares_delta`: adds that the δ is a share of the ledger's δ.
std::string cost_words(double epsilon, double delta, bool shares_delta);
/// Returns the part of the budget that is spent, from 0 to 1.
double spent_share(const Filter& filter);
/// Returns the part that is spent: "3 of 7 parts" of a committed plan, otherwise as charge_text().
std::string spent_words(const Filter& filter);
/// Returns the part that is left: the rest of a committed plan, otherwise as
/// remaining_budget_line().
std::string left_words(const Filter& filter);

}  // namespace sotto::report_detail
