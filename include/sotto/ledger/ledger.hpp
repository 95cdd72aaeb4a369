// The durable privacy budget: an append-only record of charges, in a file or in a PostgreSQL
// database.
//
// A charge is on disk before the data are read, is never taken back, and is checked and written in
// one transaction. A proved filter admits it (docs/theory/filters.md), so the totals hold for
// analysts who choose each question from the answers so far.
//
// The attacker can write the file, or owns the database, but has no signing key. Every call
// verifies the chain of hashes from the founding entry to a signed head, so this attacker can stop
// all charges, but cannot lower a total, forge an answer, or have noise drawn twice for one request
// without being noticed. An older copy of the whole ledger is noticed only if a witness keeps the
// heads (LedgerOptions::witness). A holder of the key can write anything. docs/theory/threats.md
// lists each threat with its test.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sotto/accounting/filter.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// The ledger cannot be read or written, is not a ledger, or was changed by another program. The
/// ledger is left as it was.
class LedgerError : public std::runtime_error, public Remediable {
 public:
  explicit LedgerError(const std::string& what, Remedy remedy = Remedy::none)
      : std::runtime_error(what), Remediable(remedy) {}
};

/// The call failed, but a charge of the request is in the ledger, or may be. It stays there.
class ChargeStays : public LedgerError {
 public:
  using LedgerError::LedgerError;
};

/// The connection broke during the commit, so the caller cannot know whether the ledger has the
/// charge. The same request can be charged again: the ledger then returns the charge if it is there
/// and writes it otherwise. A request is never charged twice.
class OutcomeUnknown : public ChargeStays {
 public:
  using ChargeStays::ChargeStays;
};

/// The request is begun and has no answer: noise was drawn for it, or may have been. It stays
/// charged and is never run again, since two runs would release two noisy values for the price of
/// one.
class RequestClosed : public ChargeStays {
 public:
  using ChargeStays::ChargeStays;
};

/// The budget does not cover the event. Nothing was charged. missing() is the shortfall.
class BudgetRefused : public std::runtime_error {
 public:
  BudgetRefused(const std::string& what, Charge missing)
      : std::runtime_error(what), missing_(missing) {}
  [[nodiscard]] Charge missing() const { return missing_; }

 private:
  Charge missing_;
};

/// The terms of a ledger: fixed when it is created, hashed into its founding entry.
struct Terms {
  std::string name;  ///< name of the data
  std::string
      unit;  ///< privacy unit, which the guarantee protects: "row", or a column such as "person"
  Relation relation;  ///< add_remove, replace_one or zero_out
  Budget budget;
  std::string unit_type =
      {};  ///< type of the unit's column, such as "integer"; "row" for rows; empty if not stated
  std::string source = {};  ///< canonical identity of the data source; empty if not stated
};

/// One charge, as the ledger holds it.
struct Entry {
  std::int64_t
      number;  ///< position in the chain, which also holds other records: it grows and may skip
  std::string time;  ///< UTC
  std::string
      request;  ///< id of the request that was charged; the ledger has at most one entry for it
  std::string content;  ///< digest of the question
  std::string plan;     ///< the event, as text
  Charge cost;
  std::string hash;        ///< hash of this entry and of the hash of the record before it
  std::string who = {};    ///< user who ran the request; in a database the role
  std::string title = {};  ///< title of the study
  std::vector<std::string> measurements = {};  ///< digests that identify single measurements
};

/// The state of a request. Noise may have been drawn from `begun` on.
enum class RequestState { unknown, charged, begun, answered };

/// The record of a checkpoint in the ledger. Its seal identifies the checkpoint's file and is
/// needed to decrypt it (checkpoint.hpp).
struct CheckpointMark {
  std::int64_t number;  ///< 0 for the checkpoint that was marked together with "begun"
  std::string seal;
};

/// The end of the chain: number and hash of the last record. A copy outside of the ledger shows
/// whether the ledger was truncated or replaced by an older copy.
struct Head {
  std::int64_t number = 0;
  std::string hash;
};

/// The result of a charge.
struct Receipt {
  bool repeated;  ///< the request had been charged before and was not charged again
  Entry entry;
};

/// The result of a verification.
struct Finding {
  bool sound;
  std::string words;  ///< what was verified, or what is wrong
  Head head;
};

/// The records and answers that a repair dropped, or would drop.
struct Repair {
  Head signed_head;          ///< the last signed head: all records up to it stay
  std::int64_t records = 0;  ///< number of dropped records
  std::int64_t answers = 0;  ///< number of dropped answers, which no record marks
  std::string dropped = {};  ///< the dropped records as lines of JSON
  std::string words = {};    ///< title of the note that the ledger keeps of the repair
  Head head = {};            ///< head of the ledger after the repair
};

/// How a ledger is created or opened.
struct LedgerOptions {
  std::string key =
      {};  ///< file of the signing key; empty: default_key(place). Reading needs no key
  std::string witness =
      {};  ///< keeper of the heads outside: a file to append to, or "|COMMAND"; empty: no witness
  std::chrono::milliseconds patience =
      std::chrono::seconds(30);  ///< longest wait for other writers
  std::string writer = {};  ///< create: database role that may read and append, and nothing else
  std::vector<std::string> writer_keys =
      {};  ///< create: public keys of other writers, who may charge, too
  std::string unit_type = {},
              source = {};  ///< import: terms that a ledger of version 1 does not state
  bool read_only = false;   ///< open: opens a file for reading only; every call that would write
                            ///< throws LedgerError
};

/// Returns the default path of a ledger file's key: "people.key" for "people.sotto". Throws
/// InvalidValue for a database, which has no folder: its key needs a path (LedgerOptions::key).
std::string default_key(const std::string& place);

/// A ledger is an append-only chain of records: charges, and marks of how far each charged request
/// has come. Every record holds the hash of the record before it, and the last one is signed.
///
/// No call trusts the rows, indexes or totals that are stored: each verifies the records that were
/// added since the previous call, and the first call verifies all of them. Every call throws
/// LedgerError if the chain is broken. Calls on one object may come from several threads.
///
/// A place is the path of a file, or postgresql://… for a database, which holds one ledger. The URI
/// of a server on another machine must have sslmode=verify-full. Otherwise somebody on the way
/// could change the ledger, so the connection is refused before it is made.
class Ledger {
 public:
  /// The storage of the records.
  class Store;

  /// Creates a ledger and, unless the key file exists, its key. Throws LedgerError if the place has
  /// a ledger already, and InvalidValue if `options` names a writer for a file, which has no roles.
  static Ledger create(const std::string& place, const Terms& terms,
                       const LedgerOptions& options = {});
  /// Opens a ledger. Throws LedgerError, and changes nothing, if the place has no ledger. The key
  /// is read at the first call that signs.
  static Ledger open(const std::string& place, const LedgerOptions& options = {});
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] const Terms& terms() const { return terms_; }
  /// A random number in hexadecimal, fixed when the ledger was created.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// The time of creation, UTC.
  [[nodiscard]] const std::string& created() const { return created_; }

  /// Charges the event to the request. The charge is on disk when this returns.
  ///
  /// A request that was charged before with equal content and event is not charged again; one that
  /// was charged with another content or event is refused with LedgerError. Throws BudgetRefused if
  /// the budget does not cover the event, and OutsideConditions if the event has no cost in the
  /// budget's currency or has another relation. `at` is the δ at which an ApproximateBudget charges
  /// the event, or its slack under a GdpBudget, as in Filter::admit.
  Receipt charge(const std::string& request, const std::string& content, const Plan& event,
                 std::optional<Delta> at = std::nullopt);
  /// A request for a charge.
  struct ChargeRequest {
    std::string request;  ///< id
    std::string content;  ///< digest of the question
    Plan event;
    std::optional<Delta> at = std::nullopt;
    std::string who = {};  ///< empty: the user of this process; a database writes its role
    std::string title = {};
    std::vector<std::string> measurements = {};
    bool again =
        false;  ///< if the id was charged before, charges "request/2", "request/3", … instead
  };
  /// Charges all of these requests in one transaction, or none of them.
  std::vector<Receipt> charge(const std::vector<ChargeRequest>& requests);

  [[nodiscard]] RequestState state(const std::string& request) const;
  /// Returns one state per request, in the order of the requests.
  [[nodiscard]] std::vector<RequestState> states(const std::vector<std::string>& requests) const;
  /// Returns the charge of the request, or nothing if it was not charged.
  [[nodiscard]] std::optional<Entry> charge_of(const std::string& request) const;
  /// Marks a charged request as begun. The mark is on disk when this returns, and the caller draws
  /// the first noise only then: this is what keeps a crash from leading to a second run. Throws
  /// RequestClosed if the request was begun before. A seal that is not empty marks the checkpoint
  /// from which the request can be resumed.
  void begin(const std::string& request, const std::string& seal = {});
  /// Marks a checkpoint of a begun request. The mark is on disk when this returns. Its number must
  /// be one more than the last mark's. Otherwise another process resumed from the same checkpoint,
  /// and this throws LedgerError, so that one of the two processes stops.
  void mark_checkpoint(const std::string& request, const CheckpointMark& mark);
  /// Returns the last checkpoint of the request, or nothing if it has no checkpoint or has its
  /// answer.
  [[nodiscard]] std::optional<CheckpointMark> checkpoint(const std::string& request) const;
  /// Throws LedgerError if the ledger cannot store checkpoints: a database that an older version of
  /// sotto created.
  void require_checkpoints() const;
  /// Returns 32 bytes that are derived from the signing key and cannot be computed without it.
  [[nodiscard]] std::string secret_for(const std::string& purpose) const;
  /// Stores the answer of a begun request, once. The answer is on disk when this returns.
  void keep_answer(const std::string& request, const std::string& answer);
  /// Returns the stored answer, or nothing. Throws LedgerError if the text is missing or its digest
  /// is not the one in the verified chain: an answer that was changed is never shown.
  [[nodiscard]] std::optional<std::string> answer(const std::string& request) const;

  /// Returns all charges, in order.
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] Filter filter() const;
  [[nodiscard]] Head head() const;

  /// Drops the records after the last head that a key of the ledger signed, the answers that no
  /// record marks, and the records whose number is not in the chain. Somebody without a key added
  /// them, and no charge is possible while they are there. Then appends a signed note of the
  /// repair. With `dry_run` it only reports what it would drop.
  ///
  /// Throws LedgerError if a signed record would be dropped, if the witness keeps a later head, if
  /// this process has no key, or if its database role does not own the tables.
  static Repair repair(const std::string& place, const LedgerOptions& options, bool dry_run);

  /// Gives the verified head to a witness that keeps no head of this ledger yet. Before this call a
  /// ledger with entries cannot be charged under a new witness: an emptied witness looks like a new
  /// one.
  void start_witness();

  /// Returns what every call here verifies: the chain's links, its totals, its signed head and, if
  /// there is a witness, the witness's head. Does not recompute costs. A ledger of version 1 is not
  /// sound, since it has no signatures. Throws LedgerError if the chain is broken or the witness
  /// keeps a head of another chain.
  [[nodiscard]] Finding verify_chain() const;

  /// Recomputes every hash, total and cost, and verifies every signature and answer. With
  /// `expected`, a head that was kept outside, also verifies that the chain contains it.
  [[nodiscard]] Finding verify(const std::optional<Head>& expected = std::nullopt) const;

  /// Returns all records and answers as lines of JSON. Throws LedgerError if the chain is broken or
  /// an answer was changed; with `unverified` it returns the stored rows without verification.
  [[nodiscard]] std::string export_text(bool unverified = false) const;
  /// Creates a ledger, a file or a database, from the text of an export. Throws LedgerError if the
  /// text is not, byte for byte, the export of a sound ledger.
  static Ledger import(const std::string& place, const std::string& text,
                       const LedgerOptions& options = {});

 private:
  class Writer;
  class ChargeBatch;
  Ledger(std::unique_ptr<Store> store, const std::string& place, const LedgerOptions& options);

  std::unique_ptr<Store> store_;
  std::unique_ptr<Writer> writer_;  // refers to *store_
  std::string id_;
  std::string created_;
  Terms terms_;
};

/// Returns the place without the password of its URI, for messages.
std::string without_password(const std::string& place);

/// Returns a budget as text, such as "zcdp(0.5, 1e-06)", "approx(1, 1e-06)", "rdp(8, 0.5, 1e-06)",
/// "gdp(0.5)", "gdp(0.5, 1e-07)" or "plan(3 * gaussian(5) + laplace(3))".
std::string print(const Budget& budget);
/// Reads the text that print() writes. Throws InvalidValue, or ParseError for the plan in
/// plan(...).
Budget parse_budget(const std::string& text);

/// Returns the SHA-256 of the bytes, in hexadecimal.
std::string digest(const std::string& bytes);

}  // namespace sotto
