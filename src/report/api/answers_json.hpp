// Members that the JSON forms of all answers share.
#pragma once

#include <string>

#include "core/api/json.hpp"
#include "sotto/accounting/account.hpp"

namespace sotto::report_detail {

using sotto::Json;

/// Returns a number; infinity becomes "inf", and minus infinity, an unknown lower bound, becomes
/// null.
Json number(double x);
/// Returns {"lower", "upper"}.
Json bound(const Bound& b);
/// Returns {"schema", "plan", "relation"}, the members at the beginning of every answer.
Json header(const char* schema, const Plan& plan, const Answer& answer);
/// Appends "order", "notes" and "limited" (the work limit ended the computation) where they apply.
void close(Json& json, const Answer& answer);
/// Returns a derivation with its premises nested in it.
Json derivation(const Derivation& d);
/// Returns the JSON on one line, with unsafe characters escaped, and a newline.
std::string line(const Json& json);

}  // namespace sotto::report_detail
