// Numbers as derivations print them.
#include "sotto/accounting/derivation.hpp"

#include <cmath>

#include "sotto/core/decimal.hpp"

namespace sotto {

std::string rounded_up(const Real& x) { return rounded(x.upper(), 6, Side::upper); }
std::string rounded_down(const Real& x) { return rounded(x.lower(), 6, Side::lower); }

std::string rounded_to_nearest(const Real& x) {
  const double value = x.estimate();
  const std::string up = rounded(value, 6, Side::upper);
  const std::string down = rounded(value, 6, Side::lower);
  return std::abs(read_number(up) - value) < std::abs(read_number(down) - value) ? up : down;
}

}  // namespace sotto
