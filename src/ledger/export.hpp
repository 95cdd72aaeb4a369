// A ledger's records as lines of JSON.
#pragma once

#include <optional>
#include <string>

#include "ledger/chain/store.hpp"

namespace sotto::ledger_detail {

/// A record of version 2 as a line of an export, with the answer that it marks.
std::string line_of(const Record& record, const std::optional<std::string>& answer = std::nullopt);

}  // namespace sotto::ledger_detail
