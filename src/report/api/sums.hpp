// Sessions of several parties, and their sums, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/api/answers.hpp"
#include "study/api/federated.hpp"

namespace sotto {

/// What a member agrees to: who takes part, what may be learned, and what it costs at this δ. `self`: which member reads it.
std::string session_text(const Session& session, std::optional<std::int64_t> self, Delta at);

/// As a table, as JSON sotto.sums/1, or as CSV with a line a number; of a mean its value and the count, with intervals of 95 %. All of it may be
/// published.
std::string sums_text(const Session& session, const std::vector<PartySum>& sums, Format format);

}  // namespace sotto
