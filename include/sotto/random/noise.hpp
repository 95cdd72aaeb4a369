// Noise of exact distributions. Real-valued noise is added to a value and rounded to a grid, the
// multiples of a power of two; discrete noise is a whole number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sotto/random/random.hpp"

namespace sotto {

/// The distribution of the noise.
enum class NoiseKind { gaussian, laplace };

namespace random_detail {
struct Table;
struct Rounding;
}  // namespace random_detail

/// Real-valued noise that is added to a value; the sum is rounded to the nearest multiple of 2^grid
/// as if computed in exact arithmetic.
///
/// Rounding is post-processing, so the result has the privacy guarantee of the real-valued
/// mechanism, if the grid depends on public parameters alone. Results saturate at ±limit(), which
/// is post-processing, too. Safe for concurrent callers with a generator each.
class RoundedNoise {
 public:
  /// `scale` is the standard deviation (Gaussian) or b (Laplace), and `grid` the exponent of the
  /// grid, from -1022 to 970. Throws InvalidValue unless scale is positive and finite.
  RoundedNoise(NoiseKind kind, double scale, int grid);
  RoundedNoise(NoiseKind kind, double scale) : RoundedNoise(kind, scale, grid_for(scale)) {}
  /// Returns noise A·arsinh(N/A), where N is Gaussian with standard deviation `sigma` and A is `a`.
  static RoundedNoise arsinh(double sigma, double a, int grid);

  /// Returns the exponent of the default grid: steps between 2^-11 and 2^-10 of the scale, as far
  /// as the range of doubles allows.
  static int grid_for(double scale);

  /// Returns the multiple of the grid nearest to value + noise. Throws InvalidValue unless the
  /// value is finite.
  [[nodiscard]] double add(double value, Random& random = Random::here()) const;
  /// Replaces each value by its sum with independent noise, rounded as above. Throws InvalidValue
  /// before it changes any value if one is not finite.
  void add(std::span<double> values, Random& random = Random::here()) const;

  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] int grid() const { return grid_; }
  /// The largest result: 2^53 steps of the grid.
  [[nodiscard]] double limit() const;

 private:
  [[nodiscard]] random_detail::Rounding rounding(double value) const;
  [[nodiscard, gnu::cold, gnu::noinline]] double finish(double value, std::uint64_t word,
                                                        Random& random) const;

  NoiseKind kind_;
  double scale_;
  int grid_;
  double bend_ = 0;  // A of arsinh noise; 0 for other noise
  const random_detail::Table* table_;
  double step_;      // 2^grid
  double per_step_;  // 2^-grid
  // half a unit of the noise's last bit, in steps (rounding.hpp); infinite for arsinh
  double half_unit_;
  // doubles decide the rounding of a sum that is closer to a multiple than this (rounding.hpp)
  double sure_distance_;
};

/// Discrete Gaussian or Laplace noise: a whole number k with probability proportional to
/// e^(-k²/(2σ²)), or to e^(-|k|/b), for the exact value of the scale. Safe for concurrent callers
/// with a generator each.
class DiscreteNoise {
 public:
  /// `scale` is σ or b. Throws InvalidValue unless it is positive and at most 2^40.
  DiscreteNoise(NoiseKind kind, double scale);
  /// Draws one number.
  [[nodiscard]] std::int64_t draw(Random& random = Random::here()) const;
  [[nodiscard]] double scale() const { return scale_; }

  struct Sampler;

 private:
  double scale_;
  std::shared_ptr<const Sampler> sampler_;
};

}  // namespace sotto
