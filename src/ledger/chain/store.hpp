// The storage interface of a ledger: an SQLite file or a PostgreSQL database implements it.
//
// A store is not trusted with integrity. It provides durable transactions; the chain, whose records
// verified_chain.hpp verifies, protects what it stores.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sotto/ledger/ledger.hpp"

namespace sotto {
namespace ledger_detail {

/// One link of the chain, as it is stored. All fields are text, so that the hash covers every byte.
struct Record {
  std::int64_t number = 0;
  // "charge", or a mark of a charged request: "begun" before its first noise, "checkpoint/1",
  // "checkpoint/2", … during its run, "answer" when its answer was stored; or "repair", a note that
  // unsigned records were dropped here.
  std::string kind = {};
  std::string time = {}, who = {}, request = {};
  // The digest of the question in a charge, the digest of the text in an answer, the seal in a
  // checkpoint.
  std::string content = {};
  std::string title = {}, plan = {};
  // As sotto::shortest writes them. Marks cost 0, and cost_slack is always 0.
  std::string cost = {}, cost_delta = {}, cost_slack = {};
  std::string measurements = {};  // digests, separated by spaces
  // Totals after this record: exact certified sums; under a committed plan, the number of runs of
  // each part.
  std::string amount = {}, delta = {}, slack = {};
  std::string signer =
      {};  // public key of the signer; empty unless this is the last record of its transaction
  std::string hash = {};       // of the previous record's hash and all fields above
  std::string signature = {};  // of the hash, by the signer
};

/// The names of a record's columns after the number, and its fields in the same order.
constexpr std::size_t record_fields = 17;
constexpr std::array<const char*, record_fields> record_names{
    "kind",  "time",  "who",        "request",    "content",      "title",
    "plan",  "cost",  "cost_delta", "cost_slack", "measurements", "amount",
    "delta", "slack", "signer",     "hash",       "signature"};
template <class R>
auto fields_of(R& r) {
  return std::array{&r.kind,  &r.time,  &r.who,        &r.request,    &r.content,      &r.title,
                    &r.plan,  &r.cost,  &r.cost_delta, &r.cost_slack, &r.measurements, &r.amount,
                    &r.delta, &r.slack, &r.signer,     &r.hash,       &r.signature};
}

}  // namespace ledger_detail

class Ledger::Store {
 public:
  using Record = ledger_detail::Record;
  virtual ~Store() = default;

  struct Founding {
    std::string id = {}, created = {};
    std::string name = {}, unit = {}, unit_type = {}, relation = {}, budget = {}, source = {};
    std::string keys =
        {};  // public keys that may sign, separated by spaces; the founder's is the first
    std::string hash = {};       // of all fields above; the chain starts from it
    std::string signature = {};  // of the hash, by the founder
  };
  static constexpr std::size_t founding_fields = 11;
  static constexpr std::array<const char*, founding_fields> founding_names{
      "id",     "created", "name", "unit", "unit_type", "relation",
      "budget", "source",  "keys", "hash", "signature"};
  template <class F>
  static auto fields_of_founding(F& f) {
    return std::array{&f.id,     &f.created, &f.name, &f.unit, &f.unit_type, &f.relation,
                      &f.budget, &f.source,  &f.keys, &f.hash, &f.signature};
  }

  /// All rows of a ledger. A new ledger has only the founding entry; an imported one has records,
  /// too.
  struct Contents {
    int version = 2;
    Founding founding;
    std::vector<Record> records = {};
    std::map<std::string, std::string> answers = {};  // by request
  };

  /// Returns 1 or 2. Version 1 had only charges and no keys. It is only read; fields that it did
  /// not have are empty.
  [[nodiscard]] virtual int version() const = 0;
  [[nodiscard]] virtual Founding founding() const = 0;

  /// Runs f in a transaction that excludes all other writers. All that f wrote is on disk when this
  /// returns. If f throws, or the process dies before the commit, nothing of it is there.
  virtual void transact(const std::function<void()>& f) = 0;

  /// Returns the records with this number or a larger one, in order, at most `limit` of them.
  [[nodiscard]] virtual std::vector<Record> records_from(std::int64_t number,
                                                         std::int64_t limit = std::int64_t{1}
                                                                              << 60U) const = 0;
  /// Appends records after the record with the hash `before`, and the text of an answer with its
  /// mark. Called inside of transact().
  virtual void append(const std::string& before, const std::vector<Record>& records,
                      const std::optional<std::string>& answer = std::nullopt) = 0;

  /// Return the stored answer of a request and all stored answers. They are not verified: the
  /// caller compares their digests with the marks in the chain.
  [[nodiscard]] virtual std::optional<std::string> answer(const std::string& request) const = 0;
  [[nodiscard]] virtual std::map<std::string, std::string> answers() const = 0;
  /// Deletes the records whose number is not in 1 … last, and these requests' answers; appends the
  /// note. Called inside of transact(). Throws LedgerError if the database role may not delete.
  virtual void repair(std::int64_t last, const std::vector<std::string>& answers,
                      const Record& note) = 0;
  /// Returns all rows, from one snapshot.
  [[nodiscard]] virtual Contents contents() const = 0;

  /// Returns whether the store accepts marks of checkpoints. A database does not if an older
  /// version of sotto created its function add().
  [[nodiscard]] virtual bool takes_checkpoints() const { return true; }

  /// Returns the database role; empty for a file.
  [[nodiscard]] virtual std::string role() const = 0;
};

namespace ledger_detail {

/// Open the store at a place, and create one that holds these rows. If the creation fails, nothing
/// is left at the place.
std::unique_ptr<Ledger::Store> open_store(const std::string& place,
                                          std::chrono::milliseconds patience, bool read_only);
std::unique_ptr<Ledger::Store> create_store(const std::string& place,
                                            const Ledger::Store::Contents& contents,
                                            const std::string& writer);
/// Returns whether a place is a database. Throws InvalidValue for a URI that is neither.
bool is_database(const std::string& place);

/// SQLite files.
std::unique_ptr<Ledger::Store> open_sqlite(const std::string& path,
                                           std::chrono::milliseconds patience, bool read_only);
std::unique_ptr<Ledger::Store> create_sqlite(const std::string& path,
                                             const Ledger::Store::Contents& contents);

/// PostgreSQL databases, in the schema sotto_ledger.
std::unique_ptr<Ledger::Store> open_postgresql(const std::string& uri,
                                               std::chrono::milliseconds patience);
std::unique_ptr<Ledger::Store> create_postgresql(const std::string& uri,
                                                 const Ledger::Store::Contents& contents,
                                                 const std::string& writer);

}  // namespace ledger_detail
}  // namespace sotto
