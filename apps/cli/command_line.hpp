// The command line: commands with options, flags, positional arguments and subcommands. Only
// command_line.cpp includes the parser, CLI11, which compiles more slowly than the rest of cli/.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sotto::cli {

/// An option, flag or positional argument of a command. Each setter returns the option itself.
class Option {
 public:
  virtual ~Option() = default;
  virtual Option* required() = 0;
  /// Makes help show the variable's current value as the default.
  virtual Option* capture_default_str() = 0;
  /// Sets the value that an option without a value stands for, which help shows as the default.
  virtual Option* default_str(const std::string& text) = 0;
  virtual Option* type_name(const std::string& text) = 0;
  /// Sets how many values the option takes.
  virtual Option* expected(int least, int most) = 0;
  /// With `false`, an option that may be repeated takes one value each time.
  virtual Option* allow_extra_args(bool allowed) = 0;
  virtual Option* excludes(const std::string& other) = 0;
  /// Requires a whole number from `least` to `most`.
  virtual Option* range(int least, int most) = 0;
};

/// The description of an option, for completions and the manual page.
struct OptionInfo {
  std::string name;                     ///< as help shows it: "--order", "PLAN"
  std::vector<std::string> long_names;  ///< without the dashes
  std::string description;
  bool positional = false;
};

/// A command is the whole program or one of its subcommands, to any depth.
class Command {
 public:
  /// Creates the whole program. `--version` prints `version`.
  Command(const std::string& description, const std::string& name, const std::string& version);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Lists the subcommands that are added from now on under this title.
  void start_group(const std::string& title);
  /// Adds a subcommand. Lists of commands show `summary`, one line of at most 72 characters; the
  /// command's own help shows `description`, which begins with examples. The parent owns the
  /// result.
  Command* add_subcommand(const std::string& name, const std::string& summary,
                          const std::string& description);
  /// Adds an option; a name without dashes makes it a positional argument.
  Option* add_option(const std::string& name, std::string& value, const std::string& description);
  Option* add_option(const std::string& name, std::vector<std::string>& values,
                     const std::string& description);
  Option* add_option(const std::string& name, int& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  void require_subcommand(int count);
  /// Sets the function that runs once the command has been parsed.
  void callback(const std::function<void()>& run);

  /// Parses the arguments and runs the callback, whose exceptions pass through. Returns 0 if the
  /// callback ran or help was shown, and 2 after it printed a usage error on stderr.
  int parse(int argc, char** argv);

  std::string name() const;
  std::string summary() const;
  std::string description() const;
  std::vector<const Command*> commands() const;
  std::vector<OptionInfo> options() const;

 private:
  struct Parser;
  explicit Command(std::unique_ptr<Parser> parser);
  std::unique_ptr<Parser> parser_;
};

}  // namespace sotto::cli
