// Appends records to a ledger: verifies the chain, links and signs the new records, writes them in
// one transaction, and gives their head to the witness.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ledger/chain/chain.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/verified_chain.hpp"
#include "ledger/chain/witness.hpp"
#include "sotto/ledger/key.hpp"

namespace sotto {
namespace ledger_detail {

/// Records to append, and the text of the answer that the last of them marks.
struct Addition {
  std::vector<Record> records;
  std::optional<std::string> answer;
};

/// Returns the filter of the ledger after these charges. Throws LedgerError if the totals do not
/// fit the budget.
Filter filter_of(const Terms& terms, const Tally& tally);

}  // namespace ledger_detail

class Ledger::Writer {
 public:
  /// Creates a ledger with these contents. If the founding entry names no keys, it is signed with
  /// the key file of `options`, which is created if it is absent, and `more` may append signed
  /// records.
  static Ledger create(
      const std::string& place, Store::Contents contents, const LedgerOptions& options,
      const std::function<void(Store::Contents& contents, const SigningKey& key)>& more = {});

  Writer(Store& store, Store::Founding founding, Budget budget, std::string place,
         LedgerOptions options);

  /// Verifies the end of the ledger, appends the records that f makes from it, and gives their head
  /// to the witness. Verification and append are one transaction. Throws LedgerError, and appends
  /// nothing, if the chain is broken or the witness keeps a head that it does not contain.
  void write(const std::function<ledger_detail::Addition(const ledger_detail::End& end)>& f);
  /// Numbers the last of these new records, which follow the end, and computes its hash.
  void link(std::vector<ledger_detail::Record>& added, const ledger_detail::End& end) const;
  /// Signs the last of these records, which changes its hash.
  void sign(std::vector<ledger_detail::Record>& added, const ledger_detail::End& end);
  /// Returns a mark of a request, linked and signed.
  ledger_detail::Addition mark(const ledger_detail::End& end, const char* kind,
                               const std::string& request, const std::string& content,
                               const std::optional<std::string>& answer,
                               const std::string& title = {});

  /// Returns the chain, verified to its present end and against the witness. Throws LedgerError.
  const ledger_detail::VerifiedChain& verified_chain();
  /// Return the state of a request and a record, from the last verification.
  [[nodiscard]] ledger_detail::Progress progress_of(const std::string& request) const {
    return chain_.progress_of(request);
  }
  [[nodiscard]] ledger_detail::Record record(std::int64_t number) const {
    return chain_.record(store_, number);
  }
  /// Returns all records, verified. Throws LedgerError.
  std::vector<ledger_detail::Record> records();
  /// Throws LedgerError if there is a witness and the verified chain does not contain the head that
  /// it keeps, or if the witness keeps no head although the ledger has entries.
  void require_witnessed() { require_witnessed(chain_.walk()); }
  void require_witnessed(const ledger_detail::ChainWalk& chain);
  /// Gives the verified head to a witness that keeps no head of this ledger. Throws LedgerError if
  /// the witness keeps a head with this ledger's id that the chain does not contain.
  void start_witness();
  /// Gives the head to the witness, if there is one and it does not know this head.
  void notify_witness(const Head& head);
  /// The place of the ledger, without a password, for messages.
  [[nodiscard]] std::string place() const { return without_password(place_); }
  [[nodiscard]] bool has_witness() const { return witness_ != nullptr; }
  /// Returns the lock that every public call of the ledger holds, so that several threads may use
  /// one object.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }
  /// Returns the signing key, which the first call reads from its file. Throws LedgerError if the
  /// ledger's founding entry does not list it.
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
  std::string who_;  // the writer's name: the database role, or the user of a file
  std::recursive_mutex mutex_;
  std::optional<Head> witnessed_;  // the last head that the witness is known to keep
};

}  // namespace sotto
