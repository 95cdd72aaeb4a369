// Shared by Laplace noise and the exponential mechanism: a symmetric loss bounded by its parameter,
// and a difference of shc(z) = sinh(z)/z without cancellation.
#pragma once

#include <cmath>
#include <memory>
#include <optional>

#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

struct ShcDifference {
  Complex value;
  double error;  // absolute
};

// Returns shc(xv) - shc(x/2) with v = s + 1/2, which vanishes like s(s+1).
inline ShcDifference shc_difference(Complex s, RoundedDouble x) {
  const Complex v{s.re + 0.5, s.im};
  const Complex a = x.value * v;
  const double b = x.value / 2;
  if (abs(a) <= 1.5) {
    // the series Σ (A^n - B^n)/(2n+1)! over n >= 1 with A = a², B = b², divided by A - B = x²
    // s(s+1)
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
  return {sinh(a) / a - Complex{second, 0},
          (std::cosh(a.re) + std::cosh(b)) * (64 * unit + 2 * x.relative)};
}

/// A symmetric loss within [-x, x] for its parameter x, whose log M is a `Mgf`.
template <class Mgf>
class BoundedLoss : public PrivacyLoss {
 public:
  BoundedLoss(const Real& parameter, double standard_deviation,
              std::optional<PrivacyLoss::MaxLossAtom> max_loss_atom)
      : parameter_(parameter),
        max_loss_(parameter.upper()),
        standard_deviation_(standard_deviation),
        max_loss_atom_(max_loss_atom) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<Mgf>(parameter_, c);
  }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return max_loss_atom_; }
  double standard_deviation() const override { return standard_deviation_; }
  bool symmetric() const override { return true; }

 private:
  RoundedDouble parameter_;
  double max_loss_;
  double standard_deviation_;
  std::optional<MaxLossAtom> max_loss_atom_;
};

}  // namespace sotto::pld_detail
