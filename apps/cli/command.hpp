// Parts that the commands share: the functions that add them to the program, the options of most of
// them, the conversion of options to numbers, and messages on stderr.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "report/api/answers.hpp"

namespace sotto {
class Ranks;
}

namespace sotto::cli {

/// Parses the arguments, runs the command, and prints its errors on stderr. Returns the exit code.
int run_program(Command& app, int argc, char** argv);

/// Notes that this process has charged a ledger. Every failure from then on exits with 5, because
/// the charge stays.
void note_charge();

/// Adds commands to the program. A command owns its arguments, and its callback runs it: data go to
/// stdout, messages to stderr.
void add_accounting(Command& app);
void add_tradeoff(Command& app);
void add_divergence(Command& app);
void add_run(Command& app);
void add_data(Command& app);
void add_study(Command& app);
void add_predict(Command& app);
void add_ledger(Command& app);
void add_serve(Command& app);
void add_noise(Command& app);
void add_dpsgd(Command& app);
void add_attack(Command& app);
void add_audit(Command& app);
void add_simulate(Command& app);
void add_figures(Command& app);
void add_completion(Command& app);
/// Adds federate, coordinator and party, which the program sotto-federate runs.
void add_federate(Command& app);

/// Adds the options of `sotto run` to a command and makes it run a study. With `ranks`, other
/// processes train together with this one.
void make_run_command(Command& command, Ranks* ranks = nullptr);

/// Replaces this process by sotto-federate if the arguments call one of its commands. Returns -1 if
/// they do not, and the exit code if there is no such program.
int forward_to_federate(int argc, char** argv);

/// Returns the manual page (roff) of the whole program.
std::string manual_page(const Command& app);
/// Returns the completion script for bash, zsh or fish. Throws InvalidValue for another shell.
std::string completion_script(const Command& app, const std::string& shell);
/// Returns the names that --by accepts, separated by commas.
std::string method_names();

/// The options of commands that print an answer, as typed.
struct OutputArguments {
  std::string format = "table";
  std::string plot;  ///< the SVG file to draw to; empty: no drawing
  bool quiet = false;
};
void add_format(Command& command, OutputArguments& output);
void add_quiet(Command& command, OutputArguments& output);
/// Throws InvalidValue, with the names that --format accepts, for an unknown one.
Format format_of(const OutputArguments& output);

/// Returns an option's value as a number. Throws InvalidValue, which names the option.
double number_of(const std::string& text, const char* option);
/// Returns an option's value as a whole number. Throws InvalidValue, which names the option and
/// both limits, unless it is between them.
std::int64_t whole_number_of(const std::string& text, const char* option, double least,
                             double most);
/// The upper limit for options whose limit the library checks: each whole number up to it is a
/// double.
inline constexpr double most_whole = 0x1p53;
/// Returns the exponent of --grid, which must be a power of two; empty if it was not typed.
std::optional<int> grid_exponent(const std::string& text);

/// Prints a message on stderr. Control characters, which may come from files and data, are escaped;
/// lines after the first are indented.
void say(const std::string& message);

/// Writes a file. Throws std::runtime_error, which names the path.
void write_file(const std::filesystem::path& path, const std::string& text);
/// Writes a picture to the file of --plot, and says so.
void write_plot(const OutputArguments& output, const std::string& svg);

}  // namespace sotto::cli
