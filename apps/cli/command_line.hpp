// The command line: commands with options, flags, positional arguments and commands of their own. Only command_line.cpp knows the parser
// behind it, which takes longer to compile than all else in this folder.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sotto::cli {

/// One option, flag or positional argument of a command; each call returns the same option.
class Option {
 public:
  virtual ~Option() = default;
  virtual Option* required() = 0;
  /// Help shows the variable's value as the default.
  virtual Option* capture_default_str() = 0;
  /// What a value-less use of an option stands for, and what help shows.
  virtual Option* default_str(const std::string& text) = 0;
  virtual Option* type_name(const std::string& text) = 0;
  /// How many values it takes.
  virtual Option* expected(int least, int most) = 0;
  /// false: an option that may be repeated takes one value each time.
  virtual Option* allow_extra_args(bool allowed) = 0;
  virtual Option* excludes(const std::string& other) = 0;
  /// A whole number from least to most.
  virtual Option* range(int least, int most) = 0;
};

/// An option as help, completions and the manual name it.
struct Listed {
  std::string name;                     // as help names it: "--order", "PLAN"
  std::vector<std::string> long_names;  // without the dashes
  std::string description;
  bool positional = false;
};

class Command {
 public:
  /// The whole program; `version` is what --version prints.
  Command(const std::string& description, const std::string& name, const std::string& version);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& description);
  /// A name without dashes is a positional argument.
  Option* add_option(const std::string& name, std::string& value, const std::string& description);
  Option* add_option(const std::string& name, std::vector<std::string>& values, const std::string& description);
  Option* add_option(const std::string& name, int& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  void require_subcommand(int count);
  /// What runs when the command was parsed.
  void callback(const std::function<void()>& run);

  /// Parses and runs the callback, whose exceptions pass. 0 if it ran or help was shown; 2 after a mistake was told on stderr.
  int parse(int argc, char** argv);

  std::string name() const;
  std::string description() const;
  /// What the command does in a sentence: the last paragraph of its description, behind the examples.
  std::string summary() const;
  std::vector<const Command*> commands() const;
  std::vector<Listed> options() const;

 private:
  struct Parser;
  explicit Command(std::unique_ptr<Parser> parser);
  std::unique_ptr<Parser> parser_;
};

}  // namespace sotto::cli
