#include "report/api/catalogue.hpp"

#include <algorithm>
#include <chrono>

#include "core/api/stop.hpp"

namespace sotto {
namespace {

constexpr std::chrono::seconds patience(2);      // for a writer who holds the ledger
constexpr std::chrono::seconds verification(2);  // for the counted work that recomputes costs
constexpr std::size_t verified_entries = 20000;  // hashes and signatures take 0.07 ms each

LedgerBalance balance_of(const Ledger& ledger) {
  const std::vector<Entry> entries = ledger.entries();
  return {ledger.terms(), ledger.filter(), entries.size(), entries.empty() ? "" : entries.back().time};
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

// Of one moment: a charge may come between what is read of it first and last.
LedgerState steady_state_of(const Ledger& ledger) {
  constexpr int tries = 3;
  for (int i = 1;; ++i) {
    const std::string before = ledger.head().hash;
    LedgerState state = state_of(ledger);
    if (state.head.hash == before || i == tries) return state;
  }
}

std::optional<Finding> finding_of(const Ledger& ledger) {
  const auto until = std::chrono::steady_clock::now() + verification;
  const StopQuestion question([until] { return std::chrono::steady_clock::now() > until; });
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

Ledger open_to_read(const DataFile& data) { return Ledger::open(data.ledger, {.patience = patience, .read_only = true}); }

LedgerView view_of(const DataFile& data, const Ledger& ledger, std::optional<std::int64_t> before) {
  LedgerView view{.data = data, .state = steady_state_of(ledger)};
  const std::vector<Entry>& entries = view.state.entries;
  const auto end = std::find_if(entries.begin(), entries.end(), [before](const Entry& entry) { return before && entry.number >= *before; });
  const auto count = std::min<std::ptrdiff_t>(end - entries.begin(), entries_a_page);
  view.shown.assign(std::make_reverse_iterator(end), std::make_reverse_iterator(end - count));
  if (end - count != entries.begin()) view.older = view.shown.back().number;
  std::vector<std::string> requests;
  for (const Entry& entry : view.shown) requests.push_back(entry.request);
  view.states = ledger.states(requests);
  if (entries.size() <= verified_entries) view.finding = finding_of(ledger);
  return view;
}

}  // namespace sotto
