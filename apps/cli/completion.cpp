// sotto manual and sotto completion: the manual page and the shells' completions, generated from
// the commands themselves.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "command.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

std::vector<std::string> command_names(const Command& app) {
  std::vector<std::string> names;
  for (const Command* command : app.commands()) names.push_back(command->name());
  return names;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options()) {
    for (const std::string& name : option.long_names) names.push_back("--" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
}

// Returns the words that may follow a command: its subcommands, its options and theirs.
std::string words_after(const Command& command) {
  if (command.name() == "completion") return "bash zsh fish";
  std::vector<std::string> words = command_names(command);
  for (const std::string& option : option_names(command)) words.push_back(option);
  for (const Command* below : command.commands()) {
    for (const std::string& option : option_names(*below)) {
      if (std::find(words.begin(), words.end(), option) == words.end()) words.push_back(option);
    }
  }
  return joined(words, " ");
}

// Returns the values of an option that has a fixed set of them, separated by blanks; else nothing.
std::string values_of(const std::string& option) {
  if (option == "--by") {
    std::string names = method_names();
    names.erase(std::remove(names.begin(), names.end(), ','), names.end());
    return names;
  }
  if (option == "--relation") return "add-remove replace-one zero-out";
  if (option == "--format") return "table json csv";
  return "";
}

// Escapes text for roff.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string bash_script(const Command& app) {
  std::string out =
      "# bash completion for sotto\n"
      "_sotto() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} choices=\n"
      "  case $before in\n";
  for (const char* option : {"--by", "--relation", "--format"})
    out += std::string("    ") + option + ") choices='" + values_of(option) + "' ;;\n";
  out += "    *) case ${COMP_WORDS[1]} in\n";
  for (const Command* command : app.commands()) {
    const std::string words = words_after(*command);
    out += "      " + command->name() + ") choices='" + words + "' ;;\n";
  }
  out += "      esac\n      [ \"$COMP_CWORD\" -eq 1 ] && choices='" +
         joined(command_names(app), " ") +
         " --help --version' ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "}\n"
         "complete -F _sotto sotto\n";
  return out;
}

std::string zsh_script(const Command& app) {
  std::string out =
      "#compdef sotto\n"
      "local -a commands\n"
      "commands=(\n";
  for (const Command* command : app.commands()) {
    std::string text = command->summary();
    for (char& c : text)
      c = c == ':' ? ',' : c == '\'' ? ' ' : c;  // a colon would end the name of a command
    out += "  '" + command->name() + ":" + text + "'\n";
  }
  out +=
      ")\nif (( CURRENT == 2 )); then _describe command commands; return; fi\ncase "
      "$words[CURRENT-1] in\n";
  for (const char* option : {"--by", "--relation", "--format"})
    out += std::string("  ") + option + ") compadd " + values_of(option) + "; return ;;\n";
  out += "esac\ncase $words[2] in\n";
  for (const Command* command : app.commands()) {
    const std::string words = words_after(*command);
    out += "  " + command->name() + ") compadd -- " + words + " ;;\n";
  }
  return out + "esac\n";
}

std::string fish_options(const Command& command) {
  std::string out;
  for (const OptionInfo& option : command.options()) {
    for (const std::string& name : option.long_names) {
      const std::string values = values_of("--" + name);
      out += "complete -c sotto -n '__fish_seen_subcommand_from " + command.name() + "' -l " + name;
      out += values.empty() ? "\n" : " -x -a '" + values + "'\n";
    }
  }
  return out;
}

std::string fish_script(const Command& app) {
  std::string out = "# fish completion for sotto\n";
  for (const Command* command : app.commands()) {
    std::string text = command->summary();
    for (char& c : text) c = c == '\'' ? ' ' : c;
    out += "complete -c sotto -n __fish_use_subcommand -f -a " + command->name() + " -d '" + text +
           "'\n";
    out += fish_options(*command);
    for (const Command* below : command->commands()) {
      out += "complete -c sotto -n '__fish_seen_subcommand_from " + command->name() + "' -f -a " +
             below->name() + "\n" + fish_options(*below);
    }
  }
  return out +
         "complete -c sotto -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
}

std::string manual_section(const Command& command, const std::string& name) {
  std::string out = ".SS sotto " + roff(name) + "\n.nf\n" + roff(command.description()) + "\n.fi\n";
  for (const OptionInfo& option : command.options()) {
    out += ".TP\n.B " + roff(option.name) + "\n" + roff(option.description) + "\n";
  }
  return out;
}

}  // namespace

std::string manual_page(const Command& app) {
  std::string out = ".TH SOTTO 1 \"\" \"sotto " SOTTO_VERSION
                    "\" \"User Commands\"\n.SH NAME\nsotto \\- answer questions about sensitive "
                    "data with differential privacy\n";
  out += ".SH SYNOPSIS\n";
  for (const Command* command : app.commands()) {
    out += ".B sotto " + roff(command->name()) + "\n.I";
    for (const OptionInfo& option : command->options()) {
      if (option.positional) out += " " + option.name;
    }
    out += " [options]\n.br\n";
  }
  out += ".SH DESCRIPTION\n.nf\n" + roff(app.description()) + "\n.fi\n.SH COMMANDS\n";
  for (const Command* command : app.commands()) {
    out += manual_section(*command, command->name());
    for (const Command* below : command->commands())
      out += manual_section(*below, command->name() + " " + below->name());
  }
  out +=
      ".SH EXIT STATUS\n0 success, 1 failure, 2 usage error, 3 budget refused, 4 outside a "
      "theorem's conditions,\n5 failure after a "
      "ledger was charged: the charge stays.\n"
      ".SH ENVIRONMENT\nNO_COLOR: no colour, as without a terminal.\n";
  return out;
}

std::string completion_script(const Command& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  throw InvalidValue("there is no completion for '" + shell + "': type bash, zsh or fish");
}

void add_completion(Command& app) {
  const auto shell = std::make_shared<std::string>();
  Command* completion = app.add_subcommand(
      "completion", "Print a completion script for bash, zsh or fish",
      "Examples:\n"
      "  sotto completion bash > ~/.local/share/bash-completion/completions/sotto\n"
      "  sotto completion fish > ~/.config/fish/completions/sotto.fish\n"
      "\n"
      "Prints a completion script for bash, zsh or fish.");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completion->callback([&app, shell] { std::cout << completion_script(app, *shell); });

  Command* manual = app.add_subcommand("manual", "Print the manual page",
                                       "Examples:\n"
                                       "  sotto manual | man -l -\n"
                                       "\n"
                                       "Prints the manual page.");
  manual->callback([&app] { std::cout << manual_page(app); });
}

}  // namespace sotto::cli
