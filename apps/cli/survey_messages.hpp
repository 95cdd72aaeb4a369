// Questions and messages of `sotto data init` about a first scan of the data.
#pragma once

#include <string>
#include <vector>

#include "data/api/survey.hpp"

namespace sotto::cli {

/// How to read the data, as typed.
struct ReadingArguments {
  std::string file;        ///< empty for a table of a database
  bool has_names = false;  ///< --names
  bool header = false;     ///< --header: the first line is a header, whatever it looks like
  bool trim = false, no_trim = false;
};

/// Returns the reasons why the first line may not be a header; empty with --header.
std::vector<NameDoubt> doubts_of(const ReadingArguments& reading, const Survey& survey);
/// Throws InvalidValue with all decisions that a person must make before names and values have a
/// meaning.
void require_decisions(const ReadingArguments& reading, const Survey& survey);
/// Notes on stderr which columns and records a curator may expect and studies will not have.
void say_what_is_absent(const ReadingArguments& reading, const Survey& survey);
/// Returns "age, sex, income, …". The curator sees there if a record was taken for the header.
std::string first_column_names(const std::vector<Column>& columns);

}  // namespace sotto::cli
