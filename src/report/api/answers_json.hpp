// The pieces that the answers' JSON forms share.
#pragma once

#include <string>

#include "sotto/accounting/account.hpp"
#include "core/api/json.hpp"

namespace sotto::report_detail {

using sotto::Json;

Json number(double x);
Json bound(const Bound& b);
/// {"schema", "plan", "relation"}, as every answer begins.
Json header(const char* schema, const Plan& plan, const Answer& answer);
/// "order" and "notes", where there are any.
void close(Json& json, const Answer& answer);
Json derivation(const Derivation& d);
std::string line(const Json& json);

}  // namespace sotto::report_detail
