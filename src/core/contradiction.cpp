// The message of a contradiction, and the check that raises it.
#include "core/api/contradiction.hpp"

#include <string>

#include "sotto/core/decimal.hpp"

namespace sotto {

Contradiction::Contradiction(const std::string& what, double lower, double upper)
    : std::logic_error("sotto contradicts itself: " + what + " is at least " + shortest(lower) +
                       " by one proof and at most " + shortest(upper) +
                       " by another, so there is no answer. This is a bug in sotto, not in your "
                       "input: please report this line and all that you typed") {}

Bound bracket(double lower, double upper, std::string_view what) {
  if (lower > upper) throw Contradiction(std::string(what), lower, upper);
  return {lower, upper};
}

}  // namespace sotto
