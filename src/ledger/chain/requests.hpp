// Tracks the state of each request (charged, begun, checkpointed, answered) while records are read
// in order. It refuses a record that would let noise be drawn twice for one charge.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

/// The state of one request, and the numbers of the records that prove it. The number 0 means that
/// there is no such record.
struct Progress {
  RequestState state = RequestState::unknown;
  std::int64_t charge = 0;       ///< the record of the charge
  std::int64_t answer = 0;       ///< the record that marks the answer
  std::int64_t checkpoint = 0;   ///< the record that marks the last checkpoint
  std::int64_t checkpoints = 0;  ///< number of checkpoints after the first one, which "begun" marks
};

/// The state of every request in a ledger.
class Requests {
 public:
  /// Reads the next record. Returns what is wrong with it, or an empty text.
  std::string add(const Record& record);
  [[nodiscard]] Progress progress_of(const std::string& request) const;

 private:
  std::string add_mark(const Record& record);
  std::unordered_map<std::string, Progress> progress_;  // by request
};

}  // namespace sotto::ledger_detail
