// The sections of a study's page below its answers.
#pragma once

#include <string>

#include "report/api/study.hpp"
#include "report/html/markup.hpp"

namespace sotto::report_detail {

/// Returns the word for one protected unit: the data file's label, or the name of the unit's
/// column.
std::string unit_word(const StudyReport& report);

/// The models that were trained; empty if there are none.
Markup models_section(const StudyReport& report);
/// The parties of a federated study and what none of them could learn; empty for a study of one
/// party.
Markup federation_section(const StudyReport& report);
/// The success rates that (ε, δ) allows an attacker.
Markup protection_section(const StudyReport& report);
/// A row for each measurement and training: its noise, its sensitivity, the queries that it serves.
Markup cost_section(const StudyReport& report);
/// The state of the ledger's budget after the study.
Markup budget_section(const StudyReport& report);
/// The derivation of the total ε as a tree of theorems.
Markup derivation_section(const StudyReport& report);
/// The columns that the study reads and the assumptions about the data.
Markup data_section(const StudyReport& report);
/// The request's identifiers, the command that verifies the ledger, and the study's text.
Markup record_section(const StudyReport& report);

}  // namespace sotto::report_detail
