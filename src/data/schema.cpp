// Types and their names.
#include "sotto/data/schema.hpp"

#include <array>
#include <utility>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr std::array<std::pair<Type, const char*>, 6> names{{{Type::boolean, "boolean"},
                                                             {Type::integer, "integer"},
                                                             {Type::real, "real"},
                                                             {Type::text, "text"},
                                                             {Type::date, "date"},
                                                             {Type::timestamp, "timestamp"}}};

}  // namespace

std::string name_of(Type type) {
  for (const auto& [one, name] : names) {
    if (one == type) return name;
  }
  return "unknown";
}

Type parse_type(const std::string& name) {
  for (const auto& [type, word] : names) {
    if (name == word) return type;
  }
  throw InvalidValue("\"" + name +
                     "\" is not a type: write boolean, integer, real, text, date or timestamp");
}

Value parse_key(const std::string& text, Type type) {
  if (type == Type::integer) return std::int64_t{std::stoll(text)};
  if (type == Type::boolean) return text == "true";
  return text;
}

}  // namespace sotto
