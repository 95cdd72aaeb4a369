// Reads a study: its queries, models, columns and budget, checked against the data file that it
// names.
#include <set>

#include "data/api/inspect.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/study.hpp"
#include "study/files/listed_constants.hpp"
#include "study/files/section.hpp"
#include "study/files/train_parse.hpp"
#include "study/files/value_text.hpp"

namespace sotto {
namespace {

using namespace study_detail;

// Kinds of queries by the words for `ask`.
const std::vector<std::pair<std::string, Aggregation>> aggregations{
    {"count", Aggregation::count},
    {"distinct", Aggregation::distinct},
    {"sum", Aggregation::sum},
    {"mean", Aggregation::mean},
    {"variance", Aggregation::variance},
    {"deviation", Aggregation::deviation},
    {"histogram", Aggregation::histogram},
    {"quantiles", Aggregation::quantiles},
    {"median", Aggregation::quantiles}};

Aggregation parse_aggregation(const Section& section, const std::string& word) {
  std::vector<std::string> known;
  for (const auto& [name, kind] : aggregations) {
    if (name == word) return kind;
    known.push_back(name);
  }
  throw StudyError(section.where() + words_for_ask(word, known), section.line("ask"));
}

void parse_keys(Query& query, const Section& section) {
  query.by = section.texts("by");
  const auto keys = section.text("keys");
  if (!keys) return;
  if (*keys != "public" && *keys != "private")
    throw StudyError(section.where() + "`keys` is \"public\" or \"private\"", section.line("keys"));
  if (query.by.empty())
    throw StudyError(section.where() + "`keys` needs key columns: by = [\"region\"]",
                     section.line("keys"));
  query.private_keys = *keys == "private";
}

void parse_share_or_error(Query& query, const Section& section) {
  if (section.find("share") != nullptr && section.find("error") != nullptr) {
    throw StudyError(
        section.where() + "write `share`, a weight in the budget, or `error`, not both",
        section.line("error"));
  }
  query.share = section.positive("share").value_or(1);
  if (!(query.share >= 1e-6 && query.share <= 1e6))
    throw StudyError(section.where() + "`share` must be from 1e-6 to 1e6", section.line("share"));
  query.error = section.positive("error");
  if (!(query.error.value_or(1) >= 1e-100 && query.error.value_or(1) <= 1e100)) {
    throw StudyError(section.where() + "`error` must be from 1e-100 to 1e100",
                     section.line("error"));
  }
}

// Reads the limits of a unit; `defaults` has those at the top of the study.
void parse_limits(Query& query, const Section& section, const Query& defaults) {
  query.groups = section.whole("groups").value_or(defaults.groups);
  query.rows = section.whole("rows").value_or(defaults.rows);
  query.chose_groups = defaults.chose_groups || section.find("groups") != nullptr;
  query.chose_rows = defaults.chose_rows || section.find("rows") != nullptr;
  if (const auto clamp = section.text("clamp"); clamp) {
    if (*clamp != "rows" && *clamp != "total")
      throw StudyError(section.where() + "`clamp` is \"rows\" or \"total\"", section.line("clamp"));
    query.clamp_total = *clamp == "total";
  }
}

// Reads `quantiles`; `word` is the query's `ask`, which tells a median from quantiles.
void parse_quantiles(Query& query, const Section& section, const std::string& word) {
  query.quantiles = section.numbers("quantiles");
  for (const double q : query.quantiles) {
    if (!(q > 0 && q < 1))
      throw StudyError(
          section.where() + "quantiles are between 0 and 1: quantiles = [0.25, 0.5, 0.75]",
          section.line("quantiles"));
  }
  if (word == "median" && !query.quantiles.empty())
    throw StudyError(
        section.where() + "a median has no `quantiles`: remove them, or write ask = \"quantiles\"",
        section.line("quantiles"));
  if (query.ask == Aggregation::quantiles && query.quantiles.empty()) query.quantiles = {0.5};
  if (query.ask != Aggregation::quantiles && !query.quantiles.empty())
    throw StudyError(section.where() + "`quantiles` belong to ask = \"quantiles\"",
                     section.line("quantiles"));
}

void parse_noise(Query& query, const Section& section) {
  const auto noise = section.text("noise");
  if (!noise) return;
  if (*noise != "laplace" && *noise != "gaussian")
    throw StudyError(section.where() + "`noise` is \"laplace\" or \"gaussian\"",
                     section.line("noise"));
  query.noise = *noise == "laplace" ? NoiseChoice::laplace : NoiseChoice::gaussian;
}

// Reads section [[query]] number `number`, from 1; `defaults` has the limits at the top of the
// study.
Query parse_query(const toml::node& node, std::size_t number, const Query& defaults) {
  const toml::table* table = node.as_table();
  if (table == nullptr) throw StudyError("queries are sections: [[query]]", line_of(node));
  const Section section(*table, "query " + std::to_string(number),
                        {"name", "ask", "of", "by", "keys", "where", "share", "error", "groups",
                         "rows", "clamp", "quantiles", "step", "noise"});
  Query query;
  query.line = line_of(node);
  query.name = section.need_text("name", "\"people by region\"");
  const std::string word = section.need_text("ask", "\"count\"");
  query.ask = parse_aggregation(section, word);
  query.of = section.text("of").value_or("");
  parse_keys(query, section);
  query.where = section.text("where").value_or("");
  parse_share_or_error(query, section);
  parse_limits(query, section, defaults);
  parse_quantiles(query, section, word);
  query.step = section.positive("step");
  parse_noise(query, section);
  return query;
}

// Keys of a data file that a study must not have.
const std::vector<std::string> curator_keys{
    "source",  "format",  "records", "delimiter",   "null_text", "postgresql", "table",
    "host",    "ledger",  "key",     "public_rows", "unit",      "path",       "file",
    "witness", "version", "name",    "names",       "trim",      "publisher"};

void require_no_place(const toml::table& table, const std::string& where) {
  for (const auto& [key, node] : table) {
    const std::string word(key.str());
    if (std::find(curator_keys.begin(), curator_keys.end(), word) == curator_keys.end()) continue;
    throw StudyError(where + "`" + word +
                         "` belongs into the curator's data file, NAME.data.toml: a study only "
                         "names its data, data = \"NAME\"",
                     line_of(node));
  }
}

// Applies a study's section on a stored column, which may narrow bounds and values only.
void narrow(StudyColumn& column, const toml::table& table) {
  const std::string where = "columns." + column.name;
  for (const auto& [key, node] : table) {
    if (key.str() == "bounds" || key.str() == "values") continue;
    throw StudyError(where +
                         ": the data file says what is stored; a study may narrow `bounds` and "
                         "`values`, or derive a column of another name",
                     line_of(node));
  }
  const Section section(table, where, {"bounds", "values"});
  StudyColumn narrower = column;
  parse_bounds(narrower, section);
  parse_values(narrower, section);
  if (column.lower && (*narrower.lower < *column.lower || *narrower.upper > *column.upper)) {
    throw StudyError(where + ": the data file's bounds are [" + shortest(*column.lower) + ", " +
                         shortest(*column.upper) + "]: a study may narrow them, not widen",
                     section.line("bounds"));
  }
  const std::set<Value> allowed(column.values.begin(), column.values.end());
  for (const Value& value : narrower.values) {
    if (!allowed.empty() && !allowed.contains(value)) {
      throw StudyError(
          where + ": `values` has a value that the data file does not list: choose from its values",
          section.line("values"));
    }
  }
  column = std::move(narrower);
}

void parse_columns(Study& study, const toml::table& table) {
  std::vector<StudyColumn> derived;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const toml::table* section = node.as_table();
    if (section == nullptr)
      throw StudyError("columns." + name + " is a section: [columns." + name +
                           "] with derive = \"…\", or with bounds",
                       line_of(node));
    const auto stored = std::find_if(study.columns.begin(), study.columns.end(),
                                     [&](const StudyColumn& c) { return c.name == name; });
    if (stored != study.columns.end()) {
      narrow(*stored, *section);
      continue;
    }
    if (section->get("derive") == nullptr) {
      std::vector<std::string> names;
      for (const StudyColumn& column : study.columns) names.push_back(column.name);
      throw StudyError("columns." + name + ": the data have no such column; " +
                           suggestion(name, names) +
                           ". A new one is derived: derive = \"age >= 65\"",
                       line_of(node));
    }
    derived.push_back(parse_column(name, node, ColumnKind::derived));
  }
  std::sort(derived.begin(), derived.end(),
            [](const StudyColumn& a, const StudyColumn& b) { return a.line < b.line; });
  study.columns.insert(study.columns.end(), derived.begin(), derived.end());
}

void parse_budget(Study& study, const toml::table& root) {
  if (root.get("budget") == nullptr) return;
  const toml::table& table = table_at(root, "budget", "");
  require_no_place(table, "budget: ");
  const Section section(table, "budget", {"epsilon", "delta", "rho"});
  study.budget_line = section.line();
  study.epsilon = section.positive("epsilon");
  study.rho = section.positive("rho");
  study.delta = section.number("delta");
  if (study.epsilon.value_or(1) < 1e-9 || study.rho.value_or(1) < 1e-18) {
    throw StudyError(
        "budget: epsilon must be at least 1e-9, and rho at least 1e-18: no noise is large enough "
        "for less",
        section.line(study.rho ? "rho" : "epsilon"));
  }
  if (study.epsilon && study.rho)
    throw StudyError("budget: write epsilon (with delta) or rho, not both", section.line("rho"));
  if (study.delta && !(*study.delta >= 0 && *study.delta < 1))
    throw StudyError("budget: delta must be at least 0 and below 1", section.line("delta"));
}

std::string name_in(const toml::table& root) {
  const toml::node* data = root.get("data");
  if (data == nullptr)
    throw StudyError(
        "`data` is missing: write the name of the curator's data file, data = \"visits\"", 0);
  if (!data->is_string())
    throw StudyError("`data` is the name of the data, in quotes: data = \"visits\"",
                     line_of(*data));
  const std::string& name = data->ref<std::string>();
  if (!is_data_name(name)) {
    throw StudyError(
        "`data` is a name, such as \"visits\": letters, digits, _, - and ., and never a path",
        line_of(*data));
  }
  return name;
}

// Prefixes a text with its length, so that different lists of fields have different encodings.
std::string field(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

// Returns unit and columns of the data as canonical text. It is part of the request id: do not
// change it.
std::string declared(const DataFile& data) {
  std::string all = field(data.unit);
  if (const auto* images = std::get_if<IdxSource>(&data.source))
    all += field(std::to_string(images->height) + "x" + std::to_string(images->width));
  // written only if true, so that the ids of requests of earlier versions do not change
  if (trims(data.source)) all += field("trim");
  for (const StudyColumn& column : data.columns) {
    all += field(column.name) + field(name_of(column.type)) +
           field(column.if_null ? "=" + text_of(*column.if_null) : "");
    all +=
        column.lower ? field(shortest(*column.lower)) + field(shortest(*column.upper)) : field("");
    for (const Value& value : column.values) all += field(text_of(value));
    all += ";";
  }
  return all;
}

// Adds the public data that trainings name. Their names, versions and columns are part of the
// request id.
void find_public_data(Study& study, const DataFinder& find) {
  for (const TrainingRequest& ask : study.trainings) {
    const auto same = [&](const DataFile& other) { return other.name == ask.evaluate; };
    if (ask.evaluate.empty() ||
        std::any_of(study.public_data.begin(), study.public_data.end(), same))
      continue;
    const std::string what = "train \"" + ask.name + "\": ";
    if (!find)
      throw StudyError(
          what + "`evaluate` names public data of the catalogue, and there is none here", ask.line);
    DataFile data = find(ask.evaluate);
    if (!data.is_public) {
      throw StudyError(what + "\"" + ask.evaluate +
                           "\" are not public data: their curator writes public = true into the "
                           "data file, or test = 0.2 keeps units for a private test",
                       ask.line);
    }
    // Measures on public data have no noise. On the private rows they would be a release without a
    // charge.
    if (data.source.index() == study.source.index() &&
        identity(data.source) == identity(study.source)) {
      throw StudyError(
          what + "\"" + ask.evaluate +
              "\" are the data that the study is about, which are not public: name other data",
          ask.line);
    }
    study.declared += field(data.name) + field(data.version) + field(declared(data));
    study.public_data.push_back(std::move(data));
  }
}

// Throws StudyError unless the study is about these data, and they are not public.
void require_data(const DataFile& data, const toml::table& root, const Section& top) {
  if (const std::string name = name_in(root); name != data.name) {
    throw StudyError(
        "the study is about \"" + name + "\", the data file about \"" + data.name + "\"",
        top.line("data"));
  }
  if (data.is_public) {
    throw StudyError("\"" + data.name +
                         "\" are public data, of which nothing is charged: a [[train]] names them "
                         "by evaluate = \"" +
                         data.name + "\"",
                     top.line("data"));
  }
}

void copy_data(Study& study, const DataFile& data) {
  study.data_name = data.name;
  study.data_version = data.version;
  study.declared = declared(data);
  study.source = data.source;
  study.unit = data.unit;
  study.unit_label = data.unit_label;
  study.publisher = data.publisher;
  study.public_rows = data.public_rows;
  study.columns = data.columns;
  for (StudyColumn& column : study.columns)
    column.line = 0;  // lines of the data file mean nothing in the study
}

// A study that narrows `values` may still compare the column with every value of the data file.
void list_values(Study& study, const DataFile& data) {
  for (const StudyColumn& column : study.columns) {
    if (column.derive.empty() && !column.values.empty()) study.listed[column.name] = column.values;
  }
  for (const StudyColumn& column : data.columns) {
    if (!column.values.empty()) study.listed[column.name] = column.values;
  }
}

// Returns the sections [[name]]; null if there are none.
const toml::array* sections_of(const toml::table& root, const std::string& name) {
  const toml::node* node = root.get(name);
  if (node != nullptr && !node->is_array())
    throw StudyError("every " + name + " is a section in double brackets: write [[" + name + "]]",
                     line_of(*node));
  return node == nullptr ? nullptr : node->as_array();
}

void parse_queries_and_trainings(Study& study, const toml::table& root, const Query& defaults) {
  const toml::array* queries = sections_of(root, "query");
  const toml::array* trainings = sections_of(root, "train");
  if ((queries == nullptr || queries->empty()) && (trainings == nullptr || trainings->empty())) {
    throw StudyError(
        "the study asks nothing: add a section [[query]] with name = \"…\" and ask = \"count\"", 0);
  }
  std::set<std::string> names;
  const auto require_new = [&names](const std::string& name, int line) {
    if (!names.insert(name).second)
      throw StudyError("two queries are called \"" + name + "\": give one of them another name",
                       line);
  };
  if (queries != nullptr) {
    for (const toml::node& node : *queries) {
      study.queries.push_back(parse_query(node, study.queries.size() + 1, defaults));
      require_new(study.queries.back().name, study.queries.back().line);
    }
  }
  if (trainings != nullptr) {
    for (const toml::node& node : *trainings) {
      study.trainings.push_back(parse_train(node, study.trainings.size() + 1, defaults.rows));
      study.trainings.back().chose_rows |= defaults.chose_rows;
      require_new(study.trainings.back().name, study.trainings.back().line);
    }
  }
}

}  // namespace

std::string name_of(Aggregation ask) {
  for (const auto& [word, kind] : aggregations) {
    if (kind == ask) return word;
  }
  return "";
}

std::string data_of(const std::string& study) {
  const toml::table root = parse_toml(study);
  if (const toml::node* data = root.get("data"); data != nullptr && data->is_table()) {
    const TwoFiles files = split_study(study);
    throw StudyError(
        "this study describes its data, which is the curator's to do. It becomes two files. In the "
        "curator's catalogue, as NAME.data.toml:\n\n" +
            files.data + "\nand the analyst's study:\n\n" + files.study,
        line_of(*data));
  }
  return name_in(root);
}

Study parse_study(const std::string& text, const DataFile& data, const DataFinder& find) {
  const toml::table root = parse_toml(text);
  require_no_place(root, "");
  const Section top(
      root, "",
      {"title", "confidence", "data", "groups", "rows", "columns", "budget", "query", "train"});
  require_data(data, root, top);

  Study study;
  study.text = text;
  study.title = top.text("title").value_or("");
  study.confidence = top.number("confidence").value_or(0.95);
  if (!(study.confidence >= 0.5 && study.confidence <= 0.9999))
    throw StudyError("confidence is from 0.5 to 0.9999", top.line("confidence"));
  copy_data(study, data);

  Query defaults;  // limits for all queries that set none
  defaults.groups = top.whole("groups").value_or(1);
  defaults.rows = top.whole("rows").value_or(1);
  defaults.chose_groups = top.find("groups") != nullptr;
  defaults.chose_rows = top.find("rows") != nullptr;
  if (root.get("columns") != nullptr) parse_columns(study, table_at(root, "columns", ""));
  list_values(study, data);
  parse_budget(study, root);

  parse_queries_and_trainings(study, root, defaults);
  for (const StudyColumn& column : study.columns) (void)field_of(study, column);
  find_public_data(study, find);
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
  throw StudyError("there is no column \"" + name + "\"; " + suggestion(name, names), line);
}

Field field_of(const Study& study, const StudyColumn& column) {
  const std::string text = column.derive.empty() ? sotto::quoted(column.name) : column.derive;
  try {
    Expression value = Expression::parse(text, stored_columns(study));
    if (value.type() != column.type) {
      const bool widened = value.type() == Type::integer && column.type == Type::real;
      if (!widened) {
        throw StudyError("columns." + column.name + ": `derive` is of type " +
                             name_of(value.type()) + ", not " + name_of(column.type),
                         column.line);
      }
    }
    if (!column.derive.empty()) {
      require_listed_constants(value, study.listed, "columns." + column.name + ": in `derive`",
                               column.line);
      require_reachable_values(column, value, study.listed);
    }
    return {std::move(value), column.if_null};
  } catch (const ParseError& error) {
    throw StudyError("columns." + column.name + ": in `derive`, column " +
                         std::to_string(error.column()) + ": " + error.what(),
                     column.line);
  }
}

}  // namespace sotto
