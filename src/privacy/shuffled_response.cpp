// A lower bound on δ for shuffled binary randomized response in which all other users have the same
// value.
//
// The count of reports is Bin(n-1, w) + B with w = 1/(e^ε₀+1), where B = 1 is more likely under P.
// Let b be the mass function of Bin(n-1, w), and T(m) its mass from m on. The test "count > m" has
// P - e^ε Q = b(m)(e^ε(1-w) - w) - (e^ε - 1) T(m). For the opposite direction the test is "count <=
// m", and T(m) the mass up to m. Every m gives a lower bound; the best m is where the likelihood
// ratio crosses e^ε.
#include <algorithm>
#include <cmath>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "privacy/api/federated.hpp"

namespace sotto {
namespace {

// b(m), and an upper bound on T(m).
struct Tail {
  Real point, sum;
};

// Sums the terms of T(m) outwards until the rest is negligible, and adds a geometric series as a
// bound on the rest.
Tail tail_of(double trials, const Real& w, double m, bool upward) {
  const Real odds = w / (1 - w);
  const Real point =
      exp(log_binomial(static_cast<std::int64_t>(trials), static_cast<std::int64_t>(m)) +
          Real(m) * log(w) + Real(trials - m) * log1p(-w));
  Real term = point;
  Real sum = point;
  for (double k = m;;) {
    spend(20);
    const Real ratio =
        upward ? Real(trials - k) / Real(k + 1) * odds : Real(k) / Real(trials - k + 1) / odds;
    term *= ratio;
    if (term.upper() == 0) break;
    sum += term;
    k += upward ? 1 : -1;
    if (ratio.upper() < 0.999 && term.upper() < 1e-20 * sum.lower()) {
      sum += term.upper() * ratio / (1 - ratio);  // later ratios are smaller
      break;
    }
  }
  return {point, sum};
}

}  // namespace

Real shuffled_response_delta(double epsilon, const Real& local, std::int64_t users) {
  const Real w = 1 / (exp(local) + 1);
  const double trials = static_cast<double>(users) - 1;
  const Real gain = exp(Real(epsilon)) * (1 - w) - w;
  const Real price = expm1(Real(epsilon));
  // the ratio b(k-1)/b(k) = k/((n-k) odds) above which P exceeds e^ε Q
  const double crossing = gain.estimate() / ((1 - w) - exp(Real(epsilon)) * w).estimate();
  if (!(crossing > 0)) return 0;
  const double odds = (w / (1 - w)).estimate();
  const auto count_at = [&](double ratio) {
    return (trials + 1) * ratio * odds / (1 + ratio * odds);
  };
  Real best = 0;
  const auto consider = [&](double m, bool upward) {
    const double at = std::clamp(m, 0.0, trials);
    const Tail tail = tail_of(trials, w, at, upward);
    best = max(best, gain * tail.point - price * tail.sum);
  };
  consider(std::ceil(count_at(crossing)) - 1, true);
  consider(std::floor(count_at(1 / crossing)), false);
  return best;
}

}  // namespace sotto
