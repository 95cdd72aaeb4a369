// The chain of a ledger's records: hashes, signatures, totals, and whether they are right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

std::string first_hash(const Ledger::Store::Founding& founding);
std::string first_hash_of_version_1(const Ledger::Store::Founding& founding);
std::string hash_of(const std::string& before, const Record& record);
/// What is signed.
std::string head_bytes(const std::string& id, const Head& head);

std::vector<std::string> words_of(const std::string& text);
/// The n of "checkpoint/n"; nothing for another kind of record.
std::optional<std::int64_t> checkpoint_number(const std::string& kind);
/// A charge as it is shown. LedgerError if it cannot be read.
Entry entry_of(const Record& record);

/// LedgerError if they cannot be read.
Terms terms_of(const Ledger::Store::Founding& founding);
Tally tally_of(const Budget& budget, const std::string& amount, const std::string& delta);
/// A total as it is stored.
std::string amount_text(const Tally& tally);

/// That the founding hash is that of the terms and signed by the founder. LedgerError.
void require_founding(const Ledger::Store::Founding& founding);

/// What the next record goes on from.
struct End {
  Head head;
  Tally tally;
  Record totals;  // amount, delta and slack as they are stored
};
/// Recomputes every hash, total and cost, and verifies every signature and answer.
Finding check(const Ledger::Store::Contents& contents, const std::optional<Head>& kept);

}  // namespace sotto::ledger_detail
