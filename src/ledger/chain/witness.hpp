// A place outside that keeps a ledger's heads, so that a ledger that was put back or forked is found.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {

// A head is given as one line: the ledger's id, a space, NUMBER:HASH.

class Witness {
 public:
  virtual ~Witness() = default;
  /// The last head of this ledger that it was given; nothing if there was none. LedgerError if it cannot be asked.
  [[nodiscard]] virtual std::optional<Head> last(const std::string& id) = 0;
  virtual void give(const std::string& id, const Head& head) = 0;
};

/// A file that is appended to, or "|COMMAND": run by the shell with `last ID`, it prints the last line or nothing; with `give ID`, it reads a
/// line. It has `patience` to answer.
std::unique_ptr<Witness> witness_named(const std::string& text, std::chrono::milliseconds patience);

}  // namespace sotto::ledger_detail
