// The nodes by Newton's method on the Legendre polynomial, in long double.
#include "numerics/api/gauss_legendre.hpp"

namespace sotto {

const GaussLegendre& gauss_legendre() {
  static const GaussLegendre rule = [] {
    GaussLegendre r{};
    constexpr int n = gauss_points;
    for (int i = 0; i < n; ++i) {
      long double x =
          std::cos(3.14159265358979323846L * (static_cast<long double>(i) + 0.75L) / (n + 0.5L));
      long double slope = 1;
      // Newton's method; the inner loop is the three-term recurrence
      for (int step = 0; step < 8; ++step) {
        long double before = 1;
        long double value = x;
        for (int k = 2; k <= n; ++k) {
          const long double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
          before = value;
          value = next;
        }
        slope = n * (x * value - before) / (x * x - 1);
        x -= value / slope;
      }
      r.node[static_cast<std::size_t>(i)] = static_cast<double>(x);
      r.weight[static_cast<std::size_t>(i)] =
          static_cast<double>(2 / ((1 - x * x) * slope * slope));
    }
    return r;
  }();
  return rule;
}

}  // namespace sotto
