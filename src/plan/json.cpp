#include "core/api/json.hpp"

#include <optional>
#include <string>

#include "plan/fields.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr int depth_limit = 200;

Json json_of(const Parameter& p, bool whole) {
  if (p.is_hole() && p.factor() == 1) return "?";
  const Json number = whole ? Json(static_cast<std::int64_t>(p.value())) : Json(p.value());
  return p.is_hole() ? Json{{"hole", number}} : number;
}

Json json_of(const Plan& plan) {
  return std::visit(
      []<class T>(const T& node) -> Json {
        Json body = Json::object();
        plan_detail::each_field(node, [&](const Parameter& p, const plan_detail::Field& field) {
          body[std::string(field.name)] = json_of(p, plan_detail::is_whole(field.range));
        });
        if constexpr (plan_detail::HasPlan<T>) body["plan"] = json_of(node.plan);
        if constexpr (plan_detail::HasParts<T>) {
          body = Json::array();
          for (const Plan& part : node.parts) body.push_back(json_of(part));
        }
        return Json{{std::string(plan_detail::name_of<T>), body}};
      },
      plan.node());
}

[[noreturn]] void malformed(const std::string& what) { throw InvalidValue("malformed plan in JSON: " + what); }

// A number, "?" or {"hole": 2}.
std::optional<Parameter> parameter_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "?") return hole;
  if (json.is_object() && json.size() == 1 && json.contains("hole") && json["hole"].is_number()) return Hole{json["hole"].get<double>()};
  return std::nullopt;
}

Plan plan_of(const Json& json, int depth);

template <class T>
Plan read(const Json& body, T node, int depth) {
  const std::string name(plan_detail::name_of<T>);
  if constexpr (plan_detail::HasParts<T>) {
    if (!body.is_array()) malformed(name + " takes an array of plans");
    for (const Json& part : body) node.parts.push_back(plan_of(part, depth + 1));
  } else {
    if (!body.is_object()) malformed(name + " takes an object with its parameters");
    std::size_t used = 0;
    plan_detail::each_field(node, [&](Parameter& parameter, const plan_detail::Field& field) {
      const Json* found = body.find(field.name);
      if (found == nullptr) {
        if (!field.has_default) malformed(name + " needs \"" + std::string(field.name) + "\"");
        return;
      }
      ++used;
      const auto read_parameter = parameter_of(*found);
      if (!read_parameter) malformed("\"" + std::string(field.name) + "\" of " + name + " takes a number, \"?\" or {\"hole\": factor}");
      parameter = *read_parameter;
    });
    if constexpr (plan_detail::HasPlan<T>) {
      if (!body.contains("plan")) malformed(name + " needs \"plan\"");
      ++used;
      node.plan = plan_of(body["plan"], depth + 1);
    }
    if (used != body.size()) malformed(name + " has a member that is not one of its parameters");
  }
  return node;
}

Plan plan_of(const Json& json, int depth) {
  if (depth > depth_limit) malformed("nested too deeply");
  if (!json.is_object() || json.size() != 1) malformed("a plan is an object with one member, the mechanism's name");
  const std::string& name = json.members().front().name;
  const Json& body = json.members().front().value;
  std::vector<Plan> plan;
  if (plan_detail::with_leaf_named(name, [&](auto node) { plan.push_back(read(body, node, depth)); })) return plan.front();
  const Plan nothing = pure(0);  // replaced when "plan" is read
  if (name == "repeat") return read(body, Repeat{0, nothing}, depth);
  if (name == "sum") return read(body, Sum{}, depth);
  if (name == "parallel") return read(body, Parallel{}, depth);
  if (name == "poisson") return read(body, Poisson{0, nothing}, depth);
  if (name == "without_replacement") return read(body, WithoutReplacement{0, 0, nothing}, depth);
  if (name == "group") return read(body, Group{0, nothing}, depth);
  malformed("unknown mechanism \"" + name + "\"");
}

}  // namespace

std::string to_json(const Plan& plan) { return json_of(plan).dump(); }

Plan from_json(std::string_view text) {
  try {
    return plan_of(Json::parse(text), 0);
  } catch (const JsonError& error) {
    malformed(error.what());
  }
}

}  // namespace sotto
