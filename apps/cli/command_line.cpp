// The command line on top of CLI11, and usage errors that say what to type instead.
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>

#include "cli/arguments/training_flags.hpp"
#include "core/api/join.hpp"
#include "core/api/suggestion.hpp"
#include "core/api/text.hpp"

namespace sotto::cli {
namespace {

constexpr int usage = 2;

class ParsedOption final : public Option {
 public:
  explicit ParsedOption(CLI::Option* option) : option_(option) {}
  Option* required() override {
    return after([&] { option_->required(); });
  }
  Option* capture_default_str() override {
    return after([&] { option_->capture_default_str(); });
  }
  Option* default_str(const std::string& text) override {
    return after([&] { option_->default_str(text); });
  }
  Option* type_name(const std::string& text) override {
    return after([&] { option_->type_name(text); });
  }
  Option* expected(int least, int most) override {
    return after([&] { option_->expected(least, most); });
  }
  Option* allow_extra_args(bool allowed) override {
    return after([&] { option_->allow_extra_args(allowed); });
  }
  Option* excludes(const std::string& other) override {
    return after([&] { option_->excludes(other); });
  }
  Option* range(int least, int most) override {
    return after([&] { option_->check(CLI::Range(least, most)); });
  }

 private:
  template <class Change>
  Option* after(const Change& change) {
    change();
    return this;
  }
  CLI::Option* option_;
};

// Formats help: a list of commands shows each command's summary, under the title of its group.
class Help : public CLI::Formatter {
 public:
  Help() { label("SUBCOMMAND", "COMMAND"); }
  void set_summary(const CLI::App* command, const std::string& summary) {
    summaries_[command] = summary;
  }
  [[nodiscard]] std::string summary(const CLI::App* command) const {
    const auto entry = summaries_.find(command);
    return entry == summaries_.end() ? "" : entry->second;
  }
  std::string make_subcommand(const CLI::App* command) const override {
    constexpr std::size_t width = 22;
    std::string line = "  " + command->get_name();
    line.resize(std::max(width, line.size() + 1), ' ');
    return line + summary(command) + "\n";
  }

 private:
  std::map<const CLI::App*, std::string> summaries_;
};

std::vector<std::string> long_names(const CLI::App* command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::Option* option_called(const CLI::App* command, const std::string& name) {
  for (const CLI::Option* option : command->get_options()) {
    if (option->get_name() == name) return option;
  }
  return nullptr;
}

bool has_positionals(const CLI::App* command) {
  const auto options = command->get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

constexpr std::array<std::string_view, 5> long_dashes{"–", "—", "−", "‐", "‑"};

const std::vector<Synonym> other_names{{"--eps", "--epsilon"},
                                       {"--method", "--by"},
                                       {"--accountant", "--by"},
                                       {"--neighbours", "--relation"},
                                       {"--neighbors", "--relation"},
                                       {"--output", "--report"},
                                       {"--out", "--report"},
                                       {"--sep", "--delimiter"},
                                       {"--separator", "--delimiter"},
                                       {"--na", "--null-text"},
                                       {"--id", "--unit"},
                                       {"--privacy-unit", "--unit"},
                                       {"--seconds", "--time"},
                                       {"--timeout", "--time"},
                                       {"--accuracy", "--precision"},
                                       {"--silent", "--quiet"},
                                       {"--dryrun", "--dry-run"},
                                       {"--again", "--new"},
                                       {"--json", "--format"},
                                       {"--csv", "--format"}};

// Keys of a study that people type as options of `sotto run`.
constexpr std::array<std::string_view, 6> keys_of_studies{"--epsilon", "--delta",  "--rho",
                                                          "--rows",    "--groups", "--confidence"};

// Returns what to type instead of a word that the command has no argument for.
std::string advice_on_word(const CLI::App* command, const std::string& word) {
  std::error_code ignored;
  const bool has_catalogue = option_called(command, "--catalogue") != nullptr;
  if (has_catalogue && std::filesystem::is_directory(word, ignored))
    return ": did you mean --catalogue " + word + "?";
  if (!has_positionals(command))
    return ": leave it out, or type one of the command's options before it";
  if (std::filesystem::exists(word, ignored))
    return ": it takes no further file; leave it out, and type the command once for each";
  return ": leave it out, or put a word that has blanks or parentheses in it in quotes, '…'";
}

// Returns what to type instead of arguments that the command does not accept.
std::string words_for_extras(const CLI::App* command, const std::string& used,
                             const std::vector<std::string>& extras) {
  const std::vector<std::string> known = long_names(command);
  if (const CLI::Option* plan = option_called(command, "PLAN"); plan != nullptr) {
    // The parser took the first word that is not a flag for PLAN: it is the value of the flag
    // before it.
    const std::string instead =
        plan_of_flags(extras, plan->count() > 0 ? plan->as<std::string>() : "");
    const CLI::Option* delta = option_called(command, "--delta");
    const std::string at =
        delta == nullptr ? ""
                         : " --delta " + (delta->count() > 0 ? delta->as<std::string>() : "1e-6");
    if (!instead.empty())
      return "`" + used + "` has no flags for a training: describe it as a plan\ntype: " + used +
             " '" + instead + "'" + at;
  }
  for (const std::string& word : extras) {
    for (const std::string_view dash : long_dashes) {
      if (!word.starts_with(dash)) continue;
      const std::size_t first =
          word.find_first_not_of(dash);  // no byte of a dash occurs in an option's name
      return "`" + word + "` begins with a long dash: an option begins with two short ones, --" +
             (first == std::string::npos ? "" : word.substr(first));
    }
    if (word.size() < 2 || word.front() != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    const auto fits = [&](const Synonym& synonym) {
      return std::find(known.begin(), known.end(), synonym.meant) != known.end();
    };
    std::vector<Synonym> synonyms;
    std::copy_if(other_names.begin(), other_names.end(), std::back_inserter(synonyms), fits);
    if (used == "sotto run" &&
        std::find(keys_of_studies.begin(), keys_of_studies.end(), name) != keys_of_studies.end()) {
      return "`" + used + "` has no option " + name + ": the study's file sets it, as in " +
             name.substr(2) + " = 1";
    }
    return "`" + used + "` has no option " + name + "; " + suggestion(name, known, synonyms);
  }
  return "`" + used + "` does not know what to do with `" + extras.front() + "`" +
         advice_on_word(command, extras.front());
}

// Rewords two messages of the parser: a number out of range, and options that exclude each other.
std::string reworded(const std::string& words) {
  static const std::regex range(R"((\S+): Value (.*) not in range (\S+) to (\S+))");
  static const std::regex excluded(R"((\S+) excludes (\S+))");
  std::smatch match;
  if (std::regex_match(words, match, range)) {
    return match[1].str() + " " + match[2].str() + " is not allowed: type a whole number from " +
           match[3].str() + " to " + match[4].str();
  }
  if (std::regex_match(words, match, excluded)) {
    return match[1].str() + " and " + match[2].str() + " do not go together: leave one of them out";
  }
  return words;
}

constexpr const char* choice_of_delta =
    "\nThe promise of epsilon fails with a probability of at most delta: choose one well below 1 "
    "over the number of people, such as --delta 1e-6. A "
    "plan without Gaussian noise, such as 10 * laplace(5), has --delta 0";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Returns a message such as `--delta needs a value: the delta at which …`. `verb` is " needs a
// value" or " is required".
std::string words_for_absent(const CLI::App* command, const std::string& words, const char* verb) {
  const std::string name = words.substr(0, words.find_first_of(": "));
  const CLI::Option* option = option_called(command, name);
  if (option == nullptr) return words;
  return name + verb + ": " + first_line(option->get_description()) +
         (name == "--delta" ? choice_of_delta : "");
}

bool is_like_option(const std::string& word) {
  return (word.size() > 1 && word.front() == '-') ||
         std::any_of(long_dashes.begin(), long_dashes.end(),
                     [&](std::string_view dash) { return word.starts_with(dash); });
}

std::vector<std::string> names_of_commands(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* one : app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

// From a table to a private answer, for a person who typed `sotto` and nothing else.
constexpr const char* first_steps =
    "type a command. Three of them lead from a table to a first private answer:\n"
    "    sotto data init people.csv     describes the table and sets its privacy budget\n"
    "    sotto study init people        writes study.toml, a study to edit\n"
    "    sotto run study.toml           charges the budget and prints the answers\n"
    "To see what a plan costs: sotto epsilon '100 * gaussian(10)' --delta 1e-6";

// Returns the message for a usage error, which ends with the help to read.
std::string mistake(const CLI::App* app, const CLI::Error& error) {
  const std::vector<std::string> extras = app->remaining(true);
  std::string used = app->get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    used += " " + app->get_name();
  }
  const bool is_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  std::string words = error.what();
  if (!extras.empty() &&
      (is_extras || (is_required && std::any_of(extras.begin(), extras.end(), is_like_option)))) {
    words = words_for_extras(app, used, extras);
  } else if (is_required && words.starts_with("A subcommand") && app->get_name() != "sotto") {
    words = "which command? Type one of: " + join(names_of_commands(app));
  } else if (is_required && words.starts_with("A subcommand")) {
    words = first_steps;
  } else if (is_required) {
    words = words_for_absent(app, words, " is required");
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    words = words_for_absent(app, words, " needs a value");
  } else {
    words = reworded(words);
  }
  return "sotto: " + sotto::escaped_lines(words) + "\n  see `" + used + " --help`\n";
}

}  // namespace

struct Command::Parser {
  std::unique_ptr<CLI::App> whole;  // set for the whole program alone, which owns its subcommands
  CLI::App* app = nullptr;
  std::shared_ptr<Help> help;
  std::string group = "Commands";
  std::vector<std::unique_ptr<Command>> commands;
  std::deque<ParsedOption> options;

  Option* add(CLI::Option* option) { return &options.emplace_back(option); }
};

Command::Command(const std::string& description, const std::string& name,
                 const std::string& version)
    : parser_(std::make_unique<Parser>()) {
  parser_->whole = std::make_unique<CLI::App>(description, name);
  parser_->app = parser_->whole.get();
  parser_->help = std::make_shared<Help>();
  parser_->app->formatter(parser_->help);  // subcommands inherit it
  parser_->app->set_version_flag("--version", version);
  parser_->app->failure_message(mistake);
}
Command::Command(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
Command::~Command() = default;

void Command::start_group(const std::string& title) { parser_->group = title; }

Command* Command::add_subcommand(const std::string& name, const std::string& summary,
                                 const std::string& description) {
  auto parser = std::make_unique<Parser>();
  parser->app = parser_->app->add_subcommand(name, description);
  parser->app->group(parser_->group);
  parser->help = parser_->help;
  parser->help->set_summary(parser->app, summary);
  parser_->commands.push_back(std::unique_ptr<Command>(new Command(std::move(parser))));
  return parser_->commands.back().get();
}

Option* Command::add_option(const std::string& name, std::string& value,
                            const std::string& description) {
  return parser_->add(parser_->app->add_option(name, value, description));
}
Option* Command::add_option(const std::string& name, std::vector<std::string>& values,
                            const std::string& description) {
  return parser_->add(parser_->app->add_option(name, values, description));
}
Option* Command::add_option(const std::string& name, int& value, const std::string& description) {
  return parser_->add(parser_->app->add_option(name, value, description));
}
Option* Command::add_flag(const std::string& name, bool& value, const std::string& description) {
  return parser_->add(parser_->app->add_flag(name, value, description));
}
void Command::require_subcommand(int count) { parser_->app->require_subcommand(count); }
void Command::callback(const std::function<void()>& run) { parser_->app->callback(run); }

int Command::parse(int argc, char** argv) {
  try {
    parser_->app->parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return parser_->app->exit(error) == 0 ? 0 : usage;
  }
}

std::string Command::name() const { return parser_->app->get_name(); }
std::string Command::description() const { return parser_->app->get_description(); }
std::string Command::summary() const { return parser_->help->summary(parser_->app); }

std::vector<const Command*> Command::commands() const {
  std::vector<const Command*> all;
  for (const auto& command : parser_->commands) all.push_back(command.get());
  return all;
}

std::vector<OptionInfo> Command::options() const {
  std::vector<OptionInfo> all;
  for (const CLI::Option* option : static_cast<const CLI::App*>(parser_->app)->get_options()) {
    all.push_back({option->get_name(), option->get_lnames(), option->get_description(),
                   option->get_positional()});
  }
  return all;
}

}  // namespace sotto::cli
