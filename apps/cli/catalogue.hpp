// Finds the curator's catalogue, its data files and ledgers, and studies, from what was typed.
#pragma once

#include <string>

#include "core/api/file.hpp"
#include "study/api/data_file.hpp"

namespace sotto::cli {

inline constexpr const char* catalogue_words =
    "the curator's folder of data files (default: `catalogue` in ~/.config/sotto/config.toml, else "
    "~/.local/share/sotto/catalogue)";

/// Returns the catalogue in the typed folder, else in the user's; it need not exist. Throws
/// InvalidValue for a file, and StudyError for a configuration that cannot be read.
Catalogue catalogue_of(const std::string& typed);

/// The path or address of a ledger, and its key and witness if a data file names them.
struct LedgerPlace {
  std::string place, key = {}, witness = {};
};
/// Returns the place of the ledger that was typed: a path, an address, or the name of data in the
/// catalogue, where a file of that name comes first. Throws InvalidValue, StudyError or
/// LedgerError.
LedgerPlace ledger_place(const std::string& typed, const std::string& catalogue);
/// Throws LedgerError, with what to type, if the file of the data's ledger is absent, and
/// InvalidValue for public data, which have none.
void require_ledger(const DataFile& data);

/// Returns the text of a study's file. Throws InvalidValue, with what to type, if it is absent or
/// no study.
std::string read_study(const std::string& path, const Catalogue& catalogue);
/// Throws InvalidValue, with what to type, if the folder of a file that will be written is absent.
void require_folder_of(const std::string& file);
/// Returns the text of a regular file of at most `most` bytes. Throws std::runtime_error, which
/// names the path.
std::string read_file(const std::string& path, std::uint64_t most = max_text_file_size);

}  // namespace sotto::cli
