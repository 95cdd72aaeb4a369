// The states that a request goes through: charged, begun, any number of checkpoints, answered.
#include "ledger/chain/requests.hpp"

#include "ledger/chain/chain.hpp"

namespace sotto::ledger_detail {

std::string Requests::add(const Record& record) {
  if (record.kind == "repair") return "";  // belongs to no request
  if (record.kind != "charge") return add_mark(record);
  Progress& progress = progress_[record.request];
  if (progress.state != RequestState::unknown) return "charges a request that was charged before";
  progress.state = RequestState::charged;
  progress.charge = record.number;
  return "";
}

std::string Requests::add_mark(const Record& record) {
  const auto entry = progress_.find(record.request);
  if (entry == progress_.end()) return "marks a request that was not charged";
  Progress& progress = entry->second;
  if (record.kind == "begun" && progress.state == RequestState::charged) {
    progress.state = RequestState::begun;
    if (!record.content.empty())
      progress.checkpoint = record.number;  // the content is the first checkpoint's seal
  } else if (record.kind == "answer" && progress.state == RequestState::begun) {
    progress.state = RequestState::answered;
    progress.answer = record.number;
  } else if (const auto number = checkpoint_number(record.kind);
             number && progress.state == RequestState::begun) {
    // Two processes that resumed from one checkpoint would both mark its successor: the second is
    // wrong.
    if (*number != ++progress.checkpoints)
      return "marks a checkpoint that does not follow the last one";
    progress.checkpoint = record.number;
  } else {
    return "is a mark \"" + record.kind + "\" that does not follow the state of its request";
  }
  return "";
}

Progress Requests::progress_of(const std::string& request) const {
  const auto entry = progress_.find(request);
  return entry == progress_.end() ? Progress{} : entry->second;
}

}  // namespace sotto::ledger_detail
