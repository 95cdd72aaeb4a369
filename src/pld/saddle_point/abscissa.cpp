// Search for the abscissa at which the integrand of a composition is smallest. It proves nothing: what is claimed there is evaluated there.
#include "pld/saddle_point/abscissa.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "pld/saddle_point/inversion_integral.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {
namespace {

// A c near which f is least, from a start, within a part in 20: enough for a contour.
double roughly_least(double start, const std::function<double(double)>& f) {
  double x = start;
  double value = f(x);
  for (int turn = 0; turn < 60 && !std::isfinite(value); ++turn) {  // too far out
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
      // the parabola through the three, in log x
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

double spread_of(const std::vector<LossStep>& steps) {
  double square = 0;
  for (const LossStep& step : steps) square += step.count * step.loss->standard_deviation() * step.loss->standard_deviation();
  return std::sqrt(square);
}

constexpr double least_c = 1e-6;
constexpr double most_c = 1e12;

}  // namespace

double max_loss_of(const std::vector<LossStep>& steps) {
  double sum = 0;
  for (const LossStep& step : steps) sum += step.count * step.loss->max_loss();
  return sum * (1 + 4 * unit * static_cast<double>(steps.size()));
}

// The same c, or one below it at which the transforms can be bounded and not only estimated.
double bounded_abscissa(const std::vector<LossStep>& steps, double c) {
  for (int turn = 0; turn < 40 && c > least_c && !std::isfinite(cumulant_above(steps, c)); ++turn) c /= 2;
  return c;
}

// The saddle point: the abscissa c at which the integrand is smallest at ε, at a distance from the pole.
double saddle_point(const std::vector<LossStep>& steps, double epsilon) {
  const double pole = 0.9 * pole_of(steps);
  const double spread = spread_of(steps);
  const double start = std::clamp(epsilon / std::max(1e-300, spread * spread), 0.1, 1e11);
  return roughly_least(std::min(start, pole / 2), [&](double c) {
    if (c >= pole || c > most_c || c < least_c) return infinity;
    return cumulant(steps, c) - c * epsilon - std::log(c) - std::log1p(c);
  });
}

// The c at which Rényi DP's ε is least at δ.
double renyi_abscissa(const std::vector<LossStep>& steps, double log_delta) {
  const double pole = 0.9 * pole_of(steps);
  const double start = std::clamp(std::sqrt(1 - 2 * log_delta) / std::max(spread_of(steps), 1e-300), 1e-5, std::min(1e11, pole / 2));
  return roughly_least(start, [&](double c) {
    if (c >= pole || c > most_c || c < least_c) return infinity;
    return (cumulant(steps, c) - log_delta + chernoff_factor(c)) / c;
  });
}

std::optional<double> saddle_point_estimate(const std::vector<LossStep>& steps, double c, double epsilon) {
  const auto height = [&](double x) { return cumulant(steps, x) - x * epsilon - std::log(x) - std::log1p(x); };
  const double top = height(c);
  if (!std::isfinite(top)) return std::nullopt;
  const double d = 0.1 * c;
  const double width = (height(c + d) + height(c - d) - 2 * top) / (d * d);
  return std::min(-0.1, top - 0.5 * std::log(2 * pi * std::max(width, 1e-300)));
}

}  // namespace sotto::pld_detail
