// One stratum of outcomes, tilted and transformed by FFT: the first half of an FFT composition
// (docs/theory/pld/discretisation.md, "Strata" and "The FFT's error").
#pragma once

#include <cstdint>
#include <vector>

#include "numerics/api/fft.hpp"
#include "pld/grid/choose_grid.hpp"
#include "pld/grid/discretize.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// `count` equal steps with a discretised loss distribution.
struct DiscretisedStep {
  double count;
  GridDistribution grid;
  bool unstratified;  // its losses do not decide about the stratum of an outcome
};

/// The last grid point of a step below a stratum, and the last one in it. An unstratified step is
/// below every stratum as a whole, and a bulk below every stratum but the lowest.
struct PointRange {
  std::int64_t last_below, last;
};
/// `highest` is the upper end of the highest stratum.
PointRange points_of(const DiscretisedStep& step, const Stratum& stratum, double highest);

/// Returns the place of a grid point in a transform of `size` points, modulo size, a power of two.
inline std::size_t index_of(std::int64_t point, std::size_t size) {
  return static_cast<std::size_t>(point) & (size - 1);
}

/// A tilted stratum is the composition of all steps, restricted to the outcomes of one stratum,
/// with all masses tilted by e^(tilt L). With A a step's masses below the stratum and B those in
/// it, its transform is Π (A+B)^k - Π A^k; the lowest stratum has no masses below it, and the
/// transform Π A^k with its own masses as A. All masses are over e^scale.
class TiltedStratum {
 public:
  /// Tilts and transforms all steps. `start` is Σ k times the loss at grid point 0.
  TiltedStratum(const std::vector<DiscretisedStep>& steps, const Stratum& stratum, double highest,
                Side side, double start, const Fft& fft, std::size_t size);
  /// Returns true if some mass is not finite.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] double tilt() const { return tilt_; }
  /// Returns log of the product of the heaviest tilted masses of all steps, and a bound on its
  /// error.
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] double scale_error() const { return scale_error_; }
  /// Returns log of the stratum's tilted mass, over e^scale.
  [[nodiscard]] double log_total() const { return log_total_; }
  /// Returns the composed loss at index 0 of the transform.
  [[nodiscard]] double start() const { return start_; }
  /// Returns bounds on the composed losses.
  [[nodiscard]] Bound losses() const { return losses_; }
  /// Returns a bound on the Euclidean error of the composed masses, relative to their sum, that
  /// follows from the errors of the forward transforms.
  [[nodiscard]] double transform_error(const Fft& fft) const;
  /// Evaluates the composed transform over e^(scale + log_total) at all frequencies, and adds the
  /// squares of its rounding errors to `squared_error`. Returns false if a value is NaN.
  [[nodiscard]] bool multiply(std::vector<Complex>& product, double& squared_error) const;

 private:
  /// The tilted masses of one step over those of its heaviest grid point, which has index 0 and is
  /// left out of the vectors: first the masses, then their transforms.
  struct TiltedStep {
    std::int64_t heaviest = 0;               // its grid point
    double log_heaviest = 0;                 // log of its tilted mass
    double log_heaviest_error = 0;           // of that
    bool heaviest_is_below = true;           // it belongs to A
    std::vector<Complex> below, within;      // A and B; B is empty if the step has none
    double below_sum = 0, within_sum = 0;    // of the masses
    double below_norm = 0, within_norm = 0;  // Euclidean, of the masses
    [[nodiscard]] double total_below() const { return below_sum + (heaviest_is_below ? 1 : 0); }
    [[nodiscard]] double total_within() const { return within_sum + (heaviest_is_below ? 0 : 1); }
  };
  /// A value of the composed transform, and a bound on its rounding error.
  struct Value {
    Complex value;
    double error;
  };
  struct Powers;

  [[nodiscard]] bool tilt_step(const DiscretisedStep& step, const PointRange& points, Side side,
                               TiltedStep& tilted) const;
  void find_heaviest(const GridDistribution& grid, const PointRange& points,
                     TiltedStep& tilted) const;
  [[nodiscard]] double log_total_mass() const;
  [[nodiscard]] Value value_at(std::size_t j) const;
  [[nodiscard]] Powers powers_at(std::size_t j) const;
  [[nodiscard]] std::pair<Complex, double> power_of_both(std::size_t j) const;
  [[nodiscard]] double error_of(std::size_t j, Complex power, double log_error,
                                bool with_within) const;
  [[nodiscard]] double upper_size(std::size_t j, bool with_within) const;

  double tilt_;
  bool has_below_;  // the stratum is not the lowest one
  std::size_t size_;
  std::vector<double> counts_;
  std::vector<TiltedStep> steps_;
  double scale_ = 0, scale_error_ = 0;
  double start_;
  Bound losses_{0, 0};
  double log_total_ = 0;
  bool failed_ = true;
};

}  // namespace sotto::pld_detail
