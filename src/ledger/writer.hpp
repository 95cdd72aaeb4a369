// The one who adds to a ledger: checks its end, links and signs, and tells the witness.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chain.hpp"
#include "sotto/ledger/key.hpp"
#include "store.hpp"
#include "witness.hpp"

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
                               const std::optional<std::string>& answer);

  /// The end of the ledger, checked as for a charge. LedgerError.
  [[nodiscard]] ledger_detail::End end(const std::vector<ledger_detail::Record>& latest) const;
  /// That the text is the one whose digest was marked and signed. LedgerError.
  void require_answer(const std::vector<ledger_detail::Record>& records, const std::string& request, const std::optional<std::string>& text) const;
  /// That a mark of a checkpoint was signed and the ledger goes on from it to its end, without another checkpoint of the same request. LedgerError.
  void require_last_checkpoint(const ledger_detail::Record& mark);
  /// That the head follows the one that the witness keeps, if there is a witness. LedgerError.
  void require_witnessed(const Head& head);
  void tell(const Head& head);
  SigningKey& key();

 private:
  [[nodiscard]] bool is_linked_and_signed(const ledger_detail::Record& mark) const;

  Store& store_;
  Store::Founding founding_;
  Budget budget_;
  std::string place_;
  LedgerOptions options_;
  std::unique_ptr<ledger_detail::Witness> witness_;
  std::optional<SigningKey> key_;
  std::string who_;              // who writes: the database's role, else the user
  std::optional<Head> outside_;  // the last head that the witness is known to keep
  std::optional<Head> seen_;     // the last head whose signature was verified or made here
};

}  // namespace sotto
