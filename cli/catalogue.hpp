// The curator's catalogue, as the command line finds it.
#pragma once

#include <string>

#include "sotto/study/data_file.hpp"

namespace sotto::cli {

inline constexpr const char* catalogue_words =
    "the curator's folder of data files; else `catalogue` in ~/.config/sotto/config.toml, else ~/.local/share/sotto/catalogue";

/// The folder that is typed, else the user's. InvalidValue, StudyError.
Catalogue catalogue_of(const std::string& typed);

/// std::runtime_error names the path.
std::string read_file(const std::string& path);

}  // namespace sotto::cli
