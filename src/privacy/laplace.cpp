// The closed forms of Laplace noise.
#include "privacy/api/laplace.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"

namespace sotto {

Real laplace_delta(double epsilon, double x) {
  if (epsilon >= x) return 0;
  return -expm1((Real(epsilon) - Real(x)) / 2);
}

Profile laplace_profile(double x) {
  return {[x](double epsilon) { return laplace_delta(epsilon, x); }, x};
}

Real laplace_rho(const Real& x) { return x + expm1(-x); }

Real laplace_renyi(const Real& x, double order) {
  if (order == 1) return laplace_rho(x);
  if (std::isinf(order)) return x;
  // e^((α-1)x) is factored out of the logarithm, so that nothing overflows and only small terms
  // cancel
  const Real a = order;
  return x + log1p((a - 1) / (2 * a - 1) * expm1(-(2 * a - 1) * x)) / (a - 1);
}

}  // namespace sotto
