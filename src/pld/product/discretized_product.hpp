// The joint privacy loss of independent mechanisms that run on the same sample, discretised: each loss is moved to multiples of one spacing, and the
// grids are convolved term by term, which adds positive numbers only.
#pragma once

#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/pld/privacy_loss.hpp"
#include "support.hpp"

namespace sotto::pld_detail {

/// An outcome of the joint mechanism: its privacy loss log(P/Q) and its masses, each with a bound on its error.
struct ProductOutcome {
  double loss, loss_error;
  double p, p_error;
  double q, q_error;
};

/// On Side::upper a pair that dominates the product of the steps' pairs (each cell's mass goes to its two end points: connect-the-dots
/// [Doroshenko2022]); on Side::lower one that the product dominates (the outcomes of a cell are merged). Gaussian tails beyond the grid are left out
/// on Side::upper: there `log_normal_tail(σ)` bounds log E_Q[e^(σL); beyond], and `tail_p` and `tail_q` the masses.
class DiscretizedProduct {
 public:
  /// Symmetric pairs, each with a known distribution. Empty where there are too many steps, or losses too large, for a grid of doubles.
  DiscretizedProduct(const std::vector<LossStep>& steps, Side side);
  [[nodiscard]] const std::vector<ProductOutcome>& outcomes() const { return outcomes_; }
  [[nodiscard]] bool empty() const { return outcomes_.empty(); }
  [[nodiscard]] bool has_tail() const { return tail_p_ > 0; }
  [[nodiscard]] double tail_p() const { return tail_p_ + dropped_p_; }
  [[nodiscard]] double tail_q() const { return tail_q_ + dropped_q_; }
  [[nodiscard]] double log_tail(double sigma) const;

 private:
  std::vector<LossStep> bounded_;  // the steps that have a largest loss
  double mu_ = 0;                  // of the Gaussian, if there is one
  double tail_z_ = 0;              // where its tail begins, in standard deviations under Q
  double tail_p_ = 0, tail_q_ = 0;
  double dropped_p_ = 0, dropped_q_ = 0, max_loss_ = 0;
  std::vector<ProductOutcome> outcomes_;
};

}  // namespace sotto::pld_detail
