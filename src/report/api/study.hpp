// A study's design and its answers as text, and as a page for readers who know no differential
// privacy.
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

/// Returns what a study will cost, the expected error of its answers, and whether the ledger will
/// admit it. No data are read. The JSON schema is sotto.design/1.
std::string design_text(const Study& study, const Design& design, const Terms& terms,
                        const ChargePreview& outlook, Format format);

/// Returns the answers of a study. The JSON schema is sotto.release/1, with the ledger's head
/// added. For public data every answer is accompanied by the number without noise, the number in
/// the data, and the error in percent of the latter; `public_answers` is empty otherwise.
std::string release_text(const Release& release, const Head& head,
                         const PublicAnswers& public_answers, Format format);

/// The content of a page about a run of a study.
struct StudyReport {
  const Study& study;
  const Design& design;
  const Release& release;
  const PublicAnswers& public_answers;  ///< empty unless the data are public
  const LedgerState& ledger;            ///< after the run
  std::string check;    ///< the command that shows whether the ledger was altered or an old copy of
                        ///< it restored; names the data, not a place
  std::string version;  ///< of sotto
};

/// Returns one HTML page that has no script and needs no other file: the answers with their
/// intervals, the cost and its derivation, the state of the budget, the assumptions, and how to
/// verify all of it. The page may be published: it holds no path and no host, and no columns of the
/// data but those that the study reads. It depends on the report alone, so the same run gives the
/// same page as long as the ledger does not change.
std::string study_page(const StudyReport& report);

/// An answer that a ledger stored, for which the study and the data file are no longer available as
/// they were.
struct StoredAnswer {
  const Release& release;
  const LedgerState& ledger;
  std::string why;             ///< a sentence that says why the whole report cannot be made
  std::string check, version;  ///< as in StudyReport
  std::string publisher = {};  ///< empty if unknown
};

/// Returns the sections of study_page() that need only the stored answer: the answers, what they
/// allow an attacker, the state of the budget, and the record.
std::string stored_answer_page(const StoredAnswer& stored);

}  // namespace sotto
