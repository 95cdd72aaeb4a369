// The heuristic choice of grid, strata, tilts, windows and truncations for a composition. Only the
// bound on truncated outcomes is rigorous; FftComposition proves the rest
// (docs/theory/pld/discretisation.md).
#pragma once

#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "pld/grid/distribution.hpp"

namespace sotto::pld_detail {

class MomentTable;

/// A step whose loss distribution is known.
struct DistributedStep {
  LossStep step;
  DistributionPtr distribution;
};

/// Returns all steps with their distributions; nullopt if one is unknown.
std::optional<std::vector<DistributedStep>> with_distributions(const std::vector<LossStep>& steps);
/// Returns true if some loss has an atom.
bool has_atoms(const std::vector<DistributedStep>& steps);

/// A stratum is the set of outcomes whose largest loss in a stratified step is above `from` and at
/// most `to`. It is summed with its masses tilted by e^(tilt L), in a window of composed losses;
/// outcomes beyond the window are bounded by Chernoff's bound at two other abscissae. A stratum
/// that is negligible is bounded by Chernoff's bound at `tilt`, and not summed.
struct Stratum {
  std::optional<double> from;  // nullopt: from the least loss on
  double to;
  double tilt;
  double abscissa_below, abscissa_above;  // c″ < tilt < c′, which bound the aliasing
  double window_bottom, window_top;
  bool only_bounded;
  double estimated_error;  // relative to δ, with a grid of 2^20 points, for a single step
};

/// A grid choice holds all that FftComposition needs to know before it discretises: the strata of
/// outcomes, the length of the window, and the loss at which each unbounded step is truncated.
class GridChoice {
 public:
  /// Chooses for one ε. `log_delta` is an estimate of log δ(ε); e^-depth is the share of δ that
  /// each truncation may cost. The windows also contain smaller ε, down to about `reach` below this
  /// one.
  GridChoice(const std::vector<DistributedStep>& steps, double epsilon, double log_delta,
             double depth = 23, double reach = infinity);
  /// Returns true if no grid suits these steps.
  [[nodiscard]] bool failed() const { return layout_.strata.empty(); }
  [[nodiscard]] double epsilon() const { return epsilon_; }
  [[nodiscard]] const std::vector<Stratum>& strata() const { return layout_.strata; }
  /// Returns true if this step's losses do not decide about the stratum of an outcome.
  [[nodiscard]] bool unstratified(std::size_t step) const { return layout_.unstratified[step]; }
  /// Returns the length of the longest window.
  [[nodiscard]] double length() const { return layout_.length; }
  /// Returns the tilt of the stratum with the largest Chernoff bound.
  [[nodiscard]] double tilt() const { return layout_.tilt; }
  /// Returns an estimate of log E_P[e^(tilt L)] of one step.
  [[nodiscard]] double scale(std::size_t step) const { return layout_.scales[step]; }
  /// Returns the loss of one step below which its tilted mass is negligible.
  [[nodiscard]] double low(std::size_t step) const { return layout_.lows[step]; }
  /// The truncation of a step: larger losses are left out of the grid. loss is infinite if there is
  /// none.
  struct Truncation {
    double loss;
    bool negligible;  // the P-mass of larger losses is negligible, and is added to the upper bound
  };
  [[nodiscard]] const Truncation& truncation(std::size_t step) const { return truncations_[step]; }
  /// Returns log of a factor of the leak bound: outcomes with a truncated loss above `from`
  /// contribute at most e^log_leak(from) times their Q-mass times e^(ε leak_growth()) below ε.
  [[nodiscard]] double log_leak(double from) const {
    return log_leak_ - leak_abscissa_ * from * (1 - 8 * unit);
  }
  [[nodiscard]] double leak_growth() const { return 1 + leak_abscissa_; }

 private:
  /// The strata for one choice of unstratified steps.
  struct Layout {
    std::vector<bool> unstratified;
    std::vector<Stratum> strata;
    std::vector<double> scales, lows;
    double length = 0, tilt = 1;
    double estimated_error = infinity;  // of the worst stratum
  };
  [[nodiscard]] Layout make_layout(const std::vector<DistributedStep>& steps,
                                   std::vector<bool> unstratified, double log_delta,
                                   double depth) const;
  [[nodiscard]] bool choose_strata(const MomentTable& table, double log_delta, double depth,
                                   Layout& layout, std::vector<Stratum>& strata) const;
  void choose_lows(const MomentTable& table, const std::vector<Stratum>& strata,
                   Layout& layout) const;
  [[nodiscard]] std::optional<Stratum> choose_stratum(const MomentTable& table,
                                                      std::optional<std::size_t> from,
                                                      std::size_t to, double log_delta,
                                                      double depth) const;
  struct Window {
    double bottom, length;
  };
  [[nodiscard]] Window choose_window(double tilt, double length_below, double length_above,
                                     double highest) const;
  void choose_truncations(const std::vector<DistributedStep>& steps, double log_allowed);
  void truncate_by_leak(const std::vector<DistributedStep>& steps,
                        const std::vector<std::size_t>& unbounded, double farthest,
                        double log_allowed);

  double epsilon_, reach_;
  Layout layout_;
  double count_ = 0, lowest_ = 0;  // Σ k, and Σ k times the least loss
  std::vector<Truncation> truncations_;
  double log_leak_ = -infinity, leak_abscissa_ = 0;
};

}  // namespace sotto::pld_detail
