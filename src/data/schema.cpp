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
  for (const auto& [known, name] : names) {
    if (known == type) return name;
  }
  return "unknown";
}

Type parse_type(const std::string& name) {
  for (const auto& [type, known] : names) {
    if (name == known) return type;
  }
  throw InvalidValue("no type \"" + name + "\"; there are: boolean, integer, real, text, date, timestamp");
}

Value parse_key(const std::string& text, Type type) {
  if (type == Type::integer) return std::int64_t{std::stoll(text)};
  if (type == Type::boolean) return text == "true";
  return text;
}

}  // namespace sotto
