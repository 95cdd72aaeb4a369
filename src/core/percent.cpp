// Percentages by decimal rounding (decimal.hpp).
#include "core/api/percent.hpp"

#include "sotto/core/decimal.hpp"

namespace sotto {

std::string percent_text(double share, int digits, Side side) {
  return rounded(100 * share, digits, side) + " %";
}

}  // namespace sotto
