// What a ledger would say of a study now, before anything is charged.
#pragma once

#include <string>

#include "sotto/ledger/ledger.hpp"
#include "study/api/design.hpp"
#include "study/api/study.hpp"

namespace sotto {

struct ChargePreview {
  bool answered;             ///< the kept answer is free
  bool charged;              ///< it was charged before, and is not charged again
  bool admitted;             ///< what is left covers it
  Filter after;              ///< the budget after it
  Charge missing = {};       ///< by how much it exceeds what is left
  std::string refusal = "";  ///< why it is refused, and what costs less; empty if it is admitted
};

/// "; with delta = 3.33e-07 and Gaussian noise it takes 11.3 %", or a smaller ε that fits into what is left; empty where neither is known.
std::string with_alternative(const Study& study, const Design& design, const Terms& terms, const Filter& filter);

/// With `again`, of a request of its own, charged anew.
ChargePreview preview_charge(const Study& study, const Design& design, const Ledger& ledger, bool again);

}  // namespace sotto
