// Figures on DP-SGD, measured on made-up rows or computed.
#include "course/figures/learning_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "learning/api/calibration.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/random/noise.hpp"

namespace sotto::course_detail {
namespace {

constexpr std::size_t rows = 2000;
constexpr std::size_t width = 10;

// Returns rows whose targets have a long tail on one side, so that a few gradients are much longer
// than the others.
Examples rows_with_a_tail() {
  std::mt19937_64 words(1);
  const auto uniform = [&words] { return (static_cast<double>(words() >> 11U) + 0.5) * 0x1p-53; };
  Examples::Builder builder(width);
  for (std::size_t i = 0; i < rows; ++i) {
    const double length = -std::log(uniform());
    const auto codes =
        builder.add(static_cast<std::int16_t>(std::min(1.0, 0.1 * length * length) * feature_one));
    for (std::int16_t& code : codes)
      code = static_cast<std::int16_t>((2 * uniform() - 1) * feature_one / 2);
  }
  return std::move(builder).build();
}

// Returns the mean of the clipped gradients of squared loss at the initial parameters.
std::vector<double> mean_gradient(const Model& model, const Examples& examples, double norm) {
  const Clipping clipping{.norm = norm};
  std::vector<std::uint32_t> all(examples.units());
  std::iota(all.begin(), all.end(), 0U);
  ExactSum sum(model.parameters());
  model.prepare(model.start(0))->add(examples, all, clipping, sum);
  std::vector<double> mean;
  for (const std::int64_t total : sum.totals()) {
    mean.push_back(std::ldexp(static_cast<double>(total), model.exponents(clipping).front()) /
                   static_cast<double>(rows));
  }
  return mean;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t j = 0; j < a.size(); ++j) square += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(square);
}

// Returns the root mean square error over a hundred draws of noise with this scale on the sum.
double error_with_noise(const std::vector<double>& clipped, const std::vector<double>& truth,
                        double scale) {
  constexpr int draws = 100;
  const RoundedNoise noise(NoiseKind::gaussian, scale);
  double square = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> noisy = clipped;
    for (double& one : noisy) one += noise.add(0) / static_cast<double>(rows);
    square += std::pow(distance(noisy, truth), 2) / draws;
  }
  return std::sqrt(square);
}

std::vector<double> powers(double from, double to, int points) {
  std::vector<double> x;
  for (int i = 0; i < points; ++i)
    x.push_back(from * std::pow(to / from, static_cast<double>(i) / (points - 1)));
  return x;
}

}  // namespace

Chart clipping_figure() {
  const Examples examples = rows_with_a_tail();
  const auto model = make_model(LinearModel{.width = width, .loss = {LossKind::squared}});
  const std::vector<double> truth =
      mean_gradient(*model, examples, 2);  // a norm that clips nothing
  const std::vector<double> norms = powers(0.01, 2, 30);
  Chart chart{.id = "clipping",
              .title = "Clipping: bias against noise",
              .x_label = "clipping norm C",
              .y_label = "error of the mean gradient (L2)",
              .log_x = true,
              .log_y = true};
  Series bias{.name = "no noise: the bias of clipping", .x = norms, .style = Series::Style::dashed};
  for (const double norm : norms)
    bias.y.push_back(distance(mean_gradient(*model, examples, norm), truth));
  chart.series.push_back(std::move(bias));
  std::string best;
  for (const double epsilon : {0.3, 1.0, 3.0}) {
    const double sigma = calibrate(100 * gaussian(hole), Epsilon(epsilon), Delta(1e-6)).value;
    Series both{.name = "ε = " + shortest(epsilon), .x = norms};
    for (const double norm : norms)
      both.y.push_back(
          error_with_noise(mean_gradient(*model, examples, norm), truth, sigma * norm));
    const auto least =
        static_cast<std::size_t>(std::min_element(both.y.begin(), both.y.end()) - both.y.begin());
    const std::string at = rounded(norms[least], 2, Side::upper);
    chart.marks.push_back({norms[least], both.y[least], "C = " + at});
    best += (best.empty() ? "" : ", ") + at + " at ε = " + shortest(epsilon);
    chart.series.push_back(std::move(both));
  }
  chart.caption =
      "Measured on 2000 made-up rows with 11 parameters and targets with a long tail. A small C "
      "bends the mean gradient, a large C needs noise in "
      "proportion: the error is least between (C about " +
      best +
      "), the further left the less may be spent. 100 full-batch steps at δ = 1e-6; root mean "
      "square of 100 draws of the noise.";
  return chart;
}

Chart dpsgd_noise_figure() {
  constexpr std::int64_t n = 10'000;
  constexpr std::int64_t m = 100;
  const std::vector<double> steps{10, 20, 50, 100, 300, 1000, 3000, 10'000, 100'000};
  std::vector<Series> methods{{.name = "tight accountant", .x = steps},
                              {.name = "Rényi DP", .x = steps},
                              {.name = "closed form, corrected", .x = steps}};
  Series printed{
      .name = "closed form as the source prints it", .x = steps, .style = Series::Style::dashed};
  for (const double t : steps) {
    const Training training = textbook_training(
        {.population = n, .batch = m, .parameters = 1, .steps = static_cast<std::int64_t>(t)}, 1);
    const auto all = noise_by_method(training, Epsilon(1), Delta(1e-5));
    for (std::size_t i = 0; i < methods.size(); ++i) {
      methods[i].y.push_back(all[i].noise ? *all[i].noise / static_cast<double>(m)
                                          : std::numeric_limits<double>::quiet_NaN());
    }
    printed.y.push_back(
        16 * std::sqrt(t * std::log(2e5) * std::log(1.25 * t / (1e-5 * static_cast<double>(n)))) /
        static_cast<double>(n));
  }
  // Noise that suffices for more steps suffices for fewer. The search of the tight accountant stops
  // early where a record is rarely used, so its value is replaced by a smaller one from the right.
  for (Series& series : methods) {
    for (std::size_t i = series.y.size() - 1; i > 0; --i)
      series.y[i - 1] =
          std::isnan(series.y[i - 1]) ? series.y[i - 1] : std::min(series.y[i - 1], series.y[i]);
  }
  methods.push_back(std::move(printed));
  return {.id = "dpsgd-noise",
          .title = "The noise of DP-SGD by calibration",
          .caption =
              "Batches of 100 of 10,000 records without replacement, replace-one, l = 1, ε = 1, δ "
              "= 1e-5. The closed form is drawn where its conditions "
              "hold: from 26 steps on. The source prints it with a smaller logarithm and for any "
              "number of steps. The tight accountant needs a small "
              "part of its noise.",
          .x_label = "steps T",
          .y_label = "noise on the mean gradient",
          .log_x = true,
          .log_y = true,
          .series = std::move(methods)};
}

}  // namespace sotto::course_detail
