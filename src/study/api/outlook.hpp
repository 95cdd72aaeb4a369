// A preview of a study's charge: whether the ledger would admit it now, without charging anything.
#pragma once

#include <string>

#include "sotto/ledger/ledger.hpp"
#include "study/api/design.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// The decision that a ledger would take on a study now.
struct ChargePreview {
  bool answered;        ///< the ledger has the answer, which is free
  bool charged;         ///< the study was charged before, and is not charged again
  bool admitted;        ///< the remaining budget covers the charge
  Filter after;         ///< the budget after the charge
  Charge missing = {};  ///< shortfall: the cost minus the remaining budget
  std::string refusal =
      "";  ///< reason for a refusal, with a cheaper alternative; empty if admitted
};

/// Returns a cheaper alternative to a refused study as text, such as "; with delta = 3.33e-07 and
/// Gaussian noise it takes 11.3 %", or a smaller ε that fits into the remaining budget. Empty if
/// none is known.
std::string with_alternative(const Study& study, const Design& design, const Terms& terms,
                             const Filter& filter);

/// Previews the charge of a study. With `again` the study is treated as a new request.
ChargePreview preview_charge(const Study& study, const Design& design, const Ledger& ledger,
                             bool again);

}  // namespace sotto
