// Numbers derived from noisy ones, with intervals that are proved: the law of the noise is known exactly, so a value is in the interval unless
// the noise it would take is too improbable (Fieller's way, for every ratio).
#pragma once

#include <span>
#include <vector>

#include "mechanisms/api/combined.hpp"

namespace sotto::study_detail {

struct Interval {
  double value, low, high;
};

/// The noise of a measurement's numbers, independent and alike. A scale of 0: there is none.
struct Noise {
  NoiseKind kind;
  double scale;
  double grid;  // each number is rounded to it

  /// Whether noise can have moved Σ weight · number so far from 0, with probability above alpha.
  [[nodiscard]] bool explains(std::span<const Weight> weights, double distance, double alpha) const;
};

/// Σ weight · number of every group: its margin depends on the weights alone and is computed once.
class Linear {
 public:
  Linear(const Noise& noise, std::vector<double> weights, double alpha);
  [[nodiscard]] Interval operator()(std::span<const double> numbers) const;

 private:
  std::vector<double> weights_;
  double margin_;  // 0 without noise
};

/// The mean of values in [lower, upper], from halves (Σ(x - lower), Σ(upper - x)).
Interval mean_of_halves(const Noise& noise, std::span<const double> halves, double lower, double upper, double alpha);

/// Mean and variance from thirds.
Interval mean_of_thirds(const Noise& noise, std::span<const double> thirds, double lower, double upper, double alpha);
Interval variance_of_thirds(const Noise& noise, std::span<const double> thirds, double lower, double upper, double alpha);

/// A quantile from a tree of counts: levels from the leaves up, `leaves` leaves of this width from `lower` on.
struct Tree {
  std::int64_t leaves;
  double lower, width;
};
Interval quantile_of_tree(const Noise& noise, std::span<const double> nodes, const Tree& tree, double quantile, double alpha);

}  // namespace sotto::study_detail
