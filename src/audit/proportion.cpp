#include "audit/api/proportion.hpp"

#include <cmath>

#include "sotto/core/errors.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "numerics/api/search.hpp"

namespace sotto {
namespace {

// P(X >= k), X binomial with n tries of probability p, from above. The terms fall from the first on where k >= np.
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
    // the rest is below a geometric series with the present ratio
    if (ratio.upper() < 1 && term.upper() < 1e-17 * sum.lower()) {
      sum += term * ratio / (Real(1) - ratio);
      break;
    }
  }
  return sum.upper();
}

// Its logarithm in doubles, near enough for a search.
double tail_about(std::int64_t k, std::int64_t n, double p) {
  const auto count = [](std::int64_t m) { return static_cast<double>(m); };
  const double start = log_binomial(n, k).estimate() + count(k) * std::log(p) + count(n - k) * std::log1p(-p);
  double term = 1;  // relative to the first
  double sum = 1;
  for (std::int64_t i = k; i < n; ++i) {
    term *= count(n - i) / count(i + 1) * (p / (1 - p));
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return start + std::log(sum);
}

// About the largest p up to `most` whose tail is at most `doubt`.
double search(std::int64_t k, std::int64_t n, double doubt, double most) {
  const double level = std::log(doubt);
  double low = 0;
  double high = most;
  for (int turn = 0; turn < 200 && high > low * (1 + 1e-13); ++turn) {
    const double middle = low == 0 ? high / 2 : std::sqrt(low * high);
    if (middle <= low || middle >= high || middle < 1e-300) break;
    (tail_about(k, n, middle) > level ? high : low) = middle;
  }
  return low;
}

}  // namespace

double proportion_lower(std::int64_t successes, std::int64_t n, double doubt) {
  if (n < 1 || successes < 0 || successes > n) throw InvalidValue("there must be at least one try, and no more successes than tries");
  if (!(doubt > 0 && doubt < 1)) throw InvalidValue("doubt must be above 0 and below 1");
  if (successes == 0) return 0;
  if (n > std::int64_t{1} << 31U) throw InvalidValue("at most 2^31 tries");
  // the largest p at which so many successes or more would be this unlikely; the tail grows with p
  const double most = static_cast<double>(successes) / static_cast<double>(n);
  const auto likely = [&](double p) { return tail_upper(successes, n, p) > doubt; };
  if (!likely(most)) return most;
  const double found = search(successes, n, doubt, most);
  // proved there, or a little below
  for (double share = 0x1p-46; share < 1; share *= 4) {
    const double p = found * (1 - share);
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
