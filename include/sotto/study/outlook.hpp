// What a ledger would say of a study now, before anything is charged.
#pragma once

#include <string>

#include "sotto/ledger/ledger.hpp"
#include "sotto/study/design.hpp"
#include "sotto/study/study.hpp"

namespace sotto {

struct Outlook {
  bool answered;        ///< it was answered before: the kept answer is free
  bool admitted;        ///< it is free, or what is left covers it
  Charge left;          ///< after it
  Charge missing;       ///< what is left does not cover so much of it
  std::string refusal;  ///< why, in words; empty if it is admitted
};

/// With `again`, of a request of its own, charged anew.
Outlook outlook(const Study& study, const Design& design, const Ledger& ledger, bool again);

}  // namespace sotto
