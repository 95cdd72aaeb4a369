// The curator's catalogue, as the command line finds it.
#pragma once

#include <string>

#include "core/api/file.hpp"
#include "study/api/data_file.hpp"

namespace sotto::cli {

inline constexpr const char* catalogue_words =
    "the curator's folder of data files; else `catalogue` in ~/.config/sotto/config.toml, else ~/.local/share/sotto/catalogue";

/// The folder that is typed, else the user's; it need not exist. InvalidValue, StudyError.
Catalogue catalogue_of(const std::string& typed);

/// Where a ledger is, and what its data file says of its key and witness.
struct LedgerPlace {
  std::string place, key = {}, witness = {};
};
/// The ledger that was typed: a path or address, or the name of data in the catalogue, which a file of that name hides.
/// InvalidValue, StudyError, LedgerError.
LedgerPlace ledger_place(const std::string& typed, const std::string& catalogue);
/// LedgerError says what to do if the file of the data's ledger is absent.
void require_ledger(const DataFile& data);

/// The text of a study's file. InvalidValue says what to type for a file that is absent, or that is none of a study.
std::string read_study(const std::string& path, const Catalogue& catalogue);
/// InvalidValue says what to type where the folder of a file that is to be made is absent.
void require_folder_of(const std::string& file);
/// A regular file of at most `most` bytes. std::runtime_error names the path.
std::string read_file(const std::string& path, std::uint64_t most = most_text);

}  // namespace sotto::cli
