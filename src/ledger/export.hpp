// Writes a ledger's records as lines of JSON.
#pragma once

#include <optional>
#include <string>

#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

/// Returns a record of version 2 as one line of an export, with the answer that it marks.
std::string line_of(const Record& record, const std::optional<std::string>& answer = std::nullopt);

}  // namespace sotto::ledger_detail
