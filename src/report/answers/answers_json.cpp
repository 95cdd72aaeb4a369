// Infinity is written as "inf" and minus infinity, which stands for an unknown lower bound, as
// null.
#include "report/api/answers_json.hpp"

#include <cmath>

#include "core/api/text.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::report_detail {

Json number(double x) {
  if (std::isinf(x)) return x > 0 ? Json("inf") : Json(nullptr);
  return x;
}

Json bound(const Bound& b) { return {{"lower", number(b.lower)}, {"upper", number(b.upper)}}; }

Json header(const char* schema, const Plan& plan, const Answer& answer) {
  return {{"schema", schema}, {"plan", print(plan)}, {"relation", name(answer.relation)}};
}

void close(Json& json, const Answer& answer) {
  if (answer.order) json["order"] = number(*answer.order);
  if (!answer.notes.empty()) json["notes"] = answer.notes;
  if (answer.cut) json["limited"] = true;
}

Json derivation(const Derivation& d) {
  Json json = Json::object();
  if (!d.plan.empty()) json["plan"] = d.plan;
  json["theorem"] = d.theorem;
  json["reference"] = d.reference;
  json["conditions"] = d.conditions;
  json["guarantee"] = d.guarantee;
  json["premises"] = Json::array();
  for (const Derivation& premise : d.premises) json["premises"].push_back(derivation(premise));
  return json;
}

std::string line(const Json& json) { return escaped_json(json.dump()) + "\n"; }

}  // namespace sotto::report_detail
