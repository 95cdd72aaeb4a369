#include <algorithm>

#include "data/records/records.hpp"
#include "core/api/json.hpp"
#include "data/text/utf8.hpp"

namespace sotto::data_detail {
namespace {

bool is_null(const Json& value, const ValueManner& manner) {
  if (!value.is_string()) return value.is_null();
  const std::string_view text = manner.trim ? trimmed(value.text()) : std::string_view(value.text());
  return std::find(manner.null_text.begin(), manner.null_text.end(), text) != manner.null_text.end();
}

std::optional<Typed> typed_value(const Json& value, Type type, const ValueManner& manner) {
  if (is_null(value, manner)) return Typed{};
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
      if (!value.is_string() || !data_detail::is_text(value.text())) break;
      return manner.trim ? std::string(trimmed(value.text())) : value.get<std::string>();
    case Type::date:
    case Type::timestamp:
      if (value.is_string()) return typed(RawField{value.text(), false}, type, manner);
      break;
  }
  return {};
}

}  // namespace

std::optional<std::vector<std::optional<Typed>>> typed_object(std::string_view text, const std::vector<Column>& columns, const ValueManner& manner) {
  const auto object = Json::try_parse(text);
  if (!object || !object->is_object()) return {};
  std::vector<std::optional<Typed>> values;
  values.reserve(columns.size());
  for (const Column& column : columns) {
    const Json* found = object->find(column.name);
    values.push_back(found == nullptr ? Typed{} : typed_value(*found, column.type, manner));
  }
  return values;
}

std::optional<std::vector<NamedType>> types_of_object(std::string_view text, const std::vector<std::string>& null_text) {
  const auto object = Json::try_parse(text);
  if (!object || !object->is_object()) return {};
  std::vector<NamedType> types;
  for (const auto& [name, value] : object->members()) {
    std::optional<Type> type;
    bool has_blanks = false;
    if (is_null(value, {null_text})) {
    } else if (value.is_boolean()) {
      type = Type::boolean;
    } else if (value.is_number()) {
      type = typed_value(value, Type::integer, {null_text}) ? Type::integer : Type::real;
    } else if (value.is_string()) {
      const auto found = type_of(RawField{value.text(), false}, null_text);
      type = found == Type::date || found == Type::timestamp ? *found : Type::text;
      has_blanks = trimmed(value.text()) != value.text() && !trimmed(value.text()).empty();
    } else {
      types.push_back({name, type, false, true});
      continue;
    }
    types.push_back({name, type, has_blanks});
  }
  return types;
}

}  // namespace sotto::data_detail
