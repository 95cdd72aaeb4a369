// Suggestions for an unknown name of a column.
#pragma once

#include <string>
#include <vector>

namespace sotto::data_detail {

/// Returns `; did you mean "word"? There are: id, word`: the most similar name, if one is similar,
/// and the first names. Empty if there are no names.
std::string suggestion(const std::string& name, const std::vector<std::string>& names);

}  // namespace sotto::data_detail
