// A party's request: its charge, its part in the session, its kept answer.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ledger/api/request.hpp"
#include "study/api/federated.hpp"

namespace sotto::study_detail {

struct PartyRequest {
  Plan event = gaussian(1);
  std::optional<Delta> at = std::nullopt;
  std::function<void()> refuse = {};   ///< before anything, unless the request was charged: throws if it must not be
  std::function<void()> prepare = {};  ///< before the charge
  /// Takes part, and returns the answer.
  std::function<std::string(const Entry& charge, MemberStore& store)> run = {};
};

/// Charges, runs and keeps. The member's state is a checkpoint of the request: sealed, and the ledger marks the last, so that none that is older can
/// be put in its place. A session is one request of a ledger, whoever asks how often.
RequestAnswer run_party(Ledger& ledger, const PartySide& side, const PartyRequest& request);

void take_part_in(const PartySide& side, MemberStore& store, MemberWork& work);

}  // namespace sotto::study_detail
