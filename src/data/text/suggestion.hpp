// What to say of a name that is not there.
#pragma once

#include <string>
#include <vector>

namespace sotto::data_detail {

/// "; did you mean "word"? There are: id, word": the nearest of the names if it is near, and what there is, up to a few.
std::string what_there_is(const std::string& name, const std::vector<std::string>& names);

}  // namespace sotto::data_detail
