// The loss of several Laplace steps, and steps of two losses ±ε, together. Under √(PQ), of density e^(ℓ/2) times Q's, a Laplace step has two equal
// atoms at ±x and an even density between, so the sum has atoms and a density that is a polynomial between knots. It is kept in Bernstein's form, in
// which all that is done to it adds what is positive (docs/theory/pld.md, "Several Laplace steps on one sample").
#pragma once

#include <optional>
#include <vector>

#include "grid/distribution.hpp"
#include "sotto/pld/privacy_loss.hpp"
#include "support.hpp"

namespace sotto::pld_detail {

class LaplaceSum {
 public:
  struct Step {
    RoundedDouble loss;  // x or ε
    bool laplace;        // or of two losses
    int count;
  };
  /// Nothing where there would be too many pieces.
  static std::optional<LaplaceSum> of(std::vector<Step> steps);

  struct Atom {
    double loss;
    double weight;  // under √(PQ)
  };
  struct Piece {
    double from, to;
    std::vector<double> density;  // under √(PQ): Bernstein's coefficients
  };
  [[nodiscard]] const std::vector<Atom>& atoms() const { return atoms_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] double most() const { return most_; }
  /// How far off a loss may be, and, relatively, a weight.
  [[nodiscard]] double off() const { return off_; }
  [[nodiscard]] double error_bound() const { return error_bound_; }
  /// ∫ e^(sign ℓ/2) times the density.
  [[nodiscard]] LossDistribution::Mass between(double from, double to, int sign) const;

 private:
  void add(double x, double atom, double uniform);

  std::vector<Atom> atoms_{{0, 1}};
  std::vector<Piece> pieces_;
  double most_ = 0, off_ = 0, error_bound_ = 0;
};

/// Bernstein's coefficients on a part of the interval, 0 <= from < to <= 1.
std::vector<double> restricted(std::vector<double> coefficients, double from, double to);

DistributionPtr laplace_sum_distribution(std::shared_ptr<const LaplaceSum> sum);

}  // namespace sotto::pld_detail
