// δ(ε) of sampled Gaussian steps whose losses are mostly far below ε: docs/theory/pld.md, "Rare steps".
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/pld/compose.hpp"
#include "tail_split/outline.hpp"
#include "tail_split/piece.hpp"

namespace sotto::pld_detail {

/// A plan with sampled Gaussian steps.
struct RarePlan {
  Direction direction;
  std::vector<Law> distributions;
  std::vector<LossStep> added;   // with a record added: E_Q[r^-λ] is its transform
  std::vector<LossStep> others;  // steps beside these, which are not split
  std::vector<LossStep> back;    // those again, so that a far step's leak has their transform: with a record removed the losses of (Q, P)
};
std::optional<RarePlan> rare_plan(const std::vector<LossStep>& steps);
/// Where ε(δ) may be: where searches start, the likeliest first.
std::vector<double> rare_starts(const RarePlan& plan, double delta);
/// log δ(ε), roughly.
double rare_guess(const RarePlan& plan, double epsilon);
/// δ(0) is at most the steps' total variations together.
double rare_variation(const RarePlan& plan);

/// The integral with the losses split, for every ε near the one it was made for.
class Rare {
 public:
  /// `log_delta` is about where log δ is expected, `tolerance` the relative error wanted in δ.
  Rare(const RarePlan& plan, double epsilon, double log_delta, double tolerance);
  [[nodiscard]] bool failed() const { return pieces_.empty(); }
  [[nodiscard]] Bound delta(double epsilon) const;
  /// How many terms were summed.
  [[nodiscard]] double work() const { return work_; }

 private:
  struct Target {
    double epsilon, log_delta, tolerance;
    [[nodiscard]] double wanted() const { return log_delta + std::log(tolerance); }
  };
  using Place = std::optional<std::size_t>;  // of an outline

  void remove(const RarePlan& plan, double reach, const Target& target);
  void add(const RarePlan& plan, double reach, double spread, const Target& target);
  Place choose_far(const RarePlan& plan, const std::vector<double>& places, double reach, const Target& target);
  bool bound(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, const Target& target);
  bool take(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, const Target& target);
  bool integrate(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, const Target& target);
  [[nodiscard]] Split split_at(const Outline& outline, Place from, std::size_t to) const;
  [[nodiscard]] std::optional<std::vector<Points>> real_points(const RarePlan& plan, const Outline& outline, Place from, std::size_t to,
                                                               std::size_t line, double depth) const;
  bool settle_far(const RarePlan& plan, const std::vector<Points>& real, double raised);
  [[nodiscard]] double log_leak(double epsilon) const;
  [[nodiscard]] Bound far_delta(double epsilon) const;

  Direction direction_;
  int order_ = 32;
  struct Bounded {  // a part that is surely below ε: Chernoff's bound e^(top - line ε)
    double line, top;
  };
  std::vector<Bounded> bounded_;
  double leak_line_ = 0;  // what the far part may have below ε: e^(leak_top + (1 + leak_line) ε), with a record added e^(leak_top - leak_line ε)
  double leak_top_ = infinity;
  Bound far_parity_{0, 0};  // P(some step is far) - Q(the same)
  Bound far_mass_{0, 0};    // Q(some step is far), times e^far_raised
  double far_raised_ = 0;
  std::vector<Piece> pieces_;
  double work_ = 0;
};

}  // namespace sotto::pld_detail
