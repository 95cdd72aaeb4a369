// Draws randomized responses and selections by the exponential mechanism, exactly.
#include "sotto/mechanisms/choice.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "numerics/api/elementary.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {

Respondent::Respondent(double p, std::int64_t k)
    : p_(p), k_(k), event_(randomized_response(p, static_cast<double>(k))) {}

Respondent Respondent::with_epsilon(Epsilon epsilon, std::int64_t k) {
  if (!(epsilon.value() > 0))
    throw InvalidValue("epsilon must be above 0: at 0 a response says nothing");
  if (k < 2) throw InvalidValue("k must be at least 2");
  // 1/(1 + (k-1) e^-ε), down, however the event's own number is read; from ε = 700 on, p is the
  // last double below 1 in any case
  const Real spent = Real::reading(std::min(epsilon.value(), 700.0));
  const double most =
      (Real(1) / (Real(1) + Real(static_cast<double>(k - 1)) * exp(-spent))).lower();
  double p = most;
  while (Real::reading(p).upper() > most) p = next_down(p);
  return Respondent(p, k);
}

std::int64_t Respondent::respond(std::int64_t value) const {
  if (value < 0 || value >= k_)
    throw InvalidValue("a value must be a whole number from 0 to " + std::to_string(k_ - 1));
  // the same work whatever the coin says
  const bool truth = bernoulli(p_);
  const auto other = static_cast<std::int64_t>(uniform_below(static_cast<std::uint64_t>(k_ - 1)));
  const std::int64_t moved = other + static_cast<std::int64_t>(other >= value);
  return truth ? value : moved;
}

std::vector<double> Respondent::estimate(std::span<const std::int64_t> responses) const {
  if (static_cast<std::int64_t>(responses.size()) != k_)
    throw InvalidValue("there must be " + std::to_string(k_) + " counts, one for each value");
  double n = 0;
  for (const std::int64_t count : responses) n += static_cast<double>(count);
  const double r = (1 - p_) / static_cast<double>(k_ - 1);
  if (p_ == r) throw InvalidValue("p = 1/k: the responses say nothing");
  std::vector<double> estimates;
  for (const std::int64_t count : responses)
    estimates.push_back((static_cast<double>(count) - n * r) / (p_ - r));
  return estimates;
}

double Respondent::deviation(double n) const {
  const double r = (1 - p_) / static_cast<double>(k_ - 1);
  const double spread = std::max(p_ * (1 - p_), r * (1 - r));
  return std::sqrt(n * spread) / std::abs(p_ - r);
}

Selection::Selection(Epsilon epsilon, double sensitivity)
    : epsilon_(epsilon.value()), sensitivity_(sensitivity), event_(exponential(epsilon_)) {
  if (!(sensitivity > 0) || !std::isfinite(sensitivity))
    throw InvalidValue("sensitivity must be above 0 and finite");
}

std::size_t Selection::choose(std::span<const double> scores) const {
  if (scores.empty()) throw InvalidValue("there is nothing to choose from");
  if (!std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); }))
    throw InvalidValue("a score must be finite");
  const double best = *std::max_element(scores.begin(), scores.end());
  // any index alike, kept with e^-(ε (best - score) / (2Δ))
  for (;;) {
    const std::size_t i = uniform_below(scores.size());
    if (bernoulli_exp(Decay{epsilon_ / 2, best, scores[i], sensitivity_})) return i;
  }
}

}  // namespace sotto
