// Each row sets a bound that was measured with a stated confidence against the claim.
#include "report/api/audit.hpp"

#include <algorithm>
#include <cmath>

#include "core/api/percent.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/svg.hpp"
#include "report/api/table.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using report_detail::field;
using report_detail::Json;

std::string percent(double confidence) { return rounded(100 * confidence, 12, Side::lower) + " %"; }

Json json_of(const MeasuredBound& measured, double claimed) {
  const AuditEvent& e = measured.event;
  return {{"measured", measured.lower},
          {"claimed", report_detail::number(claimed)},
          {"event", e.what},
          {"inputs", e.inputs},
          {"likelier_on", e.of_second ? "second" : "first"},
          {"trials", e.trials},
          {"hits", e.hits},
          {"false_hits", e.false_hits},
          {"p_lower", e.p_lower},
          {"q_upper", e.q_upper}};
}

std::string event_lines(const MeasuredBound& measured) {
  const AuditEvent& e = measured.event;
  const std::string likely = e.of_second ? "second" : "first";
  const std::string other = e.of_second ? "first" : "second";
  return field("  inputs", e.inputs) + field("  event", e.what) +
         field("  happened", std::to_string(e.hits) + " times on the " + likely + " input, " +
                                 std::to_string(e.false_hits) + " times on the " + other + ", of " +
                                 std::to_string(e.trials) + " each");
}

std::string comparison_text(double measured, double claimed, double confidence) {
  return "measured >= " + report_detail::rounded_down(measured) + " with confidence " +
         percent(confidence) + ", claimed <= " + report_detail::rounded_up(claimed);
}

std::string title_of(const char* what, const Plan& plan) {
  const std::string text = print(plan);
  return text.size() <= 60 ? what + (": " + text) : what;
}

}  // namespace

std::string audit_text(const Plan& event, const Audit& audit, const AuditClaim& claim,
                       Format format) {
  const bool finding = contradicts(audit, claim);
  if (format == Format::json) {
    Json json = {
        {"schema", "sotto.audit/1"}, {"mechanism", print(event)}, {"confidence", audit.confidence}};
    json["epsilon"] = json_of(audit.epsilon, claim.epsilon);
    json["epsilon"]["at_delta"] = audit.delta_at;
    json["delta"] = json_of(audit.delta, claim.delta);
    json["delta"]["at_epsilon"] = audit.epsilon_at;
    json["contradicts"] = finding;
    return report_detail::line(json);
  }
  if (format == Format::csv) {
    std::string text = report_detail::csv_row({"quantity", "at", "measured_lower", "claimed_upper",
                                               "confidence", "hits", "false_hits", "trials"});
    const auto add = [&](const char* name, double at, const MeasuredBound& m, double claimed) {
      text += report_detail::csv_row(
          {name, shortest(at), shortest(m.lower), report_detail::csv_number(claimed),
           shortest(audit.confidence), std::to_string(m.event.hits),
           std::to_string(m.event.false_hits), std::to_string(m.event.trials)});
    };
    add("epsilon", audit.delta_at, audit.epsilon, claim.epsilon);
    add("delta", audit.epsilon_at, audit.delta, claim.delta);
    return text;
  }
  return field("mechanism", print(event)) +
         field("epsilon", comparison_text(audit.epsilon.lower, claim.epsilon, audit.confidence) +
                              "   at delta = " + shortest(audit.delta_at)) +
         event_lines(audit.epsilon) +
         field("delta", comparison_text(audit.delta.lower, claim.delta, audit.confidence) +
                            "   at epsilon = " + shortest(audit.epsilon_at)) +
         event_lines(audit.delta) +
         field("verdict", finding ? "FINDING: more was measured than is claimed"
                                  : "nothing against the claim");
}

std::string finding_text(const Plan& event, const Audit& audit, const AuditClaim& claim) {
  if (!contradicts(audit, claim)) return "";
  const bool by_epsilon = audit.epsilon.lower > claim.epsilon;
  const MeasuredBound& m = by_epsilon ? audit.epsilon : audit.delta;
  const std::string what = by_epsilon ? "epsilon" : "delta";
  return "FINDING: " + print(event) + " does not keep its claim: " + what + " " +
         comparison_text(m.lower, by_epsilon ? claim.epsilon : claim.delta, audit.confidence) +
         "; the event is \"" + m.event.what + "\" on " + m.event.inputs +
         ". A sound mechanism gets such a bound at most once in " +
         shortest(std::floor(1 / (1 - audit.confidence) + 1e-6)) +
         " audits: run it again with more trials and a higher confidence";
}

Chart audit_histogram_chart(const Plan& event, const Audit& audit) {
  const AuditHistogram& h = audit.histogram;
  Chart chart{.id = "audit-outputs",
              .title = title_of("What the audit saw", event),
              .caption =
                  "The number that the event is about, on two neighbouring inputs, among the "
                  "outputs that chose the event.",
              .x_label = h.number,
              .y_label = "share of the outputs"};
  if (h.edges.empty()) return chart;
  chart.series = {
      {.name = "first input", .x = h.edges, .y = h.first, .style = Series::Style::bars},
      {.name = "second input", .x = h.edges, .y = h.second, .style = Series::Style::bars}};
  if (h.threshold && *h.threshold > h.edges.front() && *h.threshold < h.edges.back()) {
    const double top = std::max(*std::max_element(h.first.begin(), h.first.end()),
                                *std::max_element(h.second.begin(), h.second.end()));
    chart.series.push_back({.name = "threshold of the event",
                            .x = {*h.threshold, *h.threshold},
                            .y = {0, top},
                            .style = Series::Style::dashed});
  }
  return chart;
}

Chart audit_profile_chart(const Plan& event, const Audit& audit, const AuditClaim& claim) {
  Series claimed{.name = "claimed: no δ above this"};
  double reach = std::max({audit.epsilon.lower, audit.epsilon_at, 0.1});
  if (std::isfinite(claim.epsilon)) reach = std::max(reach, claim.epsilon);
  constexpr int points = 60;
  for (int i = 0; i <= points; ++i) {
    const double epsilon = 1.15 * reach * i / points;
    claimed.x.push_back(epsilon);
    claimed.y.push_back(delta(event, Epsilon(epsilon)).value.upper);
  }
  return {
      .id = "audit-profile",
      .title = title_of("What was measured beside what is claimed", event),
      .caption =
          "Each dot was measured with a confidence of " + percent(audit.confidence) +
          ": at its δ, ε is at least this large. A dot above the curve would contradict the claim.",
      .x_label = "ε",
      .y_label = "δ",
      .series = {claimed},
      .marks = {{audit.epsilon.lower, audit.delta_at,
                 "ε ≥ " + report_detail::rounded_down(audit.epsilon.lower)},
                {audit.epsilon_at, audit.delta.lower,
                 "δ ≥ " + report_detail::rounded_down(audit.delta.lower)}}};
}

std::string audit_svg(const Plan& event, const Audit& audit, const AuditClaim& claim) {
  // Stacks the two pictures: the lower one is moved down by the height of the upper one, read from
  // its root element.
  const auto height_of = [](const std::string& picture) {
    const std::string name = " height=\"";
    std::size_t end = 0;
    return leading_number(picture.substr(picture.find(name) + name.size()), end).value_or(0);
  };
  const std::string upper = svg(audit_histogram_chart(event, audit));
  std::string lower = svg(audit_profile_chart(event, audit, claim));
  const std::string all = shortest(height_of(upper) + height_of(lower));
  const std::string root = "<svg ";
  lower.insert(lower.find(root) + root.size(), "y=\"" + shortest(height_of(upper)) + "\" ");
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"" + all +
         "\" viewBox=\"0 0 760 " + all + "\">\n" + upper + lower + "</svg>\n";
}

}  // namespace sotto
