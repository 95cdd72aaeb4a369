// The sections of a study's page below its answers. Each is markup.
#pragma once

#include <string>

#include "report/api/study.hpp"

namespace sotto::report_detail {

/// Whom it protects, in words: the data file's label, else the column's name.
std::string unit_word(const StudyReport& report);

/// The models that were trained; empty if there are none.
std::string models_section(const StudyReport& report);
/// Who answered together, and what nobody could learn; empty for a study of one party.
std::string federation_section(const StudyReport& report);
/// What (ε, δ) lets an attacker do, and what the study was warned of.
std::string protection_section(const StudyReport& report);
/// A line a measurement: its noise, its sensitivity, whom it serves.
std::string cost_section(const StudyReport& report);
std::string budget_section(const StudyReport& report);
std::string derivation_section(const StudyReport& report);
std::string data_section(const StudyReport& report);
std::string record_section(const StudyReport& report);

}  // namespace sotto::report_detail
