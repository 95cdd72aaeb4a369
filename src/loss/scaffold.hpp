// Where a ladder of losses stands: chosen from few cells, which prove nothing but what is far (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <optional>
#include <vector>

#include "law.hpp"
#include "sotto/loss/loss.hpp"

namespace sotto::loss_detail {

struct KnownStep {
  LossStep step;
  LawPtr law;
};

/// All steps with their laws; nothing where one is not known.
std::optional<std::vector<KnownStep>> known_steps(const std::vector<LossStep>& steps);
/// Some loss has an atom.
bool has_atoms(const std::vector<KnownStep>& steps);

/// Outcomes whose largest loss, of steps that are not whole, is above `from` and at most `to`, and how to sum them: tilted by e^(tilt L), in a window
/// from `bottom` to `top`. What lies beyond it is bounded on the lines `below` and `above`. Or they are only bounded, on the line `tilt`.
struct Part {
  std::optional<double> from;
  double to;
  double tilt, below, above;
  double bottom, top;
  bool bounded;
  double cost;  // about what a million rungs leave open in one step
};

/// Where to put a ladder: its parts, its window, and what is far.
class Scaffold {
 public:
  /// `log_delta` is about log δ(ε); `depth` is -log of the share of it that may be left out, and bounded. Smaller ε are asked for, too, as far as
  /// `reach` below this one, or not quite as far.
  Scaffold(const std::vector<KnownStep>& steps, double epsilon, double log_delta, double depth = 23, double reach = infinity);
  [[nodiscard]] bool failed() const { return layout_.parts.empty(); }
  [[nodiscard]] double epsilon() const { return epsilon_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return layout_.parts; }
  /// Parts are not told by this step's losses: others have the large ones.
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
  struct Cut {
    double loss;
    bool negligible;  // they need only be bounded, by P
  };
  [[nodiscard]] const Cut& cut(std::size_t step) const { return cuts_[step]; }
  /// log of a bound on what outcomes with a far loss above `from`, not negligible, have below ε, over the sum of their masses under Q and e^(ε
  /// leak_rise()).
  [[nodiscard]] double log_leak(double from) const { return leak_ - leak_line_ * from * (1 - 8 * unit); }
  [[nodiscard]] double leak_rise() const { return 1 + leak_line_; }

 private:
  /// log E_P[e^(cL)] of every step between two places and the next, on every line.
  struct Table;
  struct Layout {
    std::vector<bool> whole;
    std::vector<Part> parts;
    std::vector<double> scales, lows;
    double length = 0, tilt = 1;
    double cost = infinity;  // of the dearest part
  };
  [[nodiscard]] Layout lay_out(const std::vector<KnownStep>& steps, std::vector<bool> whole, double log_delta, double depth) const;
  void choose_cuts(const std::vector<KnownStep>& steps, double wanted);
  [[nodiscard]] std::optional<Part> choose_part(const Table& table, std::optional<std::size_t> from, std::size_t to, double log_delta,
                                                double depth) const;

  double epsilon_, reach_;
  Layout layout_;
  double count_ = 0, lowest_ = 0;  // Σ k, and Σ k (the least loss)
  std::vector<Cut> cuts_;
  double leak_ = -infinity, leak_line_ = 0;
};

}  // namespace sotto::loss_detail
