// Sums for a symmetric loss with masses w e^(±u/2) at points ±u and the remaining mass at 0:
// M(s) - 1 = 4 Σ w sinh((s+1)u/2) sinh(su/2), s = c + it.
#pragma once

#include <cmath>
#include <vector>

#include "core/api/work.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

/// A symmetric sum is log M of such a loss on a line Re s = c, over points that are added one by
/// one.
class SymmetricSum {
 public:
  SymmetricSum() = default;
  /// If M(c) is far from 1, about e^scale, `scaled` sums M over e^scale; otherwise M - 1 is summed.
  SymmetricSum(double c, bool scaled, double scale)
      : c_(c), scaled_(scaled), scale_(scaled ? scale : 0) {}

  /// Adds the point u > 0 with mass e^log_mass under Q, and bounds on the relative error of that
  /// mass and on the absolute error of u.
  void add(double u, double log_mass, double mass_error, double loss_error) {
    spend(150);
    const double log_weight = log_mass + u / 2 - scale_;
    const double x = (c_ + 0.5) * u;
    const double rise = std::exp(log_weight + x);
    const double fall = std::exp(log_weight - x);
    nodes_.push_back({u, 2 * (rise + fall), 2 * (rise - fall)});
    const double weight = std::exp(log_weight);
    if (scaled_) {
      real_part_ += rise + fall - 2 * weight * std::cosh(u / 2);
      error_ += 4 * rise * (mass_error + 16 * unit * (1 + std::abs(log_weight) + std::abs(scale_)));
      error_slope_ += 4 * rise * loss_error;
      total_ += 4 * rise;
    } else {
      // 4 sinh a sinh b = e^(a+b) (1 - e^-2a)(1 - e^-2b) does not overflow where the weight is
      // small
      const double a = std::exp(-(c_ + 1) * u);
      const double b = std::exp(-c_ * u);
      real_part_ += rise * std::expm1(-(c_ + 1) * u) * std::expm1(-c_ * u);
      nodes_.back().odd = -2 * rise * std::expm1(-2 * x);
      // errors over |s| |s+1|
      const double height = rise * u * u / 4 * (1 + a) * (1 + b);
      error_slope_ += height * (mass_error + 2 * loss_error / u);
      total_ += height;
    }
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  /// Returns log M(c + it). `omitted` bounds the part of e^-scale M that the points leave out.
  [[nodiscard]] LogMgfValue at(double t, double omitted) const {
    if (std::isinf(omitted)) return {{infinity, 0}, infinity};
    spend(30 * static_cast<double>(nodes_.size()));
    const double one = std::hypot(c_ + 1, t);
    const double other = std::hypot(c_, t);
    // with y = tu:
    // cosh((s+1/2)u) - cosh(u/2) = [cosh x - cosh(u/2)] + cosh x (cos y - 1) + i sinh x sin y
    Complex sum{real_part_, 0};
    for (const Node& node : nodes_) {
      const double y = t * node.u / 2;
      const double sine = std::sin(y);
      sum.re -= node.even * sine * sine;
      sum.im += node.odd * sine * std::cos(y);
    }
    const double sum_rounding = 2 * unit * static_cast<double>(nodes_.size()) * total_;
    if (scaled_)
      return log_of_scaled({sum.re + std::exp(-scale_), sum.im}, scale_,
                           omitted + error_ + sum_rounding + one * error_slope_);
    return log_of_excess(sum, omitted + one * other * (error_slope_ + sum_rounding));
  }

 private:
  struct Node {
    double u;
    double even;  // 4 w cosh((c+1/2)u) over e^scale
    double odd;   // 4 w sinh((c+1/2)u) over e^scale
  };
  double c_ = 0;
  bool scaled_ = false;
  double scale_ = 0;
  std::vector<Node> nodes_;
  double real_part_ = 0;    // the sum at t = 0
  double error_ = 0;        // of the masses, with scaling
  double error_slope_ = 0;  // of the points, over |s+1|; without scaling of all, over |s| |s+1|
  double total_ = 0;        // the sum of the terms' sizes
};

}  // namespace sotto::pld_detail
