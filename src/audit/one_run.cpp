// The p-value of correct guesses [Steinke2023, Thm 5.2], and the ε that it rejects.
#include "sotto/audit/one_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace {

Real count(std::int64_t n) { return Real(static_cast<double>(n)); }

// Throws InvalidValue for counts that are impossible or too large.
void check(std::int64_t records, std::int64_t guesses, std::int64_t right, double delta) {
  if (!(0 <= right && right <= guesses && guesses <= records && records >= 1 &&
        records <= 10'000'000)) {
    throw InvalidValue("records = " + std::to_string(records) + ", guesses = " +
                       std::to_string(guesses) + ", right = " + std::to_string(right) +
                       " is not allowed: it must hold that 0 <= right <= guesses <= records and 1 "
                       "<= records <= 10^7");
  }
  (void)require_probability_below_one(delta, "delta");
}

}  // namespace

double one_run_p_value(std::int64_t records, std::int64_t guesses, std::int64_t right,
                       double epsilon, double delta) {
  check(records, guesses, right, delta);
  (void)require_non_negative(epsilon, "epsilon");
  if (right == 0) return 1;
  // β = P(W >= right) for the binomial W: log P(W = k) = log C(n, k) + k ε - n log(1 + e^ε).
  const Real normaliser = count(guesses) * log1pexp(Real(epsilon));
  const auto probability = [&](std::int64_t k) {
    return exp(log_binomial(guesses, k) + count(k) * Real(epsilon) - normaliser);
  };
  Real term = probability(right);
  Real tail = term;
  const Real odds = exp(Real(epsilon));
  for (std::int64_t k = right; k < guesses; ++k) {
    const Real ratio = count(guesses - k) / count(k + 1) * odds;
    term = term * ratio;
    tail += term;
    if (ratio.upper() < 1 &&
        term.upper() <
            1e-17 * tail.lower()) {  // the rest is below the geometric series with this ratio
      tail += term * ratio / (Real(1) - ratio);
      break;
    }
  }

  // α: the largest average of the i probabilities below `right`.
  Real most(0);
  if (delta > 0) {
    Real sum(0);
    term = probability(right);
    for (std::int64_t i = 1; i <= right; ++i) {
      const std::int64_t k = right - i;
      term = term * count(k + 1) / count(guesses - k) / odds;
      sum += term;
      most = max(most, sum / count(i));
      if (sum.upper() / static_cast<double>(i) < most.lower() &&
          term.upper() < 1e-17 * most.lower()) {
        most = max(most,
                   (sum + term * count(right)) / count(i));  // a bound on all averages that follow
        break;
      }
    }
  }
  return std::min(1.0, (tail + Real(2) * count(records) * Real(delta) * most).upper());
}

double one_run_epsilon(std::int64_t records, std::int64_t guesses, std::int64_t right, double delta,
                       double doubt) {
  check(records, guesses, right, delta);
  (void)require_open_unit(doubt, "doubt");
  const auto rejected = [&](double epsilon) {
    return one_run_p_value(records, guesses, right, epsilon, delta) <= doubt;
  };
  if (!rejected(0)) return 0;
  double low = 0;  // always an ε that is rejected
  double high = 40;
  for (int turn = 0; turn < 50 && high - low > 1e-9; ++turn) {
    const double middle = (low + high) / 2;
    (rejected(middle) ? low : high) = middle;
  }
  return low;
}

OneRun one_run_audit(std::span<const double> scores, const std::vector<bool>& included,
                     double delta, double confidence) {
  if (scores.size() != included.size() || scores.empty())
    throw InvalidValue(std::to_string(scores.size()) + " scores for " +
                       std::to_string(included.size()) +
                       " records is not allowed: there must be one score for each record, and at "
                       "least one record");
  (void)require_open_unit(confidence, "confidence");
  const std::size_t records = scores.size();
  std::vector<std::size_t> order(records);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  OneRun best{
      .records = static_cast<std::int64_t>(records), .delta = delta, .confidence = confidence};
  for (const std::size_t wanted : {records / 20, records / 4, records}) {
    const std::size_t half = wanted / 2;
    if (half == 0) continue;
    std::int64_t right = 0;
    for (std::size_t i = 0; i < half; ++i)
      right += (included[order[i]] ? 1 : 0) + (included[order[records - 1 - i]] ? 0 : 1);
    const auto guesses = static_cast<std::int64_t>(2 * half);
    const double epsilon =
        one_run_epsilon(best.records, guesses, right, delta, (1 - confidence) / 3);
    if (best.guesses == 0 || epsilon > best.epsilon) {
      best.guesses = guesses;
      best.right = right;
      best.epsilon = epsilon;
    }
  }
  return best;
}

}  // namespace sotto
