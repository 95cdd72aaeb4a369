// Root bracketing for a monotone condition that takes few evaluations of an expensive function.
#pragma once

#include <functional>
#include <optional>

namespace sotto {

/// The range of a search, and its accuracy.
struct CrossingRange {
  double low, high;           ///< the closed range; both ends are positive
  bool holds_high;            ///< true if the condition holds towards `high`, false towards `low`
  double start;               ///< the first point to evaluate
  bool whole = false;         ///< true to search whole numbers only
  double tolerance = 0;       ///< the largest relative gap of the two results; 0: adjacent doubles
  int max_evaluations = 200;  ///< after which the search stops with the gap it has
};

/// The result of a search: two evaluated points on either side of the crossing. A member is empty
/// if the search met no such point: the condition fails, or holds, in the whole range.
struct Crossing {
  std::optional<double> holds;  ///< a point at which the condition holds
  std::optional<double> fails;  ///< a point at which it fails
};

/// The evaluation of a point. The condition holds if `value <= 0`. The magnitude, which may be
/// infinite, guides the search and decides nothing.
struct Excess {
  double value;
  /// differences of `value` below this are noise; x is not refined beyond it
  double resolution = 0;
};

/// Finds where the condition `excess(x).value <= 0` starts or stops to hold. Interpolates in log x,
/// by secants and inverse quadratics, and falls back to false position (Illinois) and bisection if
/// they converge slowly. An excess that is smooth, and about linear in log x, takes 6 to 10
/// evaluations.
Crossing find_crossing(const CrossingRange& range, const std::function<Excess(double)>& excess);

}  // namespace sotto
