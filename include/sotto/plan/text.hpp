// Plans as text and as JSON. Both forms read back: parse(print(p)) == p and from_json(to_json(p))
// == p.
#pragma once

#include <string>
#include <string_view>

#include "sotto/plan/plan.hpp"

namespace sotto {

/// Parses a plan. Throws ParseError, which names the column and what is expected there, or the
/// value that is not allowed.
Plan parse(std::string_view text);

/// Returns the text of a plan, which is unique: numbers are in their shortest form, and parameters
/// that have their default are omitted.
std::string print(const Plan& plan);

/// Returns the plan as JSON:
/// {"repeat":{"steps":2,"plan":{"gaussian":{"sigma":1.0,"sensitivity":1.0}}}}. A hole is "?", or
/// {"hole":2} with a factor.
std::string to_json(const Plan& plan);
/// Parses a plan in JSON. Throws InvalidValue, which names the mechanism and the parameter at
/// fault.
Plan from_json(std::string_view text);

}  // namespace sotto
