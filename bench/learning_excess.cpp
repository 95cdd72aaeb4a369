// Measures excess risk against √p/(nε): noisy gradient descent on a convex problem with a known
// minimum, and its bound. Prints a table, and draws a picture to the file that is named
// (`build/bin/bench_learning_excess docs/pictures/excess-risk.svg`).
//
// The loss is -bend · x·θ + constant in a ball: Huber's, whose targets are out of reach. Rows are
// ±1/√p, and the norm of their mean is a parameter. For each (n, p, ε) the worst norm of a grid
// counts, because a law for all problems is one about the worst.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "learning/api/calibration.hpp"
#include "report/api/svg.hpp"
#include "sotto/accounting/calibrate.hpp"

namespace {

using namespace sotto;

constexpr double bend = 0.25;
constexpr double radius = 0.5;
constexpr double delta = 1e-6;
constexpr int runs = 6;

struct Case {
  std::int64_t n;
  std::int64_t p;
  double epsilon;
  [[nodiscard]] double law() const {
    return std::sqrt(static_cast<double>(p)) / (static_cast<double>(n) * epsilon);
  }
  // (nε)²/p steps, up to a constant: with fewer steps, the distance that they cover dominates, not
  // the noise [Bassily2014]
  [[nodiscard]] std::int64_t steps() const {
    return static_cast<std::int64_t>(std::clamp(std::pow(0.15 / law(), 2), 100.0, 10'000.0));
  }
};
struct Measurement {
  Case what;
  double excess, bound;
};

// In each coordinate, exactly the share (1 + bias)/2 of the rows is positive, in a separate random
// order.
Examples rows_with(const Case& c, double bias) {
  Examples::Builder builder(static_cast<std::size_t>(c.p));
  const auto step =
      static_cast<std::int16_t>(std::floor(feature_one / std::sqrt(static_cast<double>(c.p))));
  const auto positive = static_cast<std::int64_t>(static_cast<double>(c.n) * (1 + bias) / 2);
  for (std::int64_t i = 0; i < c.n; ++i) {
    const auto row = builder.add(feature_one);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::int64_t turned = (i * 7919 + static_cast<std::int64_t>(j) * 104'729) % c.n;
      row[j] = turned < positive ? step : static_cast<std::int16_t>(-step);
    }
  }
  return std::move(builder).build();
}

std::vector<double> mean_of(const Examples& rows) {
  std::vector<double> mean(rows.width());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < mean.size(); ++j)
      mean[j] +=
          static_cast<double>(rows.row(i)[j]) / feature_one / static_cast<double>(rows.rows());
  }
  return mean;
}

double excess_of(const std::vector<double>& mean, const std::vector<double>& theta) {
  double square = 0;
  double product = 0;
  for (std::size_t j = 0; j < mean.size(); ++j) {
    square += mean[j] * mean[j];
    product += mean[j] * theta[j];
  }
  return bend * (std::sqrt(square) * radius - product);
}

Measurement measured(const Case& c) {
  Training training{.steps = c.steps(),
                    .clipping = {.norm = bend},
                    .batch = static_cast<double>(c.n),
                    .relation = Relation::replace_one};
  training.optimiser.sizes = StepSizes::inverse_root;
  training.optimiser.region = Ball{radius};
  training.noise = calibrate(plan_to_calibrate(training), Epsilon(c.epsilon), Delta(delta)).value;
  const double deviation = training.noise * bend / static_cast<double>(c.n);
  training.optimiser.size =
      2 * radius / std::sqrt(bend * bend + static_cast<double>(c.p) * deviation * deviation);
  const auto width = static_cast<std::size_t>(c.p);
  const std::shared_ptr<const Model> model = make_model(LinearModel{
      .width = width, .loss = {.kind = LossKind::huber, .bend = bend}, .intercept = false});
  Measurement measured{
      .what = c,
      .excess = 0,
      .bound = excess_risk_bound(training, bend, width, static_cast<std::size_t>(c.n))};
  for (int k = 0; k < 6; ++k) {
    const double bias = 2 * c.law() * std::pow(2, k);
    if (bias > 1) break;
    const Examples rows = rows_with(c, bias);
    const std::vector<double> mean = mean_of(rows);
    double excess = 0;
    for (int run = 0; run < runs; ++run)
      excess += excess_of(mean, train(model, rows, training).parameters) / runs;
    measured.excess = std::max(measured.excess, excess);
  }
  return measured;
}

// Fits log(excess) = a + b · (log n, log p, log ε) by least squares.
std::array<double, 4> exponents(const std::vector<Measurement>& all) {
  std::array<std::array<double, 5>, 4> rows{};
  for (const Measurement& measured : all) {
    const std::array<double, 4> x{1, std::log(static_cast<double>(measured.what.n)),
                                  std::log(static_cast<double>(measured.what.p)),
                                  std::log(measured.what.epsilon)};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) rows[i][j] += x[i] * x[j];
      rows[i][4] += x[i] * std::log(measured.excess);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (k == i) continue;
      const double factor = rows[k][i] / rows[i][i];
      for (std::size_t j = 0; j < 5; ++j) rows[k][j] -= factor * rows[i][j];
    }
  }
  std::array<double, 4> result{};
  for (std::size_t i = 0; i < 4; ++i) result[i] = rows[i][4] / rows[i][i];
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases;
  for (const std::int64_t n : {250, 500, 1000, 2000, 4000}) cases.push_back({n, 64, 1});
  for (const std::int64_t p : {4, 16, 256}) cases.push_back({1000, p, 1});
  for (const double epsilon : {0.25, 0.5, 2.0, 4.0}) cases.push_back({1000, 64, epsilon});
  std::vector<Measurement> all;
  std::printf("%8s %6s %8s %12s %12s %12s %10s\n", "n", "p", "epsilon", "√p/(nε)", "excess risk",
              "bound", "excess/law");
  for (const Case& c : cases) {
    all.push_back(measured(c));
    const Measurement& measured = all.back();
    std::printf("%8lld %6lld %8g %12.4g %12.4g %12.4g %10.3g\n", static_cast<long long>(c.n),
                static_cast<long long>(c.p), c.epsilon, c.law(), measured.excess, measured.bound,
                measured.excess / c.law());
    std::fflush(stdout);
  }
  const auto fitted = exponents(all);
  std::printf("excess risk ~ n^%.2f p^%.2f ε^%.2f; the law says n^-1 p^0.5 ε^-1\n", fitted[1],
              fitted[2], fitted[3]);
  if (argc < 2) return 0;
  std::sort(all.begin(), all.end(),
            [](const Measurement& a, const Measurement& b) { return a.what.law() < b.what.law(); });
  Series points{"measured, the worst of six problems"};
  Series law{.name = "in proportion to √p/(nε)", .style = Series::Style::dashed};
  Series bound{"bound, 2DG(2 + log T)/√T"};
  double ratio = 0;
  for (const Measurement& measured : all)
    ratio += std::log(measured.excess / measured.what.law()) / static_cast<double>(all.size());
  for (const Measurement& measured : all) {
    const double x = measured.what.law();
    points.x.push_back(x);
    points.y.push_back(measured.excess);
    law.x.push_back(x);
    law.y.push_back(std::exp(ratio) * x);
    bound.x.push_back(x);
    bound.y.push_back(measured.bound);
  }
  Chart chart;
  chart.id = "excess-risk";
  chart.title = "Excess risk of private gradient descent";
  chart.caption =
      "n from 250 to 4000, p from 4 to 256, ε from 0.25 to 4, δ = 10⁻⁶, replace-one, T in "
      "proportion to (nε)²/p steps: one point for each.";
  chart.x_label = "√p/(nε)";
  chart.y_label = "excess risk";
  chart.log_x = chart.log_y = true;
  chart.series = {points, law, bound};
  std::ofstream(argv[1]) << svg(chart);
  return 0;
}
