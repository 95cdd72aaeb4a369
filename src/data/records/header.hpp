// Doubts about a header: names in the first line of a file that look like values.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/api/survey.hpp"

namespace sotto::data_detail {

/// Collects doubts about the names in the first line while the records after it are read.
class HeaderDoubts {
 public:
  /// `trim`: spaces and tabs at the ends of names are removed, and no reason for doubt.
  HeaderDoubts(const std::vector<std::string>& names, bool trim);
  /// Compares a value of a later record with the name of its column.
  void compare(std::size_t column, std::string_view value);
  /// Returns the doubts, at most one for each name.
  [[nodiscard]] std::vector<NameDoubt> doubts() const;

 private:
  struct Name {
    std::string text;   // as in the file
    std::string plain;  // without spaces and tabs at its ends
    std::string shape;  // shape_of() a name with digits; empty for other names
    std::string why;
  };
  std::vector<Name> names_;
};

}  // namespace sotto::data_detail
