// Reads the arguments of commands about a plan.
#include "plan_arguments.hpp"

#include <filesystem>
#include <iostream>
#include <iterator>
#include <vector>

#include "core/api/file.hpp"
#include "core/api/suggestion.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::cli {

void add_plan(Command& command, PlanArguments& arguments, const std::string& example) {
  command.add_option("PLAN", arguments.plan, "the plan, such as " + example + plan_forms)
      ->required();
}

void add_relation(Command& command, PlanArguments& arguments) {
  command.add_option("--relation", arguments.relation,
                     "the neighbouring relation: add-remove, replace-one or zero-out (default: the "
                     "one that the plan's sampling requires)");
}

void add_time(Command& command, PlanArguments& arguments) {
  command.add_option("--time", arguments.time,
                     "a time limit in seconds (default: a fixed amount of work, about a second, so "
                     "that every machine gives the same answer)");
}

std::string plan_text(const std::string& typed) {
  if (typed == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  if (typed.empty() || typed.front() != '@') return typed;
  const std::string path = typed.substr(1);
  if (path.empty())
    throw InvalidValue(
        "'@' must be followed by a file's name, as in @plan.txt; '-' reads the plan from stdin");
  if (std::filesystem::is_directory(path))
    throw InvalidValue("the plan's file " + path + " is a folder: type @FILE");
  try {
    return read_text_file(path);
  } catch (const FileError& error) {
    throw InvalidValue(error.is_absent()
                           ? "the plan's file " + path + " cannot be read: does it exist?"
                           : std::string("the plan's file: ") + error.what());
  }
}

Plan parse_plan(const std::string& text) {
  try {
    return parse(text);
  } catch (const ParseError& error) {
    throw PlanError(error, text);
  }
}

std::optional<Relation> relation_option(const PlanArguments& arguments) {
  if (arguments.relation.empty()) return std::nullopt;
  const auto relation = relation_named(arguments.relation);
  if (!relation) throw InvalidValue(unknown_relation(arguments.relation));
  return relation;
}

std::string unknown_relation(const std::string& typed) {
  static const std::vector<std::string> relations{"add-remove", "replace-one", "zero-out"};
  static const std::vector<Synonym> synonyms{
      {"unbounded", "add-remove"}, {"add", "add-remove"},         {"remove", "add-remove"},
      {"bounded", "replace-one"},  {"substitute", "replace-one"}, {"swap", "replace-one"}};
  return "--relation " + typed + " is not known; " + suggestion(typed, relations, synonyms);
}

std::optional<double> seconds_of(const PlanArguments& arguments) {
  if (arguments.time.empty()) return std::nullopt;
  const double seconds = number_of(arguments.time, "--time");
  if (seconds > 0 && seconds <= 1e6) return seconds;
  throw InvalidValue("--time " + arguments.time +
                     " is not allowed: it must be a number of seconds above 0, at most 1e6");
}

void say_if_cut(const PlanArguments& arguments, bool cut, const std::string& remedy) {
  if (!cut || arguments.quiet) return;
  say(arguments.time.empty()
          ? "these bounds are what about a second of work proves; " + remedy + " may tighten them"
          : "these bounds are what that time allowed to prove; a longer --time may tighten them");
}

}  // namespace sotto::cli
