// Where a ladder of losses stands: chosen from few cells, which prove nothing but what is far (docs/theory/contour.md, "A ladder of losses").
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

/// Outcomes whose largest loss is above `from` and at most `to`, and how to sum them: tilted by e^(tilt L), in a window from `bottom` to `top`. What
/// lies above it is bounded on the line `above`. Or they are only bounded, on the line `tilt`.
struct Part {
  std::optional<double> from;
  double to;
  double tilt, above;
  double bottom, top;
  bool bounded;
};

/// Where to put a ladder: its parts, its window, and what is far.
class Scaffold {
 public:
  /// `log_delta` is about log δ(ε); `depth` is -log of the share of it that may be left out, and bounded.
  Scaffold(const std::vector<KnownStep>& steps, double epsilon, double log_delta, double depth = 23);
  [[nodiscard]] bool failed() const { return parts_.empty(); }
  [[nodiscard]] double epsilon() const { return epsilon_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// How long the window is.
  [[nodiscard]] double length() const { return length_; }
  /// Of the part that counts most.
  [[nodiscard]] double tilt() const { return tilt_; }
  /// log E_P[e^(tilt L)] of one step, roughly.
  [[nodiscard]] double scale(std::size_t step) const { return scales_[step]; }
  /// Losses above this are far; infinite where none is.
  [[nodiscard]] double cut() const { return cut_; }
  /// log of a bound on what outcomes with a far loss have below ε, all far losses being above one, over the sum of their masses under Q.
  [[nodiscard]] double log_leak(double epsilon, double from) const { return leak_ + (1 + leak_line_) * epsilon - leak_line_ * from * (1 - 8 * unit); }

 private:
  /// log E_P[e^(cL)] of every step between two places and the next, on every line.
  struct Table;
  void choose_cut(const std::vector<KnownStep>& steps, double wanted);
  [[nodiscard]] std::optional<Part> choose_part(const Table& table, std::optional<std::size_t> from, std::size_t to, double log_delta,
                                                double depth) const;

  double epsilon_;
  std::vector<Part> parts_;
  std::vector<double> scales_;
  double length_ = 0, tilt_ = 1;
  double count_ = 0, lowest_ = 0;  // Σ k, and Σ k (the least loss)
  double cut_ = infinity;
  double leak_ = -infinity, leak_line_ = 0;
};

}  // namespace sotto::detail
