// A scan in log(order - 1), then golden sections.
#include "privacy/api/best_order.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/api/search.hpp"

namespace sotto {

BestOrder best_order(double largest, const std::function<Real(double)>& value) {
  // in u = log(α - 1), for α - 1 from 2^-40 to 2^60 or to `largest`: from α = 2 upwards, then
  // downwards, by factors of two
  constexpr double step = 0.6931471805599453;
  const double last = std::log(std::min(largest, 0x1p60) - 1);
  const double first = std::min(-40 * step, last);
  const auto order_of = [&](double u) { return std::min(1 + std::exp(u), largest); };
  const auto height = [&](double u) { return value(order_of(u)).upper(); };

  const double start = std::min(0.0, last);
  double best = start;
  double lowest = height(start);
  const auto scan = [&](double direction) {
    int rises = 0;
    double u = start;
    while (rises < 3 && u != (direction > 0 ? last : first)) {
      u = std::clamp(u + direction * step, first, last);
      const double h = height(u);
      if (h < lowest) {
        lowest = h;
        best = u;
        rises = 0;
      } else if (h > lowest || std::isinf(h)) {
        ++rises;
      }
    }
  };
  scan(+1);
  scan(-1);
  const double refined = least_point(best - step, std::min(best + step, last), height);
  const double end = std::min(best + step, last);
  double order = order_of(best);
  for (const double candidate : {order_of(refined), order_of(end), std::round(order_of(refined))}) {
    if (candidate > 1 && candidate <= largest && value(candidate).upper() < value(order).upper())
      order = candidate;
  }
  return {order, value(order)};
}

}  // namespace sotto
