// Questions as the text of a study, from which a request's id is computed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/study/table.hpp"

namespace sotto {

/// The settings of a study apart from its questions. The type of a value decides how it is printed:
/// 1 and 1.0 are different texts, and so different requests.
struct StudySettings {
  std::optional<TableQuestion::Setting> title, confidence, epsilon, delta, rho;
};

/// Returns the study file of these questions about the data of this name. Equal questions and
/// settings give equal bytes in every language that builds them. A question whose name an earlier
/// one has gets a number. Texts are quoted, so that none can add a line, a key or a section to the
/// study. Throws InvalidValue without a question, where two questions list different values of one
/// column, for a number that is not finite and for a text that is not UTF-8.
std::string study_text(const std::string& data, const std::vector<TableQuestion>& questions,
                       const StudySettings& settings);

/// Returns the settings of a study with this spending, whose numbers are all printed as reals.
StudySettings study_settings(const Spending& spending);

/// Returns the description as a data file, for parse_data_file, which checks it. The file names a
/// source and a ledger only because each data file must. Throws InvalidValue as study_text does.
std::string description_text(const std::string& name, const TableDescription& description);

}  // namespace sotto
