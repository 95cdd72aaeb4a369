// The records of a ledger, verified from the founding entry to the signed head, with the state of
// each request.
//
// The attacker can write the file or owns the database, and can edit, insert, delete and renumber
// rows, but cannot sign. Rows, indexes and stored answers are therefore hints. A record counts only
// because the chain of hashes leads from the founding entry through it to a head that a key of the
// ledger signed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/chain/chain.hpp"
#include "ledger/chain/requests.hpp"
#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

/// Verifies records one by one: number, hash, total, and the state of the request. VerifiedChain
/// verifies signatures.
class ChainWalk {
 public:
  ChainWalk(const Ledger::Store::Founding& founding, const Budget& budget);
  /// Returns what is wrong with the next record, or an empty text. Throws LedgerError if a number
  /// in the record cannot be read.
  std::string add(const Record& record);

  [[nodiscard]] const End& end() const { return end_; }
  [[nodiscard]] const Requests& requests() const { return requests_; }
  /// Returns the hash of the record with this number; number 0 is the founding entry.
  [[nodiscard]] std::string hash_at(std::int64_t number) const;
  /// Throws LedgerError unless this chain contains the head that `keeper` keeps. This detects a
  /// ledger that was truncated, replaced by an older copy, or forked.
  void require_contains(const Head& expected, const std::string& keeper) const;

 private:
  using Hash = std::array<unsigned char, 32>;
  [[nodiscard]] bool has_right_total(const Record& record);

  Budget budget_;
  std::vector<Hash> hashes_;  // by record number
  Requests requests_;
  End end_;
};

/// The chain of one store, as far as this process has verified it.
class VerifiedChain {
 public:
  /// `place` names the ledger in errors.
  VerifiedChain(Ledger::Store::Founding founding, Budget budget, std::string place);

  /// Verifies the records that were added to the store since the last call, and returns the end.
  /// Throws LedgerError, which names the first wrong record, also if no key of the ledger signed
  /// the last record. The next call then starts from the founding entry.
  const End& verify_to_end(const Ledger::Store& store);
  /// Appends records that this process has linked, signed and written itself.
  void extend(const std::vector<Record>& added);

  /// The end of the verified records.
  [[nodiscard]] const End& end() const { return walk_.end(); }
  [[nodiscard]] const Head& head() const { return walk_.end().head; }
  [[nodiscard]] Progress progress_of(const std::string& request) const {
    return walk_.requests().progress_of(request);
  }
  /// Returns the record with this number. Throws LedgerError if the store holds another record in
  /// the place of the one that was verified.
  [[nodiscard]] Record record(const Ledger::Store& store, std::int64_t number) const;
  /// Returns all records. Throws LedgerError as verify_to_end() does.
  [[nodiscard]] std::vector<Record> all(const Ledger::Store& store);
  [[nodiscard]] const ChainWalk& walk() const { return walk_; }

 private:
  void append_verified(const std::vector<Record>& records);
  void require_signed(const Record& last) const;
  void require_unchanged(const std::vector<Record>& page, const Head& known) const;
  [[noreturn]] void refuse(const std::string& problem) const;

  Ledger::Store::Founding founding_;
  Budget budget_;
  std::string place_;
  ChainWalk walk_;
  Head signed_;  // the last head whose signature was verified or made by this object
};

/// Throws LedgerError unless the records are linked to a signed end, every signature is valid, and
/// the stored answers are exactly those that the records mark. `place` names the ledger in errors.
void require_links(const Ledger::Store::Contents& contents, const Budget& budget,
                   const std::string& place);

/// Returns whether one of the founding entry's keys signed the record.
bool is_signed_by_ledger(const Ledger::Store::Founding& founding, const Record& record);

}  // namespace sotto::ledger_detail
