// The optimal conversion from RDP at one order: the joint range of the Rényi and the hockey-stick
// divergence [Asoodeh2021]. It suffices to consider pairs of coins, that is distributions on two
// outcomes.
#include <algorithm>
#include <cmath>

#include "numerics/api/crossing.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/conversions.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// Pairs of coins with probabilities p and q = (p - δ)/e^ε, whose hockey-stick divergence at ε is δ.
// Their Rényi divergence D gives f(q) = e^((α-1)D) = p^α q^(1-α) + (1-p)^α (1-q)^(1-α). f is convex
// in q, because p^α q^(1-α) is convex in (p, q) and p is affine in q.
struct Coins {
  Real order;
  Real growth;  // e^ε
  Real delta;

  struct Value {
    Real f, slope;
  };
  [[nodiscard]] Value at(double q) const {
    const Real p = delta + growth * q;
    const Real up = exp((order - 1) * log(p / q));  // (p/q)^(α-1)
    const Real down = exp((order - 1) * log((1 - p) / (1 - Real(q))));
    const Real ratio = p / q;
    const Real rest = (1 - p) / (1 - Real(q));
    return {p * up + (1 - p) * down,
            order * growth * (up - down) + (1 - order) * (up * ratio - down * rest)};
  }
  // Returns an estimate of the q at which f is least, by bisection on the sign of the slope.
  [[nodiscard]] double least() const {
    const double e = growth.estimate();
    const double d = delta.estimate();
    const double a = order.estimate();
    const auto falling = [&](double q) {  // the sign of the slope, divided by (p/q)^(α-1)
      const double up = (d + e * q) / q;
      const double down = (1 - d - e * q) / (1 - q);
      const double ratio = std::pow(down / up, a - 1);
      return a * e * (1 - ratio) < (a - 1) * (up - down * ratio);
    };
    double low = std::log(1e-300);
    double high = std::log((1 - d) / e * (1 - 1e-12));
    for (int i = 0; i < 80; ++i) {
      const double middle = (low + high) / 2;
      (falling(std::exp(middle)) ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
  }
  // Returns a lower bound on the minimum of f: the height at which tangents on both sides of the
  // minimum meet, or, if f falls up to p = 1, the end of the tangent on the left. The points may be
  // anywhere, since f is convex.
  [[nodiscard]] double below() const {
    const double q = least();
    const Real last = (1 - delta) / growth;  // where p = 1
    double best = 1;                         // f is never below 1
    for (const double gap : {1e-7, 1e-5, 1e-3, 0.1}) {
      const double left = q * (1 - gap);
      const double right = std::min(q * (1 + gap), q + 0.5 * (last.lower() - q));
      if (!(right > left)) continue;
      const Value a = at(left);
      if (!(a.slope.upper() < 0)) continue;
      best = std::max(best, (a.f + a.slope * (last - left)).lower());
      const Value b = at(right);
      if (!(b.slope.lower() > 0)) continue;
      const Real meet = (b.slope * a.f - a.slope * b.f + a.slope * b.slope * (Real(right) - left)) /
                        (b.slope - a.slope);
      return std::max(best, meet.lower());
    }
    return best;
  }
};

// The pairs of distributions that (α, ε̄)-RDP excludes. A pair whose hockey-stick divergence at ε
// is at least δ has at least the Rényi divergence of the best coins for δ, which grows with δ. If
// that exceeds ε̄, the pair is excluded.
struct JointRange {
  Real order;
  double reached;  // e^((α-1)ε̄), rounded up

  explicit JointRange(const RenyiDP& renyi)
      : order(renyi.order), reached(exp((order - 1) * renyi.epsilon).upper()) {}
  // Returns a number that is at most 0 if δ is certainly excluded. Its magnitude only guides the
  // search.
  [[nodiscard]] double excess(const Real& growth, double delta) const {
    const double needed = Coins{order, growth, delta}.below();
    const double size = std::log(reached / needed);
    return needed >= reached ? std::min(0.0, size) : std::max(0x1p-60, size);
  }
};

}  // namespace

double delta_from_renyi_optimal(const RenyiDP& renyi, double epsilon) {
  const double loose = delta_from_renyi(renyi, epsilon).upper();
  const JointRange range(renyi);
  if (!(loose > 0) || !std::isfinite(range.reached)) return loose;
  const Real growth = exp(Real(epsilon));
  // 1 itself is impossible for coins, and f is not defined there
  double high = std::min(loose, 1 - 0x1p-30);
  // find an excluded δ to start from
  for (const double next : {1 - 0x1p-20, 1 - 0x1p-10, 0.99, 0.95}) {
    if (range.excess(growth, high) <= 0) break;
    high = std::min(high, next);
  }
  if (range.excess(growth, high) > 0) return loose;
  const CrossingRange search{.low = std::min(high, 1e-300),
                             .high = high,
                             .holds_high = true,
                             .start = high,
                             .tolerance = 1e-14};
  return find_crossing(search,
                       [&](double delta) -> Excess { return {range.excess(growth, delta)}; })
      .holds.value_or(loose);
}

double epsilon_from_renyi_optimal(const RenyiDP& renyi, double delta) {
  const double loose = epsilon_from_renyi(renyi, delta).upper();
  const JointRange range(renyi);
  if (!(delta > 0 && delta < 1) || !(loose > 0) || !std::isfinite(loose) ||
      !std::isfinite(range.reached))
    return loose;
  if (range.excess(1, delta) <= 0) return 0;
  const CrossingRange search{.low = std::min(loose, 1e-15),
                             .high = loose,
                             .holds_high = true,
                             .start = loose,
                             .tolerance = 1e-14};
  return find_crossing(
             search,
             [&](double epsilon) -> Excess { return {range.excess(exp(Real(epsilon)), delta)}; })
      .holds.value_or(loose);
}

}  // namespace sotto
