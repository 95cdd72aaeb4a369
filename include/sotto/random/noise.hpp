// Noise, drawn exactly. What is released is a whole number of grid steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sotto/random/random.hpp"

namespace sotto {

enum class NoiseKind { gaussian, laplace };

namespace random_detail {
struct Table;
struct Rounding;
}  // namespace random_detail

/// Real-valued noise, added to a value and rounded to the nearest multiple of 2^grid, as if in exact arithmetic.
///
/// Rounding is post-processing: what is released costs what the theorem says of real-valued noise. The grid must come from public parameters. Results
/// saturate at ±limit(): that is post-processing too.
class RoundedNoise {
 public:
  /// Standard deviation (Gaussian) or scale b (Laplace), any positive double; the grid is 2^grid.
  RoundedNoise(NoiseKind kind, double scale, int grid);
  RoundedNoise(NoiseKind kind, double scale) : RoundedNoise(kind, scale, grid_for(scale)) {}
  /// A·arsinh(N/A), N Gaussian of standard deviation sigma.
  static RoundedNoise arsinh(double sigma, double a, int grid);

  /// A grid fine enough for the scale: between 2^-10 and 2^-11 of it, where doubles have one.
  static int grid_for(double scale);

  /// The multiple of the grid that is nearest to value + noise. The value must be finite.
  [[nodiscard]] double add(double value, Random& random = Random::here()) const;
  /// The same for each value, with noise of its own.
  void add(std::span<double> values, Random& random = Random::here()) const;

  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] int grid() const { return grid_; }
  /// 2^53 grid steps.
  [[nodiscard]] double limit() const;

 private:
  [[nodiscard]] random_detail::Rounding rounding(double value) const;
  [[nodiscard, gnu::cold, gnu::noinline]] double finish(double value, std::uint64_t word, Random& random) const;

  NoiseKind kind_;
  double scale_;
  int grid_;
  double bend_ = 0;  // A, for arsinh noise
  const random_detail::Table* table_;
  double step_;       // 2^grid
  double per_step_;   // 2^-grid
  double half_unit_;  // of the noise's first bits, in steps; infinite where the doubles cannot round
  double certain_;    // how near a whole number of steps the doubles must be to be sure
};

/// Discrete Gaussian or Laplace noise on the whole numbers, P(k) in proportion to e^(-k²/(2σ²)) or e^(-|k|/b).
class DiscreteNoise {
 public:
  /// σ or b, at most 2^40.
  DiscreteNoise(NoiseKind kind, double scale);
  [[nodiscard]] std::int64_t draw(Random& random = Random::here()) const;
  [[nodiscard]] double scale() const { return scale_; }

  struct Machine;

 private:
  double scale_;
  std::shared_ptr<const Machine> machine_;
};

}  // namespace sotto
