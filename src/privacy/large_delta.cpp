// The text of the warning.
#include "privacy/api/large_delta.hpp"

#include "sotto/core/decimal.hpp"

namespace sotto {

std::string large_delta_warning(double delta, std::optional<double> units,
                                const std::string& unit) {
  if (!(delta < 1)) return "";  // Delta refuses it
  const bool is_known = units && *units > 0;
  if (is_known && delta * *units >= 1) {
    return "delta = " + rounded(delta, 4, Side::upper) +
           " is not below 1/n for n = " + shortest(*units) + ": to publish whole records of " +
           rounded(delta * *units, 2, Side::lower) + " " + unit + (delta * *units < 2 ? "" : "s") +
           " would satisfy it. Choose a delta well below 1/n, such as 1/n^2 = " +
           rounded(1 / (*units * *units), 2, Side::lower);
  }
  if (delta > large_delta) {
    return "delta = " + rounded(delta, 4, Side::upper) + " is large: to publish each " + unit +
           "'s whole record with this probability would satisfy it. Choose a delta well below 1 "
           "over the number of " +
           unit + "s, such as 1e-6";
  }
  return "";
}

}  // namespace sotto
