// One step of several mechanisms on a Poisson sample: its profile is that of the mechanisms themselves, at another ε.
#include <algorithm>
#include <cmath>

#include "exact/exact.hpp"
#include "sotto/pld/compose.hpp"

namespace sotto::pld_detail {
namespace {

// r - e^ε = q (e^ℓ - e^x) with e^x = 1 + (e^ε - 1)/q: δ(ε) = q δ₀(x).
Bound removed(const std::vector<LossStep>& base, const RoundedDouble& q, double epsilon) {
  const double back = (1 - q.value) * std::exp(-epsilon);
  const double x = epsilon > 40 ? epsilon - std::log(q.value) + std::log1p(-back) : std::log1p(std::expm1(epsilon) / q.value);
  const double error_bound = q.relative + 32 * unit * (1 + x + std::abs(std::log(q.value)));
  const Bound delta = composed_delta(base, {std::max(0.0, x - error_bound), x + error_bound}, {});
  const double rate = q.relative + 8 * unit;
  return {delta.lower * q.value * (1 - rate), delta.upper * q.value * (1 + rate)};
}

// 1 - e^ε r = t - e^ε q e^ℓ with t = 1 - e^ε (1 - q), and the pair is symmetric: δ(ε) = t δ₀(x), e^-x = t/(e^ε q).
Bound added(const std::vector<LossStep>& base, const RoundedDouble& q, double epsilon) {
  const double s = epsilon + std::log1p(-q.value);
  const double off = 8 * unit * (epsilon - std::log1p(-q.value)) + 2 * q.relative * q.value / (1 - q.value);
  if (s > off) return {0, 0};
  if (!(-s > 1e3 * off)) return {0, 1};
  const double t = -std::expm1(s);
  const double rate = 2 * off / -s + 16 * unit;  // expm1 s has at most (1 + |s|) of the relative room of s, and s is at most 40
  if (!(-s < 40)) return {0, 1};
  const double x = epsilon + std::log(q.value) - std::log(t);
  const double error_bound = 42 * rate + q.relative + 32 * unit * (1 + epsilon + std::abs(std::log(q.value)) + std::abs(std::log(t)));
  const Bound delta = composed_delta(base, {std::max(0.0, x - error_bound), std::max(0.0, x) + error_bound}, {});
  return {delta.lower * t * std::max(0.0, 1 - 42 * rate), std::min(1.0, delta.upper * t * (1 + 42 * rate))};
}

}  // namespace

std::optional<Profile> once_profile(const std::vector<LossStep>& steps) {
  if (steps.size() != 1 || steps.front().count != 1) return std::nullopt;
  const auto* sampled = dynamic_cast<const OnSample*>(steps.front().loss.get());
  if (sampled == nullptr) return std::nullopt;
  const OnSample::Parts parts = sampled->parts();
  return [parts](double epsilon) { return (parts.direction == Direction::remove ? removed : added)(parts.base, parts.rate, epsilon); };
}

}  // namespace sotto::pld_detail
