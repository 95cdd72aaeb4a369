// What Laplace noise and the exponential mechanism share: a loss that is never above its parameter, and a difference of shc(z) = sinh(z)/z.
#pragma once

#include <cmath>
#include <memory>
#include <optional>

#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

struct Difference {
  Complex value;
  double error;
};

// shc(xv) - shc(x/2) with v = s + 1/2, which vanishes like s(s+1).
inline Difference shc_difference(Complex s, RoundedDouble x) {
  const Complex v{s.re + 0.5, s.im};
  const Complex a = x.value * v;
  const double b = x.value / 2;
  if (abs(a) <= 1.5) {
    // sum over n >= 1 of (A^n - B^n)/(2n+1)!, A = a², B = b²; A - B = x² s(s+1) is taken out
    const Complex A = a * a;
    const double B = b * b;
    Complex powers{1, 0};  // A^(n-1) + A^(n-2) B + … + B^(n-1)
    double last = 1;       // B^(n-1)
    double inverse = 1.0 / 6;
    Complex sum = inverse * powers;
    for (int n = 2; n <= 14; ++n) {
      last *= B;
      powers = A * powers + Complex{last, 0};
      inverse /= 2.0 * n * (2 * n + 1);
      sum += inverse * powers;
    }
    const Complex factor = (x.value * x.value) * (s * Complex{s.re + 1, s.im});
    return {factor * sum, abs(factor) * (64 * unit + 2 * x.relative)};
  }
  // here |a| > 1.5, since |a| >= b for c >= 0
  const double second = b < 1e-3 ? 1 + b * b / 6 : std::sinh(b) / b;
  return {sinh(a) / a - Complex{second, 0}, (std::cosh(a.re) + std::cosh(b)) * (64 * unit + 2 * x.relative)};
}

// A loss that is never above its parameter.
template <class Line>
class BoundedLoss : public PrivacyLoss {
 public:
  BoundedLoss(const Real& most, double spread, std::optional<PrivacyLoss::MaxLossAtom> top)
      : most_(most), max_loss_(most.upper()), spread_(spread), top_(top) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<Line>(most_, c); }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return top_; }
  double standard_deviation() const override { return spread_; }
  bool symmetric() const override { return true; }

 private:
  RoundedDouble most_;
  double max_loss_;
  double spread_;
  std::optional<MaxLossAtom> top_;
};

}  // namespace sotto::pld_detail
