// Neighbouring relations: which data sets a guarantee compares.
#pragma once

#include <optional>
#include <string_view>

namespace sotto {

enum class Relation {
  add_remove,   ///< one record more or less
  replace_one,  ///< one record changed
  zero_out,     ///< one record replaced by a null record
  as_stated,    ///< whichever relation the sensitivities were stated in
};

/// "add-remove", "replace-one", "zero-out", "as stated".
std::string_view name(Relation relation);

/// The relation of that name, if there is one.
std::optional<Relation> relation_named(std::string_view name);

}  // namespace sotto
