// Suggestions for an unknown name of a column.
#include "data/text/suggestion.hpp"

#include "core/api/suggestion.hpp"

namespace sotto::data_detail {

std::string suggestion(const std::string& name, const std::vector<std::string>& names) {
  const std::string text = sotto::suggestion(name, names);
  return text.empty() ? "" : "; " + text;
}

}  // namespace sotto::data_detail
