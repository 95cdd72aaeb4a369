// The inversion integral [Alghamdi2023] at one abscissa: its nodes, and what each of its errors can come to (docs/theory/pld/inversion-integral.md).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sotto/core/bound.hpp"
#include "pld/api/compose.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

/// Σ k log M(c), an estimate; infinite where the sum is not finite.
double cumulant(const std::vector<LossStep>& steps, double c);
/// The same, rounded up.
double cumulant_above(const std::vector<LossStep>& steps, double c);
/// The c from which on some M(c) is infinite.
double pole_of(const std::vector<LossStep>& steps);
/// log of the largest (1 - e^-x) e^(-cx): δ(ε) <= e^(K(c) - cε) times that, for every c > 0 [Canonne2020].
double chernoff_factor(double c);

/// The integral on the line Re s = c, for every ε near the one it was made for.
class InversionIntegral {
 public:
  /// `log_delta` is about where log δ is expected; `tolerance` the relative error wanted in δ; `smoothing` the μ of the added
  /// Gaussian step; `work` how many terms may be summed.
  InversionIntegral(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, double tolerance, double smoothing, double work);
  /// Nothing could be bounded with that work.
  [[nodiscard]] bool failed() const { return nodes_.empty(); }
  [[nodiscard]] bool smoothed() const { return smoothing_ > 0; }
  /// δ(ε) from both sides.
  [[nodiscard]] Bound delta(double epsilon) const;

 private:
  struct Line {
    std::unique_ptr<LogMgf> line;
    double count;
  };
  struct Node {
    double t;
    Complex size;  // M(s) / e^scale, over s(s+1) unless on a lattice
    double error;  // absolute, of `size`
    double plain;  // |M(s)| / e^scale, upper
  };
  struct Sum {
    double value;
    double error;
    double lift;  // what smoothing may have added
  };

  void build(const std::vector<LossStep>& steps, double epsilon, double log_delta, double tolerance);
  bool choose_step(const std::vector<LossStep>& steps, double epsilon, double wanted);
  std::optional<std::size_t> choose_cut(const std::vector<LossStep>& steps, double tolerance, double target, double inner_tolerance);
  void evaluate(std::size_t intervals, double negligible);
  [[nodiscard]] double log_tail(double t, Extent reach) const;
  [[nodiscard]] double bridge(const std::vector<LossStep>& steps, double first, double last, double target, double inner_tolerance) const;
  [[nodiscard]] std::vector<double> slopes_of(const std::vector<LossStep>& steps) const;
  [[nodiscard]] double second_difference(const std::vector<LossStep>& steps) const;
  [[nodiscard]] Sum smooth(double epsilon) const;
  [[nodiscard]] Sum on_lattice(double epsilon) const;

  double c_;
  double smoothing_;
  double work_;
  std::optional<Lattice> lattice_;
  double count_ = 0;
  std::vector<Line> lines_;
  double scale_ = 0;  // Σ k log M(c), roughly
  double step_ = 0;
  double far_ = infinity;
  double far_top_ = 0;
  double far_factor_ = 0;
  double tail_ = -infinity;
  bool whole_period_ = false;
  std::vector<Node> nodes_;
};

}  // namespace sotto::pld_detail
