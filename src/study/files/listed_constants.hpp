// Refuses constants and values in a study that no row can have: such a query would silently count
// nothing.
#pragma once

#include <string>

#include "data/api/listed_values.hpp"
#include "study/api/data_file.hpp"

namespace sotto::study_detail {

/// Throws StudyError if the expression compares a column with a constant that is not among its
/// listed values. `where` begins the message.
void require_listed_constants(const Expression& expression, const ListedValues& listed,
                              const std::string& where, int line);

/// Throws StudyError if a derived column lists a value that its expression never has.
void require_reachable_values(const StudyColumn& column, const Expression& derived,
                              const ListedValues& listed);

}  // namespace sotto::study_detail
