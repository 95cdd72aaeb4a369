// Linear regression from noisy sufficient statistics: XᵀX, Xᵀy and yᵀy under one Gaussian event.
//
// Where features are few this beats DP-SGD: the data are read once, and all noise goes into (d+2)(d+3)/2 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// What is released: Σ vvᵀ over all rows v = (x, 1, y), its upper triangle. All of it is public.
///
/// A unit's rows are shortened together: Σ|v|² over them is at most norm², and no diagonal entry of their sum exceeds `rows_a_unit`. That weighs
/// long rows less and changes no line through the data.
struct SufficientStatistics {
  std::size_t width;
  double norm;                   ///< row_norm(features, true) shortens no row
  std::int64_t rows_a_unit = 1;  ///< a unit with more is shortened
  double noise = 1;              ///< σ: the noise on each number has standard deviation noise · sensitivity
  Relation relation = Relation::add_remove;
};

/// The L2 norm by which one unit changes the upper triangle, from above: √((R⁴ + R² min(R², r))/2), times √2 under replace-one, since Σvvᵀ is
/// positive semidefinite. docs/theory/learning.md, "Sufficient statistics".
double sensitivity_of(const SufficientStatistics& statistics);
/// gaussian(noise). InvalidValue for numbers out of range, OutsideConditions without noise.
Plan plan_of(const SufficientStatistics& statistics);
/// gaussian(?): calibrate finds the noise.
Plan plan_to_calibrate(const SufficientStatistics& statistics);

/// The released numbers: what is computed from them costs nothing.
struct NoisyMoments {
  std::size_t width;
  std::vector<double> upper;  ///< row by row: of (x, 1, y) times (x, 1, y)
  double deviation;           ///< of the noise on each
  [[nodiscard]] double at(std::size_t i, std::size_t j) const;
};
/// Exact sums of whole numbers, then exact noise.
NoisyMoments release(const Examples& examples, const SufficientStatistics& statistics);

struct Coefficient {
  double value;
  /// Covers what the same penalty gives on the same rows without noise: the noise alone.
  Bound of_rows;
  /// Covers the best line of the population as well, if the rows are independent with errors of equal variance, none is shortened, and lift is 0.
  Bound of_population;
};
struct LinearFit {
  std::vector<double> parameters;         ///< `width` weights and the intercept, as those of a linear model
  std::vector<Coefficient> coefficients;  ///< of the same
  double lift = 0;                        ///< the most that was added to an eigenvalue
  std::vector<double> penalty;            ///< what was added to XᵀX, row by row
  double residual;                        ///< the root of the mean squared residual, from the released numbers; 0 where noise hides it
};
/// (XᵀX + penalty)⁻¹ Xᵀy. The penalty is the least that lifts every eigenvalue of the noisy matrix to s(√d + 2), which the noise on Xᵀy seldom
/// exceeds: directions that the data determine are left alone, in the others the coefficients move by about 1 at most. From released and public
/// numbers alone, in the spirit of [Wang2018]. Intervals are normal, to first order in the noise.
LinearFit fit(const NoisyMoments& moments, double confidence = 0.95);

}  // namespace sotto
