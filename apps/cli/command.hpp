// What the commands share: options as they are typed, and the words that turn into numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "sotto/accounting/account.hpp"
#include "report/api/answers.hpp"

namespace sotto {
class Ranks;
}

namespace sotto::cli {

/// Parses, runs, and says what went wrong: the exit code.
struct Typed;
int run_program(Command& app, const Typed& typed, int argc, char** argv);

/// Notes that this process has charged a ledger: what fails from then on exits with 5, since the charge stays.
void note_charge();

/// Options as typed; each command reads those that it has.
struct Typed {
  std::string plan;
  std::string delta;
  std::string epsilon;
  std::string renyi;
  std::string rho;
  std::string omega;
  std::string by = "tight";
  std::string order;
  std::string precision;
  std::string time;
  std::string relation;
  std::string format = "table";
  std::string out = "sotto-figures";
  std::string shell;
  std::string over_steps;
  std::string plot;
  std::string prior = "0.5";
  std::vector<std::string> list;  // an option that may be repeated
  bool even = false;
  bool noise = false;
  bool curve = false;
  bool loss = false;
  bool quiet = false;
};

/// Adds the commands to the app; each runs by its callback, writing data to stdout and words to stderr.
void add_accounting(Command& app, Typed& typed);
void add_attacker(Command& app, Typed& typed);
void add_run(Command& app, Typed& typed);
/// The options of `run`, and what it does; with `ranks` other processes train with this one.
void fill_run(Command& run, Typed& typed, Ranks* ranks = nullptr);
void add_data(Command& app, Typed& typed);
void add_study(Command& app, Typed& typed);
void add_predict(Command& app, Typed& typed);
void add_ledger(Command& app, Typed& typed);
void add_serve(Command& app, Typed& typed);
void add_noise(Command& app, Typed& typed);
void add_dpsgd(Command& app, Typed& typed);
void add_attack(Command& app, Typed& typed);
void add_audit(Command& app, Typed& typed);
void add_simulate(Command& app, Typed& typed);
void add_figures(Command& app, Typed& typed);
void add_completion(Command& app, Typed& typed);
/// Commands that a program beside this one has; this process becomes that one where they are called. Else -1, or the exit code where there is none.
void add_federate(Command& app);
int pass_to_federate(int argc, char** argv);

/// The manual page (roff) and completion scripts of the whole app.
std::string manual_page(const Command& app);
std::string completion_script(const Command& app, const std::string& shell);

/// sotto divergence --loss: the distribution of the privacy loss.
void run_loss(const Typed& typed);

/// The options --format and --relation; InvalidValue for a name that is not known.
Format format_of(const Typed& typed);
std::optional<Relation> relation_option(const Typed& typed);

/// The plan's text: as typed, or from a file for @FILE, or from stdin for `-`. std::runtime_error names a file that cannot be read.
std::string plan_text(const std::string& typed);
inline constexpr const char* plan_forms = "; @FILE reads it from a file, - from stdin";

/// The option --time: seconds by a clock.
std::optional<double> seconds_of(const Typed& typed);
void add_time(Command* command, Typed& typed);
/// Says on stderr that more work would narrow what was answered.
void tell_cut(const Typed& typed, bool cut);

/// Says of a --relation that there is none of this name, and which are near.
std::string unknown_relation(const std::string& typed);
/// Reads an option's number; InvalidValue names the option.
double number_of(const std::string& text, const char* option);
/// The same for a whole number in this range. InvalidValue names both of its ends.
std::int64_t whole_number_of(const std::string& text, const char* option, double least, double most);
/// The largest whole number that an option can have where the library sets the limit: all up to here are doubles.
inline constexpr double most_whole = 0x1p53;

/// Words for whoever typed the command, on stderr: what comes from files and data is escaped, and a second line is indented.
void say(const std::string& words);

/// Writes a file; std::runtime_error names the path.
void write_file(const std::filesystem::path& path, const std::string& text);

/// The methods, relations and formats by name, as help and completions list them.
std::string method_names();

}  // namespace sotto::cli
