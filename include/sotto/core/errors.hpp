// What can go wrong, as types: a bad value, a plan that does not parse, a theorem that does not apply.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace sotto {

/// A value outside the range in which it makes sense. The message names the parameter and the range.
class InvalidValue : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A plan's text that cannot be read. `column` counts characters from 1.
class ParseError : public std::invalid_argument {
 public:
  ParseError(const std::string& what, std::size_t column) : std::invalid_argument(what), column_(column) {}
  [[nodiscard]] std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

/// No theorem gives the number that was asked for. The message names the condition that fails and the way out.
class OutsideConditions : public std::domain_error {
 public:
  using std::domain_error::domain_error;
};

}  // namespace sotto
