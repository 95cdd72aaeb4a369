// A plan's textual form: parse(print(p)) == p for every plan.
#pragma once

#include <string>
#include <string_view>

#include "sotto/plan/plan.hpp"

namespace sotto {

/// Reads a plan. ParseError names the column and what was expected there, or the value that is not allowed.
Plan parse(std::string_view text);

/// The plan's one textual form; numbers print in their shortest form, parameters at their default are left out.
std::string print(const Plan& plan);

/// The same as JSON, {"repeat":{"steps":10000,"plan":{"gaussian":{"sigma":1.0,"sensitivity":1.0}}}}; a hole is "?",
/// with a factor {"hole":2}.
std::string to_json(const Plan& plan);
/// Reads that form. InvalidValue says where it is malformed.
Plan from_json(std::string_view text);

}  // namespace sotto
