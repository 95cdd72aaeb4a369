#include "sotto/privacy/best_order.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/numerics/search.hpp"

namespace sotto {

BestOrder best_order(double largest, const std::function<Real(double)>& value) {
  // In u = log(α - 1); orders up to 2^60 or the cap.
  constexpr double step = 0.6931471805599453;
  const double first = std::log(1.0 / 1024);
  const double last = std::log(std::min(largest, 0x1p60) - 1);
  const auto order_of = [&](double u) { return std::min(1 + std::exp(u), largest); };
  const auto height = [&](double u) { return value(order_of(u)).upper(); };

  double best = std::min(first, last);
  double lowest = height(best);
  int rises = 0;
  for (double u = best + step; u < last + step && rises < 3; u += step) {
    const double at = std::min(u, last);
    const double h = height(at);
    if (h < lowest) {
      lowest = h;
      best = at;
      rises = 0;
    } else if (h > lowest || std::isinf(h)) {
      ++rises;
    }
  }
  const double refined = least_point(best - step, std::min(best + step, last), height);
  const double end = std::min(best + step, last);
  double order = order_of(best);
  for (const double candidate : {order_of(refined), order_of(end), std::round(order_of(refined))}) {
    if (candidate > 1 && candidate <= largest && value(candidate).upper() < value(order).upper()) order = candidate;
  }
  return {order, value(order)};
}

}  // namespace sotto
