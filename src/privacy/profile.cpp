// The inverse of a profile by root bracketing in log δ; certified values decide, estimates only
// guide.
#include "privacy/api/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/api/search.hpp"

namespace sotto {

namespace {

// A point of a profile: x is ε, and e the logarithm of δ(ε)/delta.
struct Point {
  double x;
  double e;
};

// Returns where the curve through three points crosses e = 0, by inverse quadratic interpolation.
// NaN if the points do not determine it.
double zero_of_inverse_quadratic(const Point& a, const Point& b, const Point& c) {
  return a.x * b.e * c.e / ((a.e - b.e) * (a.e - c.e)) +
         b.x * a.e * c.e / ((b.e - a.e) * (b.e - c.e)) +
         c.x * a.e * b.e / ((c.e - a.e) * (c.e - b.e));
}

}  // namespace

double epsilon_of(const Profile& profile, double delta, Side side) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (delta == 0) return profile.worst_loss;
  if (profile.failure.at(side) > delta) return infinity;

  // returns whether ε suffices for certain, and remembers the last three points to guide the search
  Point last{0, 0};
  Point before{0, 0};
  Point first_point{0, 0};
  const auto sufficient = [&](double epsilon) {
    const Real value = profile.delta(epsilon);
    first_point = before;
    before = last;
    last = {epsilon, std::clamp(std::log(std::max(value.estimate(), 0.0) / delta), -700.0, 700.0)};
    return value.at(side) <= delta;
  };
  if (sufficient(0)) return 0;

  // bracket the root by growing steps
  Point low = last;
  Point high{1, 0};
  while (high.x < profile.worst_loss && !sufficient(high.x)) {
    // log δ is mostly concave, so the line through the last two points crosses beyond the root
    const double line = last.x + last.e * (last.x - low.x) / (low.e - last.e);
    low = last;
    high.x = line > 2 * low.x && line < 16 * low.x ? line : 2 * low.x;
    if (high.x > 1e300) return side == Side::upper ? infinity : low.x;
  }
  high = high.x < profile.worst_loss ? last : Point{profile.worst_loss, -700};

  // `low` is insufficient, and `high` suffices or is the max divergence. Narrow the two by
  // interpolation; if that is slow, by false position with half the weight for an end that stays
  // (Illinois), and at last by bisection.
  int idle_high = 0;  // for how many turns the end has not moved
  int idle_low = 0;
  for (int i = 0; i < 60 && high.x - low.x > 1e-15 * high.x; ++i) {
    const double share = low.e / (low.e - high.e);
    double middle = zero_of_inverse_quadratic(first_point, before, last);
    if (!(middle > low.x && middle < high.x) || idle_high > 1 || idle_low > 1)
      middle = low.x + (high.x - low.x) * share;
    if (i > 20 || !(share > 0 && share < 1)) middle = low.x + (high.x - low.x) / 2;
    // stay a few doubles off the ends, so that the other end moves if one is next to the root
    const double tolerance = 4e-16 * high.x;
    middle = std::clamp(middle, std::min(low.x + tolerance, high.x),
                        std::max(low.x, high.x - tolerance));
    if (middle <= low.x || middle >= high.x) break;
    if (sufficient(middle)) {
      high = last;
      idle_high = 0;
      if (++idle_low > 1) low.e /= 2;
    } else {
      low = last;
      idle_low = 0;
      if (++idle_high > 1) high.e /= 2;
    }
  }

  // bisect the few doubles that are left
  const double first = first_true(next_up(low.x), high.x, sufficient);
  // on the lower side, the double before the first sufficient one was evaluated and is insufficient
  return side == Side::upper ? first : next_down(first);
}

}  // namespace sotto
