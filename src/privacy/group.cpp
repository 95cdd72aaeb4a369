// The theorems on group privacy.
#include "privacy/api/group.hpp"

#include <cmath>
#include <string>

#include "numerics/api/elementary.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

Real real(std::int64_t k) { return static_cast<double>(k); }

}  // namespace

ApproximateDP group_of(std::int64_t k, const ApproximateDP& dp) {
  const Real total = real(k) * dp.epsilon;
  if (dp.delta.upper() == 0) return {total, 0};
  if (dp.epsilon.upper() == 0) return {total, real(k) * dp.delta};
  return {total, dp.delta * expm1(total) / expm1(dp.epsilon)};
}

ZeroConcentratedDP group_of(std::int64_t k, const ZeroConcentratedDP& zcdp) {
  return {square(real(k)) * zcdp.rho};
}

TruncatedConcentratedDP group_of(std::int64_t k, const TruncatedConcentratedDP& tcdp) {
  if (!certainly_less(real(k), tcdp.omega)) {
    throw OutsideConditions("tCDP of a group of k needs omega > k, here omega = " +
                            shortest(tcdp.omega.estimate()) + " and k = " + std::to_string(k));
  }
  return {square(real(k)) * tcdp.rho, tcdp.omega / real(k)};
}

GaussianDP group_of(std::int64_t k, const GaussianDP& gdp) { return {real(k) * gdp.mu}; }

int group_doublings(std::int64_t k) {
  int c = 0;
  while ((std::int64_t{1} << c) < k) ++c;
  return c;
}

RenyiDP group_of(std::int64_t k, const RenyiDP& rdp) {
  const int c = group_doublings(k);
  const double order = std::ldexp(rdp.order, -c);
  if (!(order >= 2)) {
    throw OutsideConditions("RDP of a group of " + std::to_string(k) +
                            " needs an order of at least 2^" + std::to_string(c + 1) + ", here " +
                            shortest(rdp.order));
  }
  return {order, pow(Real(3), Real(c)) * rdp.epsilon};
}

}  // namespace sotto
