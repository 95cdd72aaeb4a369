// Runs questions about a table as the study that they are.
#include "sotto/study/table.hpp"

#include <filesystem>

#include "sotto/data/arrow.hpp"
#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/data_file.hpp"
#include "study/api/outlook.hpp"
#include "study/api/run.hpp"
#include "study/api/study.hpp"
#include "study/api/study_text.hpp"

namespace sotto {
namespace {

// The text "sum spent by region".
std::string words_of(const std::string& what, const std::string& column, const TableQuestion& question) {
  std::string words = what + (column.empty() ? "" : " " + column);
  for (const auto& [key, setting] : question.settings) {
    if (key != "by") continue;
    words += " by";
    for (const Value& name : std::get<std::vector<Value>>(setting)) words += " " + std::get<std::string>(name);
  }
  return words;
}

std::string default_name(const Source& source) {
  if (const auto* file = std::get_if<FileSource>(&source)) return file->path.stem().string();
  if (const auto* postgres = std::get_if<PostgresSource>(&source)) return postgres->table.substr(postgres->table.find('.') + 1);
  if (const auto* spark = std::get_if<SparkSource>(&source)) return spark->table.substr(spark->table.rfind('.') + 1);
  return {};
}

DataFile data_file_of(const Source& source, const TableDescription& description) {
  DataFile data;
  data.name = description.name.empty() ? default_name(source) : description.name;
  if (!is_data_name(data.name)) {
    throw InvalidValue("the table's name \"" + data.name + "\" has other characters than letters, digits, _, - and .: set TableDescription::name");
  }
  data.version = description.version;
  data.source = source;
  data.unit = description.unit;
  data.unit_label = description.unit;
  data.public_rows = description.size;
  bool has_unit = data.unit == "row";
  for (const TableColumn& column : description.columns) {
    if (column.lower.has_value() != column.upper.has_value()) {
      throw InvalidValue("column \"" + column.name + "\" has one bound: give both, or neither");
    }
    if (column.lower && !(*column.lower < *column.upper)) {
      throw InvalidValue("the lower bound of column \"" + column.name + "\" is not below its upper bound");
    }
    StudyColumn stored;
    stored.name = column.name;
    stored.type = column.type;
    stored.lower = column.lower;
    stored.upper = column.upper;
    stored.values = column.values;
    data.columns.push_back(std::move(stored));
    has_unit = has_unit || column.name == data.unit;
  }
  if (!has_unit) throw InvalidValue("the unit \"" + data.unit + "\" is not among the columns: add it, or set unit = \"row\"");
  return data;
}

}  // namespace

TableColumn bounded_column(const std::string& name, double lower, double upper, Type type) {
  return {.name = name, .type = type, .lower = lower, .upper = upper};
}
TableColumn listed_column(const std::string& name, std::vector<Value> values, Type type) {
  return {.name = name, .type = type, .values = std::move(values)};
}

// --- QuestionBuilder ---

QuestionBuilder QuestionBuilder::with(const std::string& key, TableQuestion::Setting setting) const {
  QuestionBuilder next = *this;
  for (auto& [name, value] : next.question_.settings) {
    if (name == key) {
      value = std::move(setting);
      return next;
    }
  }
  next.question_.settings.emplace_back(key, std::move(setting));
  return next;
}

QuestionBuilder QuestionBuilder::where(const std::string& expression) const {
  for (const auto& [key, setting] : question_.settings) {
    if (key == "where") return with("where", "(" + std::get<std::string>(setting) + ") and (" + expression + ")");
  }
  return with("where", expression);
}

QuestionBuilder QuestionBuilder::group_by(const std::string& column) const {
  std::vector<Value> columns;
  for (const auto& [key, setting] : question_.settings) {
    if (key == "by") columns = std::get<std::vector<Value>>(setting);
  }
  columns.emplace_back(column);
  return with("by", std::move(columns));
}

QuestionBuilder QuestionBuilder::group_by(const std::string& column, std::vector<Value> values) const {
  QuestionBuilder next = group_by(column);
  next.question_.listed.emplace_back(column, std::move(values));
  return next;
}

QuestionBuilder QuestionBuilder::private_keys() const { return with("keys", std::string("private")); }
QuestionBuilder QuestionBuilder::limit_rows(std::int64_t rows) const { return with("rows", rows); }
QuestionBuilder QuestionBuilder::limit_groups(std::int64_t groups) const { return with("groups", groups); }

TableQuestion QuestionBuilder::ask(const std::string& what, const std::string& column, const QuestionOptions& options,
                              std::optional<TableQuestion::Setting> quantiles) const {
  TableQuestion question{{}, question_.listed};
  auto& settings = question.settings;
  settings.emplace_back("name", options.name.empty() ? words_of(what, column, question_) : options.name);
  settings.emplace_back("ask", what);
  if (!column.empty()) settings.emplace_back("of", column);
  settings.insert(settings.end(), question_.settings.begin(), question_.settings.end());
  if (quantiles) settings.emplace_back("quantiles", std::move(*quantiles));
  if (options.step) settings.emplace_back("step", *options.step);
  if (options.error) settings.emplace_back("error", *options.error);
  if (options.share) settings.emplace_back("share", *options.share);
  return question;
}

TableQuestion QuestionBuilder::count(const QuestionOptions& options) const { return ask("count", "", options); }
TableQuestion QuestionBuilder::count_distinct(const QuestionOptions& options) const { return ask("distinct", "", options); }
TableQuestion QuestionBuilder::sum(const std::string& column, const QuestionOptions& options) const { return ask("sum", column, options); }
TableQuestion QuestionBuilder::mean(const std::string& column, const QuestionOptions& options) const { return ask("mean", column, options); }
TableQuestion QuestionBuilder::variance(const std::string& column, const QuestionOptions& options) const { return ask("variance", column, options); }
TableQuestion QuestionBuilder::deviation(const std::string& column, const QuestionOptions& options) const { return ask("deviation", column, options); }
TableQuestion QuestionBuilder::histogram(const std::string& column, const QuestionOptions& options) const { return ask("histogram", column, options); }
TableQuestion QuestionBuilder::median(const std::string& column, const QuestionOptions& options) const { return ask("median", column, options); }
TableQuestion QuestionBuilder::quantiles(const std::string& column, const std::vector<double>& quantiles, const QuestionOptions& options) const {
  return ask("quantiles", column, options, std::vector<Value>(quantiles.begin(), quantiles.end()));
}

// --- Table ---

struct Table::State {
  DataFile data;
  std::string source;  // its identity, which the ledger's terms name
  std::optional<ArrowTable> rows;
  Limits limits;

  [[nodiscard]] Study study(const std::vector<TableQuestion>& questions, const Spending& spending) const {
    return parse_study(study_text(data.name, questions, spending), data);
  }

  [[nodiscard]] std::unique_ptr<Engine> open(const Study& study) const {
    if (rows) return open_engine(*rows, stored_columns(study), limits);
    return open_engine(data.source, stored_columns(study), limits);
  }
};

Table::Table(Source source, TableDescription description, Limits limits) {
  DataFile data = data_file_of(source, description);
  std::string identity = sotto::identity(source);
  state_ = std::make_shared<const State>(State{std::move(data), std::move(identity), std::nullopt, std::move(limits)});
}

Table::Table(const std::string& path, TableDescription description) : Table(FileSource{.path = path}, std::move(description)) {}

Table Table::from_arrow(void* stream, TableDescription description, Limits limits) {
  ArrowTable rows(stream);
  if (description.name.empty()) throw InvalidValue("rows in memory have no name: set TableDescription::name");
  return Table(std::make_shared<const State>(
      State{data_file_of(FileSource{}, description), identity_of_memory, std::move(rows), std::move(limits)}));
}

Ledger Table::open_or_create_ledger(const std::string& place, const Budget& budget, Relation relation, const LedgerOptions& options) const {
  const DataFile& data = state_->data;
  const bool is_file = place.find("://") == std::string::npos;
  if (is_file && !std::filesystem::exists(place)) {
    return Ledger::create(place, {data.name, data.unit, relation, budget, unit_type(data), state_->source}, options);
  }
  Ledger ledger = Ledger::open(place, options);
  const Terms& terms = ledger.terms();
  if (print(terms.budget) != print(budget) || terms.relation != relation) {
    throw InvalidValue("the ledger at " + without_password(place) + " has the budget " + print(terms.budget) + " under " +
                       std::string(name(terms.relation)) + ", not " + print(budget) + " under " + std::string(name(relation)) +
                       ": pass its own budget, or another place");
  }
  return ledger;
}

CostPreview Table::preview(const Ledger& ledger, const std::vector<TableQuestion>& questions, const Spending& spending) const {
  const Study study = state_->study(questions, spending);
  require_fit(study, ledger.terms(), state_->source);
  const Design design = design_for(study, ledger);
  const Outlook now = outlook(study, design, ledger, false);
  return {design.plan, design.total->value.upper, design.total_delta->value(), now.admitted || now.charged || now.answered, now.answered, now.refusal};
}

ReleasedNumbers Table::answer(Ledger& ledger, const std::vector<TableQuestion>& questions, const Spending& spending) const {
  const Study study = state_->study(questions, spending);
  require_fit(study, ledger.terms(), state_->source);
  const Run run = sotto::run(study, design_for(study, ledger), ledger, [&] { return state_->open(study); }, {});

  ReleasedNumbers released{{}, run.release.request, run.repeated, run.release.epsilon, run.release.delta, to_json(run.release)};
  for (const QueryAnswer& answer : run.release.answers) {
    for (const Estimate& e : answer.estimates) {
      released.numbers.push_back({answer.name, e.keys, e.from, e.to, e.quantile, e.value, e.low, e.high, answer.limit ? answer.limit->words : ""});
    }
  }
  return released;
}

}  // namespace sotto
