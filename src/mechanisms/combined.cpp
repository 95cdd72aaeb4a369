// Bounds the tail of a weighted sum of independent noises.
#include "mechanisms/api/combined.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// A little more noise makes every tail heavier: weights that are nearly equal are moved apart
// upwards, so that partial fractions do not cancel.
std::vector<double> apart(std::vector<double> weights) {
  std::sort(weights.begin(), weights.end());
  for (std::size_t i = 1; i < weights.size(); ++i)
    weights[i] = std::max(weights[i], weights[i - 1] * (1 + 1e-3));
  return weights;
}

// Σ w_i X_i, X_i Laplace of scale 1: the characteristic function Π 1/(1 + w_i² t²) in partial
// fractions.
double few_laplace(const std::vector<double>& weights, double t) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    double share = 1;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      if (j != i)
        share *= weights[i] * weights[i] / ((weights[i] - weights[j]) * (weights[i] + weights[j]));
    }
    sum += share * std::exp(-t / weights[i]);
  }
  return sum;
}

// The same by inverting the characteristic function, which falls fast when there are many. The
// trapezoid rule of step h adds the tail's values at distance 2π/h and more, nothing else.
double many_laplace(std::span<const Weight> weights, double t) {
  double variance = 0;
  double widest = 0;
  for (const Weight& w : weights) {
    variance += 2 * w.times * w.size * w.size;
    widest = std::max(widest, w.size);
  }
  const double reach = 12 * std::sqrt(variance) + 40 * widest;
  if (t >= reach) return 1e-12;
  const double h = 2 * std::numbers::pi / (t + reach);
  double inside = 0;
  for (int k = 1; k < 2'000'000; ++k) {
    const double omega = h * k;
    double log_size = 0;
    for (const Weight& w : weights)
      log_size -= w.times * std::log1p(w.size * w.size * omega * omega);
    if (log_size < -34) break;
    inside += std::sin(omega * t) / k * std::exp(log_size);
  }
  // P(|S| <= t) = t h / π + (2/π) Σ sin(k h t)/k φ(k h)
  return std::clamp(1 - (t * h + 2 * inside) / std::numbers::pi, 0.0, 1.0);
}

}  // namespace

double tail(NoiseKind kind, double scale, std::span<const Weight> weights, double distance) {
  std::vector<Weight> used;
  double count = 0;
  double squares = 0;
  double widest = 0;
  for (const Weight& w : weights) widest = std::max(widest, std::abs(w.size));
  for (const Weight& w : weights) {
    const double size = std::abs(w.size);
    if (!(size > 1e-9 * widest) || !(w.times > 0)) continue;
    used.push_back({size, w.times});
    count += w.times;
    squares += w.times * size * size;
  }
  if (used.empty()) return distance >= 0 ? 0.0 : 1.0;
  if (!(distance > 0)) return 1;
  const double t = distance / scale * (1 - 1e-7);
  if (kind == NoiseKind::gaussian) return std::erfc(t / std::sqrt(2 * squares));
  if (count > 3) return many_laplace(used, t);
  std::vector<double> each;
  for (const Weight& w : used) each.insert(each.end(), static_cast<std::size_t>(w.times), w.size);
  return std::clamp(few_laplace(apart(each), t), 0.0, 1.0);
}

double distance_at(NoiseKind kind, double scale, std::span<const Weight> weights,
                   double probability) {
  if (!(probability > 0 && probability < 1))
    throw InvalidValue("probability must be above 0 and below 1");
  double high = scale;
  for (const Weight& w : weights) high = std::max(high, scale * std::abs(w.size));
  while (tail(kind, scale, weights, high) > probability) high *= 2;
  double low = 0;
  while (high - low > 1e-9 * high) {
    const double middle = low + (high - low) / 2;
    (tail(kind, scale, weights, middle) > probability ? low : high) = middle;
  }
  return high;
}

}  // namespace sotto
