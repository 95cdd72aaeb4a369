// A study's models in its page: what they predict from what, how well, their weights, and what their noise came from.
#include <algorithm>
#include <cmath>

#include "report/study_page/evaluation.hpp"
#include "report/charts/picture.hpp"
#include "sotto/accounting/over_steps.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "learning/api/calibration.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/over_steps.hpp"
#include "report/study_page/sections.hpp"
#include "report/api/text.hpp"
#include "report/study_page/weights.hpp"

namespace sotto::report_detail {
namespace {

constexpr std::size_t most_weights = 20;

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }
std::string table(const std::string& headings, const std::string& rows) {
  return "<div class=\"table\"><table>\n<tr>" + headings + "</tr>\n" + rows + "</table></div>\n";
}
std::string heading(const std::string& text) { return "<th>" + escaped(text) + "</th>"; }
std::string percent(double share, Side side) { return rounded(100 * share, 4, side) + " %"; }

// A picture below the words on it.
std::string drawn(const Chart& chart) {
  return "<p class=\"asked\">" + escaped(chart.title + ". " + chart.caption) + "</p>\n<div class=\"scroll\">" + picture(chart, Heading::beside) +
         "</div>\n";
}

std::string accuracy(const TrainedModel& model, double confidence) {
  if (!model.accuracy) return "";
  return "<p>In a private test on units that it had not seen it is right in " + percent(*model.accuracy, Side::lower) + " of all cases, from " +
         percent(*model.accuracy_low, Side::lower) + " to " + percent(*model.accuracy_high, Side::upper) + " with a confidence of " +
         shortest(100 * confidence) + " %, noise and chance included.</p>\n<div class=\"meter\"><div class=\"this\" style=\"width:" +
         rounded(100 * *model.accuracy, 3, Side::lower) + "%\"></div></div>\n";
}

std::string evaluation(const TrainedModel& model, double confidence) {
  if (!model.evaluation) return "";
  std::string text = "<p>" +
                     escaped("Measured on public data, it is " + on_public_rows(*model.evaluation, confidence) +
                             ". The interval is for the chance of which rows these are, if they are like those to be predicted; "
                             "measuring on public rows costs nothing.") +
                     "</p>\n";
  for (const Chart& chart : evaluation_charts(*model.evaluation, confidence)) text += drawn(chart);
  return text;
}

// A bar from the middle, to the right for more and to the left for less.
std::string bar(double weight, double largest) {
  const double half = largest > 0 ? 50 * std::abs(weight) / largest : 0;
  const std::string start = rounded(weight < 0 ? 50 - half : 50, 3, Side::lower);
  return "<td style=\"width:12rem\"><div style=\"position:relative;height:.8rem\"><div style=\"position:absolute;height:100%;left:" + start +
         "%;width:" + rounded(std::max(half, 0.1), 3, Side::upper) + "%;background:var(--" + (weight < 0 ? "exact" : "answer") +
         ")\"></div></div></td>";
}

std::string weights(const TrainedModel& model, double confidence) {
  const auto found = weights_in_units(model);
  if (!found) return "<p>" + escaped(std::to_string(model.parameters.size()) + " parameters, in the model’s file.") + "</p>\n";
  const std::size_t shown = std::min(found->weights.size(), most_weights);
  const double largest = shown == 0 ? 0 : std::abs(found->weights.front().scaled);
  const bool known = !model.intervals.empty();
  std::string rows;
  const auto add = [&](const ModelWeight& weight) {
    rows += "<tr>" + cell(name_with_reference(weight)) + cell(rounded(weight.value, 3, Side::lower)) + bar(weight.scaled, largest) +
            (known ? cell(rounded(weight.interval->lower, 3, Side::lower) + " to " + rounded(weight.interval->upper, 3, Side::upper)) : "") +
            "</tr>\n";
  };
  for (std::size_t i = 0; i < shown; ++i) add(found->weights[i]);
  add(found->intercept);
  std::string text = table(
      heading("feature") + heading("weight") + heading("over its bounds") + (known ? heading(shortest(100 * confidence) + " %, for the noise") : ""),
      rows);
  if (found->weights.size() > shown) {
    text += "<p class=\"asked\">and " + std::to_string(found->weights.size() - shown) + " smaller weights</p>\n";
  }
  return text + "<p class=\"asked\">" + escaped(meaning_of(*found)) + "</p>\n";
}

// How much noise each way to account for the same training would have asked for.
std::string calibrations(const TrainDesign& design, double delta) {
  const auto* training = std::get_if<Training>(&design.how);
  if (training == nullptr || delta <= 0) return "";
  std::string rows;
  try {
    const double cost = epsilon(design.event, Delta(delta), {.relation = training->relation}).value.upper;
    for (const NoiseCalibration& found : noise_by_method(*training, Epsilon(cost), Delta(delta))) {
      rows += "<tr>" + cell(found.method) + cell(found.noise ? rounded(*found.noise, 4, Side::upper) : "—") +
              cell(found.noise ? rounded(*found.noise / training->noise, 3, Side::upper) + " times this one’s" : found.refusal) + "</tr>\n";
    }
    std::string text = "<p>" +
                       escaped("By itself the training costs ε = " + rounded(cost, 4, Side::upper) + " at δ = " + shortest(delta) +
                               ". The noise, in clipping norms, that other ways to account for it would have asked for:") +
                       "</p>\n" + table(heading("method") + heading("noise") + heading(""), rows);
    return text;
  } catch (const OutsideConditions&) {
    return "";
  }
}

// ε as the training went on.
std::string cost_over_steps(const TrainDesign& design, double delta) {
  const auto* training = std::get_if<Training>(&design.how);
  if (training == nullptr || delta <= 0 || training->steps < 2) return "";
  try {
    const auto points =
        epsilon_over_steps(design.event, Delta(delta), step_counts(training->steps, 24, Spacing::even), {.relation = training->relation});
    Chart chart = over_steps_chart(design.event, Delta(delta), points, Spacing::even);
    chart.title = "ε as it learned";
    chart.caption = "What the steps cost by then, at δ = " + shortest(delta) + ".";
    return drawn(chart);
  } catch (const OutsideConditions&) {
    return "";
  }
}

// How noisy the weights are, as far as that is known.
struct NoiseInWords {
  std::string operator()(const Training& t) const {
    return "Each step adds noise of standard deviation " + rounded(t.noise * t.clipping.norm / t.batch, 3, Side::upper) +
           " to each coordinate of the mean gradient, which itself is no longer than " + shortest(t.clipping.norm) +
           ". What remains of it in a weight depends on the data, so the weights come without intervals.";
  }
  std::string operator()(const SufficientStatistics& s) const {
    return "The moments have noise of standard deviation " + rounded(s.noise * sensitivity_of(s), 3, Side::upper) +
           " each; the intervals say what that does to each weight.";
  }
  std::string operator()(const OutputPerturbation& p) const {
    return "Each weight has Gaussian noise of standard deviation " + rounded(p.noise * sensitivity_of(p), 3, Side::upper) +
           ", which the intervals cover: with that confidence the weight of the same penalty on the same rows, without noise, lies within.";
  }
  std::string operator()(const ObjectivePerturbation& p) const {
    return "A random line, whose slopes have a standard deviation of " + rounded(objective_noise(p), 3, Side::upper) +
           " each, is added to the sum of the losses; where the data say little it moves the weights. The weights come without intervals.";
  }
  std::string operator()(const IndividualTraining& individual) const {
    return (*this)(individual.training) +
           " A step costs a unit what its own gradient moves, not what the longest possible one would, and a unit whose budget, μ = " +
           shortest(individual.mu) + ", is spent is left out of later steps. So " + std::to_string(individual.training.steps) +
           " steps were taken where an account of the worst case would have ended after " + std::to_string(uniform_steps(individual)) +
           ", and the charge is what every unit is guaranteed whatever it spent: gdp(" + shortest(individual.mu) +
           "). Which units were left out, and when, is a secret of the data and shown nowhere.";
  }
};

std::string columns_in_words(const TrainedModel& model) {
  if (model.image) return "images of " + std::to_string(model.image->height) + " × " + std::to_string(model.image->width);
  return std::to_string(model.features.size()) + (model.features.size() == 1 ? " column" : " columns");
}

}  // namespace

std::string models_section(const StudyReport& report) {
  const Release& r = report.release;
  if (r.models.empty()) return "";
  std::string text = "<section id=\"models\">\n<h2>The models</h2>\n";
  for (std::size_t i = 0; i < r.models.size(); ++i) {
    const TrainedModel& model = r.models[i];
    text += "<h3>" + escaped(with_limit(model.name, model.limit)) + "</h3>\n<p class=\"asked\">" +
            escaped(model.target + ", from " + columns_in_words(model) + ": " + model.description) + "</p>\n<p>" +
            escaped("Trained by " + model.how + ".") + "</p>\n" + accuracy(model, r.confidence) + evaluation(model, r.confidence);
    const bool is_of_this_design = print(report.design.plan) == r.plan && i < report.design.trainings.size();
    if (is_of_this_design) text += cost_over_steps(report.design.trainings[i], r.delta);
    text += weights(model, r.confidence);
    if (is_of_this_design) {
      const TrainDesign& design = report.design.trainings[i];
      text += "<p class=\"asked\">" + escaped(std::visit(NoiseInWords{}, design.how)) + "</p>\n" + calibrations(design, r.delta);
    }
  }
  return text +
         "<p class=\"asked\">How well a model fits the private rows is shown nowhere: that would be another answer about them, to be paid "
         "for.</p>\n</section>\n";
}

}  // namespace sotto::report_detail
