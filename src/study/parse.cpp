#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "sotto/core/errors.hpp"
#include "sotto/study/study.hpp"

namespace sotto {
namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// A table whose every key must be known.
class Section {
 public:
  Section(const toml::table& table, std::string name, std::vector<std::string> known) : table_(table), name_(std::move(name)) {
    for (const auto& [key, node] : table) {
      const std::string word(key.str());
      if (std::find(known.begin(), known.end(), word) == known.end()) {
        throw StudyError(where() + "there is no `" + word + "` here; there are: " + listed(known), line_of(node));
      }
    }
  }

  [[nodiscard]] int line() const { return line_of(table_); }
  [[nodiscard]] const toml::node* find(const std::string& key) const { return table_.get(key); }
  [[nodiscard]] int line(const std::string& key) const { return find(key) == nullptr ? line() : line_of(*find(key)); }

  [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_string()) throw StudyError(where() + "`" + key + "` is a text, in quotes", line_of(*node));
    return node->ref<std::string>();
  }
  [[nodiscard]] std::string need_text(const std::string& key, const std::string& example) const {
    const auto found = text(key);
    if (!found || found->empty()) throw StudyError(where() + "`" + key + "` is missing: " + key + " = " + example, line(key));
    return *found;
  }
  [[nodiscard]] std::optional<double> number(const std::string& key) const {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    return as_number(*node, key);
  }
  [[nodiscard]] std::optional<double> positive(const std::string& key) const {
    const auto found = number(key);
    if (found && !(*found > 0)) throw StudyError(where() + "`" + key + "` must be above 0", line(key));
    return found;
  }
  [[nodiscard]] std::optional<std::int64_t> whole(const std::string& key) const {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_integer() || node->ref<std::int64_t>() < 1 || node->ref<std::int64_t>() > 1'000'000'000) {
      throw StudyError(where() + "`" + key + "` is a whole number from 1 to 10^9", line_of(*node));
    }
    return node->ref<std::int64_t>();
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& key) const {
    std::vector<double> found;
    const toml::node* node = find(key);
    if (node == nullptr) return found;
    const toml::array* list = node->as_array();
    if (list == nullptr) return {as_number(*node, key)};
    for (const toml::node& item : *list) found.push_back(as_number(item, key));
    return found;
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> found;
    const toml::node* node = find(key);
    if (node == nullptr) return found;
    const toml::array* list = node->as_array();
    if (list == nullptr) return {*text(key)};
    for (const toml::node& item : *list) {
      if (!item.is_string()) throw StudyError(where() + "`" + key + "` is a list of texts", line_of(item));
      found.push_back(item.ref<std::string>());
    }
    return found;
  }
  [[nodiscard]] std::string where() const { return name_.empty() ? "" : name_ + ": "; }

 private:
  double as_number(const toml::node& node, const std::string& key) const {
    const auto found = node.value<double>();
    if (!found || !node.is_number() || !std::isfinite(*found)) throw StudyError(where() + "`" + key + "` is a number", line_of(node));
    return *found;
  }

  const toml::table& table_;
  std::string name_;
};

const toml::table& table_at(const toml::table& root, const std::string& key, const std::string& why) {
  const toml::node* node = root.get(key);
  if (node == nullptr) throw StudyError("there is no [" + key + "]: " + why, 0);
  if (!node->is_table()) throw StudyError("`" + key + "` is a section: [" + key + "]", line_of(*node));
  return *node->as_table();
}

Value value_of(const toml::node& node, Type type, const std::string& where) {
  const auto wrong = [&](const std::string& what) -> StudyError {
    return {where + ": the value of a column of type " + name_of(type) + " is " + what, line_of(node)};
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
      if (node.ref<std::string>().find('\0') != std::string::npos) throw wrong("a text without NUL");
      return node.ref<std::string>();
    default: {
      if (!node.is_string()) throw wrong(type == Type::date ? "a text such as \"2026-01-31\"" : "a text such as \"2026-01-31 12:00:00\"");
      try {
        (void)literal(node.ref<std::string>(), type, Dialect::duckdb);
      } catch (const InvalidValue& error) {
        throw StudyError(where + ": " + error.what(), line_of(node));
      }
      return node.ref<std::string>();
    }
  }
}

StudyColumn parse_column(const std::string& name, const toml::node& node) {
  const std::string where = "columns." + name;
  const toml::table* table = node.as_table();
  if (table == nullptr) throw StudyError(where + " is a section: [" + where + "] with type = \"integer\", …", line_of(node));
  const Section section(*table, where, {"type", "null", "bounds", "values", "derive"});
  StudyColumn column;
  column.name = name;
  column.line = line_of(node);
  try {
    column.type = parse_type(section.need_text("type", "\"integer\", \"real\", \"text\", \"boolean\", \"date\" or \"timestamp\""));
  } catch (const InvalidValue& error) {
    throw StudyError(where + ": " + error.what(), section.line("type"));
  }
  column.derive = section.text("derive").value_or("");
  const toml::node* null = section.find("null");
  const std::string say = where + ": say what a missing value means: null = \"drop\" leaves its rows out, null = { value = 0 } puts a value there";
  if (null == nullptr) throw StudyError(say, column.line);
  if (const toml::table* instead = null->as_table(); instead != nullptr) {
    if (instead->size() != 1 || instead->get("value") == nullptr) throw StudyError(say, line_of(*null));
    column.if_null = value_of(*instead->get("value"), column.type, where);
  } else if (!null->is_string() || null->ref<std::string>() != "drop") {
    throw StudyError(say, line_of(*null));
  }
  if (section.find("bounds") != nullptr) {
    const auto bounds = section.numbers("bounds");
    if (column.type != Type::integer && column.type != Type::real) throw StudyError(where + ": only numbers have bounds", section.line("bounds"));
    if (bounds.size() != 2) throw StudyError(where + ": bounds are two numbers: bounds = [0, 100]", section.line("bounds"));
    if (!(bounds[0] < bounds[1])) throw StudyError(where + ": the lower bound comes first: bounds = [0, 100]", section.line("bounds"));
    if (!(std::abs(bounds[0]) <= 1e100) || !(std::abs(bounds[1]) <= 1e100) || !(bounds[1] - bounds[0] >= 1e-100))
      throw StudyError(where + ": bounds are at most 1e100 in size, and at least 1e-100 apart", section.line("bounds"));
    column.lower = bounds[0];
    column.upper = bounds[1];
  }
  if (const toml::node* values = section.find("values"); values != nullptr) {
    const toml::array* list = values->as_array();
    if (list == nullptr || list->empty()) throw StudyError(where + ": values are a list: values = [\"north\", \"south\"]", line_of(*values));
    if (column.type == Type::real)
      throw StudyError(where + ": real numbers cannot be keys; derive a whole number, or ask for a histogram", line_of(*values));
    std::set<Value> seen;
    for (const toml::node& item : *list) {
      Value value = value_of(item, column.type, where);
      if (!seen.insert(value).second) throw StudyError(where + ": a value stands twice", line_of(item));
      column.values.push_back(std::move(value));
    }
  }
  return column;
}

const std::vector<std::pair<std::string, Ask>> asks{{"count", Ask::count},         {"distinct", Ask::distinct},   {"sum", Ask::sum},
                                                    {"mean", Ask::mean},           {"variance", Ask::variance},   {"deviation", Ask::deviation},
                                                    {"histogram", Ask::histogram}, {"quantiles", Ask::quantiles}, {"median", Ask::quantiles}};

Query parse_query(const toml::node& node, std::size_t number, std::int64_t groups, std::int64_t rows) {
  const toml::table* table = node.as_table();
  if (table == nullptr) throw StudyError("queries are sections: [[query]]", line_of(node));
  const Section section(*table, "query " + std::to_string(number),
                        {"name", "ask", "of", "by", "keys", "where", "share", "error", "groups", "rows", "clamp", "quantiles", "step", "noise"});
  Query query;
  query.line = line_of(node);
  query.name = section.need_text("name", "\"people by region\"");
  const std::string ask = section.need_text("ask", "\"count\"");
  std::vector<std::string> known;
  bool found = false;
  for (const auto& [word, kind] : asks) {
    known.push_back(word);
    if (word != ask) continue;
    query.ask = kind;
    found = true;
  }
  if (!found) throw StudyError(section.where() + "`ask` is one of: " + listed(known), section.line("ask"));
  query.of = section.text("of").value_or("");
  query.by = section.texts("by");
  if (const auto keys = section.text("keys"); keys) {
    if (*keys != "public" && *keys != "private") throw StudyError(section.where() + "`keys` is \"public\" or \"private\"", section.line("keys"));
    if (query.by.empty()) throw StudyError(section.where() + "`keys` needs key columns: by = [\"region\"]", section.line("keys"));
    query.private_keys = *keys == "private";
  }
  query.where = section.text("where").value_or("");
  if (section.find("share") != nullptr && section.find("error") != nullptr) {
    throw StudyError(section.where() + "a share of the budget or an error, not both", section.line("error"));
  }
  query.share = section.positive("share").value_or(1);
  if (!(query.share >= 1e-6 && query.share <= 1e6)) throw StudyError(section.where() + "`share` is from 1e-6 to 1e6", section.line("share"));
  query.error = section.positive("error");
  if (!(query.error.value_or(1) >= 1e-100 && query.error.value_or(1) <= 1e100)) {
    throw StudyError(section.where() + "`error` is from 1e-100 to 1e100", section.line("error"));
  }
  query.groups = section.whole("groups").value_or(groups);
  query.rows = section.whole("rows").value_or(rows);
  if (const auto clamp = section.text("clamp"); clamp) {
    if (*clamp != "rows" && *clamp != "total") throw StudyError(section.where() + "`clamp` is \"rows\" or \"total\"", section.line("clamp"));
    query.clamp_total = *clamp == "total";
  }
  query.quantiles = section.numbers("quantiles");
  for (const double q : query.quantiles) {
    if (!(q > 0 && q < 1))
      throw StudyError(section.where() + "quantiles are between 0 and 1: quantiles = [0.25, 0.5, 0.75]", section.line("quantiles"));
  }
  if (ask == "median" && !query.quantiles.empty())
    throw StudyError(section.where() + "a median has no `quantiles`; ask = \"quantiles\"", section.line("quantiles"));
  if (query.ask == Ask::quantiles && query.quantiles.empty()) query.quantiles = {0.5};
  if (query.ask != Ask::quantiles && !query.quantiles.empty())
    throw StudyError(section.where() + "`quantiles` belong to ask = \"quantiles\"", section.line("quantiles"));
  query.step = section.positive("step");
  if (const auto noise = section.text("noise"); noise) {
    if (*noise != "laplace" && *noise != "gaussian")
      throw StudyError(section.where() + "`noise` is \"laplace\" or \"gaussian\"", section.line("noise"));
    query.noise = *noise == "laplace" ? NoiseChoice::laplace : NoiseChoice::gaussian;
  }
  return query;
}

void parse_data(Study& study, const toml::table& table, const std::filesystem::path& folder, std::int64_t& groups, std::int64_t& rows) {
  const Section data(table, "data", {"name", "version", "source", "format", "postgresql", "table", "unit", "public_rows", "groups", "rows"});
  study.data_name = data.need_text("name", "\"survey\", as the ledger's");
  study.data_version = data.need_text("version", "\"2026-01\"");
  study.unit = data.text("unit").value_or("row");
  study.public_rows = data.positive("public_rows");
  groups = data.whole("groups").value_or(1);
  rows = data.whole("rows").value_or(1);
  const auto file = data.text("source");
  const auto server = data.text("postgresql");
  if (file.has_value() == server.has_value()) {
    throw StudyError("data: say where the data are: source = \"people.csv\", or postgresql = \"service=survey\" with table = \"people\"",
                     data.line());
  }
  if (file) {
    const std::filesystem::path path(*file);
    study.source = FileSource{path.is_absolute() ? path : folder / path, data.text("format").value_or("")};
  } else {
    study.source = PostgresSource{*server, data.need_text("table", "\"people\"")};
  }
}

}  // namespace

std::string name_of(Ask ask) {
  for (const auto& [word, kind] : asks) {
    if (kind == ask) return word;
  }
  return "";
}

Study parse_study(const std::string& text, const std::filesystem::path& folder) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw StudyError(std::string(error.description()), static_cast<int>(error.source().begin.line));
  }
  const Section top(root, "", {"title", "confidence", "data", "columns", "budget", "query"});
  Study study;
  study.text = text;
  study.title = top.text("title").value_or("");
  study.confidence = top.number("confidence").value_or(0.95);
  if (!(study.confidence >= 0.5 && study.confidence <= 0.9999)) throw StudyError("confidence is from 0.5 to 0.9999", top.line("confidence"));
  std::int64_t groups = 1;
  std::int64_t rows = 1;
  parse_data(study, table_at(root, "data", "it names the data and says where they are"), folder, groups, rows);

  for (const auto& [key, node] : table_at(root, "columns", "it says what the columns are called and hold")) {
    study.columns.push_back(parse_column(std::string(key.str()), node));
  }
  std::sort(study.columns.begin(), study.columns.end(), [](const StudyColumn& a, const StudyColumn& b) { return a.line < b.line; });

  if (const toml::node* budget = root.get("budget"); budget != nullptr) {
    const Section section(table_at(root, "budget", ""), "budget", {"ledger", "epsilon", "delta", "rho"});
    study.budget_line = section.line();
    if (const auto ledger = section.text("ledger"); ledger) {
      const std::filesystem::path path(*ledger);
      study.ledger = path.is_absolute() || ledger->find("://") != std::string::npos ? path : folder / path;
    }
    study.epsilon = section.positive("epsilon");
    study.rho = section.positive("rho");
    study.delta = section.number("delta");
    if (study.epsilon.value_or(1) < 1e-9 || study.rho.value_or(1) < 1e-18) {
      throw StudyError("budget: no noise is large enough for this: epsilon is at least 1e-9, rho at least 1e-18",
                       section.line(study.rho ? "rho" : "epsilon"));
    }
    if (study.epsilon && study.rho) throw StudyError("budget: epsilon (with delta) or rho, not both", section.line("rho"));
    if (study.delta && !(*study.delta >= 0 && *study.delta < 1)) throw StudyError("budget: delta is from 0 to below 1", section.line("delta"));
  }

  const toml::node* queries = root.get("query");
  if (queries == nullptr || queries->as_array() == nullptr || queries->as_array()->empty()) {
    throw StudyError("the study asks nothing: add a section [[query]] with name = \"…\" and ask = \"count\"", 0);
  }
  std::set<std::string> names;
  for (const toml::node& node : *queries->as_array()) {
    study.queries.push_back(parse_query(node, study.queries.size() + 1, groups, rows));
    if (!names.insert(study.queries.back().name).second) {
      throw StudyError("two queries are called \"" + study.queries.back().name + "\"", study.queries.back().line);
    }
  }
  for (const StudyColumn& column : study.columns) (void)field_of(study, column);
  return study;
}

std::vector<Column> stored_columns(const Study& study) {
  std::vector<Column> columns;
  for (const StudyColumn& column : study.columns) {
    if (column.derive.empty()) columns.push_back({column.name, column.type});
  }
  return columns;
}

const StudyColumn& column_of(const Study& study, const std::string& name, int line) {
  std::vector<std::string> names;
  for (const StudyColumn& column : study.columns) {
    if (column.name == name) return column;
    names.push_back(column.name);
  }
  throw StudyError("there is no column \"" + name + "\"; declared are: " + listed(names), line);
}

Field field_of(const Study& study, const StudyColumn& column) {
  const std::string text = column.derive.empty() ? sotto::quoted(column.name) : column.derive;
  try {
    Expression value = Expression::parse(text, stored_columns(study));
    if (value.type() != column.type) {
      const bool widened = value.type() == Type::integer && column.type == Type::real;
      if (!widened) {
        throw StudyError("columns." + column.name + ": `derive` is of type " + name_of(value.type()) + ", not " + name_of(column.type), column.line);
      }
    }
    return {std::move(value), column.if_null};
  } catch (const ParseError& error) {
    throw StudyError("columns." + column.name + ": in `derive`, column " + std::to_string(error.column()) + ": " + error.what(), column.line);
  }
}

}  // namespace sotto
