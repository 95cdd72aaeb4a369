// Linear regression from noisy sufficient statistics: XᵀX, Xᵀy and yᵀy under one Gaussian event.
//
// For few features this beats DP-SGD: it reads the data once and adds noise to (d+2)(d+3)/2 numbers
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// The settings of a release of the upper triangle of Σ vvᵀ over all rows v = (x, 1, y). All of it
/// is public.
///
/// The rows of a unit are scaled down together, so that Σ|v|² over them is at most norm² and no
/// diagonal entry of their sum exceeds `rows_a_unit`. Scaling a row lowers its weight, but moves it
/// along the same line through the origin: points on an exact line y = ax + b still determine it.
struct SufficientStatistics {
  std::size_t width;
  double norm;  ///< norm of a unit; with row_norm(features, true) no single row is scaled down
  std::int64_t rows_a_unit = 1;  ///< a unit with more rows is scaled down
  double noise = 1;  ///< σ: the noise on each number has standard deviation noise · sensitivity
  Relation relation = Relation::add_remove;
};

/// Returns the L2 sensitivity of the upper triangle, rounded up: √((R⁴ + R² min(R², r))/2), with R
/// the norm and r the rows of a unit; times √2 under replace-one, since Σvvᵀ is positive
/// semidefinite. See docs/theory/learning.md, "Sufficient statistics".
double sensitivity_of(const SufficientStatistics& statistics);
/// Returns gaussian(noise). Throws InvalidValue for settings out of range, and OutsideConditions if
/// the noise is 0.
Plan plan_of(const SufficientStatistics& statistics);
/// Returns gaussian(?), whose noise calibrate() solves for.
Plan plan_to_calibrate(const SufficientStatistics& statistics);

/// The released numbers. Anything computed from them costs no privacy.
struct NoisyMoments {
  std::size_t width;
  std::vector<double> upper;  ///< upper triangle of the noisy Σ vvᵀ, row by row
  double deviation;           ///< standard deviation of the noise on each number
  [[nodiscard]] double at(std::size_t i, std::size_t j) const;
};
/// Sums the rows exactly in integers, then adds noise from an exact sampler.
NoisyMoments release(const Examples& examples, const SufficientStatistics& statistics);

/// A coefficient with two intervals of the confidence given to fit().
struct Coefficient {
  double value;
  /// Interval for the value that the same rows and penalty give without noise: accounts for noise
  /// only.
  Bound of_rows;
  /// Interval for the best line of the population: accounts for sampling too. Valid if rows are
  /// independent with errors of equal variance, no row is scaled down, and `lift` is 0.
  Bound of_population;
};
struct LinearFit {
  std::vector<double>
      parameters;  ///< `width` weights and the intercept, as those of a linear model
  std::vector<Coefficient> coefficients;  ///< the same numbers with their intervals
  double lift = 0;                        ///< largest amount added to an eigenvalue of XᵀX
  std::vector<double> penalty;            ///< the matrix added to XᵀX, row by row
  double residual;  ///< root mean squared residual, estimated from the released numbers; 0 if noise
                    ///< hides it
};
/// Returns (XᵀX + penalty)⁻¹ Xᵀy. The penalty is the smallest matrix that raises every eigenvalue
/// of the noisy XᵀX to s(√d + 2), for noise of standard deviation s; the noise on Xᵀy seldom
/// exceeds that. So directions that the data determine are not changed, and in the others noise
/// moves coefficients by about 1 at most. The choice uses released and public numbers only, in the
/// spirit of [Wang2018]. Intervals are normal approximations, to first order in the noise.
LinearFit fit(const NoisyMoments& moments, double confidence = 0.95);

}  // namespace sotto
