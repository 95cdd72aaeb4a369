// The section on a study's models: target and features, accuracy, weights, and how their noise was
// calibrated.
#include <algorithm>
#include <cmath>

#include "core/api/percent.hpp"
#include "learning/api/calibration.hpp"
#include "report/api/over_steps.hpp"
#include "report/charts/picture.hpp"
#include "report/html/document.hpp"
#include "report/study_page/evaluation.hpp"
#include "report/study_page/sections.hpp"
#include "report/study_page/weights.hpp"
#include "sotto/accounting/over_steps.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::report_detail {
namespace {

constexpr std::size_t most_weights = 20;

std::string percent(double share, Side side) { return rounded(100 * share, 4, side) + " %"; }

// Tables of this section have no <thead>, unlike those of document.hpp.
Markup plain_heading(const std::string& text) { return tag("th", text); }
Markup plain_table(const Markup& headings, const Markup& rows) {
  return tag("div", {{"class", "table"}}, tag("table", "\n" + table_row(headings) + rows)) + "\n";
}

Markup remark(const Markup& content) { return paragraph("asked", content); }

// A chart below its title and caption.
Markup chart_with_caption(const Chart& chart) {
  return remark(chart.title + ". " + chart.caption) +
         tag("div", {{"class", "scroll"}}, picture(chart, Heading::beside)) + "\n";
}

Markup accuracy(const TrainedModel& model, double confidence) {
  if (!model.accuracy) return {};
  const std::string width = "width:" + rounded(100 * *model.accuracy, 3, Side::lower) + "%";
  return paragraph("In a private test on units that it had not seen it is right in " +
                   percent(*model.accuracy, Side::lower) + " of all cases, from " +
                   percent(*model.accuracy_low, Side::lower) + " to " +
                   percent(*model.accuracy_high, Side::upper) + " with a confidence of " +
                   shortest(100 * confidence) + " %, noise and chance included.") +
         tag("div", {{"class", "meter"}}, tag("div", {{"class", "this"}, {"style", width}}, "")) +
         "\n";
}

Markup evaluation(const TrainedModel& model, double confidence) {
  if (!model.evaluation) return {};
  Markup text =
      paragraph("Measured on public data, it is " + on_public_rows(*model.evaluation, confidence) +
                ". The interval is for the chance of which rows these are, if they are like those "
                "to be predicted; "
                "measuring on public rows costs nothing.");
  for (const Chart& chart : evaluation_charts(*model.evaluation, confidence))
    text += chart_with_caption(chart);
  return text;
}

// A bar that begins in the middle of the cell and extends to the right for a positive weight, to
// the left for a negative one.
Markup bar_cell(double weight, double largest) {
  const double half = largest > 0 ? 50 * std::abs(weight) / largest : 0;
  const std::string start = rounded(weight < 0 ? 50 - half : 50, 3, Side::lower);
  const std::string bar = "position:absolute;height:100%;left:" + start +
                          "%;width:" + rounded(std::max(half, 0.1), 3, Side::upper) +
                          "%;background:var(--" + (weight < 0 ? "exact" : "answer") + ")";
  return tag(
      "td", {{"style", "width:12rem"}},
      tag("div", {{"style", "position:relative;height:.8rem"}}, tag("div", {{"style", bar}}, "")));
}

// The largest weights and the intercept; for other than linear models their number of parameters.
Markup weights(const TrainedModel& model, double confidence) {
  const auto linear = weights_in_units(model);
  if (!linear)
    return paragraph(std::to_string(model.parameters.size()) + " parameters, in the model’s file.");
  const std::size_t count = std::min(linear->weights.size(), most_weights);
  const double largest = count == 0 ? 0 : std::abs(linear->weights.front().scaled);
  const bool has_intervals = !model.intervals.empty();

  Markup rows;
  const auto add = [&](const ModelWeight& weight) {
    Markup cells = cell(name_with_reference(weight)) + cell(rounded(weight.value, 3, Side::lower)) +
                   bar_cell(weight.scaled, largest);
    if (has_intervals) {
      cells += cell(rounded(weight.interval->lower, 3, Side::lower) + " to " +
                    rounded(weight.interval->upper, 3, Side::upper));
    }
    rows += table_row(cells);
  };
  for (std::size_t i = 0; i < count; ++i) add(linear->weights[i]);
  add(linear->intercept);

  Markup headings =
      plain_heading("feature") + plain_heading("weight") + plain_heading("over its bounds");
  if (has_intervals) headings += plain_heading(shortest(100 * confidence) + " %, for the noise");
  Markup text = plain_table(headings, rows);
  if (linear->weights.size() > count) {
    text += remark("and " + std::to_string(linear->weights.size() - count) + " smaller weights");
  }
  return text + remark(meaning_of(*linear));
}

// A table of the noise that each accounting method would have required for the same ε.
Markup calibrations(const TrainDesign& design, double delta) {
  const auto* training = std::get_if<Training>(&design.how);
  if (training == nullptr || delta <= 0) return {};
  try {
    const double cost =
        epsilon(design.event, Delta(delta), {.relation = training->relation}).value.upper;
    Markup rows;
    for (const NoiseCalibration& calibration :
         noise_by_method(*training, Epsilon(cost), Delta(delta))) {
      const auto& noise = calibration.noise;
      rows += table_row(
          cell(calibration.method) + cell(noise ? rounded(*noise, 4, Side::upper) : "—") +
          cell(noise ? rounded(*noise / training->noise, 3, Side::upper) + " times this one’s"
                     : calibration.refusal));
    }
    return paragraph("By itself the training costs ε = " + rounded(cost, 4, Side::upper) +
                     " at δ = " + shortest(delta) +
                     ". The noise, in clipping norms, that other ways to account for it would have "
                     "asked for:") +
           plain_table(plain_heading("method") + plain_heading("noise") + plain_heading(""), rows);
  } catch (const OutsideConditions&) {
    return {};
  }
}

// A chart of the ε that the training had cost after each step.
Markup cost_over_steps(const TrainDesign& design, double delta) {
  const auto* training = std::get_if<Training>(&design.how);
  if (training == nullptr || delta <= 0 || training->steps < 2) return {};
  try {
    const auto points = epsilon_over_steps(design.event, Delta(delta),
                                           step_counts(training->steps, 24, Spacing::even),
                                           {.relation = training->relation});
    Chart chart = over_steps_chart(design.event, Delta(delta), points, Spacing::even);
    chart.title = "ε as it learned";
    chart.caption = "What the steps cost by then, at δ = " + shortest(delta) + ".";
    return chart_with_caption(chart);
  } catch (const OutsideConditions&) {
    return {};
  }
}

// Returns the noise of the weights in words, or of the gradients if the noise of the weights
// depends on the data.
struct NoiseInWords {
  std::string operator()(const Training& t) const {
    return "Each step adds noise of standard deviation " +
           rounded(t.noise * t.clipping.norm / t.batch, 3, Side::upper) +
           " to each coordinate of the mean gradient, which itself is no longer than " +
           shortest(t.clipping.norm) +
           ". What remains of it in a weight depends on the data, so the weights come without "
           "intervals.";
  }
  std::string operator()(const SufficientStatistics& s) const {
    return "The moments have noise of standard deviation " +
           rounded(s.noise * sensitivity_of(s), 3, Side::upper) +
           " each; the intervals say what that does to each weight.";
  }
  std::string operator()(const OutputPerturbation& p) const {
    return "Each weight has Gaussian noise of standard deviation " +
           rounded(p.noise * sensitivity_of(p), 3, Side::upper) +
           ", which the intervals cover: with that confidence the weight of the same penalty on "
           "the same rows, without noise, lies within.";
  }
  std::string operator()(const ObjectivePerturbation& p) const {
    return "A random line, whose slopes have a standard deviation of " +
           rounded(objective_noise(p), 3, Side::upper) +
           " each, is added to the sum of the losses; where the data say little it moves the "
           "weights. The weights come without intervals.";
  }
  std::string operator()(const IndividualTraining& individual) const {
    return (*this)(individual.training) +
           " A step costs a unit what its own gradient moves, not what the longest possible one "
           "would, and a unit whose budget, μ = " +
           shortest(individual.mu) + ", is spent is left out of later steps. So " +
           std::to_string(individual.training.steps) +
           " steps were taken where an account of the worst case would have ended after " +
           std::to_string(uniform_steps(individual)) +
           ", and the charge is what every unit is guaranteed whatever it spent: gdp(" +
           shortest(individual.mu) +
           "). Which units were left out, and when, is a secret of the data and shown nowhere.";
  }
};

std::string columns_in_words(const TrainedModel& model) {
  if (model.image)
    return "images of " + std::to_string(model.image->height) + " × " +
           std::to_string(model.image->width);
  return std::to_string(model.features.size()) +
         (model.features.size() == 1 ? " column" : " columns");
}

}  // namespace

Markup models_section(const StudyReport& report) {
  const Release& r = report.release;
  if (r.models.empty()) return {};
  const bool is_of_this_design = print(report.design.plan) == r.plan;
  Markup text;
  for (std::size_t i = 0; i < r.models.size(); ++i) {
    const TrainedModel& model = r.models[i];
    text += tag("h3", with_limit(model.name, model.limit)) + "\n" +
            remark(model.target + ", from " + columns_in_words(model) + ": " + model.description) +
            paragraph("Trained by " + model.how + ".") + accuracy(model, r.confidence) +
            evaluation(model, r.confidence);

    // Another version of sotto may have trained a stored model by another design, of which nothing
    // is known here.
    const TrainDesign* const design = is_of_this_design && i < report.design.trainings.size()
                                          ? &report.design.trainings[i]
                                          : nullptr;
    if (design != nullptr) text += cost_over_steps(*design, r.delta);
    text += weights(model, r.confidence);
    if (design != nullptr)
      text += remark(std::visit(NoiseInWords{}, design->how)) + calibrations(*design, r.delta);
  }
  text += remark(
      "How well a model fits the private rows is shown nowhere: that would be another answer about "
      "them, to be paid for.");
  return section("models", "The models", text);
}

}  // namespace sotto::report_detail
