// A table's public description: what its columns are called and hold.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sotto {

enum class Type { boolean, integer, real, text, date, timestamp };

/// "boolean", "integer", …; and back, InvalidValue for any other word.
std::string name_of(Type type);
Type parse_type(const std::string& name);

/// A constant of some type: a date is "2026-01-31", a timestamp "2026-01-31 23:59:59".
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// The key of this type that an engine spells so.
Value parse_key(const std::string& text, Type type);

struct Column {
  std::string name;
  Type type;
  friend bool operator==(const Column&, const Column&) = default;
};

}  // namespace sotto
