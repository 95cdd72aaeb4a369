#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "sotto/core/text.hpp"

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

std::string summary_of(const std::string& description) {
  const auto gap = description.rfind("\n\n");
  std::string text = gap == std::string::npos ? description : description.substr(gap + 2);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Help that lists each command with its sentence alone; the command's own help starts with its examples.
class Help : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    std::string text = summary_of(command->get_description());
    text = text.substr(0, text.find(": "));
    constexpr std::size_t width = 16;
    return "  " + command->get_name() + std::string(width - std::min(width - 1, command->get_name().size()), ' ') + text + "\n";
  }
};

std::string mistake(const CLI::App* app, const CLI::Error& error) {
  std::string used = app->get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    used += " " + app->get_name();
  }
  return "sotto: " + sotto::escaped_for_terminal(error.what()) + "\n  see `" + used + " --help`\n";
}

}  // namespace

struct Command::Parser {
  std::unique_ptr<CLI::App> whole;  // of the program alone; its commands belong to it
  CLI::App* app = nullptr;
  std::vector<std::unique_ptr<Command>> commands;
  std::deque<ParsedOption> options;

  Option* keep(CLI::Option* option) { return &options.emplace_back(option); }
};

Command::Command(const std::string& description, const std::string& name, const std::string& version) : parser_(std::make_unique<Parser>()) {
  parser_->whole = std::make_unique<CLI::App>(description, name);
  parser_->app = parser_->whole.get();
  parser_->app->formatter(std::make_shared<Help>());
  parser_->app->set_version_flag("--version", version);
  parser_->app->failure_message(mistake);
}
Command::Command(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
Command::~Command() = default;

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  auto parser = std::make_unique<Parser>();
  parser->app = parser_->app->add_subcommand(name, description);
  parser_->commands.push_back(std::unique_ptr<Command>(new Command(std::move(parser))));
  return parser_->commands.back().get();
}

Option* Command::add_option(const std::string& name, std::string& value, const std::string& description) {
  return parser_->keep(parser_->app->add_option(name, value, description));
}
Option* Command::add_option(const std::string& name, std::vector<std::string>& values, const std::string& description) {
  return parser_->keep(parser_->app->add_option(name, values, description));
}
Option* Command::add_option(const std::string& name, int& value, const std::string& description) {
  return parser_->keep(parser_->app->add_option(name, value, description));
}
Option* Command::add_flag(const std::string& name, bool& value, const std::string& description) {
  return parser_->keep(parser_->app->add_flag(name, value, description));
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
std::string Command::summary() const { return summary_of(description()); }

std::vector<const Command*> Command::commands() const {
  std::vector<const Command*> all;
  for (const auto& command : parser_->commands) all.push_back(command.get());
  return all;
}

std::vector<Listed> Command::options() const {
  std::vector<Listed> all;
  for (const CLI::Option* option : static_cast<const CLI::App*>(parser_->app)->get_options()) {
    all.push_back({option->get_name(), option->get_lnames(), option->get_description(), option->get_positional()});
  }
  return all;
}

}  // namespace sotto::cli
