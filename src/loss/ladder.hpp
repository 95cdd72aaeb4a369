// δ(ε) of few steps whose losses have kinks or atoms, where lines fall too slowly: all losses moved to a ladder of equal rungs, up for a bound from
// above and down for one from below, and composed by the Fourier transform (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <vector>

#include "scaffold.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/loss/loss.hpp"

namespace sotto::detail {

/// One side of the profile, for ε near the one that the scaffold was made for.
class Ladder {
 public:
  /// `size` is the number of rungs, a power of two.
  Ladder(const std::vector<KnownStep>& steps, const Scaffold& scaffold, Side side, std::size_t size);
  [[nodiscard]] bool failed() const { return heights_.empty(); }
  /// A bound on δ(ε) from this side; 1 or 0 where it has none.
  [[nodiscard]] double delta(double epsilon) const;

 private:
  bool place(const KnownStep& step, double scale, std::vector<double>& rungs);
  bool compose(const std::vector<KnownStep>& steps, const std::vector<std::vector<double>>& all);
  [[nodiscard]] double far_delta(double epsilon) const;

  Scaffold scaffold_;
  Side side_;
  double c_;
  std::size_t size_;
  double height_ = 0;                      // from rung to rung
  double bottom_ = 0;                      // the loss at the lowest rung of the window
  double scale_ = 0;                       // Σ k log M, about: what all masses are divided by
  double start_ = 0;                       // Σ k (the loss at rung 0)
  double highest_ = 0, lowest_ = 0;        // Σ k (the highest and the lowest rung that hold anything, and one more)
  double shift_ = 0;                       // how far off the losses may be
  double lost_ = 0;                        // over e^(scale - cε): what is beyond the window, and the transform's error
  Bound no_far_p_{0, 0}, no_far_q_{0, 0};  // log of P and of Q of no loss being far
  double nearest_far_ = infinity;          // far losses are above this
  double many_far_ = 0;                    // Σ k Q(far), from above
  struct Height {                          // P(L >= rung) and δ(rung), over e^(scale - c rung), and what rounding may have done to them
    double tail, delta, tail_off, delta_off;
  };
  std::vector<Height> heights_;
};

}  // namespace sotto::detail
