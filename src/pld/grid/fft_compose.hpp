// Composition of discretised privacy loss distributions by FFT [Koskela2020, Gopi2021], pessimistic
// or optimistic, with a bound on every error (docs/theory/pld/discretisation.md).
#pragma once

#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "pld/grid/choose_grid.hpp"
#include "pld/grid/tilted_stratum.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// An FFT composition bounds the privacy profile of a composition from one side, for ε near the one
/// that its grid was chosen for. It discretises every step, composes the strata of outcomes one by
/// one, each with its own tilt, and keeps P(L >= x) and δ(x) at grid points x around ε.
class FftComposition {
 public:
  /// `size` is the number of grid points, a power of two. Throws OutOfWork.
  FftComposition(const std::vector<DistributedStep>& steps, const GridChoice& choice, Side side,
                 std::size_t size);
  /// Returns true if the grid does not suit the steps: delta() is then trivial.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Returns the bound on δ(ε) from this side; the trivial one, 1 or 0, outside the window.
  [[nodiscard]] double delta(double epsilon) const;
  /// Returns true if nothing was composed: the bound is Chernoff's, since all outcomes are likely
  /// below ε.
  [[nodiscard]] bool only_bounds() const { return sums_.empty(); }
  /// Returns the ε for which delta() is not trivial, possibly an empty range.
  [[nodiscard]] Bound window() const;

 private:
  /// P(L >= x) and δ(x) at a grid point x, over e^(scale - tilt x), and bounds on their rounding
  /// errors.
  struct TailSum {
    double tail, delta, tail_error, delta_error;
  };
  /// A composed stratum. Outcomes outside the window change δ(ε) by at most
  /// e^(log_above - abscissa_above ε), those below it by at most e^(log_below - abscissa_below ε).
  struct StratumSum {
    double tilt, scale;           // all masses are over e^scale
    double bottom;                // the loss of the first value
    std::vector<TailSum> values;  // at grid points around ε
    double log_above, abscissa_above;
    double log_below, abscissa_below;
    double fft_error;  // of δ(ε), over e^(scale - tilt ε)
  };
  /// Chernoff's bound e^(log_factor - abscissa ε) on the outcomes of a stratum.
  struct ChernoffBound {
    double abscissa, log_factor;
  };
  bool add_step(const DistributedStep& step, std::size_t index);
  void add_truncated_outcomes(const LossDistribution& distribution, double count, double end);
  bool compose(const Stratum& stratum);
  void bound_outside_window(const Stratum& stratum, const TiltedStratum& tilted, Bound window,
                            double rounding, StratumSum& sum) const;
  void read_tails(const TiltedStratum& tilted, const std::vector<Complex>& product, double bottom,
                  StratumSum& sum) const;
  [[nodiscard]] double log_moment(const Stratum& stratum, double abscissa) const;
  [[nodiscard]] double truncated_delta(double epsilon) const;
  [[nodiscard]] double highest_boundary() const { return choice_.strata().back().to; }

  GridChoice choice_;
  Side side_;
  std::size_t size_;
  double spacing_;
  std::vector<DiscretisedStep> steps_;
  std::vector<StratumSum> sums_;
  std::vector<ChernoffBound> bounded_;
  double start_ = 0;       // Σ k times the loss at grid point 0
  double loss_error_ = 0;  // of the composed loss
  double rounding_ = 0;    // of the composed grid points, in addition
  // outcomes with a truncated loss
  Bound log_no_tail_p_{0, 0},
      log_no_tail_q_{0, 0};                 // log of the probability that no loss is truncated
  Bound log_tail_q_{-infinity, -infinity};  // log of Σ k Q(L > truncation)
  double negligible_tail_p_ = 0;            // Σ k P(L > truncation), where that is negligible
  double log_leak_ = -infinity;  // of their leak below ε, over e^(ε choice_.leak_growth())
  bool failed_ = true;
};

}  // namespace sotto::pld_detail
