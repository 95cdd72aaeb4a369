// The best conversion from RDP at one order: the joint range of the Rényi and the hockey-stick divergence.
#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/numerics/search.hpp"
#include "sotto/privacy/conversions.hpp"

namespace sotto {
namespace {

// f(q) = p^α q^(1-α) + (1-p)^α (1-q)^(1-α) with p = δ + e^ε q: e^((α-1)D) of two coins whose hockey-stick divergence is δ. It is
// convex in q, because p^α q^(1-α) is convex in (p, q) and p is affine in q.
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
    return {p * up + (1 - p) * down, order * growth * (up - down) + (1 - order) * (up * ratio - down * rest)};
  }
  // Roughly where f is least.
  [[nodiscard]] double least() const {
    const double e = growth.estimate();
    const double d = delta.estimate();
    const double a = order.estimate();
    const auto falling = [&](double q) {  // the slope's sign, over (p/q)^(α-1)
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
  // A lower bound on the least f: where the tangents on either side of it meet; or, where f falls up to p = 1, the end of the
  // tangent on the left.
  [[nodiscard]] double below() const {
    const double q = least();
    const Real last = (1 - delta) / growth;  // where p = 1
    double best = 1;                         // f is never below 1
    for (const double room : {1e-7, 1e-5, 1e-3, 0.1}) {
      const double left = q * (1 - room);
      const double right = std::min(q * (1 + room), q + 0.5 * (last.lower() - q));
      if (!(right > left)) continue;
      const Value a = at(left);
      if (!(a.slope.upper() < 0)) continue;
      best = std::max(best, (a.f + a.slope * (last - left)).lower());
      const Value b = at(right);
      if (!(b.slope.lower() > 0)) continue;
      const Real meet = (b.slope * a.f - a.slope * b.f + a.slope * b.slope * (Real(right) - left)) / (b.slope - a.slope);
      return std::max(best, meet.lower());
    }
    return best;
  }
};

}  // namespace

double delta_from_renyi_optimal(const RenyiDP& renyi, double epsilon) {
  const double loose = delta_from_renyi(renyi, epsilon).upper();
  const double reached = exp((Real(renyi.order) - 1) * renyi.epsilon).upper();
  const Real growth = exp(Real(epsilon));
  const auto impossible = [&](double delta) { return Coins{renyi.order, growth, delta}.below() > reached; };
  double high = std::min(loose, 1 - 0x1p-30);  // 1 itself is impossible for coins, and f is not defined there
  if (!std::isfinite(reached) || !impossible(high)) return loose;
  double low = 0;
  for (int i = 0; i < 60 && high - low > 1e-15 * high; ++i) {
    const double middle = low == 0 ? high / 16 : std::sqrt(low * high);
    (impossible(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace sotto
