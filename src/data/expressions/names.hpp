// Names in a row expression: columns, and what to say of words that are not of the language.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/expressions/tree.hpp"

namespace sotto::expression {

// The place in `columns` of a name in quotes, or of a plain one, whose case may differ if that leaves one column. ParseError names the
// nearest.
std::size_t find_exactly(const Source& source, std::size_t at, const std::string& name, const std::vector<Column>& columns);
std::size_t find_column(const Source& source, std::size_t at, const std::string& name, const std::vector<Column>& columns);

// A word of SQL that is none of the language; what to write instead of a word, or instead of a call of it; empty for a word of which nothing is
// known.
bool is_foreign(const std::string& lower_case_word);
std::string advice_on(const std::string& lower_case_word);
std::string advice_on_call(const std::string& name);

}  // namespace sotto::expression
