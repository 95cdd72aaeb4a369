// The manual page and the shells' completions, read off the app itself.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "command.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
}

// What may follow a command: its own commands, its options and theirs.
std::string words_of(const CLI::App& command) {
  if (command.get_name() == "completion") return "bash zsh fish";
  std::vector<std::string> words = command_names(command);
  for (const std::string& option : option_names(command)) words.push_back(option);
  for (const CLI::App* below : commands_of(command)) {
    for (const std::string& option : option_names(*below)) {
      if (std::find(words.begin(), words.end(), option) == words.end()) words.push_back(option);
    }
  }
  return joined(words, " ");
}

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

std::string bash_script(const CLI::App& app) {
  std::string out =
      "# bash completion for sotto\n"
      "_sotto() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} choices=\n"
      "  case $before in\n";
  for (const char* option : {"--by", "--relation", "--format"}) out += std::string("    ") + option + ") choices='" + values_of(option) + "' ;;\n";
  out += "    *) case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string words = words_of(*command);
    out += "      " + command->get_name() + ") choices='" + words + "' ;;\n";
  }
  out += "      esac\n      [ \"$COMP_CWORD\" -eq 1 ] && choices='" + joined(command_names(app), " ") +
         " --help --version' ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "}\n"
         "complete -F _sotto sotto\n";
  return out;
}

std::string zsh_script(const CLI::App& app) {
  std::string out =
      "#compdef sotto\n"
      "local -a commands\n"
      "commands=(\n";
  for (const CLI::App* command : commands_of(app)) {
    std::string text = summary(*command);
    for (char& c : text) c = c == '\'' || c == ':' ? ' ' : c;
    out += "  '" + command->get_name() + ":" + text + "'\n";
  }
  out += ")\nif (( CURRENT == 2 )); then _describe command commands; return; fi\ncase $words[CURRENT-1] in\n";
  for (const char* option : {"--by", "--relation", "--format"})
    out += std::string("  ") + option + ") compadd " + values_of(option) + "; return ;;\n";
  out += "esac\ncase $words[2] in\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string words = words_of(*command);
    out += "  " + command->get_name() + ") compadd -- " + words + " ;;\n";
  }
  return out + "esac\n";
}

std::string fish_options(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::string values = values_of("--" + name);
      out += "complete -c sotto -n '__fish_seen_subcommand_from " + command.get_name() + "' -l " + name;
      out += values.empty() ? "\n" : " -x -a '" + values + "'\n";
    }
  }
  return out;
}

std::string fish_script(const CLI::App& app) {
  std::string out = "# fish completion for sotto\n";
  for (const CLI::App* command : commands_of(app)) {
    std::string text = summary(*command);
    for (char& c : text) c = c == '\'' ? ' ' : c;
    out += "complete -c sotto -n __fish_use_subcommand -f -a " + command->get_name() + " -d '" + text + "'\n";
    out += fish_options(*command);
    for (const CLI::App* below : commands_of(*command)) {
      out +=
          "complete -c sotto -n '__fish_seen_subcommand_from " + command->get_name() + "' -f -a " + below->get_name() + "\n" + fish_options(*below);
    }
  }
  return out + "complete -c sotto -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
}

std::string manual_section(const CLI::App& command, const std::string& name) {
  std::string out = ".SS sotto " + roff(name) + "\n.nf\n" + roff(command.get_description()) + "\n.fi\n";
  for (const CLI::Option* option : command.get_options()) {
    out += ".TP\n.B " + roff(option->get_name()) + "\n" + roff(option->get_description()) + "\n";
  }
  return out;
}

}  // namespace

std::string summary(const CLI::App& command) {
  const std::string description = command.get_description();
  const auto gap = description.rfind("\n\n");
  std::string text = gap == std::string::npos ? description : description.substr(gap + 2);
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

std::string manual_page(const CLI::App& app) {
  std::string out = ".TH SOTTO 1 \"\" \"sotto " SOTTO_VERSION
                    "\" \"User Commands\"\n.SH NAME\nsotto \\- what a plan for sensitive data costs in differential privacy\n";
  out += ".SH SYNOPSIS\n";
  for (const CLI::App* command : commands_of(app)) {
    out += ".B sotto " + roff(command->get_name()) + "\n.I";
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) out += " " + option->get_name(true);
    }
    out += " [options]\n.br\n";
  }
  out += ".SH DESCRIPTION\n.nf\n" + roff(app.get_description()) + "\n.fi\n.SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) {
    out += manual_section(*command, command->get_name());
    for (const CLI::App* below : commands_of(*command)) out += manual_section(*below, command->get_name() + " " + below->get_name());
  }
  out +=
      ".SH EXIT STATUS\n0 good, 1 failed, 2 usage, 3 budget refused, 4 outside a theorem's conditions.\n"
      ".SH ENVIRONMENT\nNO_COLOR: no colour, as without a terminal.\n";
  return out;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  throw InvalidValue("completion for '" + shell + "' is not known: it must be bash, zsh or fish");
}

void add_completion(CLI::App& app, Typed& typed) {
  CLI::App* completion = app.add_subcommand("completion",
                                            "Examples:\n"
                                            "  sotto completion bash > ~/.local/share/bash-completion/completions/sotto\n"
                                            "  sotto completion fish > ~/.config/fish/completions/sotto.fish\n"
                                            "\n"
                                            "A completion script for bash, zsh or fish.");
  completion->add_option("SHELL", typed.shell, "bash, zsh or fish")->required();
  completion->callback([&app, &typed] { std::cout << completion_script(app, typed.shell); });
  CLI::App* manual = app.add_subcommand("manual",
                                        "Examples:\n"
                                        "  sotto manual | man -l -\n"
                                        "\n"
                                        "The manual page.");
  manual->callback([&app] { std::cout << manual_page(app); });
}

}  // namespace sotto::cli
