// How the law of a loss is moved to a ladder of equal rungs, up or down (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "law.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::loss_detail {

/// More than what is lost where a mass is no double.
inline constexpr double underflow = 1e-300;

/// A law on rungs at start + j height: a larger pair, or a smaller one.
struct Rungs {
  double start, height;
  std::int64_t first;           // the rung of the first weight
  std::vector<double> weights;  // P-masses: those under Q times e^loss
  struct Heap {                 // what nearly all outcomes have, if known to be on one rung: log of its weight, to `room`
    double log, room;
  };
  std::optional<Heap> heap;  // on rung 0
  double end;                // what has larger losses is left out
  double off;                // how far off all rungs may be

  [[nodiscard]] std::int64_t last() const { return first + static_cast<std::int64_t>(weights.size()) - 1; }
  [[nodiscard]] double at(std::int64_t j) const { return start + static_cast<double>(j) * height; }
  void add(std::int64_t j, double weight);
};

/// What is wanted of a ladder for one law.
struct Span {
  double low, high;  // losses below `low` hardly count; none above `high` if the law has any
  double height;
  double tilt;  // losses count with e^(tilt loss): where the rungs start, and from where outcomes are taken
};

/// Up: what is below goes to the first rung.
Rungs raised(const LossLaw& law, const Span& span);
/// Down.
Rungs lowered(const LossLaw& law, const Span& span);

}  // namespace sotto::loss_detail
