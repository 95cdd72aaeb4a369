// Reads records from gradients of softmax regression, without and with noise.
#include <algorithm>
#include <cmath>
#include <utility>

#include "course/api/attack_gradient_inversion.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

constexpr std::int64_t most_parameters = 1'000'000;
constexpr std::int64_t most_cells = 1'000'000'000;

void check(const GradientInversionSettings& settings) {
  (void)require_count(settings.features, 1, "features");
  (void)require_count(settings.classes, 2, "classes");
  (void)require_count(settings.batch, 1, "batch");
  (void)require_count(settings.runs, 1, "runs");
  if (settings.features > most_parameters / settings.classes) {
    throw InvalidValue("features = " + std::to_string(settings.features) +
                       " with classes = " + std::to_string(settings.classes) +
                       " is not allowed: features times classes must be at most 10^6");
  }
  const std::int64_t parameters = settings.features * settings.classes;
  if (settings.batch > most_cells / parameters ||
      settings.runs > most_cells / (parameters * settings.batch)) {
    throw InvalidValue("batch = " + std::to_string(settings.batch) + " and runs = " +
                       std::to_string(settings.runs) + " with " + std::to_string(parameters) +
                       " weights is not allowed: features times classes times batch times runs "
                       "must be at most 10^9");
  }
  for (const double epsilon : settings.epsilons) (void)require_positive(epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
  (void)require_positive(settings.clip, "clip");
}

struct Record {
  std::vector<double> features;  // the last one is the constant 1, for the bias
  std::size_t label;
};

// A gradient has a row for each class: the coordinates of the weights, then that of the bias.
using Gradient = std::vector<double>;

class Model {
 public:
  explicit Model(const GradientInversionSettings& settings)
      : features_(static_cast<std::size_t>(settings.features)),
        classes_(static_cast<std::size_t>(settings.classes)) {}

  [[nodiscard]] Record made_up() const {
    Record record{.features = std::vector<double>(features_ + 1, 1.0),
                  .label = uniform_below(classes_)};
    for (std::size_t j = 0; j < features_; ++j)
      record.features[j] = static_cast<double>(uniform_below(2));
    return record;
  }

  // Returns coordinate c of p - e_label.
  [[nodiscard]] double residual(std::size_t c, std::size_t label) const {
    return 1 / static_cast<double>(classes_) - (c == label ? 1 : 0);
  }

  void add(const Record& record, double factor, Gradient& into) const {
    for (std::size_t c = 0; c < classes_; ++c) {
      const double weight = factor * residual(c, record.label);
      for (std::size_t j = 0; j <= features_; ++j)
        into[c * (features_ + 1) + j] += weight * record.features[j];
    }
  }

  [[nodiscard]] double norm(const Record& record) const {
    Gradient gradient(size());
    add(record, 1, gradient);
    double square = 0;
    for (const double one : gradient) square += one * one;
    return std::sqrt(square);
  }

  [[nodiscard]] std::size_t size() const { return classes_ * (features_ + 1); }

  // Computes (∂W_c - ∂W_a) / (∂b_c - ∂b_a) and returns it with c. Class a has the largest ∂b: no
  // record of the batch has it if any class is absent. Class c is the one whose ∂b fits exactly one
  // record. The mean over all records, which is a part of every row, cancels in the difference. For
  // a single record the result is ∂W/∂b.
  [[nodiscard]] std::pair<std::size_t, std::vector<double>> read_back(const Gradient& gradient,
                                                                      std::size_t batch) const {
    std::size_t absent = 0;
    for (std::size_t c = 1; c < classes_; ++c)
      absent = bias(gradient, c) > bias(gradient, absent) ? c : absent;
    const double single = 1 / static_cast<double>(classes_) - 1 / static_cast<double>(batch);
    std::size_t once = absent == 0 ? 1 : 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      if (c != absent &&
          std::abs(bias(gradient, c) - single) < std::abs(bias(gradient, once) - single))
        once = c;
    }
    std::vector<double> read(features_);
    const double weight = bias(gradient, once) - bias(gradient, absent);
    for (std::size_t j = 0; j < features_; ++j) {
      read[j] =
          (gradient[once * (features_ + 1) + j] - gradient[absent * (features_ + 1) + j]) / weight;
    }
    return {once, std::move(read)};
  }

  // Estimates the record: for each label computes Σ_c (p - e_label)_c g_c and takes the longest of
  // these vectors. It is scaled by the length of a clipped gradient of a record in which half of
  // the features are 1, which the attacker knows.
  [[nodiscard]] std::vector<double> projection(const Gradient& gradient, double clip) const {
    std::vector<double> best;
    double longest = -1;
    for (std::size_t label = 0; label < classes_; ++label) {
      std::vector<double> sum(features_ + 1);
      for (std::size_t c = 0; c < classes_; ++c) {
        for (std::size_t j = 0; j <= features_; ++j)
          sum[j] += residual(c, label) * gradient[c * (features_ + 1) + j];
      }
      double square = 0;
      for (const double one : sum) square += one * one;
      if (square > longest) {
        longest = square;
        best = std::move(sum);
      }
    }
    const double pattern = 1 - 1 / static_cast<double>(classes_);  // |p - e_label|²
    const double usual = std::sqrt(pattern * (1 + static_cast<double>(features_) / 2));
    best.pop_back();
    for (double& one : best) one /= pattern * std::min(1.0, clip / usual);
    return best;
  }

 private:
  [[nodiscard]] double bias(const Gradient& gradient, std::size_t c) const {
    return gradient[c * (features_ + 1) + features_];
  }

  std::size_t features_;
  std::size_t classes_;
};

// Counts how much of the records the attacker recovered.
struct Recovery {
  double bits = 0;
  double records = 0;
  double error = 0;

  void count(const Record& record, const std::vector<double>& guess) {
    std::size_t right = 0;
    for (std::size_t j = 0; j < guess.size(); ++j) {
      right += (guess[j] > 0.5) == (record.features[j] > 0.5) ? 1 : 0;
      error = std::max(error, std::abs(guess[j] - record.features[j]));
    }
    bits += static_cast<double>(right) / static_cast<double>(guess.size());
    records += right == guess.size() ? 1 : 0;
  }
};

}  // namespace

GradientInversionAttack gradient_inversion_attack(const GradientInversionSettings& settings) {
  check(settings);
  GradientInversionAttack attack{.settings = settings};
  if (attack.settings.epsilons.empty())
    attack.settings.epsilons = {1, 3, 10, 30, 100, 300, 1000, 3000};
  std::sort(attack.settings.epsilons.begin(), attack.settings.epsilons.end());
  const Model model(settings);
  const auto runs = static_cast<double>(settings.runs);
  const auto records = [&] {
    std::vector<Record> batch;
    for (std::int64_t i = 0; i < settings.batch; ++i) batch.push_back(model.made_up());
    return batch;
  };

  Recovery plain;
  for (std::int64_t run = 0; run < settings.runs; ++run) {
    const std::vector<Record> batch = records();
    Gradient mean(model.size());
    for (const Record& record : batch)
      model.add(record, 1 / static_cast<double>(batch.size()), mean);
    const auto [label, read] = model.read_back(mean, batch.size());
    const auto target =
        std::find_if(batch.begin(), batch.end(),
                     [at = label](const Record& record) { return record.label == at; });
    plain.count(target == batch.end() ? batch.front() : *target, read);
  }
  attack.plain_error = plain.error;
  attack.plain_recovered = plain.bits / runs;
  attack.plain_whole = plain.records / runs;

  for (const double epsilon : attack.settings.epsilons) {
    // Replacing a record moves the sum of clipped gradients by at most 2 clip. The factor covers
    // rounding in the clipping.
    const Additive mechanism =
        gaussian_for(Epsilon(epsilon), Delta(settings.delta), 2 * settings.clip * (1 + 0x1p-40));
    Recovery read;
    for (std::int64_t run = 0; run < settings.runs; ++run) {
      const std::vector<Record> batch = records();
      Gradient sum(model.size());
      for (const Record& record : batch)
        model.add(record, std::min(1.0, settings.clip / model.norm(record)), sum);
      read.count(batch.front(), model.projection(mechanism.release(sum), settings.clip));
    }
    attack.points.push_back({.epsilon = epsilon,
                             .noise = mechanism.scale(),
                             .recovered = read.bits / runs,
                             .whole = read.records / runs,
                             .ceiling = Tradeoff(mechanism.event()).success(0.5).upper});
  }
  return attack;
}

}  // namespace sotto
