// The theorems of [Bun2018], with their conditions checked on certified reals.
#include "privacy/api/arsinh.hpp"

#include <string>

#include "numerics/api/elementary.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

void require(bool holds, const std::string& condition) {
  if (!holds) throw OutsideConditions("the theorem on arsinh noise needs " + condition);
}

std::string text(const Real& x) { return shortest(x.estimate()); }

}  // namespace

TruncatedConcentratedDP arsinh_tcdp(const Real& rho, const Real& a, const Real& sensitivity) {
  const Real ratio = a / sensitivity;
  require(certainly_less(rho, 1), "1 < 1/sqrt(rho), here rho = " + text(rho));
  require(certainly_at_most(1, rho * square(ratio)),
          "1/sqrt(rho) <= A/sensitivity, here rho = " + text(rho) +
              " and A/sensitivity = " + text(ratio));
  require(certainly_less(8, ratio), "A > 8 sensitivity, here A/sensitivity = " + text(ratio));
  return {16 * rho, ratio / 8};
}

ArsinhParameters arsinh_for_target(const Real& rho, const Real& omega, const Real& sensitivity) {
  require(certainly_less(rho, 16), "rho < 16, here rho = " + text(rho));
  require(certainly_less(1, omega), "omega > 1, here omega = " + text(omega));
  require(certainly_at_most(1, 4 * rho * square(omega)),
          "omega >= 1/(2 sqrt(rho)), here rho = " + text(rho) + " and omega = " + text(omega));
  return {rho / 16, 8 * sensitivity * omega};
}

Real arsinh_order_limit(const Real& a, const Real& sensitivity) {
  return 1 / -expm1(-2 * sensitivity / a);
}

}  // namespace sotto
