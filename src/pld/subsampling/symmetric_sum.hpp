// A symmetric loss with masses w e^(±u/2) at ±u and the rest at 0: M(s) - 1 = 4 sum w sinh((s+1)u/2) sinh(su/2), s = c + it.
#pragma once

#include <cmath>
#include <vector>

#include "core/api/work.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

class SymmetricSum {
 public:
  SymmetricSum() = default;
  /// On the line Re s = c; `scaled` where M(c) is far from 1, about e^scale.
  SymmetricSum(double c, bool scaled, double scale) : c_(c), scaled_(scaled), scale_(scaled ? scale : 0) {}

  /// The point u > 0 with mass e^log_mass under Q; `error_bound` bounds the relative error of that mass, `shift` the error of u.
  void add(double u, double log_mass, double error_bound, double shift) {
    spend(150);
    const double log_weight = log_mass + u / 2 - scale_;
    const double x = (c_ + 0.5) * u;
    const double rise = std::exp(log_weight + x);
    const double fall = std::exp(log_weight - x);
    nodes_.push_back({u, 2 * (rise + fall), 2 * (rise - fall)});
    const double weight = std::exp(log_weight);
    if (scaled_) {
      still_ += rise + fall - 2 * weight * std::cosh(u / 2);
      flat_ += 4 * rise * (error_bound + 16 * unit * (1 + std::abs(log_weight) + std::abs(scale_)));
      steep_ += 4 * rise * shift;
      total_ += 4 * rise;
    } else {
      // 4 sinh a sinh b = e^(a+b) (1 - e^-2a)(1 - e^-2b), which does not overflow where the weight is small
      const double a = std::exp(-(c_ + 1) * u);
      const double b = std::exp(-c_ * u);
      still_ += rise * std::expm1(-(c_ + 1) * u) * std::expm1(-c_ * u);
      nodes_.back().odd = -2 * rise * std::expm1(-2 * x);
      // times |s| |s+1|
      const double height = rise * u * u / 4 * (1 + a) * (1 + b);
      steep_ += height * (error_bound + 2 * shift / u);
      total_ += height;
    }
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  /// log M; `missing` bounds what the points leave out of e^-scale M.
  [[nodiscard]] LogMgfValue at(double t, double missing) const {
    if (std::isinf(missing)) return {{infinity, 0}, infinity};
    spend(30 * static_cast<double>(nodes_.size()));
    const double one = std::hypot(c_ + 1, t);
    const double other = std::hypot(c_, t);
    // cosh((s+1/2)u) - cosh(u/2): [cosh x - cosh(u/2)] + cosh x (cos y - 1) + i sinh x sin y
    Complex sum{still_, 0};
    for (const Node& node : nodes_) {
      const double y = t * node.u / 2;
      const double sine = std::sin(y);
      sum.re -= node.even * sine * sine;
      sum.im += node.odd * sine * std::cos(y);
    }
    const double adding = 2 * unit * static_cast<double>(nodes_.size()) * total_;
    if (scaled_) return log_of_scaled({sum.re + std::exp(-scale_), sum.im}, scale_, missing + flat_ + adding + one * steep_);
    return log_of_excess(sum, missing + one * other * (steep_ + adding));
  }

 private:
  struct Node {
    double u;
    double even;  // 4 w cosh((c+1/2)u) and 4 w sinh((c+1/2)u) over e^scale
    double odd;
  };
  double c_ = 0;
  bool scaled_ = false;
  double scale_ = 0;
  std::vector<Node> nodes_;
  double still_ = 0;
  double flat_ = 0;
  double steep_ = 0;
  double total_ = 0;  // the sizes of all terms
};

}  // namespace sotto::pld_detail
