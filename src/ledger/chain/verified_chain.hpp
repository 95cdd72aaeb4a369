// The records of a ledger, verified from the founding entry to the signed head, and what each request has come to in them.
//
// Rows, indexes and the kept answers of a store are hints: whoever can write the file or owns the database can edit, insert, delete and
// renumber them. A record counts because the chain of hashes leads from the founding entry over it to a head that a key of the ledger signed.
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

/// Verifies records one by one: number, hash, total, and what its request has come to. Signatures are checked by VerifiedChain.
class ChainWalk {
 public:
  ChainWalk(const Ledger::Store::Founding& founding, const Budget& budget);
  /// Returns what is wrong with the next record, or nothing. LedgerError if a number in it cannot be read.
  std::string add(const Record& record);

  [[nodiscard]] const End& end() const { return end_; }
  [[nodiscard]] const Requests& requests() const { return requests_; }
  /// The hash of the record with this number; number 0 is the founding entry.
  [[nodiscard]] std::string hash_at(std::int64_t number) const;
  /// That a head that `keeper` keeps is one of this chain. LedgerError says that the ledger was put back or is another.
  void require_contains(const Head& kept, const std::string& keeper) const;

 private:
  using Hash = std::array<unsigned char, 32>;
  [[nodiscard]] bool has_right_total(const Record& record);

  Budget budget_;
  std::vector<Hash> hashes_;  // by number
  Requests requests_;
  End end_;
};

class VerifiedChain {
 public:
  VerifiedChain(Ledger::Store::Founding founding, Budget budget);

  /// Verifies what was added to the store since the last call and returns its end. The last record must be signed by one of the ledger's
  /// keys. LedgerError names the first record that is wrong; the next call then starts from the founding entry.
  const End& follow(const Ledger::Store& store);
  /// After this process has added these records, which it linked and signed itself.
  void extend(const std::vector<Record>& added);

  /// The end, as it was verified last.
  [[nodiscard]] const End& end() const { return walk_.end(); }
  [[nodiscard]] const Head& head() const { return walk_.end().head; }
  [[nodiscard]] Progress of(const std::string& request) const { return walk_.requests().of(request); }
  /// The verified record with this number. LedgerError if the store holds another in its place.
  [[nodiscard]] Record record(const Ledger::Store& store, std::int64_t number) const;
  /// All records. LedgerError as for follow().
  [[nodiscard]] std::vector<Record> all(const Ledger::Store& store);
  [[nodiscard]] const ChainWalk& walk() const { return walk_; }

 private:
  void take(const std::vector<Record>& records);
  void require_signed(const Record& last) const;

  Ledger::Store::Founding founding_;
  Budget budget_;
  ChainWalk walk_;
  Head signed_;  // the last head whose signature was verified, or made here
};

/// That an export's records are linked to its signed end, and that its answers are those that are marked. LedgerError.
void require_links(const Ledger::Store::Contents& contents, const Budget& budget);

/// Whether a record is signed by one of the founding entry's keys.
bool is_signed_by_ledger(const Ledger::Store::Founding& founding, const Record& record);

}  // namespace sotto::ledger_detail
