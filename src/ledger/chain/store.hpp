// Where a ledger's rows are kept: the seam between the rules of the ledger and a database.
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

/// One link of the chain, as it is stored: text, so that every byte of it is in the hash.
struct Record {
  std::int64_t number = 0;
  std::string kind = {};  // "charge", or a mark of a charged request: "begun" before its first noise, "checkpoint/1", "checkpoint/2", … while it
                          // is at it, "answer" when its answer was kept; or "repair", a note that unsigned records were dropped here
  std::string time = {}, who = {}, request = {};
  std::string content = {};  // of a charge the digest of what was asked, of an answer that of its text, of a checkpoint its seal
  std::string title = {}, plan = {};
  std::string cost = {}, cost_delta = {}, cost_slack = {};  // as sotto::shortest writes them; 0 for marks, and the last one always
  std::string measurements = {};                            // digests, separated by spaces
  std::string amount = {}, delta = {}, slack = {};  // totals after it: certified sums, exactly; under a committed plan how often each part was run
  std::string signer = {};                          // the public key of who signs; empty unless this is the last record of its transaction
  std::string hash = {};                            // of the last record's hash and all of the above
  std::string signature = {};                       // of the hash, by the signer
};

/// The names of a record's columns behind the number, and its fields in their order.
constexpr std::size_t record_fields = 17;
constexpr std::array<const char*, record_fields> record_names{"kind",  "time",  "who",        "request",    "content",      "title",
                                                              "plan",  "cost",  "cost_delta", "cost_slack", "measurements", "amount",
                                                              "delta", "slack", "signer",     "hash",       "signature"};
template <class R>
auto fields_of(R& r) {
  return std::array{&r.kind,       &r.time,         &r.who,    &r.request, &r.content, &r.title,  &r.plan, &r.cost,     &r.cost_delta,
                    &r.cost_slack, &r.measurements, &r.amount, &r.delta,   &r.slack,   &r.signer, &r.hash, &r.signature};
}

}  // namespace ledger_detail

class Ledger::Store {
 public:
  using Record = ledger_detail::Record;
  virtual ~Store() = default;

  struct Founding {
    std::string id = {}, created = {};
    std::string name = {}, unit = {}, unit_type = {}, relation = {}, budget = {}, source = {};
    std::string keys = {};       // public ones, separated by spaces; the founder's is the first
    std::string hash = {};       // of all of the above: the chain starts from it
    std::string signature = {};  // of the hash, by the founder
  };
  static constexpr std::size_t founding_fields = 11;
  static constexpr std::array<const char*, founding_fields> founding_names{"id",     "created", "name", "unit", "unit_type", "relation",
                                                                           "budget", "source",  "keys", "hash", "signature"};
  template <class F>
  static auto fields_of_founding(F& f) {
    return std::array{&f.id, &f.created, &f.name, &f.unit, &f.unit_type, &f.relation, &f.budget, &f.source, &f.keys, &f.hash, &f.signature};
  }

  /// What a ledger starts with: more than the founding when it was exported by another.
  struct Contents {
    int version = 2;
    Founding founding;
    std::vector<Record> records = {};
    std::map<std::string, std::string> answers = {};  // by request
  };

  /// 1 or 2. Version 1 knew charges alone, had no keys, and is only read: what it did not have is empty.
  [[nodiscard]] virtual int version() const = 0;
  [[nodiscard]] virtual Founding founding() const = 0;

  /// Runs f alone among all writers; what f wrote is durable when this returns, or not there at all if f throws.
  virtual void transact(const std::function<void()>& f) = 0;

  /// The records from that number on, at most so many.
  [[nodiscard]] virtual std::vector<Record> since(std::int64_t number, std::int64_t limit = std::int64_t{1} << 60U) const = 0;
  /// Adds records behind the one with the hash `before`, in a transaction; the text of an answer with its mark.
  virtual void append(const std::string& before, const std::vector<Record>& records, const std::optional<std::string>& answer = std::nullopt) = 0;

  /// The kept answer of a request, and all of them, as they are stored: nobody has verified them.
  [[nodiscard]] virtual std::optional<std::string> answer(const std::string& request) const = 0;
  [[nodiscard]] virtual std::map<std::string, std::string> answers() const = 0;
  /// Deletes the records that are not numbered from 1 to `kept` and these answers, and adds a note, in a transaction. LedgerError if this
  /// role may not do so.
  virtual void repair(std::int64_t kept, const std::vector<std::string>& answers, const Record& note) = 0;
  /// All of it, as it was at one moment.
  [[nodiscard]] virtual Contents contents() const = 0;

  /// Whether it takes marks of checkpoints: not a database whose function was made before there were any.
  [[nodiscard]] virtual bool takes_checkpoints() const { return true; }

  /// The database's role; empty in a file.
  [[nodiscard]] virtual std::string role() const = 0;
};

namespace ledger_detail {

/// The store at a place, and a new one that holds these rows or, if that fails, is not there at all.
std::unique_ptr<Ledger::Store> open_store(const std::string& place, std::chrono::milliseconds patience, bool read_only);
std::unique_ptr<Ledger::Store> create_store(const std::string& place, const Ledger::Store::Contents& contents, const std::string& writer);
/// Whether a place is a database.
bool is_database(const std::string& place);

/// An SQLite file.
std::unique_ptr<Ledger::Store> open_sqlite(const std::string& path, std::chrono::milliseconds patience, bool read_only);
std::unique_ptr<Ledger::Store> create_sqlite(const std::string& path, const Ledger::Store::Contents& contents);

/// The schema sotto_ledger of a PostgreSQL database.
std::unique_ptr<Ledger::Store> open_postgresql(const std::string& uri, std::chrono::milliseconds patience);
std::unique_ptr<Ledger::Store> create_postgresql(const std::string& uri, const Ledger::Store::Contents& contents, const std::string& writer);

}  // namespace ledger_detail
}  // namespace sotto
