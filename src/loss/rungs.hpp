// How the law of a loss is moved to a ladder of equal rungs, up or down (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <cstdint>
#include <functional>

#include "law.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::detail {

/// More than what is lost where a mass is no double.
inline constexpr double underflow = 1e-300;

/// Where a rung is told what mass under Q it gets.
using Drop = std::function<void(std::int64_t rung, double loss, double mass)>;

/// Rungs at start + j height, from the first to the last.
struct Rungs {
  double start, height;
  std::int64_t first, last;
  [[nodiscard]] double at(std::int64_t j) const { return start + static_cast<double>(j) * height; }
};

/// Up: a larger pair. What is below the first rung goes there; what is above the last is left out.
void raise_cells(const LossLaw& law, const Rungs& rungs, const Drop& drop);
/// Down: a smaller pair, of what lies about the rungs. All rungs are lowered `by` a little; the last cell ends at `end`.
struct Lowered {
  double by, end;
};
/// Losses are tilted by e^((tilt + 1) loss - scale), and there are so many steps: where it matters least, a cell may go lower.
Lowered lower_cells(const LossLaw& law, const Rungs& rungs, double tilt, double scale, double count, const Drop& drop);
/// Atoms. Returns how far off those are that are put on rungs.
double place_atoms(const LossLaw& law, Side side, const Rungs& rungs, const Drop& drop);

}  // namespace sotto::detail
