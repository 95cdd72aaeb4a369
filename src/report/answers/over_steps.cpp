// One row or point for each step count.
#include "report/api/over_steps.hpp"

#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using namespace report_detail;

std::string over_steps_json(const Plan& plan, Delta delta, const std::vector<StepPoint>& points) {
  Json json = header("sotto.epsilon-over-steps/1", plan, points.back().answer);
  json["delta"] = delta.value();
  json["points"] = Json::array();
  for (const auto& [steps, answer] : points) {
    Json one{{"steps", steps}, {"by", name(answer.by)}, {"epsilon", bound(answer.value)}};
    if (answer.order) one["order"] = number(*answer.order);
    json["points"].push_back(one);
  }
  if (!points.back().answer.notes.empty()) json["notes"] = points.back().answer.notes;
  return line(json);
}

}  // namespace

std::string over_steps_text(const Plan& plan, Delta delta, const std::vector<StepPoint>& points,
                            Format format) {
  if (format == Format::json) return over_steps_json(plan, delta, points);
  if (format == Format::csv) {
    std::string out = csv_row({"steps", "epsilon_lower", "epsilon_upper", "by"});
    for (const auto& [steps, answer] : points) {
      out += csv_row({std::to_string(steps), csv_number(answer.value.lower),
                      csv_number(answer.value.upper), std::string(name(answer.by))});
    }
    return out;
  }
  std::string out =
      padded("steps", 17) + padded("epsilon >=", 14) + padded("epsilon <=", 14) + "by\n";
  for (const auto& [steps, answer] : points) {
    out += padded(std::to_string(steps), 17) + padded(rounded_down(answer.value.lower), 14) +
           padded(rounded_up(answer.value.upper), 14) + std::string(name(answer.by)) + "\n";
  }
  return out + "\n" + field("plan", print(plan)) + field("at delta", shortest(delta.value())) +
         field("relation", relation_text(points.back().answer)) + notes_text(points.back().answer);
}

Chart over_steps_chart(const Plan& plan, Delta delta, const std::vector<StepPoint>& points,
                       Spacing spacing) {
  Series above{.name = "certified upper bound"};
  Series below{.name = "reached for certain", .style = Series::Style::dashed};
  bool apart = false;
  for (const auto& [steps, answer] : points) {
    above.x.push_back(static_cast<double>(steps));
    above.y.push_back(answer.value.upper);
    below.x.push_back(static_cast<double>(steps));
    below.y.push_back(answer.value.lower);
    apart = apart || !(answer.value.lower >= 0.995 * answer.value.upper);
  }
  Chart chart{
      .id = "epsilon-over-steps",
      .title = "ε of " + print(plan) + " as it goes on",
      .caption = "The cost at δ = " + shortest(delta.value()) + " when so many steps are done.",
      .x_label = "steps",
      .y_label = "ε at δ = " + shortest(delta.value()),
      .log_x = spacing == Spacing::logarithmic,
      .series = {above}};
  if (apart) {
    chart.series.push_back(below);
  } else {
    chart.series.front().name = "";
  }
  return chart;
}

}  // namespace sotto
