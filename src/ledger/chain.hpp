// The chain of a ledger's entries: hashes, totals, and whether both are right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store.hpp"

namespace sotto::ledger_detail {

/// The chain starts from the terms.
std::string first_hash(const Ledger::Store::Founding& founding);
std::string hash_of(const std::string& before, const StoredEntry& stored);

/// LedgerError if they cannot be read.
Terms terms_of(const Ledger::Store::Founding& founding);
Tally tally_of(const Budget& budget, const std::optional<StoredEntry>& last);
/// A total as it is stored.
std::string amount_text(const Tally& tally);

/// Recomputes every hash, total and cost.
Finding check(const Ledger::Store::Founding& founding, const std::vector<StoredEntry>& entries, const std::optional<Head>& kept);

}  // namespace sotto::ledger_detail
