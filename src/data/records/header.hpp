// Whether names in the first line of a file look like values of the data.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/api/survey.hpp"

namespace sotto::data_detail {

/// What is noticed of the first line's names while the records behind it are read.
class HeaderDoubts {
 public:
  /// `trim`: blanks at the ends of names are left out, so that they are no reason for doubt.
  HeaderDoubts(const std::vector<std::string>& names, bool trim);
  /// A value further down, in the column of the name at this place.
  void look_at(std::size_t column, std::string_view value);
  /// At most one for each name.
  [[nodiscard]] std::vector<NameDoubt> found() const;

 private:
  struct Name {
    std::string text;   // as it stands
    std::string plain;  // without blanks at its ends
    std::string shape;  // of a name with digits, to compare with values; else empty
    std::string why;
  };
  std::vector<Name> names_;
};

}  // namespace sotto::data_detail
