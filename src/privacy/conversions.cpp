// The conversions, except for the optimal one at one order (joint_range.cpp).
#include "privacy/api/conversions.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "numerics/api/elementary.hpp"
#include "privacy/api/best_order.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

void require_order(double order) {
  if (!(order > 1) || std::isinf(order)) {
    throw OutsideConditions("the conversion from RDP needs a finite order above 1, here " +
                            shortest(order));
  }
}

}  // namespace

Real epsilon_from_renyi_classic(const RenyiDP& renyi, const Real& delta) {
  require_order(renyi.order);
  return renyi.epsilon - log(delta) / (Real(renyi.order) - 1);
}

Real delta_from_renyi_classic(const RenyiDP& renyi, const Real& epsilon) {
  require_order(renyi.order);
  return min(1, exp(min(0, (Real(renyi.order) - 1) * (renyi.epsilon - epsilon))));
}

Real epsilon_from_renyi(const RenyiDP& renyi, const Real& delta) {
  require_order(renyi.order);
  const Real a = renyi.order;
  return max(0, renyi.epsilon + log1p(-1 / a) - (log(delta) + log(a)) / (a - 1));
}

Real delta_from_renyi(const RenyiDP& renyi, const Real& epsilon) {
  require_order(renyi.order);
  const Real a = renyi.order;
  const Real exponent = (a - 1) * (renyi.epsilon - epsilon + log1p(-1 / a)) - log(a);
  return exp(min(0, exponent));
}

Real target_order(const Real& epsilon, const Real& delta) { return 1 - 2 * log(delta) / epsilon; }

Real epsilon_from_zcdp_classic(const ZeroConcentratedDP& zcdp, const Real& delta) {
  return zcdp.rho + 2 * sqrt(zcdp.rho * -log(delta));
}

Real rho_for_target_classic(const Real& epsilon, const Real& delta) {
  // written as (ε / (sqrt(ε + l) + sqrt(l)))², which cancels nothing
  const Real l = -log(delta);
  return square(epsilon / (sqrt(epsilon + l) + sqrt(l)));
}

Real delta_from_zcdp_classic(const ZeroConcentratedDP& zcdp, const Real& epsilon) {
  if (!certainly_at_most(zcdp.rho, epsilon)) return 1;
  return exp(-square(epsilon - zcdp.rho) / (4 * zcdp.rho));
}

BestOrder epsilon_from_tcdp(const TruncatedConcentratedDP& tcdp, const Real& delta) {
  return best_order(tcdp.omega.lower(), [&](double a) {
    return epsilon_from_renyi({a, Real(a) * tcdp.rho}, delta);
  });
}

BestOrder delta_from_tcdp(const TruncatedConcentratedDP& tcdp, const Real& epsilon) {
  return best_order(tcdp.omega.lower(), [&](double a) {
    return delta_from_renyi({a, Real(a) * tcdp.rho}, epsilon);
  });
}

BestOrder epsilon_from_zcdp(const ZeroConcentratedDP& zcdp, const Real& delta) {
  return best_order(std::numeric_limits<double>::infinity(), [&](double a) {
    return epsilon_from_renyi({a, Real(a) * zcdp.rho}, delta);
  });
}

BestOrder delta_from_zcdp(const ZeroConcentratedDP& zcdp, const Real& epsilon) {
  return best_order(std::numeric_limits<double>::infinity(), [&](double a) {
    return delta_from_renyi({a, Real(a) * zcdp.rho}, epsilon);
  });
}

Real epsilon_from_tcdp_classic(const TruncatedConcentratedDP& tcdp, const Real& delta) {
  const Real l = -log(delta);
  const Real capped = tcdp.rho * tcdp.omega + l / (tcdp.omega - 1);
  if (certainly_at_most(l, square(tcdp.omega - 1) * tcdp.rho))
    return epsilon_from_zcdp_classic({tcdp.rho}, delta);
  return capped;
}

Real delta_from_tcdp_classic(const TruncatedConcentratedDP& tcdp, const Real& epsilon) {
  if (!certainly_at_most(tcdp.rho, epsilon)) return 1;
  if (certainly_at_most(epsilon, (2 * tcdp.omega - 1) * tcdp.rho))
    return delta_from_zcdp_classic({tcdp.rho}, epsilon);
  return exp(min(0, (tcdp.omega - 1) * (tcdp.omega * tcdp.rho - epsilon)));
}

namespace {

// Throws OutsideConditions unless `proved` is at most `simple`.
void require_simple(const Real& simple, const Real& proved, const Real& delta) {
  if (certainly_at_most(proved, simple)) return;
  throw OutsideConditions(
      "2 sqrt(rho log(1/delta)) leaves out rho, and holds only where a better conversion proves "
      "it: at delta = " +
          rounded(delta.estimate(), 6, Side::upper) + " it gives " +
          rounded(simple.estimate(), 6, Side::lower) + ", and the proved value is " +
          rounded(proved.upper(), 6, Side::upper) + ": use zcdp or zcdp-classic",
      Remedy::method);
}

}  // namespace

Real epsilon_from_zcdp_simple(const ZeroConcentratedDP& zcdp, const Real& delta) {
  const Real simple = 2 * sqrt(zcdp.rho * -log(delta));
  require_simple(simple.lower(), epsilon_from_zcdp(zcdp, delta).value.upper(), delta);
  return simple;
}

Real delta_from_zcdp_simple(const ZeroConcentratedDP& zcdp, const Real& epsilon) {
  const Real delta = exp(-square(epsilon) / (4 * zcdp.rho));
  if (!(delta.upper() > 0 && delta.upper() < 1)) return 1;
  require_simple(epsilon.lower(), epsilon_from_zcdp(zcdp, delta.upper()).value.upper(), delta);
  return delta;
}

Real true_positive_rate_from_renyi(const RenyiDP& renyi, const Real& false_positive_rate) {
  require_order(renyi.order);
  if (false_positive_rate.upper() == 0) return 0;
  const Real a = renyi.order;
  return exp(min(0, (renyi.epsilon + log(false_positive_rate)) * (a - 1) / a));
}

}  // namespace sotto
