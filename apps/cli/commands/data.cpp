// sotto data: writes the curator's description of a table, creates its ledger, and checks the data.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>

#include "accounting/api/currencies.hpp"
#include "cli/arguments/budget.hpp"
#include "cli/arguments/plan_arguments.hpp"
#include "cli/catalogue.hpp"
#include "cli/survey_messages.hpp"
#include "core/api/suggestion.hpp"
#include "core/api/text.hpp"
#include "data/api/inspect.hpp"
#include "data/api/survey.hpp"
#include "data_arguments.hpp"
#include "report/api/inspection.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/draft.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;
using namespace data;

struct LedgerArguments : CommonArguments {
  std::string data;
  BudgetArguments budget;
};

struct CheckArguments : CommonArguments {
  std::string data;
  OutputArguments output;
  DuckdbArguments duckdb;
};

// Asks a question on a terminal. Throws InvalidValue with `otherwise` if stdin is not a terminal.
std::string ask(const std::string& question, const std::string& otherwise) {
  if (isatty(STDIN_FILENO) == 0) throw InvalidValue(otherwise);
  std::cerr << escaped_lines(question) << std::flush;
  std::string line;
  if (!std::getline(std::cin, line)) throw InvalidValue(otherwise);
  return line;
}

std::string column_names(const std::vector<Column>& columns) {
  std::string all;
  for (const Column& column : columns) all += (all.empty() ? "" : ", ") + column.name;
  return all;
}

ReadingArguments reading_of(const InitArguments& arguments) {
  return {.file = arguments.file,
          .has_names = !arguments.names.empty(),
          .header = arguments.header,
          .trim = arguments.trim,
          .no_trim = arguments.no_trim};
}

// Requires columns that sotto can read.
void require_columns(const InitArguments& arguments, const std::vector<Column>& columns) {
  if (!columns.empty()) return;
  throw InvalidValue(
      "the data have no column of a type that sotto reads: boolean, whole or real number, text, "
      "date or time" +
      std::string(arguments.file.empty() ? ""
                                         : "; is the first line of " + arguments.file +
                                               " a header that names its columns?"));
}

bool is_number(const std::string& text) {
  std::size_t end = 0;
  return leading_number(text, end) && text.find_first_not_of(' ', end) == std::string::npos;
}

// Returns the unit of privacy: --unit, else the answer on a terminal.
std::string unit_of(const InitArguments& arguments, const std::vector<Column>& columns) {
  const std::string otherwise =
      "who is protected? Type --unit COLUMN if one person or thing has several rows, else --unit "
      "row; the columns are: " +
      column_names(columns);
  std::string unit = arguments.unit;
  if (unit.empty()) {
    unit = ask("The columns are: " + column_names(columns) +
                   "\nWhich of them says whose row it is? Leave it empty if every row belongs to "
                   "someone else: ",
               otherwise);
    if (unit.empty()) unit = "row";
  }
  const bool known = unit == "row" || std::any_of(columns.begin(), columns.end(),
                                                  [&](const Column& c) { return c.name == unit; });
  std::vector<std::string> names{"row"};
  for (const Column& column : columns) names.push_back(column.name);
  const std::string near = closest(unit, names);
  if (!known) {
    throw InvalidValue(
        "there is no column \"" + unit + "\"; " +
        (near.empty() ? otherwise
                      : "did you mean --unit " + near + "? There are: " + column_names(columns)));
  }
  return unit;
}

// Returns the budget as typed, else as answered on a terminal.
Budget budget_of(const BudgetArguments& arguments) {
  if (!arguments.rho.empty() && !arguments.epsilon.empty())
    throw InvalidValue("a ledger has one budget: --epsilon E or --rho R, with --delta D");
  const auto delta = [&](const std::string& text) {
    return text.empty() ? 0 : Delta(number_of(text, "--delta")).value();
  };
  if (!arguments.rho.empty() && (arguments.sum || !arguments.slack.empty()))
    throw InvalidValue("--sum and --slack go with --epsilon");
  if (!arguments.rho.empty())
    return ZcdpBudget{number_of(arguments.rho, "--rho"), delta(arguments.delta)};
  if (!arguments.epsilon.empty())
    return promised_budget(number_of(arguments.epsilon, "--epsilon"), delta(arguments.delta),
                           arguments.slack, arguments.sum);
  const std::string otherwise =
      "what may all studies spend together? Type --epsilon E --delta D, or --rho R; it cannot be "
      "changed later";
  const std::string epsilon = ask(
      "What may all studies of these data spend together? It cannot be changed later. epsilon: ",
      otherwise);
  return promised_budget(
      number_of(epsilon, "epsilon"),
      delta(ask("delta, well below 1 over the number of rows; 0 for none: ", otherwise)),
      arguments.slack, arguments.sum);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

// Writes a file that this user alone can read. Never overwrites another one.
void write_new(const fs::path& path, const std::string& text) {
  const mode_t before = umask(077);
  std::FILE* file = std::fopen(path.c_str(), "wx");
  umask(before);
  if (file == nullptr)
    throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno));
  const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !good) {
    fs::remove(path);
    throw std::runtime_error("cannot write " + path.string());
  }
}

Limits limits_of(const DuckdbArguments& duckdb) {
  Limits limits;
  limits.duckdb = duckdb.path;
  limits.any_duckdb = duckdb.any;
  return limits;
}

Relation relation_of(const BudgetArguments& arguments) {
  const auto relation = relation_named(arguments.relation);
  if (!relation || *relation == Relation::as_stated)
    throw InvalidValue(unknown_relation(arguments.relation));
  return *relation;
}

// Refuses a second ledger for one source unless --second-ledger was typed: together, two ledgers
// promise less than each of them says.
void require_first_ledger(const Catalogue& catalogue, const DataFile& data, bool second_ledger) {
  if (second_ledger) return;
  for (const std::string& other : catalogue.of_source(identity(data.source))) {
    if (other == data.name) continue;
    throw InvalidValue("the catalogue has these data already, as \"" + other +
                       "\": two ledgers for one source promise less than each of them says. If "
                       "that is meant, type --second-ledger");
  }
}

Ledger create_ledger(const DataFile& data, Relation relation, const Budget& budget) {
  return Ledger::create(
      data.ledger, {data.name, data.unit, relation, budget, unit_type(data), identity(data.source)},
      {.key = data.key.string(), .witness = data.witness});
}

// Says what the budget promises, and warns if its delta is too large.
void say_budget(const Ledger& ledger, const DataFile& data, const BudgetArguments& arguments) {
  const Budget& budget = ledger.terms().budget;
  warn_of_delta(promised_delta(budget).value(), false, data.public_rows, data.unit);
  say_promise(budget, arguments.delta.empty() ? 0 : number_of(arguments.delta, "--delta"));
}

void run_ledger(const LedgerArguments& arguments) {
  const Catalogue catalogue = catalogue_of(arguments.catalogue);
  const DataFile data = catalogue.find(arguments.data);
  if (data.is_public)
    throw InvalidValue("\"" + data.name + "\" are public data, which have no ledger and need none");
  require_first_ledger(catalogue, data, arguments.budget.second_ledger);
  if (fs::exists(data.ledger)) {
    throw InvalidValue("\"" + data.name + "\" have a ledger, " + data.ledger +
                       ", whose budget is fixed\ntype: sotto ledger show " + data.name);
  }
  const Ledger ledger =
      create_ledger(data, relation_of(arguments.budget), budget_of(arguments.budget));
  std::cout << without_password(data.ledger) << "\n";
  if (arguments.quiet) return;
  say("created " + without_password(data.ledger) + " with the budget " +
      print(ledger.terms().budget));
  say_budget(ledger, data, arguments.budget);
}

// Notes what the survey of the data found that a curator should look at.
void say_notes(const InitArguments& arguments, const Survey& survey) {
  const auto is_odd = [](const Column& column) { return is_number(column.name); };
  const auto odd = std::find_if(survey.columns.begin(), survey.columns.end(), is_odd);
  if (odd != survey.columns.end())
    say("note: a column is called \"" + odd->name + "\", which looks like a value");
  say_what_is_absent(reading_of(arguments), survey);
  if (survey.malformed > 0) {
    say("note: " + std::to_string(survey.malformed) + " of " +
        std::to_string(survey.malformed + survey.records) +
        " records cannot be read, and every study leaves them out");
  }
}

// Returns the columns of a data file. A real unit is stored as text, because units are compared
// exactly.
std::vector<StudyColumn> stored(const std::vector<Column>& columns, const std::string& unit) {
  std::vector<StudyColumn> all;
  for (const Column& column : columns) {
    StudyColumn one;
    one.name = column.name;
    one.type = column.name == unit && column.type == Type::real ? Type::text : column.type;
    all.push_back(one);
  }
  return all;
}

void run_init(const InitArguments& arguments) {
  // Check the arguments that need no data.
  const Catalogue catalogue = catalogue_of(arguments.catalogue);
  DataFile data;
  require_source(arguments);
  data.name = name_of_data(arguments);
  const fs::path place = catalogue.place(data.name);
  if (fs::exists(place))
    throw InvalidValue("there is a data file already, " + place.string() +
                       ": edit it, or type --name for another");
  data.version = arguments.version.empty() ? today() : arguments.version;
  data.source = source_of(arguments);
  const Relation relation = relation_of(arguments.budget);
  require_first_ledger(catalogue, data, arguments.budget.second_ledger);

  // Scan the data for names and types, and stop until a person has decided what is ambiguous.
  const Survey scanned = survey(data.source, limits_of(arguments.duckdb));
  const std::vector<Column>& columns = scanned.columns;
  if (doubts_of(reading_of(arguments), scanned).empty()) require_columns(arguments, columns);
  require_decisions(reading_of(arguments), scanned);
  if (!arguments.quiet) say_notes(arguments, scanned);

  data.unit = unit_of(arguments, columns);
  data.unit_label = arguments.unit_label.empty() ? data.unit : arguments.unit_label;
  data.publisher = arguments.publisher;
  data.columns = stored(columns, data.unit);
  const Budget budget = budget_of(arguments.budget);

  // Write the data file, and remove it again if its ledger cannot be created.
  fs::create_directories(catalogue.folder());
  (void)chmod(catalogue.folder().c_str(), 0700);
  const bool in_database = arguments.ledger.find("://") != std::string::npos;
  data.ledger = arguments.ledger.empty() ? data.name + ".sotto"
                : in_database            ? arguments.ledger
                              : fs::absolute(arguments.ledger).lexically_normal().string();
  data.witness = arguments.witness;
  if (!in_database) require_folder_of(arguments.ledger);
  if (arguments.ledger.empty() || in_database) data.key = data.name + ".key";
  const DataFile read =
      parse_data_file(draft_data_file(data), catalogue.folder());  // what a study will read
  write_new(place, draft_data_file(data));
  try {
    const Ledger ledger = create_ledger(read, relation, budget);
    std::cout << place.string() << "\n";
    if (arguments.quiet) return;
    say(std::to_string(columns.size()) + (columns.size() == 1 ? " column" : " columns") + " (" +
        first_column_names(columns) + "), protecting each " + data.unit_label + "; the ledger is " +
        without_password(read.ledger) + " with the budget " + print(ledger.terms().budget));
    say_budget(ledger, data, arguments.budget);
    say("next: check the types, and write bounds and values where they are public, in " +
        place.string());
    say("then: sotto data check " + data.name + "; sotto study init " + data.name);
  } catch (...) {
    fs::remove(place);
    throw;
  }
}

void run_check(const CheckArguments& arguments) {
  const DataFile data = catalogue_of(arguments.catalogue).find(arguments.data);
  std::vector<ExpectedColumn> columns;
  for (const StudyColumn& c : data.columns)
    columns.push_back({{c.name, c.type},
                       c.lower,
                       c.upper,
                       c.type == Type::boolean ? std::vector<Value>{} : c.values});
  const Inspection inspection = inspect(data.source, columns, data.unit == "row" ? "" : data.unit,
                                        limits_of(arguments.duckdb));
  std::cout << inspection_text(data, inspection, format_of(arguments.output));
  if (!arguments.quiet)
    say("these numbers are the data themselves, without noise: show them to nobody but the "
        "curator");
}

void run_list(const CommonArguments& arguments) {
  const Catalogue catalogue = catalogue_of(arguments.catalogue);
  for (const std::string& name : catalogue.names()) std::cout << name << "\n";
  if (arguments.quiet || !catalogue.names().empty()) return;
  const bool exists = fs::is_directory(catalogue.folder());
  say("the catalogue " + catalogue.folder().string() + (exists ? " is empty" : " does not exist") +
      "; to add data, type: sotto data init FILE" +
      (arguments.catalogue.empty() ? "" : " --catalogue " + arguments.catalogue));
}

// --- Options ---

Command* add(Command& parent, CommonArguments& arguments, const char* name, const char* summary,
             const char* description) {
  Command* command = parent.add_subcommand(name, summary, description);
  command->add_option("--catalogue", arguments.catalogue, catalogue_words);
  command->add_flag("--quiet", arguments.quiet, "print nothing but errors on stderr");
  return command;
}

void add_budget(Command& command, BudgetArguments& budget) {
  command.add_option("--relation", budget.relation, "add-remove, replace-one or zero-out")
      ->capture_default_str();
  command.add_option("--epsilon", budget.epsilon,
                     "the epsilon of the budget, for all studies together");
  command.add_option("--delta", budget.delta, "the delta of the budget (default 0)");
  command.add_option(
      "--slack", budget.slack,
      "the part of --delta set aside for the slack of single studies (default: a tenth)");
  command.add_flag("--sum", budget.sum,
                   "adds up epsilon and delta of the studies: for few studies, or pure ones");
  command.add_option("--rho", budget.rho, "instead of --epsilon: a zCDP budget");
  command.add_flag("--second-ledger", budget.second_ledger,
                   "creates a second ledger for a source that the catalogue already has");
}

void add_duckdb(Command& command, DuckdbArguments& duckdb) {
  command.add_option("--duckdb", duckdb.path, "the path of libduckdb.so");
  command.add_flag("--any-duckdb", duckdb.any,
                   "loads it even if its SHA-256 is not one that sotto knows");
}

void add_init(Command& parent) {
  const auto arguments = std::make_shared<InitArguments>();
  Command* init = add(parent, *arguments, "init", "Describe a table, and create its ledger",
                      "Writes NAME.data.toml into the catalogue, with the names and types of a "
                      "table's columns, and creates its ledger. Bounds and\n"
                      "values are not taken from the data: write them where they are public. Asks "
                      "for the unit and the budget, unless they are typed.");
  init->add_option("FILE", arguments->file, "CSV, TSV, JSON or Parquet");
  init->add_option("--postgresql", arguments->postgresql,
                   "instead of FILE: a connection as libpq reads it, such as service=shop");
  init->add_option("--spark", arguments->spark,
                   "instead of FILE: the address of Spark Connect, such as sc://localhost:15002");
  init->add_option("--table", arguments->table,
                   "with --postgresql or --spark: the table, such as sales.purchases");
  init->add_option("--path", arguments->path,
                   "with --spark: a file or folder that it reads, such as s3a://bucket/people");
  init->add_option("--token", arguments->token,
                   "with --spark: a file with an access token, which only you can read");
  init->add_option(
      "--authority", arguments->authority,
      "with --spark: a file of certificates that vouch for the server (default: the system's)");
  init->add_option("--name", arguments->name, "the name of the data (default: the file's)");
  init->add_option("--unit", arguments->unit,
                   "the unit of privacy, who is protected: the column that identifies it, or row");
  init->add_option("--unit-label", arguments->unit_label,
                   "what reports call one unit, such as patient");
  add_budget(*init, arguments->budget);
  init->add_option("--ledger", arguments->ledger,
                   "where to create the ledger: a file, or postgresql://… (default: NAME.sotto in "
                   "the catalogue)");
  init->add_option(
      "--witness", arguments->witness,
      "keeps a copy of each ledger head outside of the ledger: in a file, or by |COMMAND");
  init->add_option("--data-version", arguments->version,
                   "the version of the data (default: today)");
  init->add_option("--format", arguments->format,
                   "the format of the file: csv, tsv, json, json-array or parquet (default: by its "
                   "name); with --path: a format of Spark's (default: "
                   "parquet)");
  init->add_option("--records", arguments->records,
                   "how records of a CSV file end: lines or quoted (default: what the file needs)");
  init->add_option("--delimiter", arguments->delimiter,
                   "the character between the columns of a CSV file (default: a comma)");
  init->add_flag("--header", arguments->header,
                 "the first line of a CSV file is a header, whatever it looks like");
  init->add_option("--names", arguments->names,
                   "the names of all columns of a CSV file without a header, in their order, such "
                   "as age,sex,income");
  init->add_flag("--trim", arguments->trim, "removes blanks at the ends of texts");
  init->add_flag("--no-trim", arguments->no_trim, "keeps blanks at the ends of texts");
  init->add_option("--publisher", arguments->publisher,
                   "who publishes reports about the data, as their readers see it");
  init->add_option("--null-text", arguments->null_text,
                   "a text that stands for a missing value, such as NA; may be repeated")
      ->allow_extra_args(false);
  add_duckdb(*init, arguments->duckdb);
  init->callback([arguments] { run_init(*arguments); });
}

void add_check(Command& parent) {
  const auto arguments = std::make_shared<CheckArguments>();
  Command* check = add(parent, *arguments, "check",
                       "Compare the data with their description, for the curator alone",
                       "Reads the data once and says, for each column, how many values are "
                       "unreadable, missing, outside the bounds or not among the\n"
                       "values, and how many rows and groups a unit has. Charges nothing. The "
                       "output is for the curator alone.");
  check->add_option("DATA", arguments->data, "the name of the data, as `sotto data list` shows it")
      ->required();
  add_duckdb(*check, arguments->duckdb);
  add_format(*check, arguments->output);
  check->callback([arguments] { run_check(*arguments); });
}

void add_ledger_command(Command& parent) {
  const auto arguments = std::make_shared<LedgerArguments>();
  Command* ledger =
      add(parent, *arguments, "ledger", "Create the ledger of a data file that was written by hand",
          "Creates the ledger that a data file names, for a data file that was written by hand.");
  ledger->add_option("DATA", arguments->data, "the name of the data, as `sotto data list` shows it")
      ->required();
  add_budget(*ledger, arguments->budget);
  ledger->callback([arguments] { run_ledger(*arguments); });
}

void add_list(Command& parent) {
  const auto arguments = std::make_shared<CommonArguments>();
  Command* list = add(parent, *arguments, "list", "List the data in the catalogue",
                      "Lists the names of the data in the catalogue.");
  list->callback([arguments] { run_list(*arguments); });
}

}  // namespace

void add_data(Command& app) {
  Command* data = app.add_subcommand(
      "data", "Describe a table for studies, create its ledger, and check the data",
      "Examples:\n"
      "  sotto data init visits.csv --unit person --epsilon 2 --delta 1e-9\n"
      "  sotto data init --postgresql service=shop --table sales.purchases --name shop\n"
      "  sotto data ledger visits --epsilon 2 --delta 1e-9\n"
      "  sotto data check visits\n"
      "  sotto data list\n"
      "\n"
      "For the curator of the data: describes a table for studies, creates its ledger, and checks "
      "the data\n"
      "before anything is charged.");
  data->require_subcommand(1);
  add_init(*data);
  add_check(*data);
  add_ledger_command(*data);
  add_list(*data);
}

}  // namespace sotto::cli
