// The durable budget: a file, or a PostgreSQL database, to which charges are only ever added.
//
// A charge is on the disk before data are touched, is never taken back, and is checked and written in one transaction. What admits it
// is a proved filter (docs/theory/filters.md), so the totals hold for analysts who choose each question from the answers so far.
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

/// The ledger cannot be read or written, is no ledger, or was changed by something else. The file is left as it was.
class LedgerError : public std::runtime_error, public Remediable {
 public:
  explicit LedgerError(const std::string& what, Remedy remedy = Remedy::none) : std::runtime_error(what), Remediable(remedy) {}
};

/// A charge of the request is in the ledger, or may be, and stays there although the call failed.
class ChargeStays : public LedgerError {
 public:
  using LedgerError::LedgerError;
};

/// The connection broke while a charge was being written: whether it is there is not known. Charging the same request again finds
/// the charge, or makes it; it is never charged twice.
class OutcomeUnknown : public ChargeStays {
 public:
  using ChargeStays::ChargeStays;
};

/// Noise was drawn for the request, or may have been, and no answer was kept: it stays charged and is never run again.
class RequestClosed : public ChargeStays {
 public:
  using ChargeStays::ChargeStays;
};

/// The budget does not cover the event. Nothing was charged.
class BudgetRefused : public std::runtime_error {
 public:
  BudgetRefused(const std::string& what, Charge missing) : std::runtime_error(what), missing_(missing) {}
  [[nodiscard]] Charge missing() const { return missing_; }

 private:
  Charge missing_;
};

/// What is fixed when a ledger is made.
struct Terms {
  std::string name;   ///< of the data
  std::string unit;   ///< whom the guarantee protects: "row", or a column such as "person"
  Relation relation;  ///< add_remove, replace_one or zero_out
  Budget budget;
  std::string unit_type = {};  ///< the type of the unit's column, such as "integer"; "row" for rows; empty: not stated
  std::string source = {};     ///< the canonical identity of the data source; empty: not stated
};

/// One charge, as it was written.
struct Entry {
  std::int64_t number;  ///< its place in the chain, which also holds the marks of requests: it grows, and may skip
  std::string time;     ///< UTC
  std::string request;  ///< whose charge this is; at most one entry each
  std::string content;  ///< a digest of what was asked
  std::string plan;     ///< the event, as text
  Charge cost;
  std::string hash;                            ///< of this entry and, through the last one's, of all before it
  std::string who = {};                        ///< the user who ran it; in a database the role
  std::string title = {};                      ///< of the study
  std::vector<std::string> measurements = {};  ///< digests that identify single measurements
};

/// How far a request came. Noise may be drawn from `begun` on.
enum class RequestState { unknown, charged, begun, answered };

/// A mark of how far a begun request came. Its seal says which file that is, and opens it (checkpoint.hpp).
struct CheckpointMark {
  std::int64_t number;  ///< 0 if it came with the mark that the request was begun
  std::string seal;
};

/// The end of the chain: kept outside, it shows a file that was truncated or put back.
struct Head {
  std::int64_t number = 0;
  std::string hash;
};

struct Receipt {
  bool repeated;  ///< the request had been charged before, and was not charged again
  Entry entry;
};

struct Finding {
  bool sound;
  std::string words;  ///< what was checked, or what is wrong
  Head head;
};

/// What a repair dropped, or would drop.
struct Repair {
  Head kept;                 ///< the last signed head, up to which all stays
  std::int64_t records = 0;  ///< how many were dropped
  std::int64_t answers = 0;  ///< how many kept answers without a mark
  std::string dropped = {};  ///< the records as lines of JSON
  std::string words = {};    ///< the note's title
  Head head = {};            ///< of the ledger afterwards
};

/// How a ledger is made or opened.
struct LedgerOptions {
  std::string key = {};      ///< the file of the key that signs; empty: default_key(place). Reading needs none
  std::string witness = {};  ///< where each head is kept outside: a file to append to, or "|COMMAND"; empty: nowhere
  std::chrono::milliseconds patience = std::chrono::seconds(30);  ///< how long to wait for other writers
  std::string writer = {};                                        ///< create: a database's role that may read the ledger and add to it, no more
  std::vector<std::string> writer_keys = {};                      ///< create: public keys of others who may charge
  std::string unit_type = {}, source = {};                        ///< import: the terms that a ledger of version 1 does not state
  bool read_only = false;  ///< open: a file is not even opened for writing, and whatever would write is refused (LedgerError)
};

/// Where the key of a ledger file lies unless it is said: "people.key" for "people.sotto". InvalidValue for a database, which needs a path.
std::string default_key(const std::string& place);

class Ledger {
 public:
  /// Where the rows are kept.
  class Store;

  // Every call below relies on the chain of records from the founding entry to the signed head only: each call verifies
  // what was added since the last one, the first call all of it. LedgerError, from any of them, where the chain is broken.

  // A place is a file's path, or postgresql://… for a database, which holds one ledger. A server that is not on this machine needs
  // sslmode=verify-full in its URI: anything less is refused before it is called.

  /// A new ledger and, unless there is a key file already, its key; LedgerError if there is a ledger already. A file has no roles.
  static Ledger create(const std::string& place, const Terms& terms, const LedgerOptions& options = {});
  /// A ledger that exists. LedgerError for anything else, which is left as it was. Its key is read when it is charged.
  static Ledger open(const std::string& place, const LedgerOptions& options = {});
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] const Terms& terms() const { return terms_; }
  /// Random, fixed when the ledger was made.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// When it was made, UTC.
  [[nodiscard]] const std::string& created() const { return created_; }

  /// Charges the event to the request, durably: when this returns, the charge is on the disk. A request that was charged before
  /// with the same content and event is not charged again; with another it is refused (LedgerError). BudgetRefused if the budget does not
  /// cover it; OutsideConditions if the event has no cost in the budget's currency or has another relation. `at` is the δ at which an
  /// ApproximateBudget charges it, or its slack under a GdpBudget, as in Filter::admit.
  Receipt charge(const std::string& request, const std::string& content, const Plan& event, std::optional<Delta> at = std::nullopt);
  /// All of them or none, in one transaction.
  struct Order {
    std::string request;
    std::string content;
    Plan event;
    std::optional<Delta> at = std::nullopt;
    std::string who = {};  ///< empty: the user of this process; a database writes its role
    std::string title = {};
    std::vector<std::string> measurements = {};
    bool again = false;  ///< if the request is taken: charged anew, as "request/2", "request/3", …
  };
  std::vector<Receipt> charge(const std::vector<Order>& orders);

  [[nodiscard]] RequestState state(const std::string& request) const;
  /// Of each, in their order.
  [[nodiscard]] std::vector<RequestState> states(const std::vector<std::string>& requests) const;
  /// Its charge, if it was charged.
  [[nodiscard]] std::optional<Entry> charge_of(const std::string& request) const;
  /// Marks a charged request, durably, before its first noise is drawn. RequestClosed if it was marked before. With a seal: and the checkpoint
  /// that it can go on from.
  void begin(const std::string& request, const std::string& seal = {});
  /// Marks how far a begun request came, durably: the number is one more than the last mark's. LedgerError if it is not, since then another process
  /// went on from the same checkpoint.
  void mark_checkpoint(const std::string& request, const CheckpointMark& mark);
  /// The last one that was marked, if any was and the request has no answer.
  [[nodiscard]] std::optional<CheckpointMark> checkpoint(const std::string& request) const;
  /// LedgerError where the ledger is a database that was made before there were checkpoints.
  void require_checkpoints() const;
  /// 32 bytes that only who has this process's key to the ledger can compute.
  [[nodiscard]] std::string secret_for(const std::string& purpose) const;
  /// Keeps a begun request's answer, once; it is durable when this returns.
  void keep_answer(const std::string& request, const std::string& answer);
  /// LedgerError if it is not the answer that was kept.
  [[nodiscard]] std::optional<std::string> answer(const std::string& request) const;

  /// The charges.
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] Filter filter() const;
  [[nodiscard]] Head head() const;

  /// Drops the records behind the last head that a key of the ledger signed, answers that no record marks, and records without a place in the
  /// chain: what somebody without a key added, and what no charge accepts. A signed note of it follows. LedgerError where a signed record would
  /// be dropped or the witness keeps a later head, and where this process has no key or, in a database, is not the tables' owner.
  static Repair repair(const std::string& place, const LedgerOptions& options, bool only_look);

  /// Gives the verified head to a witness that keeps no head of this ledger yet. Until then a ledger with entries is not charged under it.
  void start_witness();

  /// What was verified before anything here was read: the chain's links, totals and signed head, and the witness's head if there is one.
  /// Costs are not recomputed. Not sound for a ledger of version 1. LedgerError if the chain is broken or the witness keeps another head.
  [[nodiscard]] Finding verify_chain() const;

  /// Recomputes every hash and every total. With a head that was kept outside, also that the file still holds it.
  [[nodiscard]] Finding verify(const std::optional<Head>& kept = std::nullopt) const;

  /// All of it as lines of JSON, and a new ledger from them, of either kind. LedgerError where the chain is broken or an answer was changed,
  /// unless what is stored is wanted `unverified`.
  [[nodiscard]] std::string exported(bool unverified = false) const;
  static Ledger import(const std::string& place, const std::string& exported, const LedgerOptions& options = {});

 private:
  class Writer;
  Ledger(std::unique_ptr<Store> store, const std::string& place, const LedgerOptions& options);

  std::unique_ptr<Store> store_;
  std::unique_ptr<Writer> writer_;  // of the store
  std::string id_;
  std::string created_;
  Terms terms_;
};

/// A place as it may be shown: a URI without its password.
std::string without_password(const std::string& place);

/// A budget as text, and read back: "zcdp(0.5, 1e-06)", "approx(1, 1e-06)", "rdp(8, 0.5, 1e-06)", "gdp(0.5)", "gdp(0.5, 1e-07)",
/// "plan(3 * gaussian(5) + laplace(3))".
std::string print(const Budget& budget);
Budget parse_budget(const std::string& text);

/// SHA-256, in hexadecimal.
std::string digest(const std::string& bytes);

}  // namespace sotto
