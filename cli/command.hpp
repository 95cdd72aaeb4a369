// What the commands share: options as they are typed, and the words that turn into numbers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/report/answers.hpp"

namespace CLI {
class App;
}

namespace sotto::cli {

/// Options as typed; each command reads those that it has.
struct Typed {
  std::string plan;
  std::string delta;
  std::string epsilon;
  std::string by = "tight";
  std::string order;
  std::string precision;
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
void add_accounting(CLI::App& app, Typed& typed);
void add_attacker(CLI::App& app, Typed& typed);
void add_run(CLI::App& app, Typed& typed);
void add_ledger(CLI::App& app, Typed& typed);
void add_noise(CLI::App& app, Typed& typed);
void add_attack(CLI::App& app, Typed& typed);
void add_audit(CLI::App& app, Typed& typed);
void add_figures(CLI::App& app, Typed& typed);
void add_completion(CLI::App& app, Typed& typed);

/// What a command does in a sentence: the last paragraph of its description, behind the examples.
std::string summary(const CLI::App& command);

/// The manual page (roff) and completion scripts of the whole app.
std::string manual_page(const CLI::App& app);
std::string completion_script(const CLI::App& app, const std::string& shell);

/// sotto divergence --loss: the law of the privacy loss.
void run_loss(const Typed& typed);

/// The options --format and --relation; InvalidValue for a name that is not known.
Format format_of(const Typed& typed);
std::optional<Relation> relation_option(const Typed& typed);

/// Reads an option's number; InvalidValue names the option.
double number_of(const std::string& text, const char* option);

/// Writes a file; std::runtime_error names the path.
void write_file(const std::filesystem::path& path, const std::string& text);

/// The methods, relations and formats by name, as help and completions list them.
std::string method_names();

}  // namespace sotto::cli
