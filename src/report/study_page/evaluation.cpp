// All numbers here come from public rows, so they cost no budget and have no noise.
#include "report/study_page/evaluation.hpp"

#include <cmath>

#include "audit/api/proportion.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto::report_detail {
namespace {

// A share of right predictions with its Clopper-Pearson interval.
struct Share {
  double value, low, high;
};

Share share_of(std::int64_t right, std::int64_t rows, double confidence) {
  const double tail = (1 - confidence) / 2;
  return {static_cast<double>(right) / static_cast<double>(rows),
          proportion_lower(right, rows, tail), proportion_upper(right, rows, tail)};
}
std::string percent(double share, Side side) { return rounded(100 * share, 4, side); }

}  // namespace

std::string on_public_rows(const PublicEvaluation& evaluation, double confidence) {
  const PublicPoint& last = evaluation.points.back();
  const std::string rows =
      std::to_string(evaluation.rows) + " public rows of \"" + evaluation.data + "\"";
  const std::string loss = "mean loss " + rounded(last.loss, 4, Side::upper);
  if (!evaluation.is_of_classes) {
    return "off by " + rounded(std::sqrt(last.squared_error), 4, Side::upper) +
           " (the root of the mean square) on the " + rows + "; " + loss;
  }
  const Share share = share_of(last.right, evaluation.rows, confidence);
  return "right in " + percent(share.value, Side::lower) + " % of the " + rows + " (" +
         percent(share.low, Side::lower) + " to " + percent(share.high, Side::upper) + " % with " +
         shortest(100 * confidence) + " % confidence); " + loss;
}

std::vector<Chart> evaluation_charts(const PublicEvaluation& evaluation, double confidence) {
  if (evaluation.points.size() < 2) return {};
  Series loss;
  Series right{.name = "of the public rows"};
  Series low{.name = shortest(100 * confidence) + " % interval", .style = Series::Style::dashed};
  Series high;
  for (const PublicPoint& point : evaluation.points) {
    const auto step = static_cast<double>(point.step);
    loss.x.push_back(step);
    loss.y.push_back(point.loss);
    if (!evaluation.is_of_classes) continue;
    const Share share = share_of(point.right, evaluation.rows, confidence);
    for (Series* series : {&right, &low, &high}) series->x.push_back(step);
    right.y.push_back(100 * share.value);
    low.y.push_back(100 * share.low);
    high.y.push_back(100 * share.high);
  }
  low.x.push_back(std::nan(""));  // breaks the line: one series draws both ends of the interval
  low.y.push_back(std::nan(""));
  low.x.insert(low.x.end(), high.x.begin(), high.x.end());
  low.y.insert(low.y.end(), high.y.begin(), high.y.end());
  const std::string where = "on the " + std::to_string(evaluation.rows) + " rows of “" +
                            evaluation.data + "”, which are public";
  std::vector<Chart> charts{
      {.id = "public-loss-over-steps",
       .title = "The loss as it learned",
       .caption = "The mean loss " + where + ". The loss on private rows is shown nowhere.",
       .x_label = "steps",
       .y_label = "mean loss",
       .series = {loss}}};
  if (evaluation.is_of_classes) {
    charts.push_back({.id = "public-accuracy-over-steps",
                      .title = "Right predictions as it learned",
                      .caption = "The share of right predictions " + where + ".",
                      .x_label = "steps",
                      .y_label = "right predictions, %",
                      .series = {right, low}});
  }
  return charts;
}

}  // namespace sotto::report_detail
