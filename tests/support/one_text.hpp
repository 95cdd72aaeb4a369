// Reads a data file and a study from one text, for tests in which both are short.
#pragma once

#include <string>

#include "study/api/study.hpp"

namespace sotto {

inline DataFile data_in(const std::string& text, const std::filesystem::path& folder = "/") {
  return parse_data_file(split_study(text).data, folder);
}

inline Study study_in(const std::string& text, const std::filesystem::path& folder = "/") {
  return parse_study(split_study(text).study, data_in(text, folder));
}

}  // namespace sotto
