#include "sotto/audit/model_audit.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

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

Examples chosen_of(const Examples& pool, const std::vector<bool>& chosen) {
  Examples::Builder builder(pool.width());
  for (std::size_t unit = 0; unit < pool.units(); ++unit) {
    if (chosen[unit]) copy_unit(pool, unit, builder);
  }
  return std::move(builder).build();
}

// Each unit's mean loss under these parameters.
std::vector<double> losses(const Model& model, const Examples& pool, const std::vector<double>& parameters) {
  const auto prepared = model.prepare(parameters);
  std::vector<double> outputs(pool.rows() * model.outputs());
  prepared->outputs(pool, 0, outputs);
  std::vector<double> result;
  for (std::size_t unit = 0; unit < pool.units(); ++unit) {
    double sum = 0;
    for (std::size_t i = pool.first(unit); i < pool.first(unit + 1); ++i) {
      sum += model.loss().value(std::span<const double>(outputs).subspan(i * model.outputs(), model.outputs()), pool.target(i));
    }
    result.push_back(sum / static_cast<double>(std::max<std::size_t>(1, pool.first(unit + 1) - pool.first(unit))));
  }
  return result;
}

// log(p/(1-p)) for p = e^-loss.
double confidence_of(double loss) { return -loss - std::log(-std::expm1(-std::max(loss, 1e-12))); }

MembershipInference judged(const std::string& attack, const std::vector<double>& scores, const std::vector<bool>& included,
                           const ModelAuditOptions& options) {
  MembershipInference result{.attack = attack};
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const auto members = static_cast<double>(std::count(included.begin(), included.end(), true));
  const double others = static_cast<double>(included.size()) - members;
  double hits = 0;
  double false_hits = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (included[order[i]] ? hits : false_hits) += 1;
    if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]]) continue;  // no threshold lies between equal scores
    const double tpr = hits / std::max(1.0, members);
    const double fpr = false_hits / std::max(1.0, others);
    result.advantage = std::max(result.advantage, tpr - fpr);
    if (fpr <= 0.01) result.tpr_at_1 = tpr;
    if (fpr <= 0.1) result.tpr_at_10 = tpr;
  }
  result.bound = one_run_audit(scores, included, options.delta, options.confidence);
  return result;
}

// Means and variances of a unit's confidence among the shadows that were and were not learned from it.
struct Shadows {
  explicit Shadows(std::size_t units) : count(2 * units), sum(2 * units), square(2 * units) {}
  void add(std::size_t unit, bool in, double x) {
    const std::size_t place = 2 * unit + (in ? 1 : 0);
    count[place] += 1;
    sum[place] += x;
    square[place] += x * x;
  }
  // log N(x; in) - log N(x; out), with one variance for both where they are few
  [[nodiscard]] double ratio(std::size_t unit, double x, double least_variance) const {
    double result = 0;
    for (const bool in : {true, false}) {
      const std::size_t place = 2 * unit + (in ? 1 : 0);
      if (count[place] == 0) return 0;
      const double mean = sum[place] / count[place];
      const double variance = std::max(least_variance, square[place] / count[place] - mean * mean);
      result += (in ? 1 : -1) * (-(x - mean) * (x - mean) / (2 * variance) - std::log(variance) / 2);
    }
    return result;
  }
  std::vector<double> count, sum, square;
};

}  // namespace

std::vector<MembershipInference> membership_inference(const Model& model, const Examples& pool, const Learn& learn,
                                                      const ModelAuditOptions& options) {
  if (pool.units() < 20) throw InvalidValue("membership inference needs a pool of at least 20 units");
  if (options.shadows < 0 || options.shadows > 10'000) throw InvalidValue("there may be up to 10000 shadow models");
  (void)require_probability_below_one(options.delta, "delta");
  (void)require_open_unit(options.confidence, "confidence");
  const std::vector<bool> included = coins(pool.units());
  const std::vector<double> loss = losses(model, pool, learn(chosen_of(pool, included)));
  std::vector<double> scores;
  for (const double l : loss) scores.push_back(-l);
  std::vector<MembershipInference> result{judged("loss threshold", scores, included, options)};
  if (options.shadows == 0) return result;
  Shadows shadows(pool.units());
  double spread = 0;
  for (std::int64_t s = 0; s < options.shadows; ++s) {
    const std::vector<bool> chosen = coins(pool.units());
    const std::vector<double> theirs = losses(model, pool, learn(chosen_of(pool, chosen)));
    for (std::size_t unit = 0; unit < pool.units(); ++unit) {
      const double x = confidence_of(theirs[unit]);
      shadows.add(unit, chosen[unit], x);
      spread += x * x;
    }
  }
  const double least = 1e-6 * (1 + spread / static_cast<double>(pool.units()) / static_cast<double>(options.shadows));
  for (std::size_t unit = 0; unit < pool.units(); ++unit) scores[unit] = shadows.ratio(unit, confidence_of(loss[unit]), least);
  result.push_back(judged("likelihood ratio", scores, included, options));
  return result;
}

OneRun canary_audit(const Examples& rows, const Learn& learn, const CanaryOptions& options) {
  if (options.canaries < 20 || options.canaries > 20'000) throw InvalidValue("there must be 20 to 20000 canaries");
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
  if (parameters.size() < rows.width() + canaries) throw InvalidValue("a linear model has a weight for every feature");
  const std::span<const double> scores = std::span<const double>(parameters).subspan(rows.width(), canaries);
  return one_run_audit(scores, included, options.delta, options.confidence);
}

}  // namespace sotto
