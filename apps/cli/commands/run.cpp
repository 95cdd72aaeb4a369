// sotto run: a study, from its file to its answers.
#include "study/api/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "run.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/text.hpp"
#include "sotto/ledger/key.hpp"
#include "report/api/study.hpp"
#include "study/api/model_file.hpp"
#include "cli/source_memory.hpp"

namespace sotto::cli {
namespace {

std::int64_t bytes_of(const std::string& text) {
  if (text.empty()) return 0;
  std::size_t end = 0;
  const double number = leading_number(text, end).value_or(0);
  const std::string unit = text.substr(end);
  const double factor = unit == "GB" ? 1e9 : unit == "MB" ? 1e6 : 0;
  if (!(number > 0) || factor == 0) throw InvalidValue("--memory is an amount such as 500MB or 4GB");
  return static_cast<std::int64_t>(number * factor);
}

// Before the charge: a report that has no place should cost nothing.
void require_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const std::string place = folder.empty() ? "." : folder.string();
  if (access(place.c_str(), W_OK) != 0) throw std::runtime_error("cannot write " + file + ": there is no folder " + place + " to write to");
}

// Where a training keeps how far it came: beside a ledger's file, or in the user's state folder.
std::filesystem::path checkpoints_of(const DataFile& data) {
  if (data.ledger.rfind("postgresql://", 0) != 0 && data.ledger.rfind("postgres://", 0) != 0) {
    const std::filesystem::path folder = std::filesystem::path(data.ledger).parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
  }
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if ((state == nullptr || *state == 0) && (home == nullptr || *home == 0)) return {};
  const std::filesystem::path folder =
      (state != nullptr && *state != 0 ? std::filesystem::path(state) : std::filesystem::path(home) / ".local/state") / "sotto";
  std::filesystem::create_directories(folder);
  return folder;
}

void write_models(const RunOptions& o, const Release& release, const DataFile& data, bool quiet) {
  const SigningKey key = SigningKey::read(data.key.empty() ? default_key(data.ledger) : data.key.string());
  for (const TrainedModel& model : release.models) {
    const std::string file = (std::filesystem::path(o.models) / (model_file_name(model.name))).string();
    write_file(file, model_file(release, model, key));
    if (!quiet) say("the model is in " + file);
  }
}

// One line that says how far it is and how long it will take, by how fast it went of late: reading and training have speeds of their own.
class Bar {
 public:
  explicit Bar(bool shown) : shown_(shown) {}
  bool operator()(const std::string& what, double share) {
    if (!shown_) return true;
    const auto now = Clock::now();
    if (drawn_ && share < 1 && now - last_ < std::chrono::milliseconds(50)) return true;  // a training has thousands of steps a second
    last_ = now;
    while (!seen_.empty() && now - seen_.front().first > std::chrono::seconds(20)) seen_.pop_front();
    seen_.emplace_back(now, share);
    std::string line = "  " + std::string(static_cast<std::size_t>(share * 20), '#');
    line.resize(22, '.');
    line += " " + std::to_string(static_cast<int>(share * 100)) + " %  " + escaped_for_terminal(what);
    const double seconds = std::chrono::duration<double>(now - seen_.front().first).count();
    const double done = share - seen_.front().second;
    if (done > 0 && seconds > 1) line += ", " + std::to_string(static_cast<std::int64_t>(seconds / done * (1 - share)) + 1) + " s left";
    std::cerr << "\r\033[K" << line << std::flush;
    drawn_ = true;
    return true;
  }
  void clear() {
    if (drawn_) std::cerr << "\r\033[K" << std::flush;
    drawn_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point last_;
  std::deque<std::pair<Clock::time_point, double>> seen_;  // of the last seconds: when, and the share done by then
};

void write_report(const RunOptions& o, const StudyReport& report, bool quiet) {
  try {
    write_file(o.page, study_page(report));
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) + "; the answer is charged and kept: to get it again, free of charge, type sotto run " +
                             o.file + " --request " + report.release.request + " --report FILE");
  }
  if (!quiet) say("the report is in " + o.page);
}

std::string count_of(std::int64_t number, std::int64_t all, const std::string& what) {
  return std::to_string(number) + " of " + std::to_string(all) + " " + what;
}

// What the data looked like to the engine. It depends on them, so that it is for the curator's eyes, on stderr, and in no answer.
void say_what_was_read(const Study& study, const RowsRead& read) {
  const std::string check = "; to see how the data fit their description, type: sotto data check " + study.data_name;
  if (read.records == 0) {
    say("note: no record was read, so the answers are noise about nothing" +
        (read.malformed > 0 ? ": " + std::to_string(read.malformed) + " records cannot be read" : "") + check);
    return;
  }
  if (read.malformed > 0)
    say("note: " + count_of(read.malformed, read.malformed + read.records, "records cannot be read, and were left out") + check);
  const std::vector<Column> columns = stored_columns(study);
  const std::vector<std::string> used = columns_in_use(study);
  for (std::size_t i = 0; i < std::min(columns.size(), read.unreadable.size()); ++i) {
    if (read.unreadable[i] == 0 || std::find(used.begin(), used.end(), columns[i].name) == used.end()) continue;
    say("note: " + count_of(read.unreadable[i], read.records, "values of \"" + columns[i].name + "\" are not of type ") + name_of(columns[i].type) +
        ", and were read as missing" + check);
  }
}

void run_study(const Typed& typed, const RunOptions& o, const RunTask& task) {
  const Catalogue catalogue = catalogue_of(o.catalogue);
  const std::string text = task.text ? task.text() : read_study(o.file, catalogue);
  const DataFile data = catalogue.find(data_of(text));
  const Study study = parse_study(text, data, [&](const std::string& name) { return catalogue.find(name); });
  require_ledger(data);
  Ledger ledger = Ledger::open(data.ledger, {.key = data.key.string(), .witness = o.witness.empty() ? data.witness : o.witness});
  require_fit(study, ledger.terms());
  const Design design = task.design ? task.design(study, ledger.terms()) : design_for(study, ledger, {.again = o.again, .request = o.request});
  if (o.dry) {
    if (!o.page.empty()) throw InvalidValue("--dry-run has no answers to report: leave out --report");
    const Outlook outlook = sotto::outlook(study, design, ledger, o.again);
    std::cout << design_text(study, design, ledger.terms(), outlook, format_of(typed)) << std::flush;
    if (!outlook.admitted) throw BudgetRefused("it would be refused: " + outlook.refusal, outlook.missing);
    return;
  }
  if (!o.page.empty()) require_folder(o.page);
  if (!o.models.empty()) {
    if (study.trainings.empty()) throw InvalidValue("--models: the study has no [[train]]");
    std::filesystem::create_directories(o.models);
    require_folder((std::filesystem::path(o.models) / "x").string());
  }
  if (!typed.quiet) {
    for (const std::string& warning : design.warnings) say("note: " + warning);
  }
  Limits limits;
  limits.threads = o.threads;
  limits.memory = bytes_of(o.memory);
  limits.duckdb = o.duckdb;
  limits.any_duckdb = o.any_duckdb;
  SourceMemory memory(data, ledger.id(), checkpoints_of(data));
  const auto open = [&] {
    memory.look();
    return open_engine(study.source, stored_columns(study), limits);
  };
  const bool shows = !typed.quiet && isatty(STDERR_FILENO) != 0;
  Bar bar(shows);
  const Run found = [&] {
    try {
      const Asking asking{
          .again = o.again,
          .request = o.request,
          .checkpoints = study.trainings.empty() && !task.run ? std::filesystem::path() : checkpoints_of(data),
          .threads = o.threads,
          .memory = limits.memory,
          .open_public = [&](const Source& source, const std::vector<Column>& columns) { return open_engine(source, columns, limits); },
          .epsilon_at = shows ? design.total_delta : std::nullopt,
          .ranks = task.ranks};
      const Watcher told = [&](const std::string& what, double share) { return (!task.go_on || task.go_on()) && bar(what, share); };
      return task.run ? task.run(study, ledger, open, asking, told) : sotto::run(study, design, ledger, open, asking, told);
    } catch (...) {
      bar.clear();
      throw;
    }
  }();
  bar.clear();
  if (!found.repeated) {
    note_charge();
    memory.keep(found.release.request);
  }
  if (!typed.quiet && !found.repeated) {
    say("charged " + percent_of_budget(ledger.terms().budget, found.release.cost) + " of the budget; " + left_of_promise(ledger.filter()) +
        " is left");
  }
  if (!typed.quiet) {
    const std::string changed = found.repeated ? memory.change_since(found.release) : "";
    if (!changed.empty()) say("note: " + changed);
    if (found.read) say_what_was_read(study, *found.read);
  }
  if (!typed.quiet && found.repeated && o.request.empty())
    std::cerr << "sotto: this study was answered before: the same answer, and no charge; --new asks anew\n";
  PublicAnswers beside;
  if (o.is_public) beside = public_answers(study, design, *open(), found.release);
  std::cout << release_text(found.release, found.head, beside, format_of(typed)) << std::flush;
  if (!o.models.empty()) write_models(o, found.release, data, typed.quiet);
  if (!o.page.empty()) {
    const LedgerState state = state_of(ledger);
    write_report(o, {study, design, found.release, beside, state, verify_line(data.name, state.head), SOTTO_VERSION}, typed.quiet);
  }
}

}  // namespace

std::string verify_line(const std::string& place, const Head& head) {
  return "sotto ledger verify " + place + " --head " + std::to_string(head.number) + ":" + head.hash;
}

void add_run(Command& app, Typed& typed) {
  Command* run = app.add_subcommand(
      "run",
      "Examples:\n"
      "  sotto run study.toml --dry-run\n"
      "  sotto run study.toml\n"
      "  sotto run study.toml --report report.html\n"
      "\n"
      "Runs a study: says what it costs, charges the ledger, asks the data, adds noise and shows the answers with their intervals. A study that was\n"
      "run before gets the same answer, free of charge.");
  fill_run(*run, typed);
}

void add_run_options(Command& run, Typed& typed, RunOptions& o) {
  run.add_option("--catalogue", o.catalogue, catalogue_words);
  run.add_flag("--dry-run", o.dry, "prints the cost and the expected error of the answers; charges nothing and reads no data");
  run.add_option("--report", o.page, "writes the answers, their cost and why it holds as one HTML page to this file");
  run.add_option("--models", o.models, "writes each trained model, with what it cost, signed with the ledger's key, to a file in this folder");
  run.add_option("--threads", o.threads, "threads of the engine and of trainings (default: all)")->range(1, 1024);
  run.add_option("--memory", o.memory, "memory limit of the run, such as 4GB; more units than fit are read in parts");
  run.add_option("--witness", o.witness, "where the ledger's head goes, outside of it, instead of the data file's: a file, or |COMMAND");
  run.add_option("--duckdb", o.duckdb, "the path of libduckdb.so");
  run.add_flag("--any-duckdb", o.any_duckdb, "load it even if its SHA-256 is not one that sotto knows");
  run.add_flag("--detail", o.detail, "if the engine fails, print its own error, which may contain data");
  run.add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  run.add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
}

void run_telling_detail(const Typed& typed, const RunOptions& o, const RunTask& task) {
  try {
    run_study(typed, o, task);
  } catch (const EngineError& error) {
    if (o.detail && !error.detail().empty()) say("the engine says: " + error.detail());
    throw;
  }
}

void fill_run(Command& run, Typed& typed, Ranks* ranks) {
  static RunOptions o;
  run.add_option("STUDY", o.file, "the study's file, such as study.toml, which `sotto study init` writes")->required();
  run.add_flag("--new", o.again, "runs the study anew, under a new charge");
  run.add_option("--request", o.request, "the id of a request that was charged before: prints its stored answer, or runs it under that charge")
      ->excludes("--new");
  run.add_flag("--public", o.is_public, "the data are public: show beside the answers the numbers without noise, and those in the data");
  add_run_options(run, typed, o);
  run.callback([&typed, ranks] { run_telling_detail(typed, o, {.ranks = ranks}); });
}

}  // namespace sotto::cli
