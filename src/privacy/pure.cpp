// The closed forms of randomized response, rearranged so that nothing overflows.
#include "privacy/api/pure.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"

namespace sotto {

Real pure_delta(double epsilon, double epsilon0) {
  if (epsilon >= epsilon0) return 0;
  // (1 - e^(ε - ε₀)) / (1 + e^-ε₀) does not overflow
  return -expm1(Real(epsilon) - Real(epsilon0)) / (1 + exp(-Real(epsilon0)));
}

Profile pure_profile(double epsilon0) {
  return {[epsilon0](double epsilon) { return pure_delta(epsilon, epsilon0); }, epsilon0};
}

Real pure_rho_classic(const Real& epsilon) { return square(epsilon) / 2; }

Real pure_rho(const Real& epsilon) { return epsilon * tanh(epsilon / 2); }

Real pure_renyi(const Real& epsilon, double order) {
  if (order == 1) return pure_rho(epsilon);
  if (std::isinf(order)) return epsilon;
  // the quotient of hyperbolic sines is e^((α-1)ε) (1 + e^(-(2α-1)ε)) / (1 + e^-ε)
  const Real a = order;
  const Real down = exp(-epsilon);
  return epsilon + log1p(down * expm1(-2 * (a - 1) * epsilon) / (1 + down)) / (a - 1);
}

}  // namespace sotto
