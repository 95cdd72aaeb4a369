#include "report/api/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/api/answers_json.hpp"
#include "accounting/api/generalisation.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/table.hpp"

namespace sotto {
namespace {

using report_detail::csv_number;
using report_detail::down;
using report_detail::end_of_bracket;
using report_detail::field;
using report_detail::Json;
using report_detail::notes_text;
using report_detail::padded;
using report_detail::relation_text;
using report_detail::row;
using report_detail::up;

std::string by_text(const Answer& answer) {
  std::string text(name(answer.by));
  if (answer.order) text += ", order " + rounded(*answer.order, 7, Side::upper);
  return text;
}

std::string value_table(const std::string& what, const Answer& answer, const std::string& at) {
  return field(what, "<= " + end_of_bracket(answer.value.upper, Side::upper) + at) +
         field("", ">= " + end_of_bracket(answer.value.lower, Side::lower)) + field("by", by_text(answer)) +
         field("relation", relation_text(answer)) + notes_text(answer);
}

}  // namespace

std::optional<Format> format_named(std::string_view text) {
  if (text == "table") return Format::table;
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  return std::nullopt;
}

std::string epsilon_text(const Plan& plan, Delta delta, const Answer& answer, Format format) {
  if (format == Format::json) {
    Json json = report_detail::header("sotto.epsilon/1", plan, answer);
    json["delta"] = delta.value();
    json["by"] = name(answer.by);
    json["epsilon"] = report_detail::bound(answer.value);
    report_detail::close(json, answer);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    return row({"plan", "relation", "delta", "by", "epsilon_lower", "epsilon_upper", "order"}) +
           row({print(plan), std::string(name(answer.relation)), shortest(delta.value()), std::string(name(answer.by)),
                csv_number(answer.value.lower), csv_number(answer.value.upper), answer.order ? shortest(*answer.order) : ""});
  }
  return value_table("epsilon", answer, "   at delta = " + shortest(delta.value()));
}

std::string delta_text(const Plan& plan, Epsilon epsilon, const Answer& answer, Format format) {
  if (format == Format::json) {
    Json json = report_detail::header("sotto.delta/1", plan, answer);
    json["epsilon"] = epsilon.value();
    json["by"] = name(answer.by);
    json["delta"] = report_detail::bound(answer.value);
    report_detail::close(json, answer);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    return row({"plan", "relation", "epsilon", "by", "delta_lower", "delta_upper", "order"}) +
           row({print(plan), std::string(name(answer.relation)), shortest(epsilon.value()), std::string(name(answer.by)),
                csv_number(answer.value.lower), csv_number(answer.value.upper), answer.order ? shortest(*answer.order) : ""});
  }
  return value_table("delta", answer, "   at epsilon = " + shortest(epsilon.value()));
}

namespace {

std::string order_meaning(double order) { return order == 1 ? " (Kullback-Leibler)" : std::isinf(order) ? " (max divergence)" : ""; }

}  // namespace

std::string divergence_text(const Plan& plan, const Answer& answer, Format format) {
  if (format == Format::csv) return divergence_curve_text(plan, {answer}, format);
  if (format == Format::json) {
    Json json = report_detail::header("sotto.divergence/1", plan, answer);
    json["order"] = report_detail::number(*answer.order);
    json["divergence"] = report_detail::bound(answer.value);
    if (!answer.notes.empty()) json["notes"] = answer.notes;
    return report_detail::line(json);
  }
  const std::string order = shortest(*answer.order) + order_meaning(*answer.order);
  return field("divergence", "<= " + end_of_bracket(answer.value.upper, Side::upper) + "   of order " + order) +
         field("", ">= " + end_of_bracket(answer.value.lower, Side::lower)) + field("relation", relation_text(answer)) + notes_text(answer);
}

std::string divergence_curve_text(const Plan& plan, const std::vector<Answer>& answers, Format format) {
  if (format == Format::json) {
    Json json = report_detail::header("sotto.divergence-curve/1", plan, answers.front());
    json["points"] = Json::array();
    for (const Answer& a : answers)
      json["points"].push_back({{"order", report_detail::number(*a.order)}, {"divergence", report_detail::bound(a.value)}});
    if (!answers.front().notes.empty()) json["notes"] = answers.front().notes;
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    std::string out = row({"order", "divergence_lower", "divergence_upper"});
    for (const Answer& a : answers) out += row({shortest(*a.order), csv_number(a.value.lower), csv_number(a.value.upper)});
    return out;
  }
  std::string out = padded("order", 10) + padded("divergence >=", 18) + "divergence <=\n";
  for (const Answer& a : answers)
    out += padded(shortest(*a.order), 10) + padded(down(a.value.lower), 18) + up(a.value.upper) + order_meaning(*a.order) + "\n";
  return out + field("relation", relation_text(answers.front())) + notes_text(answers.front());
}

namespace {

Json waste_json(const Waste& waste) {
  return {{"epsilon", report_detail::number(waste.epsilon)}, {"noise", waste.noise ? Json(*waste.noise) : Json(nullptr)}};
}

// To nearest: a ratio is no bound.
std::string four_digits(double x) { return to_nearest(x, 4); }

std::string answered_row(const Comparison& r) {
  const auto factor = [](std::optional<double> x) { return x ? four_digits(*x) + "x" : "-"; };
  const std::string order = r.answer->order ? rounded(*r.answer->order, 7, Side::upper) : "";
  const std::string text = padded(std::string(name(r.method)), 17) + padded(up(r.answer->value.upper), 14) +
                           padded(factor(r.waste ? std::optional(r.waste->epsilon) : std::nullopt), 9) +
                           padded(factor(r.waste ? r.waste->noise : std::nullopt), 11) + order;
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::string compare_text(const Plan& plan, Delta delta, const std::vector<Comparison>& rows, Format format) {
  const auto answered = std::find_if(rows.begin(), rows.end(), [](const Comparison& r) { return r.answer.has_value(); });
  const Answer any = answered == rows.end() ? Answer{} : *answered->answer;
  if (format == Format::json) {
    Json json = report_detail::header("sotto.compare/1", plan, any);
    json["delta"] = delta.value();
    json["rows"] = Json::array();
    for (const Comparison& r : rows) {
      Json one{{"by", name(r.method)}};
      if (r.answer) {
        one["epsilon"] = report_detail::bound(r.answer->value);
        if (r.waste) one["waste"] = waste_json(*r.waste);
        report_detail::close(one, *r.answer);
      } else {
        one["refused"] = r.refusal;
      }
      json["rows"].push_back(one);
    }
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    std::string out = row({"by", "epsilon_lower", "epsilon_upper", "order", "refused", "waste_epsilon", "waste_noise"});
    for (const Comparison& r : rows) {
      out += r.answer ? row({std::string(name(r.method)), csv_number(r.answer->value.lower), csv_number(r.answer->value.upper),
                             r.answer->order ? shortest(*r.answer->order) : "", "", r.waste ? shortest(r.waste->epsilon) : "",
                             r.waste && r.waste->noise ? shortest(*r.waste->noise) : ""})
                      : row({std::string(name(r.method)), "", "", "", r.refusal, "", ""});
    }
    return out;
  }
  // Smallest first, then what does not apply.
  std::vector<Comparison> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Comparison& a, const Comparison& b) {
    if (a.answer.has_value() != b.answer.has_value()) return a.answer.has_value();
    return a.answer && a.answer->value.upper < b.answer->value.upper;
  });
  std::string out = padded("method", 17) + padded("epsilon <=", 14) + padded("waste", 9) + padded("in noise", 11) + "order\n";
  for (const Comparison& r : sorted) {
    out += (r.answer ? answered_row(r) : padded(std::string(name(r.method)), 17) + "does not apply: " + r.refusal) + "\n";
  }
  out += "\n" + field("truth", ">= " + down(any.value.lower)) + field("at delta", shortest(delta.value())) + field("relation", relation_text(any));
  for (const Comparison& r : sorted) {
    if (!r.answer) continue;
    for (const std::string& note : r.answer->notes) out += field("note", std::string(name(r.method)) + ": " + note);
  }
  return out;
}

namespace {

void tree(const Derivation& d, const std::string& first, const std::string& rest, std::string& out) {
  out += first + d.guarantee + "\n";
  const std::string inner = rest + (d.premises.empty() ? "   " : "│  ");
  if (!d.plan.empty()) out += inner + "for " + d.plan + "\n";
  out += inner + "by  " + d.theorem + " [" + d.reference + "]\n";
  for (const Condition& c : d.conditions) out += inner + "    with " + c + "\n";
  for (std::size_t i = 0; i < d.premises.size(); ++i) {
    const bool last = i + 1 == d.premises.size();
    tree(d.premises[i], rest + (last ? "└─ " : "├─ "), rest + (last ? "   " : "│  "), out);
  }
}

void tree_rows(const Derivation& d, int depth, std::string& out) {
  std::string conditions;
  for (const Condition& c : d.conditions) conditions += (conditions.empty() ? "" : "; ") + c;
  out += row({std::to_string(depth), d.plan, d.theorem, d.reference, conditions, d.guarantee});
  for (const Derivation& premise : d.premises) tree_rows(premise, depth + 1, out);
}

}  // namespace

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double accused = 0.01;  // the false-positive rate at which a cost is put into words

double success(const Answer& answer, Delta delta) { return std::min(1.0, next_up((1 + advantage(answer.value.upper, delta)) / 2)); }

std::string percent(double share) { return rounded(std::min(100.0, next_up(100 * share)), 3, Side::upper) + "%"; }

// What (ε, δ) lets an attacker do, in words.
std::string attacker_text(const Answer& answer, Delta delta) {
  return field("attacker", "who accuses 1% of those who are not in the data finds at most " +
                               percent(true_positive_rate(answer.value.upper, delta, accused)) + " of those who are,") +
         field("", "and tells which of two neighbours it was at most " + percent(success(answer, delta)) +
                       " of the time; the plan itself may allow far less: see its trade-off");
}

double gap_of(const Answer& answer, Delta delta) {
  return generalisation_gap(Real(answer.value.upper), Real(delta.value()), answer.relation).upper();
}

// What (ε, δ) says of overfitting, in words.
std::string learning_text(const Answer& answer, Delta delta) {
  return field("learning", "whatever is learned: its expected loss, from 0 to 1, on the data and on new data is at most " +
                               rounded(gap_of(answer, delta), 3, Side::upper) + " apart");
}

}  // namespace

std::string explain_text(const Plan& plan, Delta delta, const Answer& answer, Format format) {
  if (format == Format::json) {
    Json json = report_detail::header("sotto.explain/1", plan, answer);
    json["delta"] = delta.value();
    json["by"] = name(answer.by);
    json["epsilon"] = report_detail::bound(answer.value);
    report_detail::close(json, answer);
    const Bound rate{-infinity, true_positive_rate(answer.value.upper, delta, accused)};
    json["attacker"] = {
        {"fpr", accused}, {"tpr", report_detail::bound(rate)}, {"success", report_detail::bound({-infinity, success(answer, delta)})}};
    json["generalisation_gap"] = gap_of(answer, delta);
    json["derivation"] = report_detail::derivation(answer.derivation);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    std::string out = row({"depth", "plan", "theorem", "reference", "conditions", "guarantee"});
    tree_rows(answer.derivation, 0, out);
    return out;
  }
  std::string out;
  tree(answer.derivation, "", "", out);
  return out + "\n" + value_table("epsilon", answer, "   at delta = " + shortest(delta.value())) + attacker_text(answer, delta) +
         learning_text(answer, delta);
}

namespace {

std::string count_or_number(double x, bool whole) { return whole ? std::to_string(static_cast<std::int64_t>(x)) : shortest(x); }

// "smaller by 1e-09 (relative) does not suffice", where that is proved.
std::string tightness_text(const Calibration& calibration) {
  if (!calibration.insufficient) return "";
  const double other = *calibration.insufficient;
  if (calibration.whole) return field("tight", count_or_number(other, true) + " does not suffice");
  const double gap = std::abs(other / calibration.value - 1) < 1e-7 ? 1e-9 : 1e-6;
  return field("tight", std::string(other < calibration.value ? "smaller" : "larger") + " by " + shortest(gap) + " (relative) does not suffice");
}

// The ω of a plan that has a ρ at every order.
double shown_omega(double omega) { return omega >= 0x1p900 ? infinity : omega; }

}  // namespace

std::string calibrate_text(Epsilon epsilon, Delta delta, const Calibration& calibration, Format format) {
  const Answer& cost = calibration.cost;
  if (format == Format::json) {
    Json json = report_detail::header("sotto.calibrate/1", calibration.plan, cost);
    json["hole"] = calibration.hole;
    const auto value = [&](double x) { return calibration.whole ? Json(static_cast<std::int64_t>(x)) : Json(x); };
    json["value"] = value(calibration.value);
    json["insufficient"] = calibration.insufficient ? value(*calibration.insufficient) : Json(nullptr);
    json["target"] = {{"epsilon", epsilon.value()}, {"delta", delta.value()}};
    json["delta"] = delta.value();
    json["by"] = name(cost.by);
    json["epsilon"] = report_detail::bound(cost.value);
    report_detail::close(json, cost);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    return row({"plan", "hole", "value", "relation", "delta", "by", "epsilon_lower", "epsilon_upper", "insufficient"}) +
           row({print(calibration.plan), calibration.hole, count_or_number(calibration.value, calibration.whole), std::string(name(cost.relation)),
                shortest(delta.value()), std::string(name(cost.by)), csv_number(cost.value.lower), csv_number(cost.value.upper),
                calibration.insufficient ? count_or_number(*calibration.insufficient, calibration.whole) : ""});
  }
  return field("value", count_or_number(calibration.value, calibration.whole) + "   (" + calibration.hole + ")") +
         field("plan", print(calibration.plan)) + value_table("epsilon", cost, "   at delta = " + shortest(delta.value())) +
         tightness_text(calibration);
}

std::string calibrate_text(const DivergenceTarget& target, const Calibration& calibration, Format format) {
  const Answer& cost = calibration.cost;
  const auto* renyi = std::get_if<RenyiTarget>(&target);
  const auto* tcdp = std::get_if<TcdpTarget>(&target);
  const char* const amount = renyi != nullptr ? "divergence" : "rho";
  const std::string insufficient = calibration.insufficient ? count_or_number(*calibration.insufficient, calibration.whole) : "";
  if (format == Format::json) {
    Json json = report_detail::header("sotto.calibrate/1", calibration.plan, cost);
    json["hole"] = calibration.hole;
    const auto value = [&](double x) { return calibration.whole ? Json(static_cast<std::int64_t>(x)) : Json(x); };
    json["value"] = value(calibration.value);
    json["insufficient"] = calibration.insufficient ? value(*calibration.insufficient) : Json(nullptr);
    Json asked = Json::object();
    if (renyi != nullptr) {
      asked["order"] = report_detail::number(renyi->order.value());
      asked["renyi"] = renyi->epsilon;
    } else {
      asked["rho"] = tcdp != nullptr ? tcdp->rho : std::get<ZcdpTarget>(target).rho;
      if (tcdp != nullptr) asked["omega"] = report_detail::number(tcdp->omega);
    }
    json["target"] = asked;
    json["by"] = name(cost.by);
    json[amount] = report_detail::bound(cost.value);
    if (calibration.omega) json["omega"] = report_detail::number(shown_omega(*calibration.omega));
    report_detail::close(json, cost);
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    return row({"plan", "hole", "value", "relation", "order", "by", std::string(amount) + "_lower", std::string(amount) + "_upper", "omega",
                "insufficient"}) +
           row({print(calibration.plan), calibration.hole, count_or_number(calibration.value, calibration.whole), std::string(name(cost.relation)),
                cost.order ? shortest(*cost.order) : "", std::string(name(cost.by)), csv_number(cost.value.lower), csv_number(cost.value.upper),
                calibration.omega ? shortest(shown_omega(*calibration.omega)) : "", insufficient});
  }
  const std::string at_order = renyi != nullptr ? "   of order " + shortest(*cost.order) : "";
  std::string out = field("value", count_or_number(calibration.value, calibration.whole) + "   (" + calibration.hole + ")") +
                    field("plan", print(calibration.plan)) + field(amount, "<= " + end_of_bracket(cost.value.upper, Side::upper) + at_order) +
                    field("", ">= " + end_of_bracket(cost.value.lower, Side::lower));
  if (calibration.omega) out += field("omega", ">= " + down(shown_omega(*calibration.omega)));
  return out + field("by", std::string(name(cost.by))) + field("relation", relation_text(cost)) + notes_text(cost) + tightness_text(calibration);
}

}  // namespace sotto
