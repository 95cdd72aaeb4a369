// Runs questions about a table as the study that they print.
#include "sotto/study/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <set>

#include "core/api/suggestion.hpp"
#include "core/api/text.hpp"
#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/arrow.hpp"
#include "study/api/data_file.hpp"
#include "study/api/limit.hpp"
#include "study/api/outlook.hpp"
#include "study/api/run.hpp"
#include "study/api/study.hpp"
#include "study/api/study_text.hpp"
#include "study/files/value_text.hpp"
#include "study/run/question_settings.hpp"

namespace sotto {
namespace {

using study_detail::grouped_by;
using study_detail::setting_of;

using Setting = TableQuestion::Setting;

// --- errors in the words of C++ ---

std::string in_quotes(const std::string& text) { return "\"" + escaped_for_terminal(text) + "\""; }

// Names for parts of a study and of a data file, which the caller never wrote, and what they are in
// C++.
constexpr std::array<std::pair<const char*, const char*>, 4> other_words{
    {{" below [budget]", " in Spending"},
     {"the data file's", "the description's"},
     {"name the keys by values = […]", "list the values"},
     {"add it to values = […]", "add it to the listed values"}}};

// Returns the message without the line of a text that the caller never wrote, and without the names
// of that text's sections. `questions` are those of the text, or empty.
std::string words_of(const StudyError& error, const std::vector<TableQuestion>& questions) {
  std::string words = error.what();
  const std::string line = "line " + std::to_string(error.line()) + ": ";
  if (error.line() > 0 && words.starts_with(line)) words.erase(0, line.size());
  for (const auto& [from, to] : other_words) {
    if (const auto at = words.find(from); at != std::string::npos)
      words.replace(at, std::string(from).size(), to);
  }
  if (const auto at = words.find(" below [columns."); at != std::string::npos)
    words.resize(at);  // the last words of each message
  if (words.starts_with("columns.")) words.replace(0, 8, "column ");

  const std::string query = "query ";
  if (!words.starts_with(query)) return words;
  std::string rest = words.substr(query.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::string number = std::to_string(i + 1) + ": ";
    if (!rest.starts_with(number)) continue;
    for (const auto& [key, setting] : questions[i].settings) {
      const auto* name = std::get_if<std::string>(&setting);
      if (key == "name" && name != nullptr)
        return "question " + in_quotes(*name) + ": " + rest.substr(number.size());
    }
  }
  return "question " + rest;
}

// Runs the work with the errors of studies as InvalidValue, which callers can catch by its type.
template <class Work>
auto without_study_errors(const std::vector<TableQuestion>& questions, const Work& work) {
  try {
    return work();
  } catch (const LimitNotChosen& error) {
    const std::string words = words_of(error, {});
    std::string calls = error.rows() ? "limit_rows(…), how many rows of each count" +
                                           std::string(error.groups() ? " in each group" : "")
                                     : "";
    if (error.groups())
      calls += std::string(calls.empty() ? "" : ", and ") +
               "limit_groups(…), in how many groups each counts";
    throw InvalidValue(words.substr(0, words.find(". Choose it")) +
                       ". Choose it from public knowledge: call " + calls);
  } catch (const StudyError& error) {
    throw InvalidValue(words_of(error, questions), error.remedy());
  }
}

// --- descriptions ---

std::string default_name(const Source& source) {
  if (const auto* file = std::get_if<FileSource>(&source)) return file->path.stem().string();
  if (const auto* postgres = std::get_if<PostgresSource>(&source))
    return postgres->table.substr(postgres->table.find('.') + 1);
  if (const auto* spark = std::get_if<SparkSource>(&source))
    return spark->table.substr(spark->table.rfind('.') + 1);
  return {};
}

// Returns the source with an absolute path: the process may change its folder before a run.
Source resolved(Source source) {
  if (std::holds_alternative<IdxSource>(source))
    throw InvalidValue("images are no table: train on them, or store their labels in a file");
  if (auto* postgres = std::get_if<PostgresSource>(&source);
      postgres != nullptr && postgres->table.empty()) {
    throw InvalidValue("PostgresSource::table is empty: name the table, such as \"people\"");
  }
  auto* file = std::get_if<FileSource>(&source);
  if (file == nullptr) return source;
  if (file->path.empty())
    throw InvalidValue("FileSource::path is empty: name a file, such as \"people.csv\"");
  if (file->path.string().find("://") != std::string::npos) {
    throw InvalidValue(in_quotes(without_password(file->path.string())) +
                       " is an address and not a file: pass a PostgresSource or a SparkSource");
  }
  if (!file->records.empty() && file->records != "lines" && file->records != "quoted") {
    throw InvalidValue("FileSource::records is " + in_quotes(file->records) +
                       ": write \"lines\" or \"quoted\", or leave it empty");
  }
  file->path = std::filesystem::absolute(file->path);
  return source;
}

// A file without a header has exactly the columns that the source names.
void require_named(const FileSource& file, const TableDescription& description) {
  const std::set<std::string> names(file.names.begin(), file.names.end());
  if (names.empty()) return;
  if (names.size() != file.names.size() || names.contains("")) {
    throw InvalidValue(
        "FileSource::names has an empty name or one name twice: name each column once");
  }
  for (const TableColumn& column : description.columns) {
    if (!names.contains(column.name)) {
      throw InvalidValue("FileSource::names has no column " + in_quotes(column.name) + "; " +
                         suggestion(column.name, file.names));
    }
  }
}

void require_bounds(const TableColumn& column) {
  const std::string where = "column " + in_quotes(column.name) + ": ";
  if (column.lower.has_value() != column.upper.has_value())
    throw InvalidValue(where + "it has one bound: give lower and upper, or neither");
  if (!column.lower) return;
  if (!std::isfinite(*column.lower) || !std::isfinite(*column.upper))
    throw InvalidValue(where + "a bound is infinite or NaN: give finite bounds");
  if (!(*column.lower < *column.upper))
    throw InvalidValue(where + "its lower bound is not below its upper bound");
}

// Checks what a data file cannot say wrongly; parse_data_file checks the rest.
void require_complete(const TableDescription& description) {
  if (description.unit.empty()) {
    throw InvalidValue(
        "TableDescription::unit is empty: name the column that says whom a row is about, such as "
        "\"person\", or write \"row\" if "
        "nobody has more than one row");
  }
  if (description.version.empty())
    throw InvalidValue("TableDescription::version is empty: write one, such as \"2026-01\"");
  if (description.columns.empty())
    throw InvalidValue(
        "TableDescription::columns is empty: describe the columns that questions read");
  std::set<std::string> names;
  for (const TableColumn& column : description.columns) {
    if (column.name.empty())
      throw InvalidValue(
          "TableDescription::columns has a column without a name: name it as it is stored");
    if (!names.insert(column.name).second)
      throw InvalidValue("column " + in_quotes(column.name) +
                         " is described twice: describe it once");
    require_bounds(column);
  }
}

// Returns the description as the data file that it is equal to, after that file's own checks, so
// that requests agree with those of a catalogue.
DataFile data_file_of(const Source& source, const TableDescription& description) {
  require_complete(description);
  const std::string name = description.name.empty() ? default_name(source) : description.name;
  if (!is_data_name(name)) {
    throw InvalidValue("the data cannot be named " + in_quotes(name) +
                       ": set TableDescription::name, of letters, digits, _, - and .");
  }
  if (const auto* file = std::get_if<FileSource>(&source)) require_named(*file, description);
  DataFile data = without_study_errors(
      {}, [&] { return parse_data_file(description_text(name, description), "/"); });
  data.source = source;
  data.ledger.clear();
  return data;
}

// Throws InvalidValue unless the ledger is for these data; `terms` are what it would be created
// with.
void require_own_ledger(const Terms& ledger, const Terms& terms, const std::string& place) {
  const auto require_equal = [&place](const std::string& what, const std::string& of_ledger,
                                      const std::string& of_table) {
    if (of_ledger == of_table) return;
    throw InvalidValue("the ledger" + (place.empty() ? "" : " at " + without_password(place)) +
                           " is for other data: its " + what + " is " + in_quotes(of_ledger) +
                           ", and the table's is " + in_quotes(of_table) +
                           ". Pass the ledger of this table, or create one at another place",
                       Remedy::data_ledger);
  };
  require_equal("name", ledger.name, terms.name);
  require_equal("unit", ledger.unit, terms.unit);
  require_equal("unit's type", ledger.unit_type, terms.unit_type);
  require_equal("source", ledger.source, terms.source);
}

// --- questions ---

// Checks what the study would refuse in words of its own file.
void require_described(const TableQuestion& question, const DataFile& data) {
  const auto* question_name = setting_of<std::string>(question, "name");
  const std::string where =
      question_name == nullptr ? "" : "question " + in_quotes(*question_name) + ": ";
  std::vector<std::string> names;
  for (const StudyColumn& column : data.columns) names.push_back(column.name);
  const auto column_named = [&](const std::string& name) -> const StudyColumn& {
    const auto column = std::find_if(data.columns.begin(), data.columns.end(),
                                     [&](const StudyColumn& c) { return c.name == name; });
    if (column == data.columns.end())
      throw InvalidValue(where + "the description has no column " + in_quotes(name) + "; " +
                         suggestion(name, names));
    return *column;
  };

  if (const auto* of = setting_of<std::string>(question, "of"); of != nullptr) {
    const StudyColumn& column = column_named(*of);
    const bool is_number = column.type == Type::integer || column.type == Type::real;
    if (is_number && !column.lower) {
      throw InvalidValue(where + "column " + in_quotes(*of) +
                         " has no bounds: describe it as bounded_column(" + in_quotes(*of) +
                         ", LOWER, UPPER), with bounds from public knowledge");
    }
  }
  const auto is_listed = [&question](const std::string& name) {
    return std::any_of(question.listed.begin(), question.listed.end(),
                       [&](const auto& column) { return column.first == name; });
  };
  for (const auto& [name, values] : question.listed) {
    const std::vector<Value>& described = column_named(name).values;
    for (const Value& value : values) {
      if (described.empty() ||
          std::find(described.begin(), described.end(), value) != described.end())
        continue;
      throw InvalidValue(where + in_quotes(study_detail::text_of(value)) +
                         " is not among the values that the description lists for column " +
                         in_quotes(name) +
                         ": group by listed values, or describe the column with this one");
    }
  }
  const std::vector<Value> columns = grouped_by(question);
  const auto* keys = setting_of<std::string>(question, "keys");
  if (keys != nullptr && columns.empty())
    throw InvalidValue(where + "private_keys() needs a column to group by: call group_by(…) too");
  for (const Value& name : columns) {
    const auto* text = std::get_if<std::string>(&name);
    if (text == nullptr) continue;
    const StudyColumn& column = column_named(*text);
    if (std::count(columns.begin(), columns.end(), name) > 1) {
      throw InvalidValue(where + "it is grouped by column " + in_quotes(*text) +
                         " twice: group by it once");
    }
    if (keys == nullptr && column.type != Type::real && column.values.empty() &&
        !is_listed(*text)) {
      throw InvalidValue(where + "the values of column " + in_quotes(*text) +
                         " are not listed: if they are public, list them in listed_column(" +
                         in_quotes(*text) + ", {…}) or in group_by(…); else call private_keys()");
    }
  }
}

void require_spending(const std::vector<TableQuestion>& questions, const Spending& spending) {
  if (spending.epsilon && spending.rho)
    throw InvalidValue("Spending has epsilon and rho: set one of them");
  const auto has_error = [](const TableQuestion& question) {
    return setting_of<double>(question, "error") != nullptr;
  };
  const bool each_has_error = std::all_of(questions.begin(), questions.end(), has_error);
  if (!spending.epsilon && !spending.rho && !each_has_error) {
    throw InvalidValue(
        "Spending has neither epsilon nor rho: set one of them, or QuestionOptions::error of each "
        "question");
  }
}

}  // namespace

TableColumn bounded_column(const std::string& name, double lower, double upper, Type type) {
  return {.name = name, .type = type, .lower = lower, .upper = upper};
}
TableColumn listed_column(const std::string& name, std::vector<Value> values, Type type) {
  return {.name = name, .type = type, .values = std::move(values)};
}

// --- Table ---

struct Table::State {
  DataFile data;
  std::string source;  // its identity, which the ledger's terms name
  std::optional<ArrowTable> rows;
  Limits limits;
  // Held by each run. A second run of a request that is still running would find it begun and
  // without an answer, and throw RequestClosed; after its turn it finds the answer.
  std::unique_ptr<std::mutex> turn = std::make_unique<std::mutex>();

  [[nodiscard]] Terms terms(const Budget& budget, Relation relation) const {
    return {data.name, data.unit, relation, budget, unit_type(data), source};
  }

  // Returns the questions as a study, after all checks that need no ledger.
  [[nodiscard]] Study study(const std::vector<TableQuestion>& questions,
                            const Spending& spending) const {
    const std::string text = study_text(data.name, questions, study_settings(spending));
    for (const TableQuestion& question : questions) require_described(question, data);
    require_spending(questions, spending);
    Study study = parse_study(text, data);
    require_limits(study);
    return study;
  }

  // Returns what answers questions for this ledger. Throws InvalidValue for the ledger of other
  // data.
  [[nodiscard]] RunOptions options(const Ledger& ledger, const Spending& spending) const {
    require_own_ledger(ledger.terms(), terms(ledger.terms().budget, ledger.terms().relation), "");
    RunOptions options{.again = spending.again};
    if (rows)
      options.source = source;  // else the path is resolved anew: a link may lead elsewhere by now
    return options;
  }

  [[nodiscard]] std::unique_ptr<Engine> open(const Study& study) const {
    if (rows) return open_engine(*rows, stored_columns(study), limits);
    return open_engine(data.source, stored_columns(study), limits);
  }
};

Table::Table(Source source, TableDescription description, Limits limits) {
  source = resolved(std::move(source));
  DataFile data = data_file_of(source, description);
  std::string identity = sotto::identity(source);
  state_ = std::make_shared<const State>(
      State{std::move(data), std::move(identity), std::nullopt, std::move(limits)});
}

Table::Table(const std::string& path, TableDescription description, Limits limits)
    : Table(FileSource{.path = path}, std::move(description), std::move(limits)) {}

Table Table::from_arrow(void* stream, TableDescription description, Limits limits) {
  ArrowTable rows(stream);
  if (description.name.empty())
    throw InvalidValue("rows in memory have no name: set TableDescription::name");
  return Table(
      std::make_shared<const State>(State{data_file_of(FileSource{}, description),
                                          identity_of_memory, std::move(rows), std::move(limits)}));
}

Ledger Table::open_or_create_ledger(const std::string& place, const Budget& budget,
                                    Relation relation, const LedgerOptions& options) const {
  const Terms wanted = state_->terms(budget, relation);
  const auto open = [&]() -> std::optional<Ledger> {
    try {
      return Ledger::open(place, options);
    } catch (const LedgerError& error) {
      const bool is_absent = includes(error.remedy(), Remedy::create_ledger);
      if (!is_absent || options.read_only) throw;
      return std::nullopt;
    }
  };
  std::optional<Ledger> ledger = open();
  if (!ledger) return Ledger::create(place, wanted, options);

  const Terms& terms = ledger->terms();
  require_own_ledger(terms, wanted, place);
  if (print(terms.budget) != print(budget) || terms.relation != relation) {
    throw InvalidValue("the ledger at " + without_password(place) + " has the budget " +
                       print(terms.budget) + " under " + std::string(name(terms.relation)) +
                       ", which cannot change, and not " + print(budget) + " under " +
                       std::string(name(relation)) + ": pass its budget and relation");
  }
  return std::move(*ledger);
}

CostPreview Table::preview(const Ledger& ledger, const std::vector<TableQuestion>& questions,
                           const Spending& spending) const {
  return without_study_errors(questions, [&]() -> CostPreview {
    const Study study = state_->study(questions, spending);
    const Design design = design_for(study, ledger, state_->options(ledger, spending));
    const ChargePreview now = preview_charge(study, design, ledger, spending.again);
    return {.plan = design.plan,
            .charge = now.charged ? Charge{} : design.cost,
            .epsilon = design.total->value.upper,
            .delta = design.total_delta->value(),
            .admitted = now.admitted,
            .repeated = now.answered,
            .refusal = now.refusal,
            .warnings = design.warnings};
  });
}

ReleasedNumbers Table::answer(Ledger& ledger, const std::vector<TableQuestion>& questions,
                              const Spending& spending) const {
  const RunResult run = without_study_errors(questions, [&] {
    const Study study = state_->study(questions, spending);
    const std::lock_guard lock(*state_->turn);
    const RunOptions options = state_->options(ledger, spending);
    return sotto::run(
        study, design_for(study, ledger, options), ledger, [&] { return state_->open(study); },
        options);
  });

  ReleasedNumbers released{.numbers = {},
                           .request = run.release.request,
                           .repeated = run.repeated,
                           .charge = run.release.cost,
                           .epsilon = run.release.epsilon,
                           .delta = run.release.delta,
                           .json = to_json(run.release)};
  for (const QueryAnswer& answer : run.release.answers) {
    for (const Estimate& e : answer.estimates) {
      released.numbers.push_back({answer.name, e.keys, e.from, e.to, e.quantile, e.value, e.low,
                                  e.high, answer.limit ? answer.limit->words : ""});
    }
  }
  return released;
}

}  // namespace sotto
