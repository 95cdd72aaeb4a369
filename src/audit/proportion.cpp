// Clopper and Pearson's bounds: a search in doubles, and a certified check of its result.
#include "audit/api/proportion.hpp"

#include <cmath>
#include <string>

#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "numerics/api/search.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// An upper bound on P(X >= k) for X binomial with n trials of probability p. Its terms decrease if
// k >= np.
double tail_upper(std::int64_t k, std::int64_t n, double p) {
  if (k <= 0) return 1;
  const Real odds = Real(p) / (Real(1) - Real(p));
  const auto count = [](std::int64_t m) { return Real(static_cast<double>(m)); };
  Real term = exp(log_binomial(n, k) + count(k) * log(Real(p)) + count(n - k) * log1p(-Real(p)));
  Real sum = term;
  for (std::int64_t i = k; i < n; ++i) {
    const Real ratio = count(n - i) / count(i + 1) * odds;
    term = term * ratio;
    sum += term;
    // The rest is below the geometric series with the present ratio.
    if (ratio.upper() < 1 && term.upper() < 1e-17 * sum.lower()) {
      sum += term * ratio / (Real(1) - ratio);
      break;
    }
  }
  return sum.upper();
}

// An estimate of log P(X >= k) in doubles, for a search.
double estimated_log_tail(std::int64_t k, std::int64_t n, double p) {
  const auto count = [](std::int64_t m) { return static_cast<double>(m); };
  const double start =
      log_binomial(n, k).estimate() + count(k) * std::log(p) + count(n - k) * std::log1p(-p);
  double term = 1;  // relative to the first
  double sum = 1;
  for (std::int64_t i = k; i < n; ++i) {
    term *= count(n - i) / count(i + 1) * (p / (1 - p));
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return start + std::log(sum);
}

// An estimate of the largest p up to `most` with P(X >= k) at most `doubt`.
double search(std::int64_t k, std::int64_t n, double doubt, double most) {
  const double level = std::log(doubt);
  double low = 0;
  double high = most;
  for (int turn = 0; turn < 200 && high > low * (1 + 1e-13); ++turn) {
    const double middle = low == 0 ? high / 2 : std::sqrt(low * high);
    if (middle <= low || middle >= high || middle < 1e-300) break;
    (estimated_log_tail(k, n, middle) > level ? high : low) = middle;
  }
  return low;
}

}  // namespace

double proportion_lower(std::int64_t successes, std::int64_t n, double doubt) {
  if (n < 1 || successes < 0 || successes > n)
    throw InvalidValue("successes = " + std::to_string(successes) + " of n = " + std::to_string(n) +
                       " trials is not allowed: it must hold that 0 <= successes <= n and n >= 1");
  if (!(doubt > 0 && doubt < 1))
    throw InvalidValue("doubt = " + shortest(doubt) +
                       " is not allowed: it must be above 0 and below 1");
  if (successes == 0) return 0;
  if (n > std::int64_t{1} << 31U)
    throw InvalidValue("n = " + std::to_string(n) +
                       " trials is not allowed: it must be at most 2^31");
  // The bound is the largest p at which this many successes, or more, have probability at most
  // `doubt`. That probability grows with p.
  const double most = static_cast<double>(successes) / static_cast<double>(n);
  const auto likely = [&](double p) { return tail_upper(successes, n, p) > doubt; };
  if (!likely(most)) return most;
  const double estimate = search(successes, n, doubt, most);
  // Certify the estimate, or a slightly smaller p.
  for (double share = 0x1p-46; share < 1; share *= 4) {
    const double p = estimate * (1 - share);
    if (p < 1e-300) return 0;
    if (!likely(p)) return p;
  }
  return 0;
}

double proportion_upper(std::int64_t successes, std::int64_t n, double doubt) {
  const double failures = proportion_lower(n - successes, n, doubt);
  return std::nextafter(1 - failures, 2);
}

}  // namespace sotto
