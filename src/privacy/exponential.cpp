// The closed forms of the exponential mechanism.
#include "privacy/api/exponential.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"
#include "privacy/api/pure.hpp"

namespace sotto {

Real exponential_delta(double epsilon, double epsilon0) {
  if (epsilon >= epsilon0) return 0;
  // divided by e^ε₀ above and below: (1 - e^((ε-ε₀)/2))² / (1 - e^-ε₀)
  return square(expm1((Real(epsilon) - Real(epsilon0)) / 2)) / -expm1(-Real(epsilon0));
}

Profile exponential_profile(double epsilon0) {
  return {[epsilon0](double epsilon) { return exponential_delta(epsilon, epsilon0); }, epsilon0};
}

Real exponential_rho(const Real& epsilon) { return square(epsilon) / 8; }

Real exponential_renyi(const Real& epsilon, double order) {
  if (std::isinf(order) || epsilon.upper() == 0) return epsilon;
  if (order == 1) {
    const Real y = epsilon / -expm1(-epsilon) - 1;  // x - 1
    return y - log1p(y);
  }
  return min(pure_renyi(epsilon, order), Real(order) * exponential_rho(epsilon));
}

}  // namespace sotto
