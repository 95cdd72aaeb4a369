// The privacy profile of composed losses at many ε, from one set of nodes or a few.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sotto/core/bound.hpp"
#include "pld/api/privacy_loss.hpp"

namespace sotto {

/// δ(ε) of a composition where many ε are asked: the transform's nodes on a line are kept and serve every ε near the line's own.
/// Some twenty ε that would take a contour each take a few together. Not for several threads at once.
class ComposedCurve {
 public:
  /// `tolerance` is the relative width of a bracket that is good enough to be kept; what is proved does not depend on it.
  explicit ComposedCurve(std::vector<LossStep> steps, double tolerance = 1e-8);
  ComposedCurve(ComposedCurve&&) noexcept;
  ComposedCurve& operator=(ComposedCurve&&) noexcept;
  ~ComposedCurve();

  /// δ(ε) for an ε >= 0, from both sides, within [0, 1].
  [[nodiscard]] Bound delta(double epsilon);
  /// The same by an inversion integral alone, within the tolerance; nothing where none is.
  [[nodiscard]] std::optional<Bound> by_integral(double epsilon);
  /// The ε from which on δ is 0; infinite if there is none.
  [[nodiscard]] double max_loss() const;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace sotto
