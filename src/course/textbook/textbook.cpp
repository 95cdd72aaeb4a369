// Trains on made-up rows with the noise of each calibration and measures the excess risk.
#include "course/api/textbook.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

void require_sound(const MadeUpProblem& problem) {
  if (problem.rows < 2 || problem.rows > 1'000'000) {
    throw InvalidValue("rows = " + std::to_string(problem.rows) +
                       " is not allowed: a made-up problem has 2 to 1000000 rows");
  }
  if (problem.dimension < 1 || problem.dimension > 10'000) {
    throw InvalidValue("dimension = " + std::to_string(problem.dimension) +
                       " is not allowed: a made-up problem has 1 to 10000 dimensions");
  }
  if (!(problem.diameter > 0 && problem.diameter <= 1e6)) {
    throw InvalidValue("diameter = " + shortest(problem.diameter) +
                       " is not allowed: it must be a number in (0, 1e6]");
  }
}

// A generator for made-up rows, with the same numbers on every machine. It protects nobody.
class MadeUpNumbers {
 public:
  explicit MadeUpNumbers(std::uint64_t seed) : words_(seed) {}
  double uniform() { return (static_cast<double>(words_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
  }
  std::vector<double> direction(std::size_t dimension) {
    std::vector<double> x(dimension);
    for (double& one : x) one = normal();
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& one : x) one /= length;
    return x;
  }

 private:
  std::mt19937_64 words_;
};

void project(std::vector<double>& x, double radius) {
  const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  if (length > radius) {
    for (double& one : x) one *= radius / length;
  }
}

// Returns the gradient of the mean logistic loss.
std::vector<double> gradient_of(const Examples& examples, const std::vector<double>& parameters) {
  std::vector<double> gradient(parameters.size(), 0.0);
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    const std::int16_t* row = examples.row(i);
    double z = 0;
    for (std::size_t j = 0; j < parameters.size(); ++j) z += parameters[j] * row[j];
    const double slope = 1 / (1 + std::exp(-z / feature_one)) - examples.target(i);
    for (std::size_t j = 0; j < parameters.size(); ++j) gradient[j] += slope * row[j];
  }
  for (double& g : gradient)
    g /= static_cast<double>(feature_one) * static_cast<double>(examples.rows());
  return gradient;
}

// Trains with this noise and returns the excess risk of each run over the least loss.
MeasuredRisk measured_risk(const TextbookSettings& ask, const TextbookTraining& textbook,
                           const Examples& examples, double least, std::string method,
                           double noise) {
  const Training training = textbook_training(textbook, noise);
  const std::shared_ptr<const Model> model = made_up_model(ask.problem);
  MeasuredRisk risk{.method = std::move(method),
                    .noise = noise * training.clipping.norm / training.batch,
                    .bound = excess_risk_bound(training, textbook.lipschitz, textbook.parameters,
                                               examples.units())};
  for (int run = 0; run < ask.runs; ++run) {
    const Iterate last = train(model, examples, training, {.threads = 1});
    risk.risks.push_back(mean_loss(*model, examples, last.parameters) - least);
  }
  return risk;
}

}  // namespace

Examples made_up_rows(const MadeUpProblem& problem) {
  require_sound(problem);
  MadeUpNumbers numbers(problem.seed);
  const std::vector<double> truth = numbers.direction(problem.dimension);
  Examples::Builder builder(problem.dimension);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const std::vector<double> x = numbers.direction(problem.dimension);
    const double z =
        std::inner_product(x.begin(), x.end(), truth.begin(), 0.0) * problem.diameter / 2;
    const auto codes = builder.add(numbers.uniform() < 1 / (1 + std::exp(-z)) ? 1 : 0);
    // Rounded toward zero and a thousandth shorter, so that rounding cannot make a row longer than
    // 1.
    for (std::size_t j = 0; j < codes.size(); ++j)
      codes[j] = static_cast<std::int16_t>(std::trunc(x[j] * 0.999 * feature_one));
  }
  return std::move(builder).build();
}

std::unique_ptr<Model> made_up_model(const MadeUpProblem& problem) {
  return make_model(
      LinearModel{.width = problem.dimension, .loss = {LossKind::logistic}, .intercept = false});
}

double mean_loss(const Model& model, const Examples& examples,
                 const std::vector<double>& parameters) {
  std::vector<double> z(examples.rows() * model.outputs());
  model.prepare(parameters)->outputs(examples, 0, z);
  double sum = 0;
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    sum +=
        model.loss().value(std::span<const double>(z).subspan(i * model.outputs(), model.outputs()),
                           examples.target(i));
  }
  return sum / static_cast<double>(examples.rows());
}

double least_loss(const MadeUpProblem& problem, const Examples& examples) {
  // The curvature of the loss is at most |x|²/4 <= 1/4, so the step is 4. After k accelerated steps
  // the loss is at most 2 · 1/4 · (D/2)²/(k + 1)² above the least one.
  const auto model = made_up_model(problem);
  std::vector<double> now(problem.dimension, 0.0);
  std::vector<double> ahead = now;
  double momentum = 1;
  const int steps = static_cast<int>(std::ceil(1000 * std::max(1.0, problem.diameter)));
  for (int k = 0; k < steps; ++k) {
    const auto gradient = gradient_of(examples, ahead);
    std::vector<double> next = ahead;
    for (std::size_t j = 0; j < next.size(); ++j) next[j] -= 4 * gradient[j];
    project(next, problem.diameter / 2);
    const double later = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t j = 0; j < next.size(); ++j)
      ahead[j] = next[j] + (momentum - 1) / later * (next[j] - now[j]);
    now = std::move(next);
    momentum = later;
  }
  return mean_loss(*model, examples, now);
}

double MeasuredRisk::mean() const {
  return std::accumulate(risks.begin(), risks.end(), 0.0) / static_cast<double>(risks.size());
}
double MeasuredRisk::deviation() const {
  if (risks.size() < 2) return 0;
  double square = 0;
  for (const double risk : risks) square += (risk - mean()) * (risk - mean());
  return std::sqrt(square / static_cast<double>(risks.size() - 1));
}

TextbookResult compare_textbook(const TextbookSettings& ask, Epsilon epsilon, Delta delta) {
  if (ask.runs < 1) {
    throw InvalidValue("runs = " + std::to_string(ask.runs) +
                       " is not allowed: it must be a whole number from 1");
  }
  const TextbookTraining textbook{.population = ask.problem.rows,
                                  .batch = ask.batch,
                                  .diameter = ask.problem.diameter,
                                  .lipschitz = 1,
                                  .parameters = ask.problem.dimension,
                                  .steps = ask.steps};
  const Examples examples = made_up_rows(ask.problem);
  const Training plain = textbook_training(textbook, 1);
  TextbookResult result{plain.steps, least_loss(ask.problem, examples), {}};
  for (const NoiseCalibration& calibration : noise_by_method(plain, epsilon, delta)) {
    if (calibration.noise) {
      result.methods.push_back(measured_risk(ask, textbook, examples, result.least,
                                             calibration.method, *calibration.noise));
    } else {
      result.methods.push_back({.method = calibration.method, .refusal = calibration.refusal});
    }
  }
  result.methods.push_back(measured_risk(ask, textbook, examples, result.least, "no noise", 0));
  return result;
}

}  // namespace sotto
