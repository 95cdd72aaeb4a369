// The budget that --epsilon and --delta name, for the commands that make ledgers.
#pragma once

#include <optional>
#include <string>

#include "sotto/accounting/filter.hpp"

namespace sotto::cli {

/// Gaussian DP with slack; sums of epsilon and delta where that is asked for, or delta is 0. `slack` as typed; empty: a tenth of delta.
Budget promised_budget(double epsilon, double delta, const std::string& slack, bool sum);

/// On stderr: what a Gaussian budget promises at this δ (0: its usual one), and for which work another one admits more.
void say_what_it_counts(const Budget& budget, double delta = 0);

/// On stderr, unless it is quiet: that a δ is too large, for a public number of units if one is known (doubt_about_delta).
void warn_of_delta(double delta, bool quiet, std::optional<double> units = std::nullopt, const std::string& unit = "unit");
/// The same of an option as it was typed; nothing where it was not.
void warn_of_delta(const std::string& typed, bool quiet, std::optional<double> units = std::nullopt, const std::string& unit = "unit");

}  // namespace sotto::cli
