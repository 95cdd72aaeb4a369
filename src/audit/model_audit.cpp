// Membership inference and canaries: training with random members, scores, and the one-run bound.
#include "sotto/audit/model_audit.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// Fair coins from the cryptographic generator.
std::vector<bool> coins(std::size_t count) {
  std::vector<bool> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = (Random::here().word() & 1U) != 0;
  return result;
}

void copy_unit(const Examples& from, std::size_t unit, Examples::Builder& to) {
  if (!from.one_row_a_unit()) to.next_unit();
  for (std::size_t i = from.first(unit); i < from.first(unit + 1); ++i) {
    const std::span<std::int16_t> row = to.add(from.target(i));
    std::copy(from.row(i), from.row(i) + from.width(), row.begin());
  }
}

// The examples of the chosen units.
Examples select_units(const Examples& pool, const std::vector<bool>& chosen) {
  Examples::Builder builder(pool.width());
  for (std::size_t unit = 0; unit < pool.units(); ++unit) {
    if (chosen[unit]) copy_unit(pool, unit, builder);
  }
  return std::move(builder).build();
}

// The mean loss of each unit under these parameters.
std::vector<double> losses(const Model& model, const Examples& pool,
                           const std::vector<double>& parameters) {
  const auto prepared = model.prepare(parameters);
  std::vector<double> outputs(pool.rows() * model.outputs());
  prepared->outputs(pool, 0, outputs);
  std::vector<double> result;
  for (std::size_t unit = 0; unit < pool.units(); ++unit) {
    double sum = 0;
    for (std::size_t i = pool.first(unit); i < pool.first(unit + 1); ++i) {
      sum += model.loss().value(
          std::span<const double>(outputs).subspan(i * model.outputs(), model.outputs()),
          pool.target(i));
    }
    result.push_back(sum / static_cast<double>(
                               std::max<std::size_t>(1, pool.first(unit + 1) - pool.first(unit))));
  }
  return result;
}

// The score log(p/(1-p)) for p = e^-loss [Carlini2022].
double score_of(double loss) { return -loss - std::log(-std::expm1(-std::max(loss, 1e-12))); }

// The success of an attack that accuses the units with the highest scores.
MembershipInference evaluate_attack(const std::string& attack, const std::vector<double>& scores,
                                    const std::vector<bool>& included,
                                    const ModelAuditOptions& options) {
  MembershipInference result{.attack = attack};
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const auto members = static_cast<double>(std::count(included.begin(), included.end(), true));
  const double others = static_cast<double>(included.size()) - members;
  double hits = 0;
  double false_hits = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (included[order[i]] ? hits : false_hits) += 1;
    if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]])
      continue;  // equal scores are on the same side of every threshold
    const double tpr = hits / std::max(1.0, members);
    const double fpr = false_hits / std::max(1.0, others);
    result.advantage = std::max(result.advantage, tpr - fpr);
    if (fpr <= 0.01) result.tpr_at_1 = tpr;
    if (fpr <= 0.1) result.tpr_at_10 = tpr;
  }
  result.bound = one_run_audit(scores, included, options.delta, options.confidence);
  return result;
}

// The mean and the variance of each unit's score over the shadow models that were trained with it,
// and without it.
struct Shadows {
  explicit Shadows(std::size_t units) : count(2 * units), sum(2 * units), square(2 * units) {}
  void add(std::size_t unit, bool in, double x) {
    const std::size_t index = 2 * unit + (in ? 1 : 0);
    count[index] += 1;
    sum[index] += x;
    square[index] += x * x;
  }
  // log N(x; in) - log N(x; out). Variances are at least `least_variance`, since few shadow models
  // underestimate them. 0 if the unit is in all shadow models, or in no one.
  [[nodiscard]] double ratio(std::size_t unit, double x, double least_variance) const {
    double result = 0;
    for (const bool in : {true, false}) {
      const std::size_t index = 2 * unit + (in ? 1 : 0);
      if (count[index] == 0) return 0;
      const double mean = sum[index] / count[index];
      const double variance = std::max(least_variance, square[index] / count[index] - mean * mean);
      result +=
          (in ? 1 : -1) * (-(x - mean) * (x - mean) / (2 * variance) - std::log(variance) / 2);
    }
    return result;
  }
  std::vector<double> count, sum, square;
};

}  // namespace

std::vector<MembershipInference> membership_inference(const Model& model, const Examples& pool,
                                                      const Learn& learn,
                                                      const ModelAuditOptions& options) {
  if (pool.units() < 20)
    throw InvalidValue("the pool has " + std::to_string(pool.units()) +
                       " units: membership inference needs at least 20");
  if (options.shadows < 0 || options.shadows > 10'000)
    throw InvalidValue("shadows = " + std::to_string(options.shadows) +
                       " is not allowed: it must be from 0 to 10000");
  (void)require_probability_below_one(options.delta, "delta");
  (void)require_open_unit(options.confidence, "confidence");

  // Train once with random members, and attack by the loss.
  const std::vector<bool> included = coins(pool.units());
  const std::vector<double> loss = losses(model, pool, learn(select_units(pool, included)));
  std::vector<double> scores;
  for (const double l : loss) scores.push_back(-l);
  std::vector<MembershipInference> result{
      evaluate_attack("loss threshold", scores, included, options)};
  if (options.shadows == 0) return result;

  // Fit each unit's score on shadow models, and attack by the likelihood ratio.
  Shadows shadows(pool.units());
  double spread = 0;
  for (std::int64_t s = 0; s < options.shadows; ++s) {
    const std::vector<bool> chosen = coins(pool.units());
    const std::vector<double> shadow_losses =
        losses(model, pool, learn(select_units(pool, chosen)));
    for (std::size_t unit = 0; unit < pool.units(); ++unit) {
      const double x = score_of(shadow_losses[unit]);
      shadows.add(unit, chosen[unit], x);
      spread += x * x;
    }
  }
  const double least = 1e-6 * (1 + spread / static_cast<double>(pool.units()) /
                                       static_cast<double>(options.shadows));
  for (std::size_t unit = 0; unit < pool.units(); ++unit)
    scores[unit] = shadows.ratio(unit, score_of(loss[unit]), least);
  result.push_back(evaluate_attack("likelihood ratio", scores, included, options));
  return result;
}

OneRun canary_audit(const Examples& rows, const Learn& learn, const CanaryOptions& options) {
  if (options.canaries < 20 || options.canaries > 20'000)
    throw InvalidValue("canaries = " + std::to_string(options.canaries) +
                       " is not allowed: it must be from 20 to 20000");
  const auto canaries = static_cast<std::size_t>(options.canaries);
  const std::vector<bool> included = coins(canaries);
  Examples::Builder builder(rows.width() + canaries);
  for (std::size_t unit = 0; unit < rows.units(); ++unit) copy_unit(rows, unit, builder);
  for (std::size_t j = 0; j < canaries; ++j) {
    if (!included[j]) continue;
    if (!rows.one_row_a_unit()) builder.next_unit();
    builder.add(options.target)[rows.width() + j] = feature_one;
  }
  const std::vector<double> parameters = learn(std::move(builder).build());
  if (parameters.size() < rows.width() + canaries)
    throw InvalidValue("the trained model has " + std::to_string(parameters.size()) +
                       " parameters: a linear model has a weight for each of " +
                       std::to_string(rows.width() + canaries) + " features");
  const std::span<const double> scores =
      std::span<const double>(parameters).subspan(rows.width(), canaries);
  return one_run_audit(scores, included, options.delta, options.confidence);
}

}  // namespace sotto
