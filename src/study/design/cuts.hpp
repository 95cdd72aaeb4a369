// What bounding cuts from a query's number, in words.
#pragma once

#include <string>
#include <vector>

#include "study/api/design.hpp"

namespace sotto::study_detail {

/// "at most 20 rows of each host", "values above 5 count as 5", "to the nearest 98": public, each a part of a sentence.
std::vector<std::string> cuts_of(const Study& study, const Query& query, const Measurement& measurement);

}  // namespace sotto::study_detail
