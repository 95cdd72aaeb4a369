// Plans as JSON. (parse.cpp reads the text, print.cpp writes it.)
#include "core/api/json.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/api/join.hpp"
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

[[noreturn]] void malformed(const std::string& what) {
  throw InvalidValue("malformed plan in JSON: " + what);
}

// Reads a number, "?" or {"hole": 2}; nothing for any other value.
std::optional<Parameter> parameter_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "?") return hole;
  if (json.is_object() && json.size() == 1 && json.contains("hole") && json["hole"].is_number())
    return Hole{json["hole"].get<double>()};
  return std::nullopt;
}

Plan plan_of(const Json& json, int depth);

// Names the first member that is no parameter of the node, and the parameters.
template <class T>
[[noreturn]] void fail_unknown_member(const Json& body, T node) {
  std::vector<std::string> names;
  plan_detail::each_field(
      node, [&](Parameter&, const plan_detail::Field& field) { names.emplace_back(field.name); });
  if constexpr (plan_detail::HasPlan<T>) names.emplace_back("plan");
  const auto is_unknown = [&](const Json::Member& member) {
    return std::find(names.begin(), names.end(), member.name) == names.end();
  };
  const auto& members = body.members();
  const auto unknown = std::find_if(members.begin(), members.end(), is_unknown);
  malformed(std::string(plan_detail::name_of<T>) + " has no parameter \"" + unknown->name +
            "\"; it takes " + join(names));
}

// Reads the parameters of a node from its JSON body.
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
      const Json* value = body.find(field.name);
      if (value == nullptr) {
        if (!field.has_default) malformed(name + " needs \"" + std::string(field.name) + "\"");
        return;
      }
      ++used;
      const auto read_parameter = parameter_of(*value);
      if (!read_parameter)
        malformed("\"" + std::string(field.name) + "\" of " + name +
                  " takes a number, \"?\" or {\"hole\": factor}");
      parameter = *read_parameter;
    });
    if constexpr (plan_detail::HasPlan<T>) {
      if (!body.contains("plan")) malformed(name + " needs \"plan\"");
      ++used;
      node.plan = plan_of(body["plan"], depth + 1);
    }
    if (used != body.size()) fail_unknown_member(body, node);
  }
  return node;
}

Plan plan_of(const Json& json, int depth) {
  if (depth > depth_limit)
    malformed("it is nested more than " + std::to_string(depth_limit) + " levels deep");
  if (!json.is_object() || json.size() != 1)
    malformed("a plan is an object with one member, the mechanism's name");
  const std::string& name = json.members().front().name;
  const Json& body = json.members().front().value;
  std::vector<Plan> plan;
  if (plan_detail::with_leaf_named(name,
                                   [&](auto node) { plan.push_back(read(body, node, depth)); }))
    return plan.front();
  const Plan placeholder = pure(0);  // read() replaces it
  if (name == "repeat") return read(body, Repeat{0, placeholder}, depth);
  if (name == "sum") return read(body, Sum{}, depth);
  if (name == "parallel") return read(body, Parallel{}, depth);
  if (name == "poisson") return read(body, Poisson{0, placeholder}, depth);
  if (name == "without_replacement")
    return read(body, WithoutReplacement{0, 0, placeholder}, depth);
  if (name == "group") return read(body, Group{0, placeholder}, depth);
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
