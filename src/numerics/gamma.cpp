// Stirling's series with exact coefficients, and a table of small factorials.
#include "numerics/api/gamma.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "numerics/api/elementary.hpp"

namespace sotto {

Real log_gamma(const Real& x) {
  // shift the argument to at least 24, where the terms after the 14th sum to less than 2^-110
  Real shifted = x;
  Real product = 1;
  while (shifted.high() < 24) {
    product *= shifted;
    shifted += 1;
  }
  // B_{2n} / (2n (2n - 1)) as exact fractions, n = 1 … 14, with the Bernoulli numbers B
  struct Fraction {
    double numerator, denominator;
  };
  static constexpr std::array<Fraction, 14> coefficient{{{1, 12},
                                                         {-1, 360},
                                                         {1, 1260},
                                                         {-1, 1680},
                                                         {1, 1188},
                                                         {-691, 360360},
                                                         {1, 156},
                                                         {-3617, 122400},
                                                         {43867, 244188},
                                                         {-174611, 125400},
                                                         {77683, 5796},
                                                         {-236364091, 1506960},
                                                         {657931, 300},
                                                         {-3392780147, 93960}}};
  const Real inverse = 1 / shifted;
  const Real inverse2 = square(inverse);
  Real series = 0;
  for (auto c = coefficient.rbegin(); c != coefficient.rend(); ++c) {
    series = series * inverse2 + Real(c->numerator) / Real(c->denominator);
  }
  series *= inverse;
  // the next coefficient is 1723168255201 / 2492028 < 7e5
  const double omitted = 7e5 * std::pow(1 / shifted.lower(), 29) * (1 + 0x1p-20);
  const Real stirling =
      (shifted - Real(0.5)) * log(shifted) - shifted + log(2 * pi()) / 2 + series.widened(omitted);
  return stirling - log(product);
}

namespace {

constexpr std::int64_t tabulated_factorials = 2049;

// Returns log n! for n < 2049 from a table, since sums over binomial coefficients need each of them
// many times.
Real tabulated_log_factorial(std::int64_t n) {
  thread_local std::vector<Real> table{Real(0)};
  while (static_cast<std::int64_t>(table.size()) <= n)
    table.push_back(table.back() + log(Real(static_cast<double>(table.size()))));
  return table[static_cast<std::size_t>(n)];
}

Real log_factorial(std::int64_t n) { return log_gamma(Real(static_cast<double>(n)) + 1); }

}  // namespace

Real log_binomial(std::int64_t n, std::int64_t k) {
  if (k == 0 || k == n) return 0;
  if (n < tabulated_factorials)
    return tabulated_log_factorial(n) - tabulated_log_factorial(k) - tabulated_log_factorial(n - k);
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace sotto
