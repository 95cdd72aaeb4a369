// The chain of a ledger's records: its hashes and signatures, the text of its totals, and the full
// verification that recomputes everything (`sotto ledger verify`). verified_chain.hpp has the
// faster verification that every call makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

/// The hash of the founding entry, from which the chain starts.
std::string first_hash(const Ledger::Store::Founding& founding);
std::string first_hash_of_version_1(const Ledger::Store::Founding& founding);
/// The hash of a record that follows a record with the hash `before`. It covers every field but the
/// hash and the signature.
std::string hash_of(const std::string& before, const Record& record);
/// The bytes that a head's signature covers. They contain the ledger's id, so that a head of one
/// ledger is no head of another.
std::string head_bytes(const std::string& id, const Head& head);

/// Splits a text at white space.
std::vector<std::string> words_of(const std::string& text);
/// Returns the n of "checkpoint/n", or nothing for a record of another kind.
std::optional<std::int64_t> checkpoint_number(const std::string& kind);
/// Reads the cost of a record. Throws LedgerError, with the record's number, if it is not a number.
double cost_number(const Record& record, const std::string& text);
/// Reads a charge. Throws LedgerError if its cost is not a number.
Entry entry_of(const Record& record);

/// Reads the terms of a ledger. Throws LedgerError if the relation or the budget cannot be read.
Terms terms_of(const Ledger::Store::Founding& founding);
/// Reads the total of a record. Throws LedgerError, with the record's number, if it cannot be read.
Tally tally_of(const Budget& budget, const Record& record);
/// Returns the amount of a total as a record stores it.
std::string amount_text(const Tally& tally);

/// Throws LedgerError unless the founding hash is the hash of the terms and the founder signed it.
/// This detects a budget, a relation or a list of keys that was changed.
void require_founding(const Ledger::Store::Founding& founding);

/// The end of a chain, which the next record continues.
struct End {
  Head head;
  Tally tally;
  Record totals;  // only amount, delta and slack, as they are stored
};
/// Recomputes every hash, total and cost, and verifies every signature and answer. With `expected`,
/// also verifies that the chain contains this head.
Finding check(const Ledger::Store::Contents& contents, const std::optional<Head>& expected);

}  // namespace sotto::ledger_detail
