// A witness keeps a ledger's heads in a place that the ledger's attacker cannot change. Comparing
// the ledger with the witness detects a ledger that was replaced by an older copy, which would hide
// charges and let the budget be spent twice, and a ledger that was forked.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {

// A head is one line: the ledger's id, a space, NUMBER:HASH.

class Witness {
 public:
  virtual ~Witness() = default;
  /// Returns the last head of this ledger, or nothing if the witness keeps no head of it. Throws
  /// LedgerError if the witness cannot be read.
  [[nodiscard]] virtual std::optional<Head> last(const std::string& id) = 0;
  /// Adds a head, durably. Throws LedgerError if the witness cannot be written; the records of the
  /// head are in the ledger by then.
  virtual void give(const std::string& id, const Head& head) = 0;
};

/// Returns the witness that a text names, or null for an empty text: a file to append to, or
/// "|COMMAND", which the shell runs. With the arguments `last ID` the command prints the last line
/// or nothing; with `give ID` it reads a line. It must end within `patience`.
std::unique_ptr<Witness> witness_named(const std::string& text, std::chrono::milliseconds patience);

}  // namespace sotto::ledger_detail
