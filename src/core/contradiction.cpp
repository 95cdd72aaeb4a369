#include "core/api/contradiction.hpp"

#include <string>

#include "sotto/core/decimal.hpp"

namespace sotto {

Contradiction::Contradiction(const std::string& what, double lower, double upper)
    : std::logic_error(
          "sotto contradicts itself: " + what + " is at least " + shortest(lower) + " by one proof and at most " + shortest(upper) +
          " by another; no answer is given. This is a bug of sotto, not of the question: please report the whole command and this line") {}

Bound bracket(double lower, double upper, std::string_view what) {
  if (lower > upper) throw Contradiction(std::string(what), lower, upper);
  return {lower, upper};
}

}  // namespace sotto
