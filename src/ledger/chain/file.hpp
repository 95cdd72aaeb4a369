// Small files that only their owner may read: keys, witnesses, new ledgers, checkpoints.
#pragma once

#include <string>

namespace sotto::ledger_detail {

/// Throws LedgerError if the file cannot be read or is larger than a key file.
std::string read_key_file(const std::string& path);
/// Creates a file with mode 0600; file and folder entry are on disk when this returns. Returns
/// false, and changes nothing, if the file exists. Throws LedgerError if it cannot be written.
bool write_new_file(const std::string& path, const std::string& text);
/// Syncs the folder of a file, so that the file's entry in the folder survives a power failure.
void sync_folder(const std::string& path);

}  // namespace sotto::ledger_detail
