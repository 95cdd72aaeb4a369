// The inversion integral [Alghamdi2023] on one vertical line: δ(ε) as an integral of the moment
// generating function, with a bound on each error (docs/theory/pld/inversion-integral.md).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pld/api/compose.hpp"
#include "pld/arithmetic/support.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// Returns an estimate of K(c) = Σ k log M(c) of a composition; infinite if it is not finite.
double cumulant(const std::vector<LossStep>& steps, double c);
/// Returns an upper bound on K(c).
double cumulant_above(const std::vector<LossStep>& steps, double c);
/// Returns the c from which on some step's M(c) is infinite.
double pole_of(const std::vector<LossStep>& steps);
/// Returns log κ(c), rounded up: κ(c) = sup over x of (1 - e^-x) e^(-cx) = c^c/(1+c)^(1+c).
/// Chernoff's bound is δ(ε) <= κ(c) e^(K(c) - cε), for every c > 0 [Canonne2020].
double chernoff_factor(double c);

/// The inversion integral of a composition on the line Re s = c, by the trapezoidal rule. It keeps
/// M at the nodes, so that it brackets δ(ε) for every ε, tightly for those near the one that the
/// step and the truncation were chosen for. Immutable after construction.
class InversionIntegral {
 public:
  /// Evaluates the nodes for `epsilon`. `log_delta` is an estimate of log δ(ε), `tolerance` the
  /// relative error of δ that is aimed at, `smoothing` the parameter μ of a Gaussian step that is
  /// added (0: none), and `work` the number of terms that may be summed. Throws OutOfWork.
  InversionIntegral(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta,
                    double tolerance, double smoothing, double work);
  /// Returns true if the integral needs more work, or M could not be bounded: delta() is then [0,
  /// 1].
  [[nodiscard]] bool failed() const { return nodes_.empty(); }
  [[nodiscard]] bool smoothed() const { return smoothing_ > 0; }
  /// Returns bounds on δ(ε).
  [[nodiscard]] Bound delta(double epsilon) const;

 private:
  /// One factor M^k of the composition's moment generating function.
  struct Factor {
    std::unique_ptr<LogMgf> log_mgf;
    double count;
  };
  /// M at s = c + it, over e^scale. On a lattice the kernel depends on ε, and is not yet applied.
  struct Node {
    double t;
    Complex value;     // M(s)/(s(s+1)), or M(s) on a lattice
    double error;      // absolute, of `value`
    double magnitude;  // an upper bound on |M(s)|
  };
  /// The trapezoidal sum, over e^(scale - cε).
  struct Sum {
    double value;
    double error;
    double smoothing_excess;  // an upper bound on the contribution of the added Gaussian step
  };
  /// The abscissa c' > c at which Chernoff's bound limits the aliasing from above.
  struct RightAbscissa {
    double c = infinity;
    double cumulant = 0;    // K(c'), rounded up
    double log_factor = 0;  // log κ(c')
  };

  void build(const std::vector<LossStep>& steps, double epsilon, double log_delta,
             double tolerance);
  bool choose_step(const std::vector<LossStep>& steps, double epsilon, double log_tolerance);
  std::optional<std::size_t> choose_truncation(const std::vector<LossStep>& steps, double tolerance,
                                               double target, double inner_tolerance);
  std::optional<std::size_t> truncate_period(double last);
  void evaluate(std::size_t intervals, double negligible);
  void add_node(double t, double negligible, const std::vector<double>& later_factors);
  [[nodiscard]] double log_truncation_error(double t, Extent reach) const;
  [[nodiscard]] double bridge(const std::vector<LossStep>& steps, double first, double last,
                              double target, double inner_tolerance) const;
  [[nodiscard]] std::vector<double> growth_rates(const std::vector<LossStep>& steps) const;
  [[nodiscard]] double second_difference(const std::vector<LossStep>& steps) const;
  [[nodiscard]] Sum sum_on_line(double epsilon) const;
  [[nodiscard]] Sum sum_on_period(double epsilon) const;

  double c_;
  double smoothing_;
  double work_;
  std::optional<Lattice> lattice_;  // of a single step's losses
  double count_ = 0;                // of that step
  std::vector<Factor> factors_;
  double scale_ = 0;  // an estimate of K(c), by which all nodes are scaled
  double step_ = 0;   // from node to node
  RightAbscissa right_;
  double log_truncation_ = -infinity;  // log of the truncation error at ε = 0, over e^scale
  bool whole_period_ = false;          // the nodes cover the whole period of the lattice
  std::vector<Node> nodes_;
};

}  // namespace sotto::pld_detail
