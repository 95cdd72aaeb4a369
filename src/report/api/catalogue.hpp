// The pages of a catalogue and of its ledgers: what was charged to which data, and how much of the
// budget is left. Ledgers are opened read-only, and no signing key is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/api/ledger.hpp"
#include "study/api/data_file.hpp"

namespace sotto {

/// The state of a ledger without its entries.
struct LedgerBalance {
  Terms terms;
  Filter filter;
  std::size_t charges = 0;
  std::string last = {};  ///< the time of the last charge, UTC; empty if there is no charge
};

/// One data set of a catalogue.
struct CatalogueItem {
  std::string name;
  std::optional<DataFile> data = {};  ///< nullopt if its file cannot be read
  std::optional<LedgerBalance> balance =
      {};  ///< nullopt for public data, and if the ledger cannot be read
  std::string trouble =
      {};  ///< why the file or the ledger cannot be read; empty if there was no error
};

/// Reads all data sets of a catalogue. An error with one data set is reported in its item and does
/// not stop the others.
std::vector<CatalogueItem> read_catalogue(const Catalogue& catalogue);

/// The page of a catalogue; each data set links to "data/NAME/".
std::string catalogue_page(const std::vector<CatalogueItem>& items, const std::string& version);

/// A ledger as its page shows it: the totals over all charges, and one page of entries.
struct LedgerView {
  DataFile data;
  LedgerState state;
  std::vector<Entry> page_entries = {};        ///< the entries on this page, newest first
  std::vector<RequestState> page_states = {};  ///< the request's state for each of page_entries
  std::optional<std::int64_t> older = {};      ///< older entries exist, with numbers below this one
  std::optional<Finding> finding =
      {};  ///< the result of verifying the ledger; nullopt if that takes too long for a page
};

inline constexpr std::size_t entries_a_page = 200;

/// Opens the ledger of a data set read-only.
Ledger open_to_read(const DataFile& data);

/// Reads a ledger for its page. With `before`, the page begins with the newest entry whose number
/// is below it. Throws LedgerError if the ledger cannot be read.
LedgerView view_of(const DataFile& data, const Ledger& ledger,
                   std::optional<std::int64_t> before = std::nullopt);

/// The page of a ledger: its budget over time, entries, verification and terms. It links to
/// "../../" for the catalogue, to "NUMBER/" and "NUMBER/answer.json" for the stored answer of an
/// entry, to "?before=NUMBER" for older entries, and to "ledger.json". `verify_command` is the
/// command that the page suggests for verifying the ledger.
std::string ledger_page(const LedgerView& view, const std::string& verify_command,
                        const std::string& version);

}  // namespace sotto
