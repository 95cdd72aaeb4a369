// The budget that --epsilon and --delta describe, for the commands that create ledgers, and
// warnings about it.
#pragma once

#include <optional>
#include <string>

#include "sotto/accounting/filter.hpp"

namespace sotto::cli {

/// Returns the budget of Gaussian DP with slack that promises (epsilon, delta); or, with `sum` or a
/// delta of 0, the budget that adds up epsilons and deltas. `slack` is as typed; empty stands for a
/// tenth of delta. Throws InvalidValue if --slack does not apply.
Budget promised_budget(double epsilon, double delta, const std::string& slack, bool sum);

/// Says on stderr which epsilon a Gaussian budget promises at this delta (0: its usual one), and
/// for which work another kind of budget admits more. Says nothing about other budgets.
void say_promise(const Budget& budget, double delta = 0);

/// Warns on stderr, unless `quiet`, that a delta is too large, given the number of units if it is
/// public (see large_delta_warning).
void warn_of_delta(double delta, bool quiet, std::optional<double> units = std::nullopt,
                   const std::string& unit = "unit");
/// Warns about --delta as typed; an empty text is never warned about.
void warn_of_delta(const std::string& typed, bool quiet, std::optional<double> units = std::nullopt,
                   const std::string& unit = "unit");

}  // namespace sotto::cli
