// The search for the best a, and the lower bound by supporting lines (docs/theory/tradeoff.md).
#include "accounting/attacker/neyman_pearson.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/api/work.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double farthest = 700;    // the largest |log a| of the search
constexpr double tolerance = 1e-9;  // relative to the result
constexpr double narrowest =
    1e-7;  // of an interval, relative to log a: the error between its ends is of second order
constexpr std::size_t neighbours =
    4;  // the number of points on either side through which lines are tried

// The objective h(a) + aα at one point.
struct Evaluation {
  double u;
  Real a;
  Bound h;
  double lower;
  double upper;
};

// A lower bound on the objective between two neighbouring points, and the a at which the two
// supporting lines that give it cross.
struct Interval {
  double bound = -infinity;
  double crossing = 0;   // log a; infinite if the lines do not cross between the points
  std::size_t left = 0;  // the index of the left point
};

class Search {
 public:
  Search(HockeyStick& stick, const Real& alpha) : stick_(stick), alpha_(alpha) {
    // For larger a the objective is above 1, and the trivial test has power 1.
    right_ = alpha.upper() > 0 ? std::clamp(std::log(2 / alpha.upper()), 0.0, farthest) : farthest;
  }

  // Starts with all known points, extends to both ends, and then refines the interval with the
  // weakest lower bound.
  void run(int most) {
    for (const auto& [u, point] : stick_.points()) {
      if (u <= right_) insert(u);
    }
    insert(0);
    const auto centre = std::find_if(points_.begin(), points_.end(),
                                     [](const Evaluation& one) { return one.u == 0; });
    scale_ = std::clamp(2 * centre->h.upper, 1e-300, 1.0);
    for (const double u : {scale_, -scale_, stick_.worst(), -stick_.worst()}) {
      if (std::abs(u) <= farthest && u <= right_) insert(u);
    }
    for (int turn = 0; turn < 2 * 64 && extend(); ++turn) {
    }

    for (int n = 0; n < most; ++n) {
      const std::size_t i = best();
      if (extend()) continue;
      const Interval interval = weakest(i);
      const double noise = points_[i].upper - points_[i].lower;
      if (points_[i].upper - interval.bound <= tolerance * points_[i].upper + 4 * noise) return;
      const double low = points_[interval.left].u;
      const double high = points_[interval.left + 1].u;
      if (high - low <= narrowest * std::max({scale_, std::abs(low), std::abs(high)})) return;
      const double middle = low + (high - low) / 2;
      const double margin = 0.02 * (high - low);
      insert(n % 3 == 2 || !std::isfinite(interval.crossing)
                 ? middle
                 : std::clamp(interval.crossing, low + margin, high - margin));
    }
  }

  [[nodiscard]] Bound result() const {
    if (points_.empty()) return {std::max(0.0, alpha_.lower()), 1};
    const std::size_t i = best();
    const double upper = std::min(1.0, points_[i].upper);
    return {std::clamp(weakest(i).bound, std::max(0.0, alpha_.lower()), upper) + 0.0,
            upper};  // 0, not -0
  }

 private:
  void insert(double u) {
    const auto place =
        std::lower_bound(points_.begin(), points_.end(), u,
                         [](const Evaluation& one, double at) { return one.u < at; });
    if (place != points_.end() && place->u == u) return;
    const HockeyStick::Point point = stick_.at(u);
    const Real cost = point.a * alpha_;
    points_.insert(place, {u, point.a, point.value, (point.value.lower + cost).lower(),
                           (point.value.upper + cost).upper()});
  }

  [[nodiscard]] std::size_t best() const {
    const auto least = std::min_element(
        points_.begin(), points_.end(),
        [](const Evaluation& x, const Evaluation& y) { return x.upper < y.upper; });
    return static_cast<std::size_t>(least - points_.begin());
  }

  // Adds a point beyond an end at which the objective still falls. Returns false if there is no
  // such end.
  bool extend() {
    const std::size_t i = best();
    const double u = points_[i].u;
    if (i + 1 == points_.size() && u < right_) {
      insert(std::min(right_, std::max(2 * u, u + scale_)));
      return true;
    }
    if (i == 0 && u > -farthest) {
      insert(std::max(-farthest, std::min(2 * u, u - scale_)));
      return true;
    }
    return false;
  }

  // The least lower bound over all a >= 0, and its interval. `i` is the point with the least
  // objective.
  [[nodiscard]] Interval weakest(std::size_t i) const {
    // The objective is convex: beyond a point that is certainly not below the least one it is
    // bounded by that point.
    std::size_t first = i;
    while (first > 0 && (first == i || points_[first].lower < points_[i].upper)) --first;
    std::size_t last = i;
    while (last + 1 < points_.size() && (last == i || points_[last].lower < points_[i].upper))
      ++last;
    Interval result;
    result.bound = std::min(beyond_left(first, i), beyond_right(last, i));
    double least = infinity;
    for (std::size_t p = first; p < last; ++p) {
      const Interval interval = between(p);
      if (interval.bound < least) {
        least = interval.bound;
        result.crossing = interval.crossing;
        result.left = p;
      }
    }
    result.bound = std::min(result.bound, least);
    return result;
  }

  // A lower bound for a from 0 to point p: h decreases, so the objective is at least h at p.
  [[nodiscard]] double beyond_left(std::size_t p, std::size_t i) const {
    const Evaluation& end = points_[p];
    return p != i && end.lower >= points_[i].upper ? end.lower : end.h.lower;
  }
  // A lower bound for a from point p on.
  [[nodiscard]] double beyond_right(std::size_t p, std::size_t i) const {
    const Evaluation& end = points_[p];
    return p != i && end.lower >= points_[i].upper ? end.lower
                                                   : (stick_.floor() + end.a * alpha_).lower();
  }

  // A line that lies below the objective between points p and p + 1, by its value at the far point.
  struct Line {
    bool exists = false;
    Real far_value = 0;
  };

  // The line through an earlier point and p, evaluated at p + 1.
  [[nodiscard]] Line line_from_left(std::size_t p, std::size_t back, const Real& width) const {
    if (back > p) return {};
    const Evaluation& low = points_[p];
    const Evaluation& earlier = points_[p - back];
    const Real times = width / (low.a - earlier.a);
    return {true, low.lower + times * (Real(low.lower) - Real(earlier.upper))};
  }

  // The line through p + 1 and a later point, evaluated at p.
  [[nodiscard]] Line line_from_right(std::size_t p, std::size_t on, const Real& width) const {
    const std::size_t q = p + 1;
    if (q + on >= points_.size()) return {};
    const Evaluation& high = points_[q];
    const Evaluation& later = points_[q + on];
    const Real times = width / (later.a - high.a);
    return {true, high.lower + times * (Real(high.lower) - Real(later.upper))};
  }

  // Raises `best` to the best mixture of the two lines, if that is larger.
  void improve(Interval& best, const Real& width, const Line& left, const Line& right) const {
    const Evaluation& low = points_[best.left];
    const Evaluation& high = points_[best.left + 1];
    const double lp = low.lower;
    const double lq = left.far_value.estimate();
    const double rp = right.far_value.estimate();
    const double rq = high.lower;
    std::vector<double> shares;  // weights of the line from the left in the mixture
    if (left.exists) shares.push_back(1);
    if (right.exists) shares.push_back(0);
    const double level = (rq - rp) / ((lp - lq) + (rq - rp));  // the mixture with slope 0
    if (left.exists && right.exists && level > 0 && level < 1) shares.push_back(level);
    for (const double share : shares) {
      const Real at_low =
          share * Real(lp) + (1 - Real(share)) * (right.exists ? right.far_value : Real(0));
      const Real at_high =
          share * (left.exists ? left.far_value : Real(0)) + (1 - Real(share)) * Real(rq);
      const double bound = std::min(at_low.lower(), at_high.lower());
      if (!(bound > best.bound)) continue;
      best.bound = bound;
      const double part = (lp - rp) / ((lp - rp) - (lq - rq));
      best.crossing = left.exists && right.exists && part > 0 && part < 1
                          ? std::log(low.a.estimate() + part * width.estimate())
                          : infinity;
    }
  }

  // The best lower bound between points p and p + 1, by mixtures of a line from the left and a line
  // from the right.
  [[nodiscard]] Interval between(std::size_t p) const {
    const Evaluation& low = points_[p];
    const Evaluation& high = points_[p + 1];
    Interval best;
    best.left = p;
    best.bound = (high.h.lower + low.a * alpha_).lower();  // h decreases and aα increases
    best.crossing = infinity;
    const Real width = high.a - low.a;
    for (std::size_t back = 1; back <= neighbours; ++back) {
      const Line left = line_from_left(p, back, width);
      if (!left.exists && back > 1) break;
      for (std::size_t on = 1; on <= neighbours; ++on) {
        const Line right = line_from_right(p, on, width);
        if (!right.exists && on > 1) break;
        improve(best, width, left, right);
      }
    }
    return best;
  }

  HockeyStick& stick_;
  Real alpha_;
  double right_ = farthest;
  double scale_ = 1;
  std::vector<Evaluation> points_;
};

}  // namespace

Bound largest_power(HockeyStick& stick, const Real& alpha, int most) {
  Search search(stick, alpha);
  finishes_within(1, [&] {
    search.run(most);
  });  // if the work limit is reached, the points so far give a valid bracket
  return search.result();
}

}  // namespace sotto::accounting_detail
