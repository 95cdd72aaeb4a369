// Sums over several parties, as text.
#pragma once

#include <string>
#include <vector>

#include "sotto/report/answers.hpp"
#include "sotto/study/federated.hpp"

namespace sotto {

/// As a table, as JSON sotto.sums/1, or as CSV with a line a number. All of it may be published.
std::string sums_text(const std::vector<PartySum>& sums, Format format);

}  // namespace sotto
