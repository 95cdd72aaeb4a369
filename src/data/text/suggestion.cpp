#include "data/text/suggestion.hpp"

#include "core/api/suggestion.hpp"

namespace sotto::data_detail {

std::string what_there_is(const std::string& name, const std::vector<std::string>& names) {
  const std::string known = suggestion(name, names);
  return known.empty() ? "" : "; " + known;
}

}  // namespace sotto::data_detail
