// The terms are divided by the largest one before they are exponentiated.
#include "numerics/api/log_space.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/api/elementary.hpp"

namespace sotto {

Real log_sum_exp(const std::vector<Real>& terms) {
  if (terms.empty()) return -1e300;
  double largest = -INFINITY;
  for (const Real& t : terms) largest = std::max(largest, t.estimate());
  Real sum = 0;
  for (const Real& t : terms) {
    if (std::isinf(t.radius())) return Real::unknown();
    const Real scaled = t - Real(largest);
    // terms below e^-100 < 2^-144 times the largest are enclosed by [0, 2^-144], not computed
    sum += scaled.upper() < -100 ? Real(0x1p-145).widened(0x1p-145) : exp(scaled);
  }
  return Real(largest) + log(sum);
}

}  // namespace sotto
