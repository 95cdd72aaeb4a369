// A session of several parties and its sums as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/api/answers.hpp"
#include "study/api/federated.hpp"

namespace sotto {

/// Returns what a member agrees to: the members, the sums that may be opened, and their ε at this
/// δ. `self` is the index of the member that reads it.
std::string session_text(const Session& session, std::optional<std::int64_t> self, Delta at);

/// Returns the sums; sotto.sums/1. CSV has a row for each number. For a session of a mean the text
/// has the mean and the count with 95 % intervals instead. All of it may be published.
std::string sums_text(const Session& session, const std::vector<PartySum>& sums, Format format);

}  // namespace sotto
