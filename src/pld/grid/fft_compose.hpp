// FFT composition of discretised privacy loss distributions [Koskela2020, Gopi2021], pessimistic or optimistic, for losses whose characteristic
// function decays slowly: docs/theory/pld/discretisation.md.
#pragma once

#include <utility>
#include <vector>

#include "pld/grid/choose_grid.hpp"
#include "pld/grid/discretize.hpp"
#include "sotto/core/bound.hpp"
#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

/// One side of the profile, for ε near the one that the scaffold was made for.
class FftComposition {
 public:
  /// `size` is the number of grid points, a power of two.
  FftComposition(const std::vector<DistributedStep>& steps, const GridChoice& choice, Side side, std::size_t size);
  [[nodiscard]] bool failed() const { return failed_; }
  /// A bound on δ(ε) from this side; 1 or 0 where it has none.
  [[nodiscard]] double delta(double epsilon) const;
  /// Nothing was composed: all outcomes are below ε as good as certainly.
  [[nodiscard]] bool only_bounds() const { return sums_.empty(); }
  /// The ε for which it has one, if any.
  [[nodiscard]] Bound window() const;

 private:
  struct Step {
    double count;
    GridDistribution grid;
    bool whole;
  };
  struct TailSum {  // P(L >= grid point) and δ(grid point), over e^(scale - tilt grid point), and what rounding may have done to them
    double tail, delta, tail_off, delta_off;
  };
  /// A part, composed.
  struct Sum {
    double tilt, scale;           // all masses are over e^scale
    double bottom;                // the loss at the grid point of the first height
    std::vector<TailSum> values;  // about ε
    double right, right_line;     // what is above the window adds or hides at most e^(right - right_line ε)
    double left, left_line;       // and what is below it adds
    double lost;                  // over e^(scale - tilt ε): the transform's error
  };
  struct Bounded {  // Chernoff's bound e^(top - line ε)
    double line, top;
  };
  struct TiltedStep;

  [[nodiscard]] double fit_spacing(const std::vector<DistributedStep>& steps, double spacing) const;
  bool place(const DistributedStep& step, std::size_t index);
  bool compose(const Stratum& part);
  [[nodiscard]] double log_moment(const Stratum& part, double line) const;
  [[nodiscard]] double tail_delta(double epsilon) const;
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> points_of(const Step& step, const Stratum& part) const;

  GridChoice choice_;
  Side side_;
  std::size_t size_;
  double spacing_;  // from grid point to grid point
  std::vector<Step> steps_;
  std::vector<Sum> sums_;
  std::vector<Bounded> bounded_;
  double start_ = 0;                         // Σ k (the loss at grid point 0)
  double shift_ = 0;                         // how far off the losses may be
  double rounding_ = 0;                      // and what rounding the grid points' losses adds to that
  Bound no_tail_p_{0, 0}, no_tail_q_{0, 0};  // log of P and of Q of no loss being far
  Bound log_tail_q_{-infinity, -infinity};   // log of Σ k Q(far)
  double tail_p_ = 0;                        // P of some loss being far, where that is negligible
  double log_leak_ = -infinity;              // log of what outcomes with far losses have below ε, over e^(ε scaffold_.leak_rise()), at most
  bool failed_ = true;
};

}  // namespace sotto::pld_detail
