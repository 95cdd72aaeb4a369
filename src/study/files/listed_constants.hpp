// Constants and values that can never be met: a study that has one is refused, since it would count nothing without a word.
#pragma once

#include <string>

#include "data/api/listed_values.hpp"
#include "study/api/data_file.hpp"

namespace sotto::study_detail {

/// StudyError if the expression compares a column with a constant that is not among the column's listed values. `where` starts the sentence.
void require_listed_constants(const Expression& expression, const ListedValues& listed, const std::string& where, int line);

/// StudyError if a derived column lists a value that its expression never has.
void require_reachable_values(const StudyColumn& column, const Expression& derived, const ListedValues& listed);

}  // namespace sotto::study_detail
