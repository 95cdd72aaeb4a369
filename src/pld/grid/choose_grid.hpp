// Heuristic choice of grid, tilt and window; only the tail bound is rigorous (docs/theory/pld/discretisation.md).
#pragma once

#include <optional>
#include <vector>

#include "pld/grid/distribution.hpp"
#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

struct DistributedStep {
  LossStep step;
  DistributionPtr distribution;
};

/// All steps with their distributions; nothing where one is not known.
std::optional<std::vector<DistributedStep>> with_distributions(const std::vector<LossStep>& steps);
/// Some loss has an atom.
bool has_atoms(const std::vector<DistributedStep>& steps);

/// Outcomes whose largest loss, of steps that are not whole, is above `from` and at most `to`, and how to sum them: tilted by e^(tilt L), in a window
/// from `bottom` to `top`. What lies beyond it is bounded on the lines `below` and `above`. Or they are only bounded, on the line `tilt`.
struct Stratum {
  std::optional<double> from;
  double to;
  double tilt, below, above;
  double bottom, top;
  bool bounded;
  double cost;  // about what a million grid points leave open in one step
};

/// The choice of a grid: the strata of outcomes, the window, and where tails are truncated.
class GridChoice {
 public:
  /// `log_delta` is about log δ(ε); `depth` is -log of the share of it that may be left out, and bounded. Smaller ε are asked for, too, as far as
  /// `reach` below this one, or not quite as far.
  GridChoice(const std::vector<DistributedStep>& steps, double epsilon, double log_delta, double depth = 23, double reach = infinity);
  [[nodiscard]] bool failed() const { return layout_.strata.empty(); }
  [[nodiscard]] double epsilon() const { return epsilon_; }
  [[nodiscard]] const std::vector<Stratum>& strata() const { return layout_.strata; }
  /// This step is not used to partition the outcomes.
  [[nodiscard]] bool whole(std::size_t step) const { return layout_.whole[step]; }
  /// How long the window is.
  [[nodiscard]] double length() const { return layout_.length; }
  /// Of the part that counts most.
  [[nodiscard]] double tilt() const { return layout_.tilt; }
  /// log E_P[e^(tilt L)] of one step, roughly.
  [[nodiscard]] double scale(std::size_t step) const { return layout_.scales[step]; }
  /// Losses below this hardly count.
  [[nodiscard]] double low(std::size_t step) const { return layout_.lows[step]; }
  /// A step's losses above one are far; infinite where none is.
  struct Truncation {
    double loss;
    bool negligible;  // they need only be bounded, by P
  };
  [[nodiscard]] const Truncation& truncation(std::size_t step) const { return truncations_[step]; }
  /// log of a bound on what outcomes with a far loss above `from`, not negligible, have below ε, over the sum of their masses under Q and e^(ε
  /// leak_rise()).
  [[nodiscard]] double log_leak(double from) const { return leak_ - leak_line_ * from * (1 - 8 * unit); }
  [[nodiscard]] double leak_rise() const { return 1 + leak_line_; }

 private:
  /// log E_P[e^(cL)] of every step between two places and the next, on every line.
  struct Table;
  struct Layout {
    std::vector<bool> whole;
    std::vector<Stratum> strata;
    std::vector<double> scales, lows;
    double length = 0, tilt = 1;
    double cost = infinity;  // of the dearest part
  };
  [[nodiscard]] Layout lay_out(const std::vector<DistributedStep>& steps, std::vector<bool> whole, double log_delta, double depth) const;
  void choose_truncations(const std::vector<DistributedStep>& steps, double wanted);
  [[nodiscard]] std::optional<Stratum> choose_part(const Table& table, std::optional<std::size_t> from, std::size_t to, double log_delta,
                                                   double depth) const;

  double epsilon_, reach_;
  Layout layout_;
  double count_ = 0, lowest_ = 0;  // Σ k, and Σ k (the least loss)
  std::vector<Truncation> truncations_;
  double leak_ = -infinity, leak_line_ = 0;
};

}  // namespace sotto::pld_detail
