// The names of the relations.
#include "sotto/privacy/relation.hpp"

namespace sotto {

std::string_view name(Relation relation) {
  switch (relation) {
    case Relation::add_remove: return "add-remove";
    case Relation::replace_one: return "replace-one";
    case Relation::zero_out: return "zero-out";
    case Relation::as_stated: break;
  }
  return "as stated";
}

std::optional<Relation> relation_named(std::string_view text) {
  for (const Relation r : {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    if (text == name(r)) return r;
  }
  return std::nullopt;
}

}  // namespace sotto
