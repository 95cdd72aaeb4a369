// Parses records of JSON: objects whose members are the columns.
#include <algorithm>

#include "core/api/json.hpp"
#include "data/records/records.hpp"
#include "data/text/utf8.hpp"

namespace sotto::data_detail {
namespace {

bool is_null(const Json& value, const ValueFormat& format) {
  if (!value.is_string()) return value.is_null();
  const std::string_view text =
      format.trim ? trimmed(value.text()) : std::string_view(value.text());
  return std::find(format.null_text.begin(), format.null_text.end(), text) !=
         format.null_text.end();
}

std::optional<Scalar> parse_value(const Json& value, Type type, const ValueFormat& format) {
  if (is_null(value, format)) return Scalar{};
  switch (type) {
    case Type::boolean:
      if (value.is_boolean()) return value.get<bool>();
      break;
    case Type::integer:
      if (value.is_integer()) return value.get<std::int64_t>();
      if (value.is_number()) return integer_of(value.get<double>());
      break;
    case Type::real:
      if (value.is_number()) return value.get<double>();
      break;
    case Type::text:
      if (!value.is_string() || !data_detail::is_text(value.text())) break;
      return format.trim ? std::string(trimmed(value.text())) : value.get<std::string>();
    case Type::date:
    case Type::timestamp:
      if (value.is_string()) return parse_scalar(RawField{value.text(), false}, type, format);
      break;
  }
  return {};
}

}  // namespace

std::optional<std::vector<std::optional<Scalar>>> parse_object(std::string_view text,
                                                               const std::vector<Column>& columns,
                                                               const ValueFormat& format) {
  const auto object = Json::try_parse(text);
  if (!object || !object->is_object()) return {};
  std::vector<std::optional<Scalar>> values;
  values.reserve(columns.size());
  for (const Column& column : columns) {
    const Json* member = object->find(column.name);
    values.push_back(member == nullptr ? Scalar{} : parse_value(*member, column.type, format));
  }
  return values;
}

std::optional<std::vector<NamedType>> types_of_object(std::string_view text,
                                                      const std::vector<std::string>& null_text) {
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
      type = parse_value(value, Type::integer, {null_text}) ? Type::integer : Type::real;
    } else if (value.is_string()) {
      const auto inferred = type_of(RawField{value.text(), false}, null_text);
      type = inferred == Type::date || inferred == Type::timestamp ? *inferred : Type::text;
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
