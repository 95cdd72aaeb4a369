// sotto run: takes a study from its file to its answers.
#include "study/api/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>

#include "accounting/api/currencies.hpp"
#include "cli/catalogue.hpp"
#include "cli/source_memory.hpp"
#include "core/api/text.hpp"
#include "report/api/study.hpp"
#include "run.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "study/api/model_file.hpp"

namespace sotto::cli {
namespace {

// Returns the bytes of --memory; 0 if it was not typed.
std::int64_t bytes_of(const std::string& text) {
  if (text.empty()) return 0;
  std::size_t end = 0;
  const double number = leading_number(text, end).value_or(0);
  const std::string unit = text.substr(end);
  const double factor = unit == "GB" ? 1e9 : unit == "MB" ? 1e6 : 0;
  if (!(number > 0) || factor == 0)
    throw InvalidValue("--memory " + text + " is not allowed: type an amount such as 500MB or 4GB");
  return static_cast<std::int64_t>(number * factor);
}

// Throws if a file cannot be written into its folder. This is checked before the charge, so that a
// run whose report cannot be written costs nothing.
void require_writable_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const std::string place = folder.empty() ? "." : folder.string();
  if (access(place.c_str(), W_OK) != 0)
    throw std::runtime_error("cannot write " + file + ": there is no folder " + place +
                             " that you may write to");
}

// Returns the folder for checkpoints of trainings: that of the ledger's file, or for a ledger in a
// database the user's state folder; empty if there is none.
std::filesystem::path checkpoint_folder(const DataFile& data) {
  if (data.ledger.rfind("postgresql://", 0) != 0 && data.ledger.rfind("postgres://", 0) != 0) {
    const std::filesystem::path folder = std::filesystem::path(data.ledger).parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
  }
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if ((state == nullptr || *state == 0) && (home == nullptr || *home == 0)) return {};
  const std::filesystem::path folder =
      (state != nullptr && *state != 0 ? std::filesystem::path(state)
                                       : std::filesystem::path(home) / ".local/state") /
      "sotto";
  std::filesystem::create_directories(folder);
  return folder;
}

void write_models(const RunArguments& arguments, const Release& release, const DataFile& data,
                  bool quiet) {
  const SigningKey key =
      SigningKey::read(data.key.empty() ? default_key(data.ledger) : data.key.string());
  for (const TrainedModel& model : release.models) {
    const std::string file =
        (std::filesystem::path(arguments.models) / (model_file_name(model.name))).string();
    write_file(file, model_file(release, model, key));
    if (!quiet) say("the model is in " + file);
  }
}

// A line on a terminal with a progress bar, the current step, and the time left. The time left
// follows from the speed of the last 20 seconds, because reading and training differ in speed.
class ProgressLine {
 public:
  explicit ProgressLine(bool visible) : visible_(visible) {}
  void update(const std::string& step, double share) {
    if (!visible_) return;
    const auto now = Clock::now();
    if (drawn_ && share < 1 && now - last_ < std::chrono::milliseconds(50))
      return;  // a training may report thousands of steps per second
    last_ = now;
    while (!reports_.empty() && now - reports_.front().first > std::chrono::seconds(20))
      reports_.pop_front();
    reports_.emplace_back(now, share);
    std::string line = "  " + std::string(static_cast<std::size_t>(share * 20), '#');
    line.resize(22, '.');
    line +=
        " " + std::to_string(static_cast<int>(share * 100)) + " %  " + escaped_for_terminal(step);
    const double seconds = std::chrono::duration<double>(now - reports_.front().first).count();
    const double done = share - reports_.front().second;
    if (done > 0 && seconds > 1)
      line += ", " + std::to_string(static_cast<std::int64_t>(seconds / done * (1 - share)) + 1) +
              " s left";
    std::cerr << "\r\033[K" << line << std::flush;
    drawn_ = true;
  }
  void clear() {
    if (drawn_) std::cerr << "\r\033[K" << std::flush;
    drawn_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool visible_;
  bool drawn_ = false;
  Clock::time_point last_;
  std::deque<std::pair<Clock::time_point, double>>
      reports_;  // the last 20 seconds: when, and the share done by then
};

void write_report(const RunArguments& arguments, const StudyReport& report, bool quiet) {
  try {
    write_file(arguments.report, study_page(report));
  } catch (const std::exception& error) {
    throw std::runtime_error(
        std::string(error.what()) +
        "; the answer is charged and stored: to print it again, free of charge, type sotto run " +
        arguments.file + " --request " + report.release.request + " --report FILE");
  }
  if (!quiet) say("the report is in " + arguments.report);
}

std::string count_of(std::int64_t number, std::int64_t all, const std::string& what) {
  return std::to_string(number) + " of " + std::to_string(all) + " " + what;
}

// Notes what the engine could not read. The notes depend on the data, so they go to stderr, for the
// curator, and never into an answer.
void say_what_was_read(const Study& study, const RowsRead& read) {
  const std::string check =
      "; to see whether the data fit their description, type: sotto data check " + study.data_name;
  if (read.records == 0) {
    say("note: no record was read, so the answers are noise alone" +
        (read.malformed > 0 ? ": " + std::to_string(read.malformed) + " records cannot be read"
                            : "") +
        check);
    return;
  }
  if (read.malformed > 0)
    say("note: " +
        count_of(read.malformed, read.malformed + read.records,
                 "records cannot be read, and were left out") +
        check);
  const std::vector<Column> columns = stored_columns(study);
  const std::vector<std::string> used = columns_in_use(study);
  for (std::size_t i = 0; i < std::min(columns.size(), read.unreadable.size()); ++i) {
    if (read.unreadable[i] == 0 ||
        std::find(used.begin(), used.end(), columns[i].name) == used.end())
      continue;
    say("note: " +
        count_of(read.unreadable[i], read.records,
                 "values of \"" + columns[i].name + "\" are not of type ") +
        name_of(columns[i].type) + ", and were read as missing" + check);
  }
}

// Prints the cost and the expected errors. Throws BudgetRefused if the ledger would refuse the
// study.
void print_design(const RunArguments& arguments, const Study& study, const Design& design,
                  const Ledger& ledger) {
  if (!arguments.report.empty())
    throw InvalidValue("--dry-run has no answers to report: leave out --report");
  const ChargePreview outlook = sotto::preview_charge(study, design, ledger, arguments.again);
  std::cout << design_text(study, design, ledger.terms(), outlook, format_of(arguments))
            << std::flush;
  if (!outlook.admitted)
    throw BudgetRefused("it would be refused: " + outlook.refusal, outlook.missing);
}

// Checks, before anything is charged, that reports and models can be written.
void require_outputs(const RunArguments& arguments, const Study& study) {
  if (!arguments.report.empty()) require_writable_folder(arguments.report);
  if (arguments.models.empty()) return;
  if (study.trainings.empty())
    throw InvalidValue(
        "--models: the study has no [[train]], so it has no model to write: leave out --models");
  std::filesystem::create_directories(arguments.models);
  require_writable_folder((std::filesystem::path(arguments.models) / "x").string());
}

Limits limits_of(const RunArguments& arguments) {
  Limits limits;
  limits.threads = arguments.threads;
  limits.memory = bytes_of(arguments.memory);
  limits.duckdb = arguments.duckdb;
  limits.any_duckdb = arguments.any_duckdb;
  return limits;
}

// Says what the run cost, or that its answer is a stored one, and what the curator should know of
// the data.
void say_result(const RunArguments& arguments, const Study& study, const Ledger& ledger,
                const SourceMemory& memory, const RunResult& result) {
  if (arguments.quiet) return;
  if (!result.repeated) {
    say("charged " + percent_of_budget(ledger.terms().budget, result.release.cost) +
        " of the budget; " + remaining_budget_text(ledger.filter()) + " is left");
  }
  const std::string changed = result.repeated ? memory.change_since(result.release) : "";
  if (!changed.empty()) say("note: " + changed);
  if (result.read) say_what_was_read(study, *result.read);
  if (result.repeated && arguments.request.empty())
    say("this study was answered before: here is the same answer, free of charge; --new runs it "
        "anew");
}

void run(const RunArguments& arguments, const RunTask& task) {
  // Read the study and its data file, open the ledger, and design the study: what it will cost.
  const Catalogue catalogue = catalogue_of(arguments.catalogue);
  const std::string text = task.text ? task.text() : read_study(arguments.file, catalogue);
  const DataFile data = catalogue.find(data_of(text));
  const Study study =
      parse_study(text, data, [&](const std::string& name) { return catalogue.find(name); });
  require_ledger(data);
  Ledger ledger = Ledger::open(
      data.ledger, {.key = data.key.string(),
                    .witness = arguments.witness.empty() ? data.witness : arguments.witness});
  require_fit(study, ledger.terms());
  const Design design =
      task.design
          ? task.design(study, ledger.terms())
          : design_for(study, ledger, {.again = arguments.again, .request = arguments.request});
  if (arguments.dry_run) return print_design(arguments, study, design, ledger);

  require_outputs(arguments, study);
  if (!arguments.quiet) {
    for (const std::string& warning : design.warnings) say("note: " + warning);
  }
  const Limits limits = limits_of(arguments);
  SourceMemory memory(data, ledger.id(), checkpoint_folder(data));
  const auto open = [&] {
    memory.observe();
    return open_engine(study.source, stored_columns(study), limits);
  };

  // Charge the ledger and answer, or find the stored answer.
  const bool is_visible = !arguments.quiet && isatty(STDERR_FILENO) != 0;
  ProgressLine line(is_visible);
  const RunResult result = [&] {
    try {
      const RunOptions options{.again = arguments.again,
                               .request = arguments.request,
                               .checkpoints = study.trainings.empty() && !task.run
                                                  ? std::filesystem::path()
                                                  : checkpoint_folder(data),
                               .threads = arguments.threads,
                               .memory = limits.memory,
                               .open_public =
                                   [&](const Source& source, const std::vector<Column>& columns) {
                                     return open_engine(source, columns, limits);
                                   },
                               .epsilon_at = is_visible ? design.total_delta : std::nullopt,
                               .ranks = task.ranks};
      const Watcher watcher = [&](const std::string& step, double share) {
        if (task.should_continue && !task.should_continue()) return false;
        line.update(step, share);
        return true;
      };
      return task.run ? task.run(study, ledger, open, options, watcher)
                      : sotto::run(study, design, ledger, open, options, watcher);
    } catch (...) {
      line.clear();
      throw;
    }
  }();
  line.clear();
  if (!result.repeated) {
    note_charge();
    memory.record(result.release.request);
  }
  say_result(arguments, study, ledger, memory, result);

  // Print the answers, and write models and the report.
  PublicAnswers exact;
  if (arguments.is_public) exact = public_answers(study, design, *open(), result.release);
  std::cout << release_text(result.release, result.head, exact, format_of(arguments)) << std::flush;
  if (!arguments.models.empty()) write_models(arguments, result.release, data, arguments.quiet);
  if (!arguments.report.empty()) {
    const LedgerState state = state_of(ledger);
    write_report(arguments,
                 {study, design, result.release, exact, state, verify_line(data.name, state.head),
                  SOTTO_VERSION},
                 arguments.quiet);
  }
}

}  // namespace

std::string verify_line(const std::string& place, const Head& head) {
  return "sotto ledger verify " + place + " --head " + std::to_string(head.number) + ":" +
         head.hash;
}

void add_run_options(Command& run, RunArguments& arguments) {
  run.add_option("--catalogue", arguments.catalogue, catalogue_words);
  run.add_flag(
      "--dry-run", arguments.dry_run,
      "prints the cost and the expected error of the answers; charges nothing and reads no data");
  run.add_option(
      "--report", arguments.report,
      "writes the answers, their cost and the reasons for it as one HTML page to this file");
  run.add_option("--models", arguments.models,
                 "writes each trained model and its cost, signed with the ledger's key, to a file "
                 "in this folder");
  run.add_option("--threads", arguments.threads,
                 "the threads of the engine and of trainings (default: all)")
      ->range(1, 1024);
  run.add_option(
      "--memory", arguments.memory,
      "the memory limit of the run, such as 4GB; units that do not fit are read in parts");
  run.add_option("--witness", arguments.witness,
                 "keeps the ledger's head outside of the ledger, instead of where the data file "
                 "says: a file, or |COMMAND");
  run.add_option("--duckdb", arguments.duckdb, "the path of libduckdb.so");
  run.add_flag("--any-duckdb", arguments.any_duckdb,
               "loads it even if its SHA-256 is not one that sotto knows");
  run.add_flag("--detail", arguments.detail,
               "if the engine fails, prints its own error, which may contain data");
  add_format(run, arguments);
  add_quiet(run, arguments);
}

void run_study(const RunArguments& arguments, const RunTask& task) {
  try {
    run(arguments, task);
  } catch (const EngineError& error) {
    if (arguments.detail && !error.detail().empty()) say("the engine says: " + error.detail());
    throw;
  }
}

void make_run_command(Command& command, Ranks* ranks) {
  const auto arguments = std::make_shared<RunArguments>();
  command
      .add_option("STUDY", arguments->file,
                  "the study's file, such as study.toml, which `sotto study init` writes")
      ->required();
  command.add_flag("--new", arguments->again, "runs the study anew, under a new charge");
  command
      .add_option("--request", arguments->request,
                  "the id of a request that was charged before: prints its stored answer, or runs "
                  "it under that charge")
      ->excludes("--new");
  command.add_flag("--public", arguments->is_public,
                   "the data are public: also prints the answers without noise");
  add_run_options(command, *arguments);
  command.callback([arguments, ranks] { run_study(*arguments, {.ranks = ranks}); });
}

void add_run(Command& app) {
  Command* command =
      app.add_subcommand("run", "Run a study: charge its cost, and print noisy answers",
                         "Examples:\n"
                         "  sotto run study.toml --dry-run\n"
                         "  sotto run study.toml\n"
                         "  sotto run study.toml --report report.html\n"
                         "\n"
                         "Runs a study: computes what it costs, charges the ledger, queries the "
                         "data, adds noise, and prints the answers with their intervals.\n"
                         "A study that was run before gets the same answer, free of charge.");
  make_run_command(*command);
}

}  // namespace sotto::cli
