// Describes in words how bounding changes a query's number.
#pragma once

#include <string>
#include <vector>

#include "study/api/design.hpp"

namespace sotto::study_detail {

/// Returns parts of a sentence: "at most 20 rows of each host", "values above 5 count as 5", "to
/// the nearest 98". They are public.
std::vector<std::string> cuts_of(const Study& study, const Query& query,
                                 const Measurement& measurement);

}  // namespace sotto::study_detail
