// Adds to a ledger: verifies its chain, links and signs new records, and gives their head to the witness.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ledger/chain/chain.hpp"
#include "sotto/ledger/key.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/verified_chain.hpp"
#include "ledger/chain/witness.hpp"

namespace sotto {
namespace ledger_detail {

struct Addition {
  std::vector<Record> records;
  std::optional<std::string> answer;
};

/// LedgerError for a tally that is not of this budget.
Filter filter_of(const Terms& terms, const Tally& tally);

}  // namespace ledger_detail

class Ledger::Writer {
 public:
  /// A new ledger with these contents. If its founding names no keys yet, it is signed by a key that is made with it; then `more` adds
  /// signed records.
  static Ledger found(const std::string& place, Store::Contents contents, const LedgerOptions& options,
                      const std::function<void(Store::Contents& contents, const SigningKey& key)>& more = {});

  Writer(Store& store, Store::Founding founding, Budget budget, std::string place, LedgerOptions options);

  /// One transaction: checks the end of the ledger, adds what f makes of it, and tells the witness. LedgerError, and nothing is added, if the end
  /// is not as it was written.
  void write(const std::function<ledger_detail::Addition(const ledger_detail::End& end)>& f);
  /// Numbers the last of these records, which follow the end, and computes its hash.
  void link(std::vector<ledger_detail::Record>& added, const ledger_detail::End& end) const;
  /// Signs the last of them.
  void sign(std::vector<ledger_detail::Record>& added, const ledger_detail::End& end);
  /// A mark of a request, linked and signed.
  ledger_detail::Addition mark(const ledger_detail::End& end, const char* kind, const std::string& request, const std::string& content,
                               const std::optional<std::string>& answer, const std::string& title = {});

  /// The chain, verified to its present end, which follows the witness's head. LedgerError.
  const ledger_detail::VerifiedChain& chain();
  /// What a request has come to, and a record of it, as they were verified last.
  [[nodiscard]] ledger_detail::Progress known(const std::string& request) const { return chain_.of(request); }
  [[nodiscard]] ledger_detail::Record record(std::int64_t number) const { return chain_.record(store_, number); }
  /// All records, verified. LedgerError.
  std::vector<ledger_detail::Record> records();
  /// That the chain, as it was verified last, holds the head that the witness keeps, if there is a witness. LedgerError also if the witness
  /// keeps no head of a ledger that has entries.
  void require_witnessed() { require_witnessed(chain_.walk()); }
  void require_witnessed(const ledger_detail::ChainWalk& chain);
  /// Gives the verified head to a witness that keeps none of this ledger. LedgerError if it keeps another ledger's history under the same id.
  void start_witness();
  void tell(const Head& head);
  [[nodiscard]] bool has_witness() const { return witness_ != nullptr; }
  /// Held by each public call of the ledger: one object may be used by several threads.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }
  SigningKey& key();

 private:
  Store& store_;
  Store::Founding founding_;
  Budget budget_;
  std::string place_;
  LedgerOptions options_;
  std::unique_ptr<ledger_detail::Witness> witness_;
  ledger_detail::VerifiedChain chain_;
  std::optional<SigningKey> key_;
  std::string who_;  // who writes: the database's role, else the user
  std::recursive_mutex mutex_;
  std::optional<Head> outside_;  // the last head that the witness is known to keep
};

}  // namespace sotto
