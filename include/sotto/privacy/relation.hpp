// Neighbouring relations: the pairs of data sets that a guarantee compares.
#pragma once

#include <optional>
#include <string_view>

namespace sotto {

/// Two data sets are neighbours if they differ by:
enum class Relation {
  add_remove,   ///< one record more or less
  replace_one,  ///< one record changed
  zero_out,     ///< one record replaced by a null record
  as_stated,    ///< what the caller's sensitivities assume; sotto does not know it
};

/// "add-remove", "replace-one", "zero-out", "as stated".
std::string_view name(Relation relation);

/// Returns the relation of a name other than "as stated", or nothing.
std::optional<Relation> relation_named(std::string_view name);

}  // namespace sotto
