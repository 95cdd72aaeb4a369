// Answers about a plan as a table, JSON or CSV: epsilon, delta, divergences, comparisons,
// derivations, calibrations.
#include "report/api/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/api/generalisation.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using report_detail::bound;
using report_detail::csv_number;
using report_detail::csv_row;
using report_detail::end_of_bracket;
using report_detail::field;
using report_detail::Json;
using report_detail::notes_text;
using report_detail::padded;
using report_detail::relation_text;
using report_detail::rounded_down;
using report_detail::rounded_up;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string name_text(Method method) { return std::string(name(method)); }
std::string name_text(Relation relation) { return std::string(name(relation)); }

std::string by_text(const Answer& answer) {
  std::string text = name_text(answer.by);
  if (answer.order) text += ", order " + rounded(*answer.order, 7, Side::upper);
  return text;
}

// Two lines: the upper end of the bracket, followed by `condition`, and the lower end.
std::string bracket_text(const std::string& label, const Bound& value,
                         const std::string& condition) {
  return field(label, "<= " + end_of_bracket(value.upper, Side::upper) + condition) +
         field("", ">= " + end_of_bracket(value.lower, Side::lower));
}

std::string at_delta(Delta delta) { return "   at delta = " + shortest(delta.value()); }

std::string value_table(const std::string& label, const Answer& answer,
                        const std::string& condition) {
  return bracket_text(label, answer.value, condition) + field("by", by_text(answer)) +
         field("relation", relation_text(answer)) + notes_text(answer);
}

std::string order_text(const Answer& answer) { return answer.order ? shortest(*answer.order) : ""; }

// The members "by" and `quantity`, with the order and the notes behind them.
void add_bracket(Json& json, const char* quantity, const Answer& answer) {
  json["by"] = name(answer.by);
  json[quantity] = bound(answer.value);
  report_detail::close(json, answer);
}

// ε at a δ, or δ at an ε.
struct Quantity {
  const char* schema;
  const char* name;
  const char* at;
  double at_value;
};

std::string quantity_text(const Quantity& quantity, const Plan& plan, const Answer& answer,
                          Format format) {
  if (format == Format::json) {
    Json json = report_detail::header(quantity.schema, plan, answer);
    json[quantity.at] = quantity.at_value;
    add_bracket(json, quantity.name, answer);
    return report_detail::line(json);
  }
  const std::string name = quantity.name;
  if (format == Format::csv) {
    return csv_row(
               {"plan", "relation", quantity.at, "by", name + "_lower", name + "_upper", "order"}) +
           csv_row({print(plan), name_text(answer.relation), shortest(quantity.at_value),
                    name_text(answer.by), csv_number(answer.value.lower),
                    csv_number(answer.value.upper), order_text(answer)});
  }
  return value_table(name, answer,
                     std::string("   at ") + quantity.at + " = " + shortest(quantity.at_value));
}

}  // namespace

std::optional<Format> format_named(std::string_view text) {
  if (text == "table") return Format::table;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  return std::nullopt;
}

std::string epsilon_text(const Plan& plan, Delta delta, const Answer& answer, Format format) {
  return quantity_text({"sotto.epsilon/1", "epsilon", "delta", delta.value()}, plan, answer,
                       format);
}

std::string delta_text(const Plan& plan, Epsilon epsilon, const Answer& answer, Format format) {
  return quantity_text({"sotto.delta/1", "delta", "epsilon", epsilon.value()}, plan, answer,
                       format);
}

namespace {

std::string order_meaning(double order) {
  return order == 1 ? " (Kullback-Leibler)" : std::isinf(order) ? " (max divergence)" : "";
}

}  // namespace

std::string divergence_text(const Plan& plan, const Answer& answer, Format format) {
  if (format == Format::csv) return divergence_curve_text(plan, {answer}, format);
  if (format == Format::json) {
    Json json = report_detail::header("sotto.divergence/1", plan, answer);
    json["order"] = report_detail::number(*answer.order);
    json["divergence"] = bound(answer.value);
    if (!answer.notes.empty()) json["notes"] = answer.notes;
    return report_detail::line(json);
  }
  const std::string order = shortest(*answer.order) + order_meaning(*answer.order);
  return bracket_text("divergence", answer.value, "   of order " + order) +
         field("relation", relation_text(answer)) + notes_text(answer);
}

std::string divergence_curve_text(const Plan& plan, const std::vector<Answer>& answers,
                                  Format format) {
  if (format == Format::json) {
    Json json = report_detail::header("sotto.divergence-curve/1", plan, answers.front());
    json["points"] = Json::array();
    for (const Answer& a : answers)
      json["points"].push_back(
          {{"order", report_detail::number(*a.order)}, {"divergence", bound(a.value)}});
    if (!answers.front().notes.empty()) json["notes"] = answers.front().notes;
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    std::string out = csv_row({"order", "divergence_lower", "divergence_upper"});
    for (const Answer& a : answers)
      out += csv_row({shortest(*a.order), csv_number(a.value.lower), csv_number(a.value.upper)});
    return out;
  }
  std::string out = padded("order", 10) + padded("divergence >=", 18) + "divergence <=\n";
  for (const Answer& a : answers) {
    out += padded(shortest(*a.order), 10) + padded(rounded_down(a.value.lower), 18) +
           rounded_up(a.value.upper) + order_meaning(*a.order) + "\n";
  }
  return out + field("relation", relation_text(answers.front())) + notes_text(answers.front());
}

namespace {

Json waste_json(const Waste& waste) {
  return {{"epsilon", report_detail::number(waste.epsilon)},
          {"noise", waste.noise ? Json(*waste.noise) : Json(nullptr)}};
}

Json comparison_json(const Comparison& r) {
  Json json{{"by", name(r.method)}};
  if (!r.answer) {
    json["refused"] = r.refusal;
    return json;
  }
  json["epsilon"] = bound(r.answer->value);
  if (r.waste) json["waste"] = waste_json(*r.waste);
  report_detail::close(json, *r.answer);
  return json;
}

std::string comparison_csv(const Comparison& r) {
  if (!r.answer) return csv_row({name_text(r.method), "", "", "", r.refusal, "", ""});
  return csv_row({name_text(r.method), csv_number(r.answer->value.lower),
                  csv_number(r.answer->value.upper), order_text(*r.answer), "",
                  r.waste ? shortest(r.waste->epsilon) : "",
                  r.waste && r.waste->noise ? shortest(*r.waste->noise) : ""});
}

std::string comparison_line(const Comparison& r) {
  if (!r.answer) return padded(name_text(r.method), 17) + "does not apply: " + r.refusal;
  // A waste factor is a ratio of two upper bounds and no bound itself, so it is rounded to nearest.
  const auto factor = [](std::optional<double> x) { return x ? to_nearest(*x, 4) + "x" : "-"; };
  const std::string order = r.answer->order ? rounded(*r.answer->order, 7, Side::upper) : "";
  const std::string text =
      padded(name_text(r.method), 17) + padded(rounded_up(r.answer->value.upper), 14) +
      padded(factor(r.waste ? std::optional(r.waste->epsilon) : std::nullopt), 9) +
      padded(factor(r.waste ? r.waste->noise : std::nullopt), 11) + order;
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// `any`: the answer of any method; all share their relation and their lower bound.
std::string comparison_table(Delta delta, std::vector<Comparison> rows, const Answer& any) {
  // Smallest ε first, then the methods that do not apply.
  std::stable_sort(rows.begin(), rows.end(), [](const Comparison& a, const Comparison& b) {
    if (a.answer.has_value() != b.answer.has_value()) return a.answer.has_value();
    return a.answer && a.answer->value.upper < b.answer->value.upper;
  });
  std::string out = padded("method", 17) + padded("epsilon <=", 14) + padded("waste", 9) +
                    padded("in noise", 11) + "order\n";
  for (const Comparison& r : rows) out += comparison_line(r) + "\n";
  out += "\n" + field("truth", ">= " + rounded_down(any.value.lower)) +
         field("at delta", shortest(delta.value())) + field("relation", relation_text(any));
  for (const Comparison& r : rows) {
    if (!r.answer) continue;
    for (const std::string& note : r.answer->notes)
      out += field("note", name_text(r.method) + ": " + note);
  }
  return out;
}

}  // namespace

std::string compare_text(const Plan& plan, Delta delta, const std::vector<Comparison>& rows,
                         Format format) {
  const auto answered = std::find_if(rows.begin(), rows.end(),
                                     [](const Comparison& r) { return r.answer.has_value(); });
  const Answer any = answered == rows.end() ? Answer{} : *answered->answer;
  if (format == Format::json) {
    Json json = report_detail::header("sotto.compare/1", plan, any);
    json["delta"] = delta.value();
    json["rows"] = Json::array();
    for (const Comparison& r : rows) json["rows"].push_back(comparison_json(r));
    return report_detail::line(json);
  }
  if (format == Format::table) return comparison_table(delta, rows, any);
  std::string out = csv_row(
      {"by", "epsilon_lower", "epsilon_upper", "order", "refused", "waste_epsilon", "waste_noise"});
  for (const Comparison& r : rows) out += comparison_csv(r);
  return out;
}

namespace {

// Appends a derivation as a tree of lines. `first` is the prefix of its first line, `rest` that of
// all other lines.
void add_tree(const Derivation& d, const std::string& first, const std::string& rest,
              std::string& out) {
  out += first + d.guarantee + "\n";
  const std::string inner = rest + (d.premises.empty() ? "   " : "│  ");
  if (!d.plan.empty()) out += inner + "for " + d.plan + "\n";
  out += inner + "by  " + d.theorem + " [" + d.reference + "]\n";
  for (const Condition& c : d.conditions) out += inner + "    with " + c + "\n";
  for (std::size_t i = 0; i < d.premises.size(); ++i) {
    const bool last = i + 1 == d.premises.size();
    add_tree(d.premises[i], rest + (last ? "└─ " : "├─ "), rest + (last ? "   " : "│  "), out);
  }
}

void add_tree_rows(const Derivation& d, int depth, std::string& out) {
  std::string conditions;
  for (const Condition& c : d.conditions) conditions += (conditions.empty() ? "" : "; ") + c;
  out += csv_row({std::to_string(depth), d.plan, d.theorem, d.reference, conditions, d.guarantee});
  for (const Derivation& premise : d.premises) add_tree_rows(premise, depth + 1, out);
}

constexpr double false_positive_rate =
    0.01;  // at which the attacker's true-positive rate is stated

// The probability that an attacker guesses rightly which of two equally likely neighbours was the
// input: (1 + advantage) / 2, rounded up.
double success(const Answer& answer, Delta delta) {
  return std::min(1.0, next_up((1 + advantage(answer.value.upper, delta)) / 2));
}

std::string percent(double share) {
  return rounded(std::min(100.0, next_up(100 * share)), 3, Side::upper) + "%";
}

// Says in words how well an attacker can do against (ε, δ).
std::string attacker_text(const Answer& answer, Delta delta) {
  return field("attacker",
               "who accuses 1% of those who are not in the data finds at most " +
                   percent(true_positive_rate(answer.value.upper, delta, false_positive_rate)) +
                   " of those who are,") +
         field("", "and tells which of two neighbours it was at most " +
                       percent(success(answer, delta)) +
                       " of the time; the plan itself may allow far less: see its trade-off");
}

double gap_of(const Answer& answer, Delta delta) {
  return generalisation_gap(Real(answer.value.upper), Real(delta.value()), answer.relation).upper();
}

// Says in words what (ε, δ) implies for overfitting.
std::string learning_text(const Answer& answer, Delta delta) {
  return field("learning",
               "whatever is learned: its expected loss, from 0 to 1, on the data and on new data "
               "is at most " +
                   rounded(gap_of(answer, delta), 3, Side::upper) + " apart");
}

Json attacker_json(const Answer& answer, Delta delta) {
  const double rate = true_positive_rate(answer.value.upper, delta, false_positive_rate);
  return {{"fpr", false_positive_rate},
          {"tpr", bound({-infinity, rate})},
          {"success", bound({-infinity, success(answer, delta)})}};
}

}  // namespace

std::string explain_text(const Plan& plan, Delta delta, const Answer& answer, Format format) {
  if (format == Format::json) {
    Json json = report_detail::header("sotto.explain/1", plan, answer);
    json["delta"] = delta.value();
    add_bracket(json, "epsilon", answer);
    json["attacker"] = attacker_json(answer, delta);
    json["generalisation_gap"] = gap_of(answer, delta);
    json["derivation"] = report_detail::derivation(answer.derivation);
    return report_detail::line(json);
  }
  std::string out;
  if (format == Format::csv) {
    out = csv_row({"depth", "plan", "theorem", "reference", "conditions", "guarantee"});
    add_tree_rows(answer.derivation, 0, out);
    return out;
  }
  add_tree(answer.derivation, "", "", out);
  return out + "\n" + value_table("epsilon", answer, at_delta(delta)) +
         attacker_text(answer, delta) + learning_text(answer, delta);
}

namespace {

std::string value_text(const Calibration& calibration, double x) {
  return calibration.whole ? std::to_string(static_cast<std::int64_t>(x)) : shortest(x);
}

Json value_json(const Calibration& calibration, double x) {
  return calibration.whole ? Json(static_cast<std::int64_t>(x)) : Json(x);
}

std::string insufficient_text(const Calibration& calibration) {
  return calibration.insufficient ? value_text(calibration, *calibration.insufficient) : "";
}

// "smaller by 1e-09 (relative) does not suffice"; empty if no value is proved to be insufficient.
std::string tightness_text(const Calibration& calibration) {
  if (!calibration.insufficient) return "";
  const double other = *calibration.insufficient;
  if (calibration.whole)
    return field("tight", value_text(calibration, other) + " does not suffice");
  const double gap = std::abs(other / calibration.value - 1) < 1e-7 ? 1e-9 : 1e-6;
  return field("tight", std::string(other < calibration.value ? "smaller" : "larger") + " by " +
                            shortest(gap) + " (relative) does not suffice");
}

// A plan that satisfies ρ-zCDP at every order has ω = ∞, which calibration represents by a number
// of at least 2^900.
double displayed_omega(double omega) { return omega >= 0x1p900 ? infinity : omega; }

// The value in front of every calibration, as JSON and as a table.
Json calibration_json(const Calibration& calibration) {
  Json json = report_detail::header("sotto.calibrate/1", calibration.plan, calibration.cost);
  json["hole"] = calibration.hole;
  json["value"] = value_json(calibration, calibration.value);
  json["insufficient"] =
      calibration.insufficient ? value_json(calibration, *calibration.insufficient) : Json(nullptr);
  return json;
}

std::string calibration_table(const Calibration& calibration) {
  return field("value",
               value_text(calibration, calibration.value) + "   (" + calibration.hole + ")") +
         field("plan", print(calibration.plan));
}

// The name under which a target's amount is written.
const char* amount_name(const DivergenceTarget& target) {
  return std::holds_alternative<RenyiTarget>(target) ? "divergence" : "rho";
}

Json target_json(const DivergenceTarget& target) {
  Json json = Json::object();
  if (const auto* renyi = std::get_if<RenyiTarget>(&target)) {
    json["order"] = report_detail::number(renyi->order.value());
    json["renyi"] = renyi->epsilon;
    return json;
  }
  const auto* tcdp = std::get_if<TcdpTarget>(&target);
  json["rho"] = tcdp != nullptr ? tcdp->rho : std::get<ZcdpTarget>(target).rho;
  if (tcdp != nullptr) json["omega"] = report_detail::number(tcdp->omega);
  return json;
}

}  // namespace

std::string calibrate_text(Epsilon epsilon, Delta delta, const Calibration& calibration,
                           Format format) {
  const Answer& cost = calibration.cost;
  if (format == Format::json) {
    Json json = calibration_json(calibration);
    json["target"] = {{"epsilon", epsilon.value()}, {"delta", delta.value()}};
    json["delta"] = delta.value();
    add_bracket(json, "epsilon", cost);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    return csv_row({"plan", "hole", "value", "relation", "delta", "by", "epsilon_lower",
                    "epsilon_upper", "insufficient"}) +
           csv_row({print(calibration.plan), calibration.hole,
                    value_text(calibration, calibration.value), name_text(cost.relation),
                    shortest(delta.value()), name_text(cost.by), csv_number(cost.value.lower),
                    csv_number(cost.value.upper), insufficient_text(calibration)});
  }
  return calibration_table(calibration) + value_table("epsilon", cost, at_delta(delta)) +
         tightness_text(calibration);
}

std::string calibrate_text(const DivergenceTarget& target, const Calibration& calibration,
                           Format format) {
  const Answer& cost = calibration.cost;
  const std::string amount = amount_name(target);
  if (format == Format::json) {
    Json json = calibration_json(calibration);
    json["target"] = target_json(target);
    json["by"] = name(cost.by);
    json[amount] = bound(cost.value);
    if (calibration.omega)
      json["omega"] = report_detail::number(displayed_omega(*calibration.omega));
    report_detail::close(json, cost);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    return csv_row({"plan", "hole", "value", "relation", "order", "by", amount + "_lower",
                    amount + "_upper", "omega", "insufficient"}) +
           csv_row({print(calibration.plan), calibration.hole,
                    value_text(calibration, calibration.value), name_text(cost.relation),
                    order_text(cost), name_text(cost.by), csv_number(cost.value.lower),
                    csv_number(cost.value.upper),
                    calibration.omega ? shortest(displayed_omega(*calibration.omega)) : "",
                    insufficient_text(calibration)});
  }
  const bool is_renyi = std::holds_alternative<RenyiTarget>(target);
  std::string out =
      calibration_table(calibration) +
      bracket_text(amount, cost.value, is_renyi ? "   of order " + shortest(*cost.order) : "");
  if (calibration.omega)
    out += field("omega", ">= " + rounded_down(displayed_omega(*calibration.omega)));
  return out + field("by", name_text(cost.by)) + field("relation", relation_text(cost)) +
         notes_text(cost) + tightness_text(calibration);
}

}  // namespace sotto
