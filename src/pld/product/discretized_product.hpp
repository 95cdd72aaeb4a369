// The joint privacy loss of independent mechanisms that run on the same sample, discretised
// (docs/theory/pld/products.md).
#pragma once

#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "pld/arithmetic/support.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// An outcome of the joint mechanism: its privacy loss log(P/Q) and its masses, each with a bound
/// on its absolute error.
struct ProductOutcome {
  double loss, loss_error;
  double p, p_error;
  double q, q_error;
};

/// A discretised product is the pair of all steps together, with losses on multiples of one
/// spacing. The steps' grids are convolved term by term, which adds positive numbers only, so all
/// masses have small relative errors. On Side::upper it dominates the exact product: each cell's
/// masses go to its two end points (connect-the-dots [Doroshenko2022]). On Side::lower the exact
/// product dominates it: the outcomes of a cell are merged. Gaussian tails beyond the grid are
/// merged into the outermost cells on Side::lower, and left out, and bounded, on Side::upper.
class DiscretizedProduct {
 public:
  /// All steps must be symmetric, with known distributions. The product is empty if there are too
  /// many steps, or losses too large, for a grid of doubles.
  DiscretizedProduct(const std::vector<LossStep>& steps, Side side);
  [[nodiscard]] const std::vector<ProductOutcome>& outcomes() const { return outcomes_; }
  [[nodiscard]] bool empty() const { return outcomes_.empty(); }
  /// Returns true if a Gaussian tail is left out.
  [[nodiscard]] bool has_tail() const { return tail_p_ > 0; }
  /// Return upper bounds on the masses of all outcomes that are left out.
  [[nodiscard]] double tail_p() const { return tail_p_ + dropped_p_; }
  [[nodiscard]] double tail_q() const { return tail_q_ + dropped_q_; }
  /// Returns an upper bound on log E_Q[e^(σL); outcomes that are left out], for σ >= 1/2.
  [[nodiscard]] double log_tail(double sigma) const;

 private:
  struct Factor;
  [[nodiscard]] std::vector<Factor> factors_of(const std::vector<LossStep>& steps);

  std::vector<LossStep> bounded_;  // the steps that have a largest loss
  double mu_ = 0;                  // of the Gaussian, if there is one
  double tail_z_ = 0;              // where its tail begins, in standard deviations under Q
  double tail_p_ = 0, tail_q_ = 0;
  double dropped_p_ = 0, dropped_q_ = 0;  // masses of outcomes that nearly underflow
  double max_loss_ = 0;
  std::vector<ProductOutcome> outcomes_;
};

}  // namespace sotto::pld_detail
