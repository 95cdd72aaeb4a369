// The hockey-stick divergence h(a) = sup P(E) - a Q(E) of one ordered pair at every a = e^u > 0.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// δ(ε) for ε >= 0, from both sides.
using HalfProfile = std::function<Bound(double epsilon)>;

/// The same function, which remembers what it has computed.
HalfProfile remembering(HalfProfile profile);

/// The pair (P, Q), given by δ(ε) of (P, Q) and of (Q, P) for ε >= 0: below a = 1, h(a) = 1 - a + a h'(1/a) with h' of
/// the reversed pair. h is convex and does not grow; h(a) >= 1 - a.
class HockeyStick {
 public:
  struct Point {
    Real a;
    Bound value;
  };

  /// `worst`: where a kink may be; `floor`: at most the limit of h.
  HockeyStick(HalfProfile forward, HalfProfile backward, double worst, double floor);

  /// h(e^u), kept. |u| <= 700.
  const Point& at(double u);
  /// What is known so far, by u.
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

using Sticks = std::vector<std::shared_ptr<HockeyStick>>;

/// The ordered pairs behind a plan: one if it is the same in both orders, else two.
struct PlanSticks {
  Sticks above;           ///< for every mechanism and its neighbours, one of them dominates; empty where no pair is known
  Sticks below;           ///< each is reached by one mechanism; may be empty
  bool attained = false;  ///< both are the same pairs
};
PlanSticks sticks_of(const Plan& plan);

}  // namespace sotto::accounting_detail
