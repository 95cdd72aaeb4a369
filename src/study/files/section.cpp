// Reads TOML and the sections [columns.NAME] of data files and studies.
#include "study/files/section.hpp"

#include <set>

#include "core/api/text.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/expression.hpp"

namespace sotto::study_detail {
namespace {

Value value_of(const toml::node& node, Type type, const std::string& where) {
  const auto wrong = [&](const std::string& what) -> StudyError {
    return {where + ": the value of a column of type " + name_of(type) + " is " + what,
            line_of(node)};
  };
  switch (type) {
    case Type::boolean:
      if (!node.is_boolean()) throw wrong("true or false");
      return node.ref<bool>();
    case Type::integer:
      if (!node.is_integer()) throw wrong("a whole number");
      return node.ref<std::int64_t>();
    case Type::real: {
      const auto number = node.value<double>();
      if (!node.is_number() || !number || !(std::abs(*number) <= 1e150)) throw wrong("a number");
      return *number;
    }
    case Type::text:
      if (!node.is_string()) throw wrong("a text, in quotes");
      if (node.ref<std::string>().find('\0') != std::string::npos)
        throw wrong("a text without NUL");
      return node.ref<std::string>();
    default: {
      if (!node.is_string())
        throw wrong(type == Type::date ? "a text such as \"2026-01-31\""
                                       : "a text such as \"2026-01-31 12:00:00\"");
      try {
        (void)literal(node.ref<std::string>(), type, Dialect::duckdb);
      } catch (const InvalidValue& error) {
        throw StudyError(where + ": " + error.what(), line_of(node));
      }
      return node.ref<std::string>();
    }
  }
}

// Throws StudyError for a name or text with characters that a display could not show as they are.
// Expressions may have several lines. Values of the data may be anything: they are escaped for
// display.
void require_plain(const toml::node& node, const std::string& key = "") {
  const std::string why =
      " has a control character, an invisible one, or one that changes the writing direction; "
      "remove it: ";
  if (const toml::table* table = node.as_table(); table != nullptr) {
    for (const auto& [name, child] : *table) {
      if (!is_plain(name.str()))
        throw StudyError("a name" + why + escaped_for_terminal(name.str()), line_of(child));
      require_plain(child, std::string(name.str()));
    }
  } else if (const toml::array* list = node.as_array(); list != nullptr) {
    for (const toml::node& child : *list) require_plain(child, key);
  } else if (node.is_string() && key != "values" && key != "value" && key != "null_text") {
    std::string text = node.ref<std::string>();
    if (key == "where" || key == "derive")
      std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
    if (!is_plain(text))
      throw StudyError("`" + key + "`" + why + escaped_for_terminal(text), line_of(node));
  }
}

}  // namespace

toml::table parse_toml(const std::string& text) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw StudyError(words_for_toml(text, line, std::string(error.description())),
                     static_cast<int>(line));
  }
  require_plain(root);
  return root;
}

const toml::table& table_at(const toml::table& root, const std::string& key,
                            const std::string& why) {
  const toml::node* node = root.get(key);
  if (node == nullptr) throw StudyError("there is no [" + key + "]: " + why, 0);
  if (!node->is_table())
    throw StudyError("`" + key + "` is a section: [" + key + "]", line_of(*node));
  return *node->as_table();
}

void parse_bounds(StudyColumn& column, const Section& section) {
  if (section.find("bounds") == nullptr) return;
  const std::string where = "columns." + column.name;
  const int line = section.line("bounds");
  if (column.type != Type::integer && column.type != Type::real)
    throw StudyError(where + ": only columns of type integer or real have bounds: remove them",
                     line);
  const auto bounds = section.numbers("bounds");
  if (bounds.size() != 2)
    throw StudyError(where + ": bounds are two numbers: bounds = [0, 100]", line);
  if (!(bounds[0] < bounds[1]))
    throw StudyError(where + ": the lower bound comes first: bounds = [0, 100]", line);
  if (!(std::abs(bounds[0]) <= 1e100) || !(std::abs(bounds[1]) <= 1e100) ||
      !(bounds[1] - bounds[0] >= 1e-100))
    throw StudyError(where + ": bounds must be at most 1e100 in size, and at least 1e-100 apart",
                     line);
  column.lower = bounds[0];
  column.upper = bounds[1];
}

void parse_values(StudyColumn& column, const Section& section) {
  const toml::node* values = section.find("values");
  if (values == nullptr) return;
  const std::string where = "columns." + column.name;
  const toml::array* list = values->as_array();
  if (list == nullptr || list->empty())
    throw StudyError(where + ": values are a list: values = [\"north\", \"south\"]",
                     line_of(*values));
  if (column.type == Type::real)
    throw StudyError(
        where + ": real numbers cannot be keys; derive a whole number, or ask for a histogram",
        line_of(*values));
  column.values.clear();
  std::set<Value> seen;
  for (const toml::node& item : *list) {
    Value value = value_of(item, column.type, where);
    if (!seen.insert(value).second)
      throw StudyError(where + ": `values` has a value twice: remove one", line_of(item));
    column.values.push_back(std::move(value));
  }
}

StudyColumn parse_column(const std::string& name, const toml::node& node, ColumnKind kind) {
  const std::string where = "columns." + name;
  const toml::table* table = node.as_table();
  if (table == nullptr)
    throw StudyError(where + " is a section: [" + where + "] with type = \"integer\", …",
                     line_of(node));
  std::vector<std::string> known{"type", "null", "bounds", "values"};
  if (kind == ColumnKind::derived) known.emplace_back("derive");
  const Section section(*table, where, known);
  StudyColumn column;
  column.name = name;
  column.line = line_of(node);
  try {
    column.type = parse_type(section.need_text(
        "type", "\"integer\", \"real\", \"text\", \"boolean\", \"date\" or \"timestamp\""));
  } catch (const InvalidValue& error) {
    throw StudyError(where + ": " + error.what(), section.line("type"));
  }
  column.derive = section.text("derive").value_or("");
  const toml::node* null = section.find("null");
  const std::string say = where +
                          ": say what a missing value means: null = \"drop\" leaves its rows out, "
                          "null = { value = 0 } puts a value there";
  if (null == nullptr) throw StudyError(say, column.line);
  if (const toml::table* instead = null->as_table(); instead != nullptr) {
    if (instead->size() != 1 || instead->get("value") == nullptr)
      throw StudyError(say, line_of(*null));
    column.if_null = value_of(*instead->get("value"), column.type, where);
  } else if (!null->is_string() || null->ref<std::string>() != "drop") {
    throw StudyError(say, line_of(*null));
  }
  parse_bounds(column, section);
  parse_values(column, section);
  if (column.type == Type::boolean && column.values.empty()) column.values = {false, true};
  return column;
}

}  // namespace sotto::study_detail
