#include <algorithm>

#include "records.hpp"
#include "sotto/core/json.hpp"
#include "utf8.hpp"

namespace sotto::data_detail {
namespace {

bool is_null(const Json& value, const std::vector<std::string>& null_text) {
  if (!value.is_string()) return value.is_null();
  return std::find(null_text.begin(), null_text.end(), value.text()) != null_text.end();
}

std::optional<Typed> typed_value(const Json& value, Type type, const std::vector<std::string>& null_text) {
  if (is_null(value, null_text)) return Typed{};
  switch (type) {
    case Type::boolean:
      if (value.is_boolean()) return value.get<bool>();
      break;
    case Type::integer:
      if (value.is_integer()) return value.get<std::int64_t>();
      if (value.is_number()) return whole_of(value.get<double>());
      break;
    case Type::real:
      if (value.is_number()) return value.get<double>();
      break;
    case Type::text:
      if (value.is_string() && data_detail::is_text(value.text())) return value.get<std::string>();
      break;
    case Type::date:
    case Type::timestamp:
      if (value.is_string()) return typed(RawField{value.text(), false}, type, null_text);
      break;
  }
  return {};
}

}  // namespace

std::optional<std::vector<std::optional<Typed>>> typed_object(std::string_view text, const std::vector<Column>& columns,
                                                              const std::vector<std::string>& null_text) {
  const auto object = Json::read(text);
  if (!object || !object->is_object()) return {};
  std::vector<std::optional<Typed>> values;
  values.reserve(columns.size());
  for (const Column& column : columns) {
    const Json* found = object->find(column.name);
    values.push_back(found == nullptr ? Typed{} : typed_value(*found, column.type, null_text));
  }
  return values;
}

std::optional<std::vector<NamedType>> types_of_object(std::string_view text, const std::vector<std::string>& null_text) {
  const auto object = Json::read(text);
  if (!object || !object->is_object()) return {};
  std::vector<NamedType> types;
  for (const auto& [name, value] : object->members()) {
    std::optional<Type> type;
    if (is_null(value, null_text)) {
    } else if (value.is_boolean()) {
      type = Type::boolean;
    } else if (value.is_number()) {
      type = typed_value(value, Type::integer, {}) ? Type::integer : Type::real;
    } else if (value.is_string()) {
      const auto found = type_of(RawField{value.text(), false}, null_text);
      type = found == Type::date || found == Type::timestamp ? *found : Type::text;
    } else {
      continue;  // an array or an object is of none of the types
    }
    types.emplace_back(name, type);
  }
  return types;
}

}  // namespace sotto::data_detail
