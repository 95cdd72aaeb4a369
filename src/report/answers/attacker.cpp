// Tables, CSV, JSON and charts of what an attacker can infer.
#include "report/api/attacker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using report_detail::csv_row;
using report_detail::Json;
using report_detail::padded;

constexpr std::size_t column = 18;

Json header(const char* schema, const Plan& plan, Relation relation) {
  return {{"schema", schema},
          {"plan", print(plan)},
          {"relation", name(relation)},
          {"points", Json::array()}};
}

// A chart leaves out NaN; an unknown bound is infinite.
double finite_or_nan(double x) {
  return std::isfinite(x) ? x : std::numeric_limits<double>::quiet_NaN();
}

// A long plan does not fit into a title.
std::string title_of(const char* what, const Plan& plan) {
  const std::string text = print(plan);
  return text.size() <= 60 ? what + (": " + text) : what;
}

const char* const bound_note =
    "an upper bound for every mechanism that satisfies the plan's words: no pair of distributions "
    "is known to be reached";

std::vector<std::string> notes_of(const PrivacyLossDistribution& distribution) {
  std::vector<std::string> notes = distribution.notes();
  if (!distribution.of_pair()) notes.emplace_back(bound_note);
  return notes;
}

}  // namespace

std::string tradeoff_text(const Plan& plan, const Tradeoff& tradeoff,
                          const std::vector<double>& fprs, double prior, Format format,
                          const std::vector<RenyiRate>& by_order) {
  Json json = header("sotto.tradeoff/1", plan, tradeoff.relation());
  std::vector<std::string> heads{"fpr", "tpr_lower", "tpr_upper"};
  std::string table = padded("fpr", 12) + padded("tpr >=", column) +
                      (by_order.empty() ? "tpr <=" : padded("tpr <=", column) + "by one order") +
                      "\n";
  if (!by_order.empty()) heads.insert(heads.end(), {"order", "tpr_by_order"});
  std::string csv = csv_row(heads);
  for (std::size_t i = 0; i < fprs.size(); ++i) {
    const double fpr = fprs[i];
    const Bound tpr = tradeoff.true_positive_rate(fpr);
    Json point{{"fpr", fpr}, {"tpr", report_detail::bound(tpr)}};
    std::vector<std::string> cells{shortest(fpr), report_detail::csv_number(tpr.lower),
                                   report_detail::csv_number(tpr.upper)};
    table += padded(shortest(fpr), 12) + padded(report_detail::rounded_down(tpr.lower), column);
    if (by_order.empty()) {
      table += report_detail::rounded_up(tpr.upper) + "\n";
    } else {
      const RenyiRate& one = by_order[i];
      point["by_order"] = {{"order", report_detail::number(one.order)}, {"tpr", one.rate}};
      cells.insert(cells.end(), {shortest(one.order), report_detail::csv_number(one.rate)});
      table += padded(report_detail::rounded_up(tpr.upper), column) +
               report_detail::rounded_up(one.rate) + " (order " +
               rounded(one.order, 7, Side::upper) + ")\n";
    }
    json["points"].push_back(point);
    csv += csv_row(cells);
  }
  if (format == Format::csv) return csv;
  const Bound advantage = tradeoff.advantage();
  const Bound success = tradeoff.success(prior);
  if (format == Format::json) {
    json["advantage"] = report_detail::bound(advantage);
    json["prior"] = prior;
    json["success"] = report_detail::bound(success);
    if (!tradeoff.notes().empty()) json["notes"] = tradeoff.notes();
    return report_detail::line(json);
  }
  return table + "\n" +
         report_detail::field("advantage", "<= " + report_detail::rounded_up(advantage.upper) +
                                               "   the largest tpr - fpr") +
         report_detail::field("", ">= " + report_detail::rounded_down(advantage.lower)) +
         report_detail::field("success", "<= " + report_detail::rounded_up(success.upper) +
                                             "   of the best guess at prior " + shortest(prior)) +
         report_detail::field("", ">= " + report_detail::rounded_down(success.lower)) +
         report_detail::field("relation", report_detail::relation_text(tradeoff.relation())) +
         report_detail::notes_text(tradeoff.notes());
}

Chart tradeoff_chart(const Plan& plan, const Tradeoff& tradeoff) {
  Series above{.name = "at most"};
  Series below{.name = "reached", .style = Series::Style::dashed};
  Series blind{.name = "by guessing"};
  for (int i = 0; i <= 50; ++i) {
    const double fpr = i == 50 ? 1 : std::pow(10, -5 + i / 10.0);
    const Bound tpr = tradeoff.true_positive_rate(fpr);
    for (Series* series : {&above, &below, &blind}) series->x.push_back(fpr);
    above.y.push_back(tpr.upper);
    below.y.push_back(finite_or_nan(tpr.lower));
    blind.y.push_back(fpr);
  }
  return {.id = "tradeoff",
          .title = title_of("The attacker's trade-off", plan),
          .caption =
              "The largest true-positive rate of any attacker at each false-positive rate; where "
              "the dashed curve lies on the solid one, "
              "some attacker reaches it.",
          .x_label = "false-positive rate",
          .y_label = "true-positive rate",
          .log_x = true,
          .log_y = true,
          .series = {blind, above, below}};
}

std::vector<double> round_losses(const PrivacyLossDistribution& distribution) {
  // The step is the smallest of 1, 2, 5 and 10 times a power of ten with which ten steps cover the
  // reach.
  const double rough = distribution.reach() / 10;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  }
  std::vector<double> losses;
  for (int k = 0; k <= 10; ++k) losses.push_back(read_number(rounded(k * step, 6, Side::lower)));
  return losses;
}

std::string loss_text(const Plan& plan, const PrivacyLossDistribution& distribution,
                      const std::vector<double>& epsilons, Format format) {
  Json json = header("sotto.loss/1", plan, distribution.relation());
  std::string csv =
      csv_row({"epsilon", "delta_lower", "delta_upper", "above_lower", "above_upper"});
  std::string table = padded("epsilon", 12) + padded("delta >=", column) +
                      padded("delta <=", column) + padded("P(L > eps) >=", column) +
                      "P(L > eps) <=\n";
  for (const double epsilon : epsilons) {
    const Bound delta = distribution.delta(Epsilon(epsilon));
    const Bound above = distribution.tail(Epsilon(epsilon));
    json["points"].push_back({{"epsilon", epsilon},
                              {"delta", report_detail::bound(delta)},
                              {"above", report_detail::bound(above)}});
    csv += csv_row({shortest(epsilon), report_detail::csv_number(delta.lower),
                    report_detail::csv_number(delta.upper), report_detail::csv_number(above.lower),
                    report_detail::csv_number(above.upper)});
    table += padded(shortest(epsilon), 12) +
             padded(report_detail::rounded_down(delta.lower), column) +
             padded(report_detail::rounded_up(delta.upper), column) +
             padded(report_detail::rounded_down(above.lower), column) +
             report_detail::rounded_up(above.upper) + "\n";
  }
  if (format == Format::csv) return csv;
  const std::vector<std::string> notes = notes_of(distribution);
  if (format == Format::json) {
    json["of_pair"] = distribution.of_pair();
    if (!notes.empty()) json["notes"] = notes;
    return report_detail::line(json);
  }
  return table + "\n" +
         report_detail::field("relation", report_detail::relation_text(distribution.relation())) +
         report_detail::notes_text(notes);
}

Chart loss_chart(const Plan& plan, const PrivacyLossDistribution& distribution) {
  Series delta{.name = "δ(ε)"};
  Series above{.name = distribution.of_pair() ? "P(L > ε)" : "P(L > ε), at most"};
  constexpr int points = 80;
  for (int i = 0; i <= points; ++i) {
    const double epsilon = 1.1 * distribution.reach() * i / points;
    delta.x.push_back(epsilon);
    above.x.push_back(epsilon);
    delta.y.push_back(distribution.delta(Epsilon(epsilon)).upper);
    above.y.push_back(distribution.tail(Epsilon(epsilon)).upper);
  }
  return {.id = "loss",
          .title = title_of("The privacy loss", plan),
          .caption =
              "How likely the privacy loss L is to exceed ε, and δ(ε), which weighs what exceeds "
              "it by 1 - e^(ε-L). An atom of the loss is a "
              "jump of the first and a kink of the second.",
          .x_label = "ε",
          .y_label = "probability",
          .series = {above, delta}};
}

}  // namespace sotto
