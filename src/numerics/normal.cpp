// The normal distribution from one series of positive terms and one continued fraction.
#include "numerics/api/normal.hpp"

#include <cmath>
#include <limits>

#include "numerics/api/elementary.hpp"
#include "numerics/api/search.hpp"

namespace sotto {
namespace {

// Returns sum_{n>=0} x^(2n+1) / (2n+1)!! = R(0) e^(x²/2) - R(x), whose terms all have one sign.
Real odd_series(const Real& x) {
  const Real x2 = square(x);
  Real term = x;
  Real sum = term;
  double ratio = 1;
  for (int n = 1; n < 400; ++n) {
    term = term * x2 / (2 * n + 1);
    sum += term;
    ratio = x2.high() / (2 * n + 3);
    if (ratio < 0.5 && std::fabs(term.high()) < 0x1p-115 * std::fabs(sum.high())) break;
  }
  // the rest is below a geometric series of ratio 1/2
  return sum.widened(2 * std::fabs(term.high()));
}

// Returns a ball that holds every number between a and b. Real::hull would round its ends to
// doubles.
Real between(const Real& a, const Real& b) {
  const Real difference = b - a;
  return a.widened(std::fabs(difference.high()) + difference.radius());
}

Real continued_fraction(const Real& x) {
  // R lies between the convergents with n and n+1 levels, which are evaluated backwards
  const auto convergent = [&x](int levels) {
    Real tail = x;
    for (int n = levels; n >= 1; --n) tail = x + Real(n) / tail;
    return 1 / tail;
  };
  const int levels = x.high() > 12 ? 16 : 48;  // the two differ by about e^(-2 x sqrt(2 levels))
  return between(convergent(levels), convergent(levels + 1));
}

}  // namespace

Real normal_density(const Real& x) {
  if (x.lower() > 40 || x.upper() < -40)
    return Real::hull(0.0, std::numeric_limits<double>::denorm_min());
  return exp(-square(x) / 2) / sqrt(2 * pi());
}

Real mills_ratio(const Real& x) {
  const Real centre = x.centre();
  // left of -5 by R(x) + R(-x) = sqrt(2π) e^(x²/2); the series serves |x| < 5
  const Real value =
      centre.high() <= -5 ? sqrt(2 * pi()) * exp(square(centre) / 2) - continued_fraction(-centre)
      : centre.high() < 5 ? sqrt(pi() / 2) * exp(square(centre) / 2) - odd_series(centre)
                          : continued_fraction(centre);
  if (x.radius() == 0) return value;
  // R' = x R - 1 lies in (-1, 0) for x >= 0, and its modulus grows to the left: take the ball's
  // left end
  if (x.radius() > 1) return Real::unknown();
  const double left = x.lower();
  const double slope = left >= 0 ? 1 : 1 + std::fabs(left) * mills_ratio(Real(left)).upper();
  return value.widened(x.radius() * slope * (1 + 0x1p-40));
}

Real normal_tail(const Real& x) {
  if (x.high() <= -5) return 1 - normal_tail(-x);
  const Real centre = x.centre();
  const Real value = x.high() < 5 ? Real(0.5) - normal_density(centre) * odd_series(centre)
                                  : normal_density(centre) * continued_fraction(centre);
  if (x.radius() == 0) return value;
  // the derivative is the density, which is largest at the point of the ball nearest to 0
  const double nearest = x.lower() > 0 ? x.lower() : 0;
  return value.widened(x.radius() * normal_density(Real(nearest)).upper() * (1 + 0x1p-40));
}

Real normal_cdf(const Real& x) { return normal_tail(-x); }

double normal_quantile(double p, Side side) {
  if (side == Side::upper)
    return first_true(-40, 40, [p](double x) { return normal_cdf(x).lower() >= p; });
  return -first_true(-40, 40, [p](double x) { return normal_cdf(-x).upper() <= p; });
}

}  // namespace sotto
