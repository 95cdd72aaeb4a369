// Tracks the state of each request (charged, begun, checkpointed, answered) while records are read in order.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

/// How far one request has come, and which records say so. A number of 0 means that there is no such record.
struct Progress {
  RequestState state = RequestState::unknown;
  std::int64_t charge = 0;       ///< the record of the charge
  std::int64_t answer = 0;       ///< the record that marks the answer
  std::int64_t checkpoint = 0;   ///< the record that marks the last checkpoint
  std::int64_t checkpoints = 0;  ///< how many were marked after the first one, which comes with "begun"
};

/// What the records of a ledger, taken in their order, say of each request.
class Requests {
 public:
  /// Takes the next record. Returns what is wrong with it, or nothing.
  std::string add(const Record& record);
  [[nodiscard]] Progress of(const std::string& request) const;

 private:
  std::string add_mark(const Record& record);
  std::unordered_map<std::string, Progress> known_;
};

}  // namespace sotto::ledger_detail
