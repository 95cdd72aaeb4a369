#include "ledger/chain/requests.hpp"

#include "ledger/chain/chain.hpp"

namespace sotto::ledger_detail {

std::string Requests::add(const Record& record) {
  if (record.kind == "repair") return "";  // a note of the ledger itself
  if (record.kind != "charge") return add_mark(record);
  Progress& progress = known_[record.request];
  if (progress.state != RequestState::unknown) return "charges a request that was charged before";
  progress.state = RequestState::charged;
  progress.charge = record.number;
  return "";
}

std::string Requests::add_mark(const Record& record) {
  const auto found = known_.find(record.request);
  if (found == known_.end()) return "marks a request that was not charged";
  Progress& progress = found->second;
  if (record.kind == "begun" && progress.state == RequestState::charged) {
    progress.state = RequestState::begun;
    if (!record.content.empty()) progress.checkpoint = record.number;  // it has the first checkpoint's seal
  } else if (record.kind == "answer" && progress.state == RequestState::begun) {
    progress.state = RequestState::answered;
    progress.answer = record.number;
  } else if (const auto number = checkpoint_number(record.kind); number && progress.state == RequestState::begun) {
    if (*number != ++progress.checkpoints) return "marks a checkpoint that does not follow the last one";
    progress.checkpoint = record.number;
  } else {
    return "marks what its request has not come to";
  }
  return "";
}

Progress Requests::of(const std::string& request) const {
  const auto found = known_.find(request);
  return found == known_.end() ? Progress{} : found->second;
}

}  // namespace sotto::ledger_detail
