// Names in row expressions: columns, and advice on words of SQL that the language does not have.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/expressions/tree.hpp"

namespace sotto::expression {

// Return the index in `columns` of a name: find_exactly() of one in double quotes, find_column() of
// one without, whose case may differ if that leaves one column. Throw ParseError with the most
// similar column at byte `at`.
std::size_t find_exactly(const Source& source, std::size_t at, const std::string& name,
                         const std::vector<Column>& columns);
std::size_t find_column(const Source& source, std::size_t at, const std::string& name,
                        const std::vector<Column>& columns);

// Whether the word belongs to SQL, but not to the language.
bool is_foreign(const std::string& lower_case_word);
// Returns what to write instead of the word; empty if it is not such a word.
std::string advice_on(const std::string& lower_case_word);
// Returns what to write instead of a call of an unknown function.
std::string advice_on_call(const std::string& name);

}  // namespace sotto::expression
