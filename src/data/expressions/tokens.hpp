// The words of a row expression.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/expressions/tree.hpp"

namespace sotto::expression {

enum class Kind { end, word, quoted, integer, real, text, symbol };

struct Token {
  Kind kind;
  std::string text;  // without quotes; a word as it is written
  std::string word;  // a word in lower case, else empty
  std::size_t at;    // its first byte
};

// All of them, with one of kind `end` last. ParseError for what can be part of no expression.
std::vector<Token> tokens(const Source& source);

}  // namespace sotto::expression
