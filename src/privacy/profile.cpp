#include "privacy/api/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/api/search.hpp"

namespace sotto {

namespace {

// Where the curve through three points (x, e) crosses e = 0, by inverse quadratic interpolation; NaN if it does not.
struct Point {
  double x;
  double e;
};
double crossing(const Point& a, const Point& b, const Point& c) {
  return a.x * b.e * c.e / ((a.e - b.e) * (a.e - c.e)) + b.x * a.e * c.e / ((b.e - a.e) * (b.e - c.e)) +
         c.x * a.e * b.e / ((c.e - a.e) * (c.e - b.e));
}

}  // namespace

double epsilon_of(const Profile& profile, double delta, Side side) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (delta == 0) return profile.worst_loss;
  if (profile.failure.at(side) > delta) return infinity;
  // Whether ε suffices for certain; and, to steer by, the log of δ(ε)/delta at the last three ε that were asked.
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
  Point low = last;
  Point high{1, 0};
  while (high.x < profile.worst_loss && !sufficient(high.x)) {
    // log δ is mostly concave: the line through the last two points then crosses beyond the root
    const double line = last.x + last.e * (last.x - low.x) / (low.e - last.e);
    low = last;
    high.x = line > 2 * low.x && line < 16 * low.x ? line : 2 * low.x;
    if (high.x > 1e300) return side == Side::upper ? infinity : low.x;
  }
  high = high.x < profile.worst_loss ? last : Point{profile.worst_loss, -700};
  // Here `low` was seen to be insufficient, and `high` to suffice (or is the max divergence). Interpolation
  // narrows the two; where it is slow, false position with the kept end's weight halved (Illinois), then halves.
  int kept_high = 0;
  int kept_low = 0;
  for (int i = 0; i < 60 && high.x - low.x > 1e-15 * high.x; ++i) {
    const double share = low.e / (low.e - high.e);
    double middle = crossing(first_point, before, last);
    if (!(middle > low.x && middle < high.x) || kept_high > 1 || kept_low > 1) middle = low.x + (high.x - low.x) * share;
    if (i > 20 || !(share > 0 && share < 1)) middle = low.x + (high.x - low.x) / 2;
    // a few doubles off the ends, so that an end next to the root closes in on it
    const double tolerance = 4e-16 * high.x;
    middle = std::clamp(middle, std::min(low.x + tolerance, high.x), std::max(low.x, high.x - tolerance));
    if (middle <= low.x || middle >= high.x) break;
    if (sufficient(middle)) {
      high = last;
      kept_high = 0;
      if (++kept_low > 1) low.e /= 2;
    } else {
      low = last;
      kept_low = 0;
      if (++kept_high > 1) high.e /= 2;
    }
  }
  const double first = first_true(next_up(low.x), high.x, sufficient);
  // On the lower side, the double before the first sufficient one was seen to be insufficient.
  return side == Side::upper ? first : next_down(first);
}

}  // namespace sotto
