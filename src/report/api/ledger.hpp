// The state of a ledger as text and as a chart: what was spent, what is left, and what the budget
// guarantees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/api/answers.hpp"
#include "report/api/chart.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// The state of a ledger at one moment.
struct LedgerState {
  std::string id;
  std::string created;
  Terms terms;
  Filter filter;
  std::vector<Entry> entries;
  Head head;
  Claim promise;  ///< the (ε, δ) that the whole budget guarantees, however an analyst adapts
  std::optional<double> tight;  ///< ε of all entries at the promise's δ if they had been fixed in
                                ///< advance; nullopt if no method gives it
  Finding chain{};  ///< the result of verifying the hash chain before the other members were read
};

/// Reads the state. `delta` is the δ of the promise; by default the budget's own δ, or 1e-6 if it
/// has none. Throws LedgerError if a plan in the ledger cannot be read.
LedgerState state_of(const Ledger& ledger, std::optional<Delta> delta = std::nullopt);

/// Returns the rest of the budget: "88.7 % of ε = 3 at δ = 1e-06 (mu^2 0.33, slack 8.9e-08)". A
/// rest that is only the limit's allowance for rounding is 0.
std::string remaining_budget_line(const Filter& filter);

/// Returns the state with all entries; sotto.ledger-state/1. CSV has the entries alone.
std::string ledger_text(const LedgerState& state, Format format);

/// Returns the number and cost of a new charge, and the rest of the budget.
std::string receipt_text(const Receipt& receipt, const Filter& filter);

/// A chart of the total charge over time, against the limit.
Chart ledger_chart(const LedgerState& state);

}  // namespace sotto
