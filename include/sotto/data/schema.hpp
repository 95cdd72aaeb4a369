// The public schema of a table: the names and types of its columns.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sotto {

enum class Type { boolean, integer, real, text, date, timestamp };

/// Returns "boolean", "integer" and so on.
std::string name_of(Type type);
/// The inverse of name_of(). Throws InvalidValue for any other word.
Type parse_type(const std::string& name);

/// A constant of some type. A date is "2026-01-31", a timestamp "2026-01-31 23:59:59".
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// Reads the key of a group from the text that an engine returns for it. `text` must be one.
Value parse_key(const std::string& text, Type type);

struct Column {
  std::string name;
  Type type;
  friend bool operator==(const Column&, const Column&) = default;
};

}  // namespace sotto
