// A ledger's amounts as words, for its text and for its pages.
#pragma once

#include <string>

#include "sotto/accounting/filter.hpp"
#include "sotto/report/ledger.hpp"

namespace sotto::report_detail {

/// "0.25, delta 1e-07": the second where the budget has one. Of a Gaussian budget "mu^2 0.25, slack 1e-07".
std::string charge_text(const Charge& charge, const Filter& filter);
/// The same of what is left; 0 where only a limit's room for rounding is.
std::string left_text(const Filter& filter);
/// How much of the budget is spent, from 0 to 1.
double spent_share(const Filter& filter);
/// "3 of 7 parts" of a committed plan, else as charge_text says it; and what is left of it.
std::string spent_words(const Filter& filter);
std::string left_words(const Filter& filter);

}  // namespace sotto::report_detail
