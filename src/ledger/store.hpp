// Where a ledger's rows are kept: the seam between the rules of the ledger and a database.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// A row as it is stored: the entry, and the totals after it.
struct StoredEntry {
  Entry entry;
  std::string amount;  // a certified sum, exactly
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
  [[nodiscard]] virtual Founding founding() const = 0;

  /// Runs f alone among all writers; what f wrote is durable when this returns, or not there at all if f throws.
  virtual void transact(const std::function<void()>& f) = 0;

  [[nodiscard]] virtual std::optional<StoredEntry> last() const = 0;
  [[nodiscard]] virtual std::optional<StoredEntry> of_request(const std::string& request) const = 0;
  [[nodiscard]] virtual std::vector<StoredEntry> all() const = 0;
  virtual void append(const StoredEntry& entry) = 0;

  [[nodiscard]] virtual std::optional<std::string> answer(const std::string& request) const = 0;
  virtual void keep_answer(const std::string& request, const std::string& answer) = 0;
};

/// An SQLite file that is a ledger, and a new one.
std::unique_ptr<Ledger::Store> open_sqlite(const std::filesystem::path& path);
std::unique_ptr<Ledger::Store> create_sqlite(const std::filesystem::path& path, const Ledger::Store::Founding& founding);

}  // namespace sotto
