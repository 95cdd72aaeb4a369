// Where a ladder of losses stands: chosen from few rungs, with bounds that hold for any number (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <optional>
#include <vector>

#include "law.hpp"
#include "sotto/loss/loss.hpp"

namespace sotto::detail {

struct KnownStep {
  LossStep step;
  LawPtr law;
};

/// All steps with their laws; nothing where one is not known.
std::optional<std::vector<KnownStep>> known_steps(const std::vector<LossStep>& steps);
/// Some loss has an atom.
bool has_atoms(const std::vector<KnownStep>& steps);

/// Where to put a ladder: its window, what losses are tilted by, and what is far.
class Scaffold {
 public:
  /// `log_delta` is about log δ(ε); `depth` is -log of the share of it that may be left out, and bounded.
  Scaffold(const std::vector<KnownStep>& steps, double epsilon, double log_delta, double depth = 27);
  [[nodiscard]] bool failed() const { return !(top_ > bottom_); }
  [[nodiscard]] double bottom() const { return bottom_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] double tilt() const { return lines_[at_]; }
  /// Losses above this are far; infinite where none is.
  [[nodiscard]] double cut() const { return cut_; }
  /// log E_P[e^(tilt L); L not far] of one step, from above.
  [[nodiscard]] double scale(std::size_t step) const { return heights_[step][at_]; }
  /// log of bounds on what composed losses that are not far have above a loss, and below it, of e^(tilt L) under P. A loss may be raised.
  [[nodiscard]] double log_above(double loss, double raised) const;
  [[nodiscard]] double log_below(double loss) const;
  /// log of a bound on what outcomes with a far loss have below ε, all far losses being above one, over the sum of their masses under Q.
  [[nodiscard]] double log_leak(double epsilon, double from) const { return leak_ + (1 + leak_line_) * epsilon - leak_line_ * from * (1 - 8 * unit); }

 private:
  void choose_cut(double epsilon, double wanted);
  void choose_window(double epsilon, double log_delta, double depth);

  std::vector<KnownStep> steps_;
  std::vector<double> lines_;                 // ascending
  std::vector<std::vector<double>> heights_;  // step by step: log of the transform on each line, from above
  std::vector<double> totals_;                // of all steps
  std::size_t at_ = 0, far_ = 0;
  std::optional<std::size_t> near_;  // without it the line 0, where the transform is 1
  double bottom_ = 0, top_ = -1;
  double cut_ = infinity;
  double leak_ = -infinity, leak_line_ = 0;
};

}  // namespace sotto::detail
