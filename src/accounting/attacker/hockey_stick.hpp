// The hockey-stick divergence h(a) = sup P(E) - a Q(E) of an ordered pair at every a = e^u > 0
// [Balle2018b].
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// A bracket of δ(ε) for ε >= 0: half of the hockey-stick divergence, the other half being a < 1.
using HalfProfile = std::function<Bound(double epsilon)>;

/// Returns the profile with a cache of its values. Copies share the cache. Not thread-safe.
HalfProfile memoized(HalfProfile profile);

/// The hockey-stick divergence of a pair (P, Q), from δ(ε) of (P, Q) and of (Q, P) for ε >= 0. For
/// a < 1, h(a) = 1 - a + a h'(1/a) with h' of the pair (Q, P). h is convex and does not increase,
/// and h(a) >= 1 - a.
class HockeyStick {
 public:
  /// A value of h.
  struct Point {
    Real a;
    Bound value;
  };

  /// `worst` is a log a at which h may have a kink (the largest loss). `floor` is a lower bound on
  /// the limit of h at infinity.
  HockeyStick(HalfProfile forward, HalfProfile backward, double worst, double floor);

  /// Returns h(e^u) for |u| <= 700, and caches it.
  const Point& at(double u);
  /// Returns all cached points by u.
  [[nodiscard]] const std::map<double, Point>& points() const { return points_; }
  [[nodiscard]] double worst() const { return worst_; }
  [[nodiscard]] double floor() const { return floor_; }

 private:
  HalfProfile forward_;
  HalfProfile backward_;
  double worst_;
  double floor_;
  std::map<double, Point> points_;
};

using HockeySticks = std::vector<std::shared_ptr<HockeyStick>>;

/// The hockey-stick divergences of the ordered pairs of a plan: one if both directions are equal,
/// else two.
struct PlanHockeySticks {
  HockeySticks above;     ///< one of them dominates each mechanism and its neighbours; empty if no
                          ///< pair is known
  HockeySticks below;     ///< each is attained by one mechanism; may be empty
  bool attained = false;  ///< `above` and `below` are the same pairs
};
/// Returns the pairs of a plan.
PlanHockeySticks hockey_sticks_of(const Plan& plan);

}  // namespace sotto::accounting_detail
