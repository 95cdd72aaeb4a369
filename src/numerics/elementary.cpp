// Argument reduction and Taylor series at the centre of the ball; the radius is added by a bound on
// the derivative.
#include "numerics/api/elementary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/api/work.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr int exponential_terms = 26;

// 1/1!, 1/2!, …, 1/26!.
const std::array<Real, exponential_terms>& inverse_factorials() {
  static const auto table = [] {
    std::array<Real, exponential_terms> values;
    Real value = 1;
    for (int n = 1; n <= exponential_terms; ++n)
      values[static_cast<std::size_t>(n - 1)] = value = value / n;
    return values;
  }();
  return table;
}

// Returns sum_{n>=1} x^(n-1) / n!, so that e^x = 1 + x * series, from its first `terms` terms.
// `rest` is the caller's bound on the other terms, 2 |x|^terms / (terms+1)! for |x| <= 0.5.
Real exponential_series(const Real& x, int terms, double rest) {
  const auto& coefficient = inverse_factorials();
  Real sum = coefficient[static_cast<std::size_t>(terms - 1)];
  for (int n = terms - 2; n >= 0; --n) sum = coefficient[static_cast<std::size_t>(n)] + x * sum;
  return sum.widened(rest);
}

// For |x| <= 0.5 the rest is at most 2 * 0.5^26 / 27! < 2^-118.
Real exponential_series(const Real& x) {
  return exponential_series(x, exponential_terms, 0x1p-118);
}

// Returns e^(j/32) for j = -12 … 12.
constexpr int exponential_steps = 12;
const Real& exponential_step(int j) {
  static const auto table = [] {
    std::array<Real, 2 * exponential_steps + 1> values;
    for (int i = -exponential_steps; i <= exponential_steps; ++i) {
      const Real x = Real(i) / 32;
      values[static_cast<std::size_t>(i + exponential_steps)] = 1 + x * exponential_series(x);
    }
    return values;
  }();
  return table[static_cast<std::size_t>(j + exponential_steps)];
}

// Returns e^x - 1 for the ball of x, from e^c - 1 at its centre c: e^x = e^c * e^(x - c).
Real spread(const Real& at_centre_minus_one, double radius) {
  if (radius == 0) return at_centre_minus_one;
  // libm's expm1 errs by a few units in the last place
  const double growth = std::expm1(radius) * (1 + 0x1p-40);
  const Real value = 1 + at_centre_minus_one;
  return at_centre_minus_one.widened((std::fabs(value.high()) + value.radius()) * (1 + 0x1p-40) *
                                     growth);
}

}  // namespace

Real pi() { return Real::ball(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, 0x1p-107); }
Real log_two() { return Real::ball(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1p-109); }

Real exp(const Real& x) {
  spend(300);
  const double top = x.upper();
  if (top > 709.7) return Real::unknown();
  // If e^x may underflow, return the whole of [0, e^top].
  if (x.lower() < -740)
    return Real::hull(0.0, top < -745 ? std::numeric_limits<double>::denorm_min()
                                      : std::exp(top) * (1 + 0x1p-20) + 1e-322);

  // e^c = 2^k e^(j/32) e^t for the centre c
  const Real centre = x.centre();
  const int k = static_cast<int>(std::nearbyint(centre.high() * 1.4426950408889634));
  const Real r = centre - Real(k) * log_two();  // |r| < 0.35
  const int j = static_cast<int>(std::nearbyint(32 * r.high()));
  // |t| < 1/63: the rest is below 2 * (1/63)^15 / 16! < 2^-132
  const Real t = r.centre() - Real(j) / 32;
  Real value = exponential_step(j) * (1 + t * exponential_series(t.centre(), 15, 0x1p-118));
  // d is the radius of log 2 and of the argument: e^(r + d) <= e^r * (1 + expm1(|d|))
  const double d = (r.radius() + t.radius() + x.radius()) * (1 + 0x1p-40);
  if (d != 0)
    value = value.widened((std::fabs(value.high()) + value.radius()) * (1 + 0x1p-40) *
                          std::expm1(d) * (1 + 0x1p-40));
  return scale(value, k);
}

Real expm1(const Real& x) {
  spend(300);
  if (!(std::fabs(x.high()) < 0.4)) return exp(x) - 1;
  const Real centre = x.centre();
  return spread(centre * exponential_series(centre), x.radius());
}

Real log(const Real& x) {
  spend(300);
  const double low = x.lower();
  if (!(low > 0) || x.upper() == infinity) return Real::unknown();
  const Real centre = x.centre();
  if (centre.high() == 1 && centre.low() == 0 && x.radius() == 0) return 0;
  // split off a power of two, then correct the C library's y = log m: log m = y + log1p(m e^-y - 1)
  int k = 0;
  std::frexp(centre.high(), &k);
  const Real m = scale(centre, -k);
  const double y = std::log(m.high());
  const Real t = m * exp(Real(-y)) - 1;
  const double small = std::fabs(t.high()) + t.radius();
  Real value = Real(y) + (t - t * t / 2).widened(small * small * small);
  if (k != 0) value += Real(k) * log_two();
  if (x.radius() == 0) return value;
  // |log'| <= 1 / low on the ball
  return value.widened(x.radius() / low * (1 + 0x1p-40));
}

Real log1p(const Real& x) {
  spend(300);
  if (!(std::fabs(x.high()) < 0.125)) return log(1 + x);
  // log(1+x) = 2 artanh(z) with z = x / (2 + x), |z| < 0.067: the terms after the 15th sum to less
  // than 0.067^31
  const Real centre = x.centre();
  const Real z = centre / (2 + centre);
  const Real z2 = z * z;
  Real sum = Real(1) / 29;
  for (int n = 27; n >= 1; n -= 2) sum = Real(1) / n + z2 * sum;
  const Real value = 2 * z * sum.widened(0x1p-115);
  if (x.radius() == 0) return value;
  // a lower bound on 1 + x over the ball
  const double least = 1 - std::fabs(x.high()) - std::fabs(x.low()) - x.radius();
  if (!(least > 0x1p-10)) return log(1 + x);
  return value.widened(x.radius() / least * (1 + 0x1p-40));
}

Real square(const Real& x) { return x * x; }

Real sqrt(const Real& x) {
  if (x.high() == 0 && x.low() == 0 && x.radius() == 0) return 0;
  const double low = x.lower();
  if (!(low > 0) || x.upper() == infinity) return Real::unknown();
  const Real centre = x.centre();
  const double s = std::sqrt(centre.high());
  const Real residue = centre - Real(s) * Real(s);
  if (residue.high() == 0 && residue.radius() == 0 && x.radius() == 0) return s;
  // sqrt(c) = s + e with e = residue / (2 s) - e^2 / (2 s), |e| <= 2^-51 s
  const Real e = residue / (2 * Real(s));
  const double small = std::fabs(e.high()) + e.radius();
  Real value = Real(s) + e.widened(small * small / s * (1 + 0x1p-20));
  if (x.radius() == 0) return value;
  return value.widened(x.radius() / (2 * std::sqrt(low)) * (1 + 0x1p-40));
}

Real sqrt_of_nonnegative(const Real& x) {
  const double high = x.upper();
  if (x.lower() > 0 || !(high > 0) || high == infinity) return sqrt(x);
  return Real::hull(0.0, next_up(std::sqrt(high)));
}

Real pow(const Real& x, const Real& y) { return exp(y * log(x)); }

Real sinh(const Real& x) {
  if (std::fabs(x.high()) < 0.4) {
    const Real up = expm1(x);
    return (up + up / (1 + up)) / 2;
  }
  return (exp(x) - exp(-x)) / 2;
}

Real tanh(const Real& x) {
  if (x.high() < 0) return -tanh(-x);
  const Real m = expm1(-2 * x);  // in (-1, 0]
  return -m / (2 + m);
}

Real log1pexp(const Real& x) {
  const Real centre = x.centre();
  const Real value = centre.high() > 0 ? centre + log1p(exp(-centre)) : log1p(exp(centre));
  // the derivative e^x / (1 + e^x) is below 1 and below e^x
  const double slope = std::min(1.0, std::exp(x.upper()) * (1 + 0x1p-20));
  return value.widened(x.radius() * slope);
}

}  // namespace sotto
