// sotto data: the curator's description of a table, and its ledger.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>

#include "cli/budget.hpp"
#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "cli/file_form.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/join.hpp"
#include "core/api/suggestion.hpp"
#include "core/api/text.hpp"
#include "data/api/inspect.hpp"
#include "data/api/survey.hpp"
#include "sotto/ledger/ledger.hpp"
#include "report/api/inspection.hpp"
#include "study/api/draft.hpp"
#include "cli/survey_words.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string file, postgresql, spark, table, path, token, authority, name, unit, label, catalogue, ledger, relation = "add-remove", version, records,
                                                                                                            delimiter, format, witness, duckdb;
  std::string epsilon, delta, rho, slack, data;
  std::vector<std::string> null_text;
  std::string names, publisher;
  bool second = false, sum = false, any_duckdb = false, header = false, trim = false, no_trim = false;
};

// What was not typed is asked for on a terminal, and is an error elsewhere.
std::string ask(const std::string& question, const std::string& otherwise) {
  if (isatty(STDIN_FILENO) == 0) throw InvalidValue(otherwise);
  std::cerr << escaped_lines(question) << std::flush;
  std::string line;
  if (!std::getline(std::cin, line)) throw InvalidValue(otherwise);
  return line;
}

// Requires that the argument names something that can be read as data.
void require_source(const Options& o) {
  if (o.file.empty() && o.postgresql.empty() && o.spark.empty()) {
    throw InvalidValue("which data? Type a FILE, --postgresql CONNECTION --table TABLE, or --spark CONNECTION with --table TABLE or --path PATH");
  }
  if (fs::is_directory(o.file)) {
    throw InvalidValue(o.file + " is a folder: type the path of a file in it, sotto data init " + (fs::path(o.file) / "FILE").string());
  }
  if (o.format.empty() && o.file.ends_with(".toml")) {
    throw InvalidValue(o.file + " is no table: a study is run by sotto run " + o.file + ", and a data file is written by sotto data init FILE");
  }
}

std::string name_from(const Options& o) {
  if (!o.name.empty()) {
    if (is_data_name(o.name)) return o.name;
    std::string near = o.name;
    for (char& c : near) {
      if (!is_data_name(std::string("a") + c)) c = '_';
    }
    throw InvalidValue("--name " + o.name + " is no name of data, which has letters, digits, _, - and .: type --name " +
                       (is_data_name(near) ? near : "NAME"));
  }
  std::string name = o.table;
  if (name.empty()) {
    std::string place = o.path.empty() ? o.file : o.path;
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();
    name = fs::path(place).filename().string();
    name = name.substr(0, name.find('.', 1));
  }
  for (char& c : name) {
    if (!is_data_name(std::string("a") + c)) c = '_';
  }
  if (!is_data_name(name)) throw InvalidValue("what are these data called? Type --name NAME");
  return name;
}

std::vector<std::string> typed_names(const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  std::istringstream words(text + ",");
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t start = word.find_first_not_of(' ');
    names.push_back(start == std::string::npos ? "" : word.substr(start, word.find_last_not_of(' ') - start + 1));
    if (names.back().empty()) throw InvalidValue("--names has an empty name: type --names age,sex,income, one name for each column");
    if (std::count(names.begin(), names.end(), names.back()) > 1) throw InvalidValue("--names has \"" + names.back() + "\" twice");
  }
  return names;
}

Source source_of(const Options& o) {
  if (o.trim && o.no_trim) throw InvalidValue("--trim or --no-trim, not both");
  if (o.header && !o.names.empty()) throw InvalidValue("--header or --names, not both: with --names the file has no header");
  if (static_cast<int>(!o.file.empty()) + static_cast<int>(!o.postgresql.empty()) + static_cast<int>(!o.spark.empty()) != 1) {
    throw InvalidValue("which data? Type a FILE, --postgresql CONNECTION --table TABLE, or --spark CONNECTION with --table TABLE or --path PATH");
  }
  if (!o.spark.empty()) {
    if (o.table.empty() == o.path.empty()) throw InvalidValue("which of Spark's data? Type --table TABLE, or --path PATH");
    SparkSource source{.connection = o.spark, .table = o.table, .path = o.path, .format = o.path.empty() ? "" : o.format};
    if (!o.token.empty()) source.token = fs::absolute(o.token).lexically_normal();
    if (!o.authority.empty()) source.authority = fs::absolute(o.authority).lexically_normal();
    source.trim = o.trim;
    (void)identity(source);  // its conditions
    return source;
  }
  if (!o.postgresql.empty()) {
    if (o.table.empty()) throw InvalidValue("which table? Type --table TABLE");
    return PostgresSource{o.postgresql, o.table, o.trim};
  }
  FileSource source;
  source.path = fs::absolute(o.file).lexically_normal();
  source.format = o.format;
  source.null_text = o.null_text;
  source.delimiter = o.delimiter;
  if (!fs::exists(source.path)) throw InvalidValue("there is no file " + o.file);
  require_readable_form(o.file, o.format, o.delimiter);
  source.names = typed_names(o.names);
  source.trim = o.trim;
  source.records = o.records.empty() ? infer_records(source) : o.records;
  return source;
}

Reading reading_of(const Options& o) {
  return {.file = o.file, .has_names = !o.names.empty(), .header = o.header, .trim = o.trim, .no_trim = o.no_trim};
}

// Requires a header from which columns can be read.
void require_header(const Options& o, const std::vector<Column>& columns) {
  if (!columns.empty()) return;
  throw InvalidValue("the data have no columns of a type that sotto knows: boolean, whole and real numbers, texts, dates and times" +
                     std::string(o.file.empty() ? "" : "; is the first line of " + o.file + " a header that names its columns?"));
}

bool is_number(const std::string& text) {
  std::size_t end = 0;
  return leading_number(text, end) && text.find_first_not_of(' ', end) == std::string::npos;
}

std::string unit_of(const Options& o, const std::vector<Column>& columns) {
  const std::string otherwise =
      "whom to protect? Type --unit COLUMN, where one person or thing has several rows, or --unit row; there are: " + join(columns, ", ", &Column::name);
  std::string unit = o.unit;
  if (unit.empty()) {
    unit = ask("The columns are: " + join(columns, ", ", &Column::name) + "\nWhich of them says whose a row is? Empty if every row is somebody else's: ", otherwise);
    if (unit.empty()) unit = "row";
  }
  const bool known = unit == "row" || std::any_of(columns.begin(), columns.end(), [&](const Column& c) { return c.name == unit; });
  std::vector<std::string> names{"row"};
  for (const Column& column : columns) names.push_back(column.name);
  const std::string near = closest(unit, names);
  if (!known) {
    throw InvalidValue("there is no column \"" + unit + "\"; " +
                       (near.empty() ? otherwise : "did you mean --unit " + near + "? There are: " + join(columns, ", ", &Column::name)));
  }
  return unit;
}

Budget budget_of(const Options& o) {
  if (!o.rho.empty() && !o.epsilon.empty()) throw InvalidValue("a ledger has one budget: --epsilon E or --rho R, with --delta D");
  const auto delta = [&](const std::string& text) { return text.empty() ? 0 : Delta(number_of(text, "--delta")).value(); };
  if (!o.rho.empty() && (o.sum || !o.slack.empty())) throw InvalidValue("--sum and --slack go with --epsilon");
  if (!o.rho.empty()) return ZcdpBudget{number_of(o.rho, "--rho"), delta(o.delta)};
  if (!o.epsilon.empty()) return promised_budget(number_of(o.epsilon, "--epsilon"), delta(o.delta), o.slack, o.sum);
  const std::string otherwise = "what may be spent in all? Type --epsilon E --delta D, or --rho R; it cannot be changed later";
  const std::string epsilon = ask("What may all studies of these data spend together? It cannot be changed later. epsilon: ", otherwise);
  return promised_budget(number_of(epsilon, "epsilon"), delta(ask("delta, well below 1 over the number of rows; 0 for none: ", otherwise)), o.slack,
                         o.sum);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

// A file of this user's alone, never over another one.
void write_new(const fs::path& path, const std::string& text) {
  const mode_t before = umask(077);
  std::FILE* file = std::fopen(path.c_str(), "wx");
  umask(before);
  if (file == nullptr) throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno));
  const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !good) {
    fs::remove(path);
    throw std::runtime_error("cannot write " + path.string());
  }
}

Limits limits_of(const Options& o) {
  Limits limits;
  limits.duckdb = o.duckdb;
  limits.any_duckdb = o.any_duckdb;
  return limits;
}

Relation relation_of(const Options& o) {
  const auto relation = relation_named(o.relation);
  if (!relation || *relation == Relation::as_stated) throw InvalidValue(unknown_relation(o.relation));
  return *relation;
}

// Two ledgers for one source promise less than each of them says.
void require_first_ledger(const Catalogue& catalogue, const DataFile& data, const Options& o) {
  if (o.second) return;
  for (const std::string& other : catalogue.of_source(identity(data.source))) {
    if (other == data.name) continue;
    throw InvalidValue("the catalogue has these data already, as \"" + other +
                       "\": two ledgers for one source promise less than each of them says. If that is meant, type --second-ledger");
  }
}

Ledger make_ledger(const DataFile& data, Relation relation, const Budget& budget) {
  return Ledger::create(data.ledger, {data.name, data.unit, relation, budget, unit_type(data), identity(data.source)},
                        {.key = data.key.string(), .witness = data.witness});
}

void run_ledger(const Typed& typed, const Options& o) {
  const Catalogue catalogue = catalogue_of(o.catalogue);
  const DataFile data = catalogue.find(o.data);
  if (data.is_public) throw InvalidValue("\"" + data.name + "\" are public data, which need no ledger");
  require_first_ledger(catalogue, data, o);
  if (fs::exists(data.ledger)) {
    throw InvalidValue("\"" + data.name + "\" have their ledger, " + data.ledger + ", whose budget is fixed\ntype: sotto ledger show " + data.name);
  }
  const Ledger ledger = make_ledger(data, relation_of(o), budget_of(o));
  std::cout << without_password(data.ledger) << "\n";
  if (typed.quiet) return;
  say("made " + without_password(data.ledger) + " with the budget " + print(ledger.terms().budget));
  warn_of_delta(promised_delta(ledger.terms().budget).value(), typed.quiet, data.public_rows, data.unit);
  say_what_it_counts(ledger.terms().budget, o.delta.empty() ? 0 : number_of(o.delta, "--delta"));
}

void run_init(const Typed& typed, const Options& o) {
  const Catalogue catalogue = catalogue_of(o.catalogue);
  DataFile data;
  require_source(o);
  data.name = name_from(o);
  const fs::path place = catalogue.place(data.name);
  if (fs::exists(place)) throw InvalidValue("there is a data file already, " + place.string() + ": edit it, or type --name for another");
  data.version = o.version.empty() ? today() : o.version;
  data.source = source_of(o);
  const Relation relation = relation_of(o);
  require_first_ledger(catalogue, data, o);
  const Survey found = survey(data.source, limits_of(o));
  const std::vector<Column>& columns = found.columns;
  if (doubts_of(reading_of(o), found).empty()) require_header(o, columns);
  require_decisions(reading_of(o), found);
  const auto odd = std::find_if(columns.begin(), columns.end(), [](const Column& c) { return is_number(c.name); });
  if (odd != columns.end() && !typed.quiet) say("note: a column is called \"" + odd->name + "\", which looks like a value");
  if (!typed.quiet) say_what_is_absent(reading_of(o), found);
  if (found.malformed > 0 && !typed.quiet) {
    say("note: " + std::to_string(found.malformed) + " of " + std::to_string(found.malformed + found.records) +
        " records cannot be read, and every study leaves them out");
  }
  data.unit = unit_of(o, columns);
  data.unit_label = o.label.empty() ? data.unit : o.label;
  data.publisher = o.publisher;
  for (const Column& column : columns) {
    StudyColumn stored;
    stored.name = column.name;
    // whom to protect must be compared exactly
    stored.type = column.name == data.unit && column.type == Type::real ? Type::text : column.type;
    data.columns.push_back(stored);
  }
  const Budget budget = budget_of(o);

  fs::create_directories(catalogue.folder());
  (void)chmod(catalogue.folder().c_str(), 0700);
  const bool in_database = o.ledger.find("://") != std::string::npos;
  data.ledger = o.ledger.empty() ? data.name + ".sotto" : in_database ? o.ledger : fs::absolute(o.ledger).lexically_normal().string();
  data.witness = o.witness;
  if (!in_database) require_folder_of(o.ledger);
  if (o.ledger.empty() || in_database) data.key = data.name + ".key";
  const DataFile read = parse_data_file(draft_data_file(data), catalogue.folder());  // what was written is what is meant
  write_new(place, draft_data_file(data));
  try {
    const Ledger ledger = make_ledger(read, relation, budget);
    std::cout << place.string() << "\n";
    if (typed.quiet) return;
    say(std::to_string(columns.size()) + (columns.size() == 1 ? " column" : " columns") + " (" + first_names(columns) + "), protecting each " +
        data.unit_label + "; the ledger is " + without_password(read.ledger) + " with the budget " + print(ledger.terms().budget));
    warn_of_delta(promised_delta(ledger.terms().budget).value(), typed.quiet, data.public_rows, data.unit);
    say_what_it_counts(ledger.terms().budget, o.delta.empty() ? 0 : number_of(o.delta, "--delta"));
    say("next, look at types, and write bounds and values where they are public: " + place.string());
    say("then: sotto data check " + data.name + "; sotto study init " + data.name);
  } catch (...) {
    fs::remove(place);
    throw;
  }
}

void run_check(const Typed& typed, const Options& o) {
  const DataFile data = catalogue_of(o.catalogue).find(o.data);
  std::vector<ExpectedColumn> columns;
  for (const StudyColumn& c : data.columns)
    columns.push_back({{c.name, c.type}, c.lower, c.upper, c.type == Type::boolean ? std::vector<Value>{} : c.values});
  const Inspection found = inspect(data.source, columns, data.unit == "row" ? "" : data.unit, limits_of(o));
  std::cout << inspection_text(data, found, format_of(typed));
  if (!typed.quiet) say("these are the data themselves, without noise: for the curator's eyes alone");
}

void run_list(const Typed& typed, const Options& o) {
  const Catalogue catalogue = catalogue_of(o.catalogue);
  for (const std::string& name : catalogue.names()) std::cout << name << "\n";
  if (typed.quiet || !catalogue.names().empty()) return;
  const bool exists = fs::is_directory(catalogue.folder());
  say("the catalogue " + catalogue.folder().string() + (exists ? " is empty" : " does not exist") + "; to add data, type: sotto data init FILE" +
      (o.catalogue.empty() ? "" : " --catalogue " + o.catalogue));
}

}  // namespace

void add_data(Command& app, Typed& typed) {
  static Options o;
  Command* data =
      app.add_subcommand("data",
                         "Examples:\n"
                         "  sotto data init visits.csv --unit person --epsilon 2 --delta 1e-9\n"
                         "  sotto data init --postgresql service=shop --table sales.purchases --name shop\n"
                         "  sotto data ledger visits --epsilon 2 --delta 1e-9\n"
                         "  sotto data check visits\n"
                         "  sotto data list\n"
                         "\n"
                         "For the curator of the data: describes a table for studies, creates its ledger, and checks the data before anything is\n"
                         "charged.");
  data->require_subcommand(1);
  const auto sub = [&](const char* name, const char* words) {
    Command* command = data->add_subcommand(name, words);
    command->add_option("--catalogue", o.catalogue, catalogue_words);
    command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
    return command;
  };
  const auto add_budget = [&](Command* command) {
    command->add_option("--relation", o.relation, "add-remove, replace-one or zero-out")->capture_default_str();
    command->add_option("--epsilon", o.epsilon, "the epsilon of the budget, for all studies together");
    command->add_option("--delta", o.delta, "the budget's delta (default 0)");
    command->add_option("--slack", o.slack, "the part of --delta set aside for the slack of single studies (default: a tenth)");
    command->add_flag("--sum", o.sum, "epsilon and delta of the studies add up: for few studies, or pure ones");
    command->add_option("--rho", o.rho, "instead of --epsilon: a zCDP budget");
    command->add_flag("--second-ledger", o.second, "creates a second ledger for a source that the catalogue already has");
  };
  Command* init =
      sub("init",
          "Writes NAME.data.toml into the catalogue, from the names and types of a table's columns, and makes its ledger. Bounds and values\n"
          "are not taken from the data: write them where they are public. Unit and budget are asked for, unless typed.");
  init->add_option("FILE", o.file, "CSV, TSV, JSON or Parquet");
  init->add_option("--postgresql", o.postgresql, "instead of FILE: a connection as libpq reads it, such as service=shop");
  init->add_option("--spark", o.spark, "instead of FILE: where Spark Connect listens, such as sc://localhost:15002");
  init->add_option("--table", o.table, "with --postgresql or --spark: the table, such as sales.purchases");
  init->add_option("--path", o.path, "with --spark: a file or folder that it reads, such as s3a://bucket/people");
  init->add_option("--token", o.token, "with --spark: a file with an access token, which only you can read");
  init->add_option("--authority", o.authority, "with --spark: a file of certificates that vouch for the server (default: the system's)");
  init->add_option("--name", o.name, "of the data (default: the file's)");
  init->add_option("--unit", o.unit, "the unit of privacy, whom to protect: the column that identifies it, or row");
  init->add_option("--unit-label", o.label, "what reports call one unit, such as patient");
  add_budget(init);
  init->add_option("--ledger", o.ledger, "where the ledger is made: a file, or postgresql://… (default: NAME.sotto in the catalogue)");
  init->add_option("--witness", o.witness, "keeps a copy of each ledger head outside of the ledger: in a file, or by |COMMAND");
  init->add_option("--data-version", o.version, "of the data (default: today)");
  init->add_option("--format", o.format,
                   "of the file: csv, tsv, json, json-array or parquet (default: by its name); of Spark's --path: its own (default: parquet)");
  init->add_option("--records", o.records, "of a CSV file: lines or quoted (default: what the file needs)");
  init->add_option("--delimiter", o.delimiter, "of a CSV file: the character between its columns (default: a comma)");
  init->add_flag("--header", o.header, "the first line of a CSV file is a header, whatever it looks like");
  init->add_option("--names", o.names, "a CSV file has no header: the names of all its columns, in their order, such as age,sex,income");
  init->add_flag("--trim", o.trim, "blanks at the ends of texts are left out");
  init->add_flag("--no-trim", o.no_trim, "blanks at the ends of texts are parts of them");
  init->add_option("--publisher", o.publisher, "who publishes reports about the data, as their readers see it");
  init->add_option("--null-text", o.null_text, "a text that stands for a missing value, such as NA; may be repeated")->allow_extra_args(false);
  init->add_option("--duckdb", o.duckdb, "the path of libduckdb.so");
  init->add_flag("--any-duckdb", o.any_duckdb, "load it even if its SHA-256 is not one that sotto knows");
  init->callback([&typed] { run_init(typed, o); });

  Command* check =
      sub("check",
          "Reads the data once and says, for each column, what is unreadable, missing, outside the bounds or not among the values, and how\n"
          "many rows and groups a unit has. It charges nothing and is for the curator's eyes alone.");
  check->add_option("DATA", o.data, "the name of the data, as `sotto data list` shows it")->required();
  check->add_option("--duckdb", o.duckdb, "the path of libduckdb.so");
  check->add_flag("--any-duckdb", o.any_duckdb, "load it even if its SHA-256 is not one that sotto knows");
  check->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  check->callback([&typed] { run_check(typed, o); });

  Command* ledger = sub("ledger", "Makes the ledger that a data file names, where the file was written by hand.");
  ledger->add_option("DATA", o.data, "the name of the data, as `sotto data list` shows it")->required();
  add_budget(ledger);
  ledger->callback([&typed] { run_ledger(typed, o); });

  Command* list = sub("list", "The names of the data in the catalogue.");
  list->callback([&typed] { run_list(typed, o); });
}

}  // namespace sotto::cli
