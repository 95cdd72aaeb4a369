// δ(ε) of sampled Gaussian steps whose losses are mostly far below ε: docs/theory/contour.md, "Rare steps".
#pragma once

#include <optional>
#include <vector>

#include "piece.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/loss/contour.hpp"

namespace sotto::detail {

/// A plan that is made of sampled Gaussian steps.
struct RarePlan {
  Direction direction;
  std::vector<Law> laws;
  std::vector<LossStep> added;  // with a record added: E_Q[r^-λ] is its transform
};
std::optional<RarePlan> rare_plan(const std::vector<LossStep>& steps);

/// The integral with the losses split, for every ε near the one it was made for.
class Rare {
 public:
  /// `log_delta` is about where log δ is expected, `tolerance` the relative error wanted in δ.
  Rare(const RarePlan& plan, double epsilon, double log_delta, double tolerance);
  [[nodiscard]] bool failed() const { return pieces_.empty(); }
  [[nodiscard]] Bound delta(double epsilon) const;

 private:
  bool choose_far(const RarePlan& plan, double reach, double epsilon, double wanted);
  bool choose_heap(const RarePlan& plan, double reach, double epsilon, double wanted);
  bool settle_far(const RarePlan& plan, const std::vector<Points>& real);
  std::optional<Piece> integrate(const RarePlan& plan, const Split& split, double epsilon, double wanted, double depth, bool with_far);
  [[nodiscard]] double log_leak(double epsilon) const;
  [[nodiscard]] Bound far_delta(double epsilon) const;

  Direction direction_;
  Split split_;
  double heap_line_ = 0;  // Chernoff's bound on the heap: e^(heap_top - heap_line ε)
  double heap_top_ = -infinity;
  double leak_line_ = 0;  // what the far part may have below ε: e^(leak_top + (1 + leak_line) ε), with a record added e^(leak_top - leak_line ε)
  double leak_top_ = infinity;
  Bound far_parity_{0, 0};  // P(some step is far) - Q(the same)
  Bound far_mass_{0, 0};    // Q(some step is far)
  std::vector<Piece> pieces_;
};

}  // namespace sotto::detail
