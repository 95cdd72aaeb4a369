// A study's answers as text, and as a page that a manager can read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/api/answers.hpp"
#include "report/api/ledger.hpp"
#include "study/api/design.hpp"
#include "study/api/outlook.hpp"
#include "study/api/public_answers.hpp"
#include "study/api/release.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// What a study will cost, how far its answers will be from the numbers without noise, and whether the ledger will admit it, before it is run.
/// sotto.design/1.
std::string design_text(const Study& study, const Design& design, const Terms& terms, const Outlook& outlook, Format format);

/// The answers. As JSON sotto.release/1 with the ledger's head. For public data the numbers without noise and those in the data stand beside them,
/// with the error in percent of the latter.
std::string release_text(const Release& release, const Head& head, const PublicAnswers& beside, Format format);

/// What a page about a run tells of.
struct StudyReport {
  const Study& study;
  const Design& design;
  const Release& release;
  const PublicAnswers& beside;  ///< for public data, else empty
  const LedgerState& ledger;    ///< after the run
  std::string check;            ///< what can be typed to see whether the ledger was changed or put back; it names the data, not a place
  std::string version;          ///< of sotto
};

/// One HTML page without scripts that needs no other file: the answers as charts with their intervals, what they cost and why, the budget's
/// state, the derivation of the total, the assumptions, and what checks all of it. It holds what may be published and the ledger's state:
/// no path, no host, and of the data's columns those that the study reads. The same run gives the same page, but for the ledger's state.
std::string study_page(const StudyReport& report);

/// An answer whose study and data file are not at hand as they were.
struct KeptAnswer {
  const Release& release;
  const LedgerState& ledger;
  std::string why;             ///< in a sentence, why the whole report cannot be made
  std::string check, version;  ///< as in a StudyReport
  std::string publisher = {};  ///< who publishes it; empty: not said
};

/// The sections of study_page that a kept answer has by itself: the answers, what they allow an attacker, the budget's state, the record.
std::string kept_page(const KeptAnswer& kept);

}  // namespace sotto
