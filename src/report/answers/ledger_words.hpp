// A ledger's amounts as words, for its text and for its pages.
#pragma once

#include <string>

#include "sotto/accounting/filter.hpp"
#include "core/api/json.hpp"
#include "report/api/ledger.hpp"

namespace sotto::report_detail {

/// "0.25, delta 1e-07": the second where the budget has one. Of a Gaussian budget "mu^2 0.25, slack 1e-07".
std::string charge_text(const Charge& charge, const Filter& filter);
/// The same as percent, amount and delta.
Json left_json(const Filter& filter);
/// "ε = 1 at δ = 3.33e-07", and where the δ comes from.
std::string cost_words(double epsilon, double delta, bool shares_delta);
/// How much of the budget is spent, from 0 to 1.
double spent_share(const Filter& filter);
/// "3 of 7 parts" of a committed plan, else as charge_text says it; and what is left of it.
std::string spent_words(const Filter& filter);
std::string left_words(const Filter& filter);

}  // namespace sotto::report_detail
