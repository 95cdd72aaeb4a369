// What one user's contributions to a token that walks at random cost: the law of θ over walks, and ε of the mixture.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto::federated_detail {

/// The path is drawn without regard to the data, so it may be revealed; given the path the loss is that of Gaussian noise with μ² = θ(path) s²/σ², and
/// δ(ε) = E[δ(ε; μ)] over paths. θ is rounded up to a grid; what lies beyond the grid, and the transform's error, count as δ in full.
class WalkLaw {
 public:
  /// Sums: θ = Σ j²/m over the stretches between two visits to the coalition, in which the user contributes j times among m hops. At most `contributions`
  /// of them in all, 1 to 1000.
  static WalkLaw sums(std::int64_t users, std::int64_t colluding, std::int64_t contributions);
  /// Gradient steps that are contractions: θ <= Σ 1/g_k over the contributions, g_k geometric with success (1 + colluding)/users: each shift is absorbed by
  /// the noise until the next visit to the user or the coalition [Feldman2018; Bok2024]. Contributions up to 100000.
  static WalkLaw steps(std::int64_t users, std::int64_t colluding, std::int64_t contributions);

  /// The least ε at δ for noise σ (sensitivity 1), from above; infinite where the law is not known to that δ.
  [[nodiscard]] double epsilon(double noise, double delta) const;
  /// The least σ for (ε, δ), to a part in 10^6, from above. OutsideConditions where none serves.
  [[nodiscard]] double noise_for(double epsilon, double delta) const;
  [[nodiscard]] double mean() const;

 private:
  struct Cell {
    double theta;  // the upper end
    double mass;
  };
  WalkLaw(const std::vector<double>& masses, double step, double unknown);
  [[nodiscard]] double delta(double noise, double epsilon) const;

  std::vector<Cell> cells_;
  double unknown_;
};

}  // namespace sotto::federated_detail
