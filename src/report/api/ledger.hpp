// A ledger as text and as a picture: what was spent, what is left, what is promised.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/ledger/ledger.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// What there is to tell of a ledger.
struct LedgerState {
  std::string id;
  std::string created;
  Terms terms;
  Filter filter;
  std::vector<Entry> entries;
  Head head;
  Claim promise;                ///< holds however the analyst goes on
  std::optional<double> tight;  ///< ε of all entries at the promise's δ, had they been fixed in advance; empty where no method gives it
  Finding chain{};              ///< what was verified before all of this was read
};

/// Reads it, with the promise at that δ; else at one that fits the budget: its own if it has one, 1e-6 if not.
LedgerState state_of(const Ledger& ledger, std::optional<Delta> delta = std::nullopt);

/// What is left: "88.7 % of ε = 3 at δ = 1e-06 (mu^2 0.33, slack 8.9e-08)"; 0 where only a limit's allowance for rounding is.
std::string what_is_left(const Filter& filter);

/// sotto.ledger-state/1; as CSV the entries alone.
std::string ledger_text(const LedgerState& state, Format format);

/// A charge that was just made: its number and cost, and what is left.
std::string receipt_text(const Receipt& receipt, const Filter& filter);

/// The filter's total over time, against its limit.
Chart ledger_chart(const LedgerState& state);

}  // namespace sotto
