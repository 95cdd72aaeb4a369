// Tokens of row expressions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/expressions/tree.hpp"

namespace sotto::expression {

enum class Kind { end, word, quoted, integer, real, text, symbol };

struct Token {
  Kind kind;
  std::string text;  // without quotes
  std::string word;  // a word in lower case; empty for other kinds
  std::size_t at;    // the index of the first byte
};

// Returns all tokens; the last one has kind `end`. Throws ParseError for characters that cannot be
// part of an expression.
std::vector<Token> tokens(const Source& source);

}  // namespace sotto::expression
