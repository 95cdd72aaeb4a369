// Questions as the text of a study: what a request's id is computed from.
#pragma once

#include <string>
#include <vector>

#include "sotto/study/table.hpp"

namespace sotto {

/// The study file of these questions about the data of this name. Equal questions and spending give
/// equal bytes, in every language that builds them. A question whose name another one has gets a
/// number. Throws InvalidValue without a question, and where two list different values of a column.
std::string study_text(const std::string& data, const std::vector<TableQuestion>& questions, const Spending& spending);

}  // namespace sotto
