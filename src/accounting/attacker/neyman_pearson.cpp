#include "accounting/attacker/neyman_pearson.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/api/work.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double farthest = 700;       // |log a| beyond this is not looked at
constexpr double tolerance = 1e-9;     // relative to the result
constexpr double narrowest = 1e-7;     // relative to log a: what is left between two such points is of second order
constexpr std::size_t neighbours = 4;  // how many points on either side may carry a line

// h(a) + aα at a known point.
struct Height {
  double u;
  Real a;
  Bound h;
  double lower;
  double upper;
};

// A bound from below between two neighbouring points, and where the lines behind it meet.
struct Gap {
  double bound = -infinity;
  double meeting = 0;  // log a
  std::size_t left = 0;
};

class Search {
 public:
  Search(HockeyStick& stick, const Real& alpha) : stick_(stick), alpha_(alpha) {
    // Beyond, aα > 1 says nothing that E = everything does not.
    right_ = alpha.upper() > 0 ? std::clamp(std::log(2 / alpha.upper()), 0.0, farthest) : farthest;
  }

  void run(int most) {
    for (const auto& [u, point] : stick_.points()) {
      if (u <= right_) insert(u);
    }
    insert(0);
    const auto centre = std::find_if(heights_.begin(), heights_.end(), [](const Height& one) { return one.u == 0; });
    scale_ = std::clamp(2 * centre->h.upper, 1e-300, 1.0);
    for (const double u : {scale_, -scale_, stick_.worst(), -stick_.worst()}) {
      if (std::abs(u) <= farthest && u <= right_) insert(u);
    }
    for (int looked = 0; looked < 2 * 64 && extend(); ++looked) {
    }
    for (int n = 0; n < most; ++n) {
      const std::size_t i = best();
      if (extend()) continue;
      const Gap gap = weakest(i);
      const double noise = heights_[i].upper - heights_[i].lower;
      if (heights_[i].upper - gap.bound <= tolerance * heights_[i].upper + 4 * noise) return;
      const double low = heights_[gap.left].u;
      const double high = heights_[gap.left + 1].u;
      if (high - low <= narrowest * std::max({scale_, std::abs(low), std::abs(high)})) return;
      const double middle = low + (high - low) / 2;
      const double margin = 0.02 * (high - low);
      insert(n % 3 == 2 || !std::isfinite(gap.meeting) ? middle : std::clamp(gap.meeting, low + margin, high - margin));
    }
  }

  [[nodiscard]] Bound result() const {
    if (heights_.empty()) return {std::max(0.0, alpha_.lower()), 1};
    const std::size_t i = best();
    const double upper = std::min(1.0, heights_[i].upper);
    return {std::clamp(weakest(i).bound, std::max(0.0, alpha_.lower()), upper) + 0.0, upper};  // 0, not -0
  }

 private:
  void insert(double u) {
    const auto place = std::lower_bound(heights_.begin(), heights_.end(), u, [](const Height& one, double at) { return one.u < at; });
    if (place != heights_.end() && place->u == u) return;
    const HockeyStick::Point point = stick_.at(u);
    const Real cost = point.a * alpha_;
    heights_.insert(place, {u, point.a, point.value, (point.value.lower + cost).lower(), (point.value.upper + cost).upper()});
  }

  [[nodiscard]] std::size_t best() const {
    const auto least = std::min_element(heights_.begin(), heights_.end(), [](const Height& x, const Height& y) { return x.upper < y.upper; });
    return static_cast<std::size_t>(least - heights_.begin());
  }

  // One point more beyond an end at which the heights still fall; false if there is no such end.
  bool extend() {
    const std::size_t i = best();
    const double u = heights_[i].u;
    if (i + 1 == heights_.size() && u < right_) {
      insert(std::min(right_, std::max(2 * u, u + scale_)));
      return true;
    }
    if (i == 0 && u > -farthest) {
      insert(std::max(-farthest, std::min(2 * u, u - scale_)));
      return true;
    }
    return false;
  }

  // The weakest bound over all a >= 0, given the least height.
  [[nodiscard]] Gap weakest(std::size_t i) const {
    // A point that is certainly no lower than the least one bounds everything beyond it.
    std::size_t first = i;
    while (first > 0 && (first == i || heights_[first].lower < heights_[i].upper)) --first;
    std::size_t last = i;
    while (last + 1 < heights_.size() && (last == i || heights_[last].lower < heights_[i].upper)) ++last;
    Gap result;
    result.bound = std::min(beyond_left(first, i), beyond_right(last, i));
    double least = infinity;
    for (std::size_t p = first; p < last; ++p) {
      const Gap gap = between(p);
      if (gap.bound < least) {
        least = gap.bound;
        result.meeting = gap.meeting;
        result.left = p;
      }
    }
    result.bound = std::min(result.bound, least);
    return result;
  }

  // For a from 0 to a point: h falls, so it is at least h there.
  [[nodiscard]] double beyond_left(std::size_t p, std::size_t i) const {
    const Height& end = heights_[p];
    return p != i && end.lower >= heights_[i].upper ? end.lower : end.h.lower;
  }
  [[nodiscard]] double beyond_right(std::size_t p, std::size_t i) const {
    const Height& end = heights_[p];
    return p != i && end.lower >= heights_[i].upper ? end.lower : (stick_.floor() + end.a * alpha_).lower();
  }

  // What lines from the left and from the right, mixed, say between points p and p + 1.
  [[nodiscard]] Gap between(std::size_t p) const {
    const std::size_t q = p + 1;
    const Height& low = heights_[p];
    const Height& high = heights_[q];
    Gap best;
    best.left = p;
    best.bound = (high.h.lower + low.a * alpha_).lower();  // h falls and aα grows
    best.meeting = infinity;
    const Real width = high.a - low.a;
    const auto consider = [&](const Real& left_at_high, bool from_left, const Real& right_at_low, bool from_right) {
      const double lp = low.lower;
      const double lq = left_at_high.estimate();
      const double rp = right_at_low.estimate();
      const double rq = high.lower;
      std::vector<double> shares;  // of the line from the left
      if (from_left) shares.push_back(1);
      if (from_right) shares.push_back(0);
      const double level = (rq - rp) / ((lp - lq) + (rq - rp));  // the mixture that is level
      if (from_left && from_right && level > 0 && level < 1) shares.push_back(level);
      for (const double share : shares) {
        const Real at_low = share * Real(lp) + (1 - Real(share)) * (from_right ? right_at_low : Real(0));
        const Real at_high = share * (from_left ? left_at_high : Real(0)) + (1 - Real(share)) * Real(rq);
        const double bound = std::min(at_low.lower(), at_high.lower());
        if (!(bound > best.bound)) continue;
        best.bound = bound;
        const double part = (lp - rp) / ((lp - rp) - (lq - rq));
        best.meeting = from_left && from_right && part > 0 && part < 1 ? std::log(low.a.estimate() + part * width.estimate()) : infinity;
      }
    };
    for (std::size_t back = 1; back <= neighbours; ++back) {
      const bool from_left = back <= p;
      if (!from_left && back > 1) break;
      // The line through an earlier point and p, at p + 1.
      Real left = 0;
      if (from_left) {
        const Height& earlier = heights_[p - back];
        const Real times = width / (low.a - earlier.a);
        left = low.lower + times * (Real(low.lower) - Real(earlier.upper));
      }
      for (std::size_t on = 1; on <= neighbours; ++on) {
        const bool from_right = q + on < heights_.size();
        if (!from_right && on > 1) break;
        Real right = 0;
        if (from_right) {
          const Height& later = heights_[q + on];
          const Real times = width / (later.a - high.a);
          right = high.lower + times * (Real(high.lower) - Real(later.upper));
        }
        consider(left, from_left, right, from_right);
      }
    }
    return best;
  }

  HockeyStick& stick_;
  Real alpha_;
  double right_ = farthest;
  double scale_ = 1;
  std::vector<Height> heights_;
};

}  // namespace

Bound largest_power(HockeyStick& stick, const Real& alpha, int most) {
  Search search(stick, alpha);
  attempted(1, [&] { search.run(most); });  // what was seen by then holds
  return search.result();
}

}  // namespace sotto::accounting_detail
