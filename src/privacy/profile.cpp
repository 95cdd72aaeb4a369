#include "sotto/privacy/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/numerics/search.hpp"

namespace sotto {

double epsilon_of(const Profile& profile, double delta, Side side) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (delta == 0) return profile.worst_loss;
  if (profile.failure.at(side) > delta) return infinity;
  // Whether ε suffices for certain, and by how much: the log of δ(ε)/delta, an estimate to steer by.
  double excess = 0;
  const auto sufficient = [&](double epsilon) {
    const Real value = profile.delta(epsilon);
    excess = std::clamp(std::log(std::max(value.estimate(), 0.0) / delta), -700.0, 700.0);
    return value.at(side) <= delta;
  };
  if (sufficient(0)) return 0;
  double low = 0;
  double low_excess = excess;
  double high = 1;
  while (high < profile.worst_loss && !sufficient(high)) {
    low = high;
    low_excess = excess;
    high *= 2;
    if (high > 1e300) return side == Side::upper ? infinity : low;
  }
  double high_excess = high < profile.worst_loss ? excess : -700;
  high = std::min(high, profile.worst_loss);
  // From here on `low` was seen to be insufficient, and `high` to suffice (or is the max divergence). False position
  // narrows the two, with the kept end's weight halved (Illinois), and by halves where that is slow.
  int kept_high = 0;
  int kept_low = 0;
  for (int i = 0; i < 60 && high - low > 1e-15 * high; ++i) {
    const double share = low_excess / (low_excess - high_excess);
    const bool by_halves = i > 20 || !(share > 0 && share < 1);
    // a few doubles off the ends, so that an end next to the root closes in on it
    const double tolerance = 4e-16 * high;
    const double middle = by_halves ? low + (high - low) / 2 : std::clamp(low + (high - low) * share, low + tolerance, high - tolerance);
    if (middle <= low || middle >= high) break;
    if (sufficient(middle)) {
      high = middle;
      high_excess = excess;
      kept_high = 0;
      if (++kept_low > 1) low_excess /= 2;
    } else {
      low = middle;
      low_excess = excess;
      kept_low = 0;
      if (++kept_high > 1) high_excess /= 2;
    }
  }
  const double first = first_true(next_up(low), high, sufficient);
  // On the lower side, the double before the first sufficient one was seen to be insufficient.
  return side == Side::upper ? first : next_down(first);
}

}  // namespace sotto
