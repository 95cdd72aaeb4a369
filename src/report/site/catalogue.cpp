// Reads a catalogue and its ledgers for their pages, within the time that a page may take.
#include "report/api/catalogue.hpp"

#include <algorithm>
#include <chrono>

#include "core/api/stop.hpp"

namespace sotto {
namespace {

constexpr std::chrono::seconds patience(2);           // for a writer that holds the ledger's lock
constexpr std::chrono::seconds verification(2);       // for recomputing the costs of all entries
constexpr std::size_t most_verified_entries = 20000;  // hash and signature of an entry take 0.07 ms

LedgerBalance balance_of(const Ledger& ledger) {
  const std::vector<Entry> entries = ledger.entries();
  return {ledger.terms(), ledger.filter(), entries.size(),
          entries.empty() ? "" : entries.back().time};
}

CatalogueItem item_of(const Catalogue& catalogue, const std::string& name) {
  CatalogueItem item{.name = name};
  try {
    item.data = catalogue.find(name);
    if (!item.data->is_public) item.balance = balance_of(open_to_read(*item.data));
  } catch (const std::exception& error) {
    item.trouble = error.what();
  }
  return item;
}

// Returns the state at one moment. A charge may be written while the state is read, so the head is
// compared before and after; the third attempt is returned in any case.
LedgerState steady_state_of(const Ledger& ledger) {
  constexpr int tries = 3;
  for (int i = 1;; ++i) {
    const std::string before = ledger.head().hash;
    LedgerState state = state_of(ledger);
    if (state.head.hash == before || i == tries) return state;
  }
}

// Verifies the ledger, or returns nullopt if that takes longer than a page may.
std::optional<Finding> finding_of(const Ledger& ledger) {
  const auto deadline = std::chrono::steady_clock::now() + verification;
  const StopCheck stop_at_deadline(
      [deadline] { return std::chrono::steady_clock::now() > deadline; });
  try {
    return ledger.verify();
  } catch (const Stopped&) {
    return std::nullopt;
  } catch (const LedgerError& error) {
    return Finding{false, error.what(), {}};
  }
}

}  // namespace

std::vector<CatalogueItem> read_catalogue(const Catalogue& catalogue) {
  std::vector<CatalogueItem> items;
  for (const std::string& name : catalogue.names()) items.push_back(item_of(catalogue, name));
  return items;
}

Ledger open_to_read(const DataFile& data) {
  return Ledger::open(data.ledger, {.patience = patience, .read_only = true});
}

LedgerView view_of(const DataFile& data, const Ledger& ledger, std::optional<std::int64_t> before) {
  LedgerView view{.data = data, .state = steady_state_of(ledger)};
  const std::vector<Entry>& entries = view.state.entries;
  const auto end = std::find_if(entries.begin(), entries.end(), [before](const Entry& entry) {
    return before && entry.number >= *before;
  });
  const auto count = std::min<std::ptrdiff_t>(end - entries.begin(), entries_a_page);
  view.page_entries.assign(std::make_reverse_iterator(end),
                           std::make_reverse_iterator(end - count));
  if (end - count != entries.begin()) view.older = view.page_entries.back().number;
  std::vector<std::string> requests;
  for (const Entry& entry : view.page_entries) requests.push_back(entry.request);
  view.page_states = ledger.states(requests);
  if (entries.size() <= most_verified_entries) view.finding = finding_of(ledger);
  return view;
}

}  // namespace sotto
