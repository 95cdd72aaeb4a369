// Where a monotone condition stops to hold, found with few evaluations of a function that can be steered by.
#pragma once

#include <functional>
#include <optional>

namespace sotto {

/// Where to look, and how closely.
struct CrossingRange {
  double low, high;      ///< positive; both belong to the range
  bool holds_high;       ///< the condition holds towards `high`, else towards `low`
  double start;          ///< where to begin
  bool whole = false;    ///< whole numbers alone
  double tolerance = 0;  ///< how far the two results may lie apart, relative; 0: neighbouring doubles
  int most = 200;        ///< how many evaluations
};

/// Two points next to each other, each evaluated: one at which the condition holds, one at which it fails. Empty where
/// the whole range is of the other kind.
struct Crossing {
  std::optional<double> holds;
  std::optional<double> fails;
};

/// How far beyond the condition a point is: `value <= 0` holds. The size, which may be infinite, only steers.
struct Excess {
  double value;
  double blur = 0;  ///< smaller differences of `value` mean nothing, so that x need not be closer either
};

/// `excess(x).value <= 0` is the condition. Secants and inverse quadratic
/// interpolation in log x, false position (Illinois) and halves where those are slow: 6 to 10 evaluations for a smooth
/// excess that is about a multiple of log x.
Crossing crossing(const CrossingRange& range, const std::function<Excess(double)>& excess);

}  // namespace sotto
