// Proved intervals for numbers derived from noisy ones. The distribution of the noise is known
// exactly, so the interval consists of all values that noise of sufficient probability explains
// (Fieller's method for ratios).
#pragma once

#include <span>
#include <vector>

#include "mechanisms/api/combined.hpp"

namespace sotto::study_detail {

struct Interval {
  double value, low, high;
};

/// The noise of a measurement: independent and identically distributed per number. Scale 0 means no
/// noise.
struct Noise {
  NoiseKind kind;
  double scale;
  double grid;  // spacing of the grid to which each number is rounded

  /// Whether noise moves Σ weight · number by at least `distance` with probability above `alpha`.
  [[nodiscard]] bool explains(std::span<const Weight> weights, double distance, double alpha) const;
};

/// A linear combination Σ weight · number of a group's numbers. Its margin depends on the weights
/// only and is computed once for all groups.
class Linear {
 public:
  Linear(const Noise& noise, std::vector<double> weights, double alpha);
  [[nodiscard]] Interval operator()(std::span<const double> numbers) const;

 private:
  std::vector<double> weights_;
  double margin_;  // 0 without noise
};

/// Returns the mean of values in [lower, upper] from halves (Form::halves).
Interval mean_of_halves(const Noise& noise, std::span<const double> halves, double lower,
                        double upper, double alpha);

/// Returns the mean or the variance from thirds (Form::thirds).
Interval mean_of_thirds(const Noise& noise, std::span<const double> thirds, double lower,
                        double upper, double alpha);
Interval variance_of_thirds(const Noise& noise, std::span<const double> thirds, double lower,
                            double upper, double alpha);

/// A tree of counts over `leaves` intervals of this width from `lower` on. Its numbers are stored
/// level by level, from the leaves up.
struct Tree {
  std::int64_t leaves;
  double lower, width;
};
/// Returns a quantile from the noisy numbers of a tree.
Interval quantile_of_tree(const Noise& noise, std::span<const double> nodes, const Tree& tree,
                          double quantile, double alpha);

}  // namespace sotto::study_detail
