// Searches for the abscissa at which the integrand of a composition, or Chernoff's ε, is smallest.
#include "pld/saddle_point/abscissa.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "pld/arithmetic/support.hpp"
#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

// Returns roughly the x > 0 at which f is smallest, within about a part in 20, which is enough for
// a contour: steps by a factor of 3, then of 1.5, then a parabola through three points.
double approximate_minimiser(double start, const std::function<double(double)>& f) {
  double x = start;
  double value = f(x);
  for (int turn = 0; turn < 60 && !std::isfinite(value); ++turn) {
    x /= 3;
    value = f(x);
  }
  for (double factor : {3.0, 1.5}) {
    for (int turn = 0; turn < 60; ++turn) {
      const double up = f(x * factor);
      if (up < value) {
        x *= factor;
        value = up;
        continue;
      }
      const double down = f(x / factor);
      if (down < value) {
        x /= factor;
        value = down;
        continue;
      }
      // the vertex of the parabola through the three points, over log x
      const double move = 0.5 * (down - up) / (down - 2 * value + up);
      if (factor < 2 && std::abs(move) < 1) {
        const double there = x * std::pow(factor, move);
        if (f(there) < value) x = there;
      }
      break;
    }
  }
  return x;
}

// Returns an estimate of the standard deviation of the composed loss.
double spread_of(const std::vector<LossStep>& steps) {
  double square = 0;
  for (const LossStep& step : steps)
    square += step.count * step.loss->standard_deviation() * step.loss->standard_deviation();
  return std::sqrt(square);
}

constexpr double min_c = 1e-6;
constexpr double max_c = 1e12;

}  // namespace

double max_loss_of(const std::vector<LossStep>& steps) {
  double sum = 0;
  for (const LossStep& step : steps) sum += step.count * step.loss->max_loss();
  return sum * (1 + 4 * unit * static_cast<double>(steps.size()));
}

double bounded_abscissa(const std::vector<LossStep>& steps, double c) {
  for (int turn = 0; turn < 40 && c > min_c && !std::isfinite(cumulant_above(steps, c)); ++turn)
    c /= 2;
  return c;
}

double saddle_point(const std::vector<LossStep>& steps, double epsilon) {
  const double pole = 0.9 * pole_of(steps);  // M is steep near its pole
  const double spread = spread_of(steps);
  const double start = std::clamp(epsilon / std::max(1e-300, spread * spread), 0.1, 1e11);
  return approximate_minimiser(std::min(start, pole / 2), [&](double c) {
    if (c >= pole || c > max_c || c < min_c) return infinity;
    return cumulant(steps, c) - c * epsilon - std::log(c) - std::log1p(c);
  });
}

double renyi_abscissa(const std::vector<LossStep>& steps, double log_delta) {
  const double pole = 0.9 * pole_of(steps);  // M is steep near its pole
  const double start = std::clamp(std::sqrt(1 - 2 * log_delta) / std::max(spread_of(steps), 1e-300),
                                  1e-5, std::min(1e11, pole / 2));
  return approximate_minimiser(start, [&](double c) {
    if (c >= pole || c > max_c || c < min_c) return infinity;
    return (cumulant(steps, c) - log_delta + chernoff_factor(c)) / c;
  });
}

std::optional<double> saddle_point_estimate(const std::vector<LossStep>& steps, double c,
                                            double epsilon) {
  // log of the integrand on the real axis; its curvature at c gives the width of the peak
  const auto height = [&](double x) {
    return cumulant(steps, x) - x * epsilon - std::log(x) - std::log1p(x);
  };
  const double top = height(c);
  if (!std::isfinite(top)) return std::nullopt;
  const double d = 0.1 * c;
  const double width = (height(c + d) + height(c - d) - 2 * top) / (d * d);
  return std::min(-0.1, top - 0.5 * std::log(2 * pi * std::max(width, 1e-300)));
}

}  // namespace sotto::pld_detail
