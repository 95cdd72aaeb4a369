// Where a ledger's rows are kept: the seam between the rules of the ledger and a database.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// A row as it is stored: the entry, and the totals after it.
struct StoredEntry {
  Entry entry;
  std::string amount;  // a certified sum, exactly; under a committed plan how often each part was run
  std::string delta;
};

class Ledger::Store {
 public:
  virtual ~Store() = default;

  struct Founding {
    std::string id;
    std::string created;
    std::string name, unit, relation, budget;
  };
  /// What a ledger starts with: more than the founding when it was exported by another.
  struct Contents {
    Founding founding;
    std::vector<StoredEntry> entries = {};
    std::map<std::string, std::string> answers = {};  // by request
  };
  [[nodiscard]] virtual Founding founding() const = 0;

  /// Runs f alone among all writers; what f wrote is durable when this returns, or not there at all if f throws.
  virtual void transact(const std::function<void()>& f) = 0;

  [[nodiscard]] virtual std::optional<StoredEntry> last() const = 0;
  /// The entries of those requests that have one, by request.
  [[nodiscard]] virtual std::map<std::string, StoredEntry> of_requests(const std::vector<std::string>& requests) const = 0;
  [[nodiscard]] virtual std::vector<StoredEntry> all() const = 0;
  virtual void append(const std::vector<StoredEntry>& entries) = 0;

  [[nodiscard]] virtual std::optional<std::string> answer(const std::string& request) const = 0;
  [[nodiscard]] virtual std::map<std::string, std::string> answers() const = 0;
  virtual void keep_answer(const std::string& request, const std::string& answer) = 0;
};

/// The store at a place, and a new one that holds these rows or, if that fails, is not there at all.
std::unique_ptr<Ledger::Store> open_store(const std::string& place, std::chrono::milliseconds patience);
std::unique_ptr<Ledger::Store> create_store(const std::string& place, const Ledger::Store::Contents& contents, const std::string& writer);

/// An SQLite file.
std::unique_ptr<Ledger::Store> open_sqlite(const std::string& path, std::chrono::milliseconds patience);
std::unique_ptr<Ledger::Store> create_sqlite(const std::string& path, const Ledger::Store::Contents& contents);

/// The schema sotto_ledger of a PostgreSQL database.
std::unique_ptr<Ledger::Store> open_postgresql(const std::string& uri, std::chrono::milliseconds patience);
std::unique_ptr<Ledger::Store> create_postgresql(const std::string& uri, const Ledger::Store::Contents& contents, const std::string& writer);

}  // namespace sotto
