// A party's request in a federated session: charge, participation, stored answer.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ledger/api/request.hpp"
#include "study/api/federated.hpp"

namespace sotto::study_detail {

/// The request that a party makes to its ledger.
struct PartyRequest {
  Plan event = gaussian(1);
  std::optional<Delta> at = std::nullopt;
  std::function<void()> refuse =
      {};  ///< called first, unless the request was charged before; throws to refuse it
  std::function<void()> prepare = {};  ///< called before the charge
  /// Takes part, and returns the answer.
  std::function<std::string(const Entry& charge, MemberStore& store)> run = {};
};

/// Charges the request, runs it and stores the answer. The member's state is a sealed checkpoint of
/// the request; the ledger marks the latest, so an older state cannot be substituted. A session is
/// one request of a ledger, however often it is called.
RequestAnswer run_party(Ledger& ledger, const PartySide& side, const PartyRequest& request);

/// Takes part in the session as the member of `side`.
void take_part_in(const PartySide& side, MemberStore& store, MemberWork& work);

}  // namespace sotto::study_detail
