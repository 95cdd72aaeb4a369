// Questions and messages of `sotto data init` about a first scan of the data.
#pragma once

#include <string>
#include <vector>

#include "data/api/survey.hpp"

namespace sotto::cli {

/// How the data are to be read, as it was typed.
struct Reading {
  std::string file;        ///< empty: a table
  bool has_names = false;  ///< names of columns are typed
  bool header = false;     ///< the first line is said to be a header
  bool trim = false, no_trim = false;
};

/// Why the first line may be none that names columns, unless it is said to be one.
std::vector<NameDoubt> doubts_of(const Reading& reading, const Survey& found);
/// InvalidValue with all that a person has to decide before names and values mean anything.
void require_decisions(const Reading& reading, const Survey& found);
/// Notes on columns and records that a curator expects and studies will not find.
void say_what_is_absent(const Reading& reading, const Survey& found);
/// "age, sex, income, …": in them a record that is no header is seen.
std::string first_names(const std::vector<Column>& columns);

}  // namespace sotto::cli
