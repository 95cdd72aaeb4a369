// The arguments of commands about a plan: the plan itself, the neighbouring relation, and a time
// limit.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {

struct PlanArguments : OutputArguments {
  std::string plan, relation, time;
};

void add_plan(Command& command, PlanArguments& arguments, const std::string& example);
void add_relation(Command& command, PlanArguments& arguments);
void add_time(Command& command, PlanArguments& arguments);

/// The last lines of the help of a plan's argument.
inline constexpr const char* plan_forms = "; @FILE reads it from a file, - from stdin";
/// Returns a plan's text: as typed, from a file for @FILE, or from stdin for `-`. Throws
/// InvalidValue, which names a file that cannot be read.
std::string plan_text(const std::string& typed);

/// A ParseError and the text of the plan, so that the message can point at the column.
class PlanError : public ParseError {
 public:
  PlanError(const ParseError& error, std::string plan)
      : ParseError(error), plan_(std::move(plan)) {}
  [[nodiscard]] const std::string& plan() const { return plan_; }

 private:
  std::string plan_;
};
/// Parses a plan's text. Throws PlanError.
Plan parse_plan(const std::string& text);

/// Returns --relation, or nothing if it was not typed. Throws InvalidValue for an unknown name.
std::optional<Relation> relation_option(const PlanArguments& arguments);
/// Returns the message for an unknown --relation, which suggests a known one.
std::string unknown_relation(const std::string& typed);

/// Returns the seconds of --time, measured by a clock, or nothing if it was not typed.
std::optional<double> seconds_of(const PlanArguments& arguments);
/// Says on stderr that more work may tighten the bounds, if `cut` says that the work limit was
/// reached. `remedy` names the options that allow more work.
void say_if_cut(const PlanArguments& arguments, bool cut,
                const std::string& remedy = "--time SECONDS");

}  // namespace sotto::cli
