// A catalogue and its ledgers as pages: what was spent on which data, on what, and what is left. They are read and never written, and no key is
// looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/api/ledger.hpp"
#include "study/api/data_file.hpp"

namespace sotto {

/// What a ledger holds, without its entries.
struct LedgerBalance {
  Terms terms;
  Filter filter;
  std::size_t charges = 0;
  std::string last = {};  ///< when the last charge was made, UTC; empty if none was
};

/// One data set of a catalogue.
struct CatalogueItem {
  std::string name;
  std::optional<DataFile> data = {};  ///< nothing if its file cannot be read
  std::optional<LedgerBalance> balance = {};
  std::string trouble = {};  ///< why its file, or its ledger, cannot be read; empty if both can, or the data are public
};

/// All data sets of a catalogue, as they are now. What goes wrong with one of them is told in its item.
std::vector<CatalogueItem> read_catalogue(const Catalogue& catalogue);

/// The page of a catalogue; each data set links to "data/NAME/".
std::string catalogue_page(const std::vector<CatalogueItem>& items, const std::string& version);

/// A ledger as a page shows it: all that is charged, and so many entries at once.
struct LedgerView {
  DataFile data;
  LedgerState state;
  std::vector<Entry> shown = {};           ///< the newest first
  std::vector<RequestState> states = {};   ///< of their requests
  std::optional<std::int64_t> older = {};  ///< entries with a smaller number than this one follow; nothing: none do
  std::optional<Finding> finding = {};     ///< whether the chain holds; nothing: finding out takes longer than a page may
};

inline constexpr std::size_t entries_a_page = 200;

/// Opens the ledger of these data to be read alone.
Ledger open_to_read(const DataFile& data);

/// Reads it, with entries whose number is below `before`, if that is given. LedgerError.
LedgerView view_of(const DataFile& data, const Ledger& ledger, std::optional<std::int64_t> before = std::nullopt);

/// The page of a ledger: its terms, the budget over time, every entry, and whether the chain holds. It links to "../../" for the catalogue, to
/// "NUMBER/" and "NUMBER/answer.json" for the kept answer of an entry, to "?before=NUMBER" for older entries and to "ledger.json". `check` is what
/// can be typed to verify it.
std::string ledger_page(const LedgerView& view, const std::string& check, const std::string& version);

}  // namespace sotto
