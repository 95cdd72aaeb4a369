// Small files that nobody but their owner reads: keys, heads, ledgers.
#pragma once

#include <string>

namespace sotto::ledger_detail {

/// LedgerError if it cannot be read.
std::string read_key_file(const std::string& path);
/// Durably, with mode 0600. False if there is a file already, which is left as it was; LedgerError if it cannot be written.
bool write_new_file(const std::string& path, const std::string& text);
/// Makes the entry of a file in its folder durable.
void sync_folder(const std::string& path);

}  // namespace sotto::ledger_detail
