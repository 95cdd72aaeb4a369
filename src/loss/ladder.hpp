// δ(ε) of steps whose losses have kinks, atoms or a heap, where lines fall too slowly: all losses moved to a ladder of equal rungs, up for a bound
// from above and down for one from below, and composed by the Fourier transform (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <utility>
#include <vector>

#include "rungs.hpp"
#include "scaffold.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/loss/loss.hpp"

namespace sotto::loss_detail {

/// One side of the profile, for ε near the one that the scaffold was made for.
class Ladder {
 public:
  /// `size` is the number of rungs, a power of two.
  Ladder(const std::vector<KnownStep>& steps, const Scaffold& scaffold, Side side, std::size_t size);
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
    Rungs rungs;
    bool whole;
  };
  struct Height {  // P(L >= rung) and δ(rung), over e^(scale - tilt rung), and what rounding may have done to them
    double tail, delta, tail_off, delta_off;
  };
  /// A part, composed.
  struct Sum {
    double tilt, scale;           // all masses are over e^scale
    double bottom;                // the loss at the rung of the first height
    std::vector<Height> heights;  // about ε
    double right, right_line;     // what is above the window adds or hides at most e^(right - right_line ε)
    double left, left_line;       // and what is below it adds
    double lost;                  // over e^(scale - tilt ε): the transform's error
  };
  struct Bounded {  // Chernoff's bound e^(top - line ε)
    double line, top;
  };
  struct Tilted;

  [[nodiscard]] double fitted(const std::vector<KnownStep>& steps, double height) const;
  bool place(const KnownStep& step, std::size_t index);
  bool compose(const Part& part);
  [[nodiscard]] double log_height(const Part& part, double line) const;
  [[nodiscard]] double far_delta(double epsilon) const;
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> rungs_of(const Step& step, const Part& part) const;

  Scaffold scaffold_;
  Side side_;
  std::size_t size_;
  double height_;  // from rung to rung
  std::vector<Step> steps_;
  std::vector<Sum> sums_;
  std::vector<Bounded> bounded_;
  double start_ = 0;                       // Σ k (the loss at rung 0)
  double shift_ = 0;                       // how far off the losses may be
  double rounding_ = 0;                    // and what rounding the rungs' losses adds to that
  Bound no_far_p_{0, 0}, no_far_q_{0, 0};  // log of P and of Q of no loss being far
  Bound log_far_q_{-infinity, -infinity};  // log of Σ k Q(far)
  double far_p_ = 0;                       // P of some loss being far, where that is negligible
  double log_leak_ = -infinity;            // log of what outcomes with far losses have below ε, over e^(ε scaffold_.leak_rise()), at most
  bool failed_ = true;
};

}  // namespace sotto::loss_detail
