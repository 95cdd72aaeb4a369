// The privacy loss of finitely many atoms ±ℓ of weight w, with the remaining mass at 0: randomized
// response, pure(ε) and discrete Laplace noise. M(s) - 1 = Σ 4w sinh((s+1)ℓ/2) sinh(sℓ/2).
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/arithmetic/support.hpp"
#include "pld/grid/distribution.hpp"

namespace sotto {
namespace {

using pld_detail::pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct RoundedAtom {
  RoundedDouble loss;
  RoundedDouble weight;
};

class SymmetricAtomsLogMgf : public LogMgf {
 public:
  SymmetricAtomsLogMgf(const std::vector<RoundedAtom>& atoms, double spacing, double c)
      : atoms_(atoms), spacing_(spacing), c_(c) {
    double largest_exponent = 0;
    for (const RoundedAtom& atom : atoms) {
      largest_exponent = std::max(largest_exponent, (c + 0.5) * atom.loss.value);
      // the largest term; an atom at a large loss may have a tiny weight
      scale_ = std::max(scale_, (c + 0.5) * atom.loss.value + std::log(atom.weight.value));
    }
    overflows_ = largest_exponent >= 300;
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    spend(150 *
          static_cast<double>(atoms_.size() -
                              1));  // the caller counts one atom per node; a product has thousands
    if (overflows_) return from_exponentials(t);
    Complex excess{0, 0};
    double error = 0;
    for (const RoundedAtom& atom : atoms_) {
      const double half = atom.loss.value / 2;
      const Complex a{(c_ + 1) * half, t * half};
      const Complex b{c_ * half, t * half};
      excess += (4 * atom.weight.value) * (sinh(a) * sinh(b));
      // |sinh z| <= min(|z|, 1) cosh(Re z)
      error +=
          4 * atom.weight.value * std::cosh(a.re) * std::cosh(b.re) *
          (abs(a) * abs(b) * (64 * unit + 2 * atom.loss.relative) +
           std::min(1.0, abs(a)) * std::min(1.0, abs(b)) * (sum_rounding() + atom.weight.relative));
    }
    return pld_detail::log_of_excess(excess, error);
  }
  double work() const override { return 2 * static_cast<double>(atoms_.size()); }
  double decay_bound(double t, Extent reach) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (reach == Extent::everywhere || atoms_.size() != 1) return all;
    // With one atom and its mirror, |M|² is a convex quadratic function of cos(tℓ) (or, if no mass
    // is at 0, a linear function of cos(2tℓ)), so over [t, half a period] it is largest at one end.
    return std::min(all, std::max(pld_detail::upper_log_mgf(at(t)),
                                  pld_detail::upper_log_mgf(at(pi / spacing_))));
  }

 private:
  // Returns log M where the hyperbolic functions would overflow: exponentials over e^scale. The
  // mass at loss 0 is 1 less that of all other atoms.
  LogMgfValue from_exponentials(double t) const {
    Complex value{std::exp(-scale_), 0};
    double error = 0;
    for (const RoundedAtom& atom : atoms_) {
      const double loss = atom.loss.value;
      const double w = atom.weight.value;
      const double log_weight = std::log(w);
      const Complex rise = exp(Complex{(c_ + 0.5) * loss + log_weight - scale_, t * loss});
      const Complex fall = exp(Complex{-(c_ + 0.5) * loss + log_weight - scale_, -t * loss});
      const double mass = w * 2 * std::cosh(loss / 2) * std::exp(-scale_);
      value += rise + fall - Complex{mass, 0};
      error += (abs(rise) + abs(fall) + mass) *
               (32 * unit + sum_rounding() + atom.weight.relative +
                (abs({c_ + 0.5, t}) + 1) * loss * (atom.loss.relative + 4 * unit) +
                4 * unit * (std::abs(log_weight) + scale_));
    }
    return pld_detail::log_of_scaled(value, scale_, error);
  }
  // Returns a bound on the rounding of a sum over all atoms, relative to the sum of its terms'
  // sizes.
  [[nodiscard]] double sum_rounding() const {
    return 2 * unit * static_cast<double>(atoms_.size());
  }

  const std::vector<RoundedAtom>& atoms_;
  double spacing_;
  double c_;
  double scale_ = 0;
  bool overflows_ = false;
};

// Returns the distribution; null if a loss is too large. `mass_at_zero`: the atoms are not all of
// it.
pld_detail::DistributionPtr symmetric_atoms_distribution(const std::vector<RoundedAtom>& atoms,
                                                         bool mass_at_zero) {
  std::vector<pld_detail::LossDistribution::PointMass> points;
  double rest = 1;
  double error = 4 * unit;
  for (const RoundedAtom& atom : atoms) {
    const double loss = atom.loss.value;
    if (!(loss < 1000)) return nullptr;  // its weight nearly underflows
    const double error_bound =
        atom.weight.relative + loss * atom.loss.relative + 16 * unit * (1 + loss);
    for (const double side : {-loss, loss})
      points.push_back(
          {side, loss * atom.loss.relative, atom.weight.value, error_bound, -side / 2});
    const double both = atom.weight.value * 2 * std::cosh(loss / 2);
    rest -= both;
    error += both * error_bound;
  }
  if (mass_at_zero)
    points.push_back({0, 0, std::max(rest, error), rest > error ? error / rest : 1, 0});
  return pld_detail::atoms_distribution(std::move(points), 0);
}

class SymmetricAtomsLoss : public PrivacyLoss {
 public:
  SymmetricAtomsLoss(const std::vector<SymmetricAtom>& atoms, std::optional<Lattice> lattice)
      : lattice_(lattice) {
    double sum = 0;
    double error = 0;
    for (const SymmetricAtom& atom : atoms) {
      atoms_.push_back({RoundedDouble(atom.loss), RoundedDouble(atom.weight)});
      const RoundedAtom& rounded = atoms_.back();
      const double both = 2 * rounded.weight.value * std::cosh(rounded.loss.value / 2);
      sum += both;
      error += both * (rounded.weight.relative + rounded.loss.value * rounded.loss.relative +
                       16 * unit * (1 + rounded.loss.value));
      if (!(atom.loss.upper() > max_loss_)) continue;
      max_loss_ = atom.loss.upper();
      max_loss_atom_ = {atom.loss.lower(), log(atom.weight * exp(atom.loss / 2)).lower()};
    }
    pld_detail::require_masses(sum, 2 * error + 4 * unit * static_cast<double>(atoms.size() + 1),
                               pld_detail::MassSum::part);
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<SymmetricAtomsLogMgf>(atoms_, lattice_ ? lattice_->spacing : 1, c);
  }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return max_loss_atom_; }
  std::optional<Lattice> lattice() const override { return lattice_; }
  bool symmetric() const override { return true; }
  pld_detail::DistributionPtr distribution() const override {
    return symmetric_atoms_distribution(atoms_, !fills_lattice());
  }
  double standard_deviation() const override {
    double square = 0;
    for (const RoundedAtom& atom : atoms_)
      square += 2 * atom.weight.value * atom.loss.value * atom.loss.value *
                std::cosh(atom.loss.value / 2);
    return std::sqrt(square);
  }

 private:
  // Returns true for randomized response: its two atoms are neighbours on the lattice, so none is
  // at 0.
  [[nodiscard]] bool fills_lattice() const {
    return atoms_.size() == 1 && lattice_ && lattice_->spacing == 2 * atoms_.front().loss.value;
  }

  std::vector<RoundedAtom> atoms_;
  std::optional<Lattice> lattice_;
  double max_loss_ = 0;
  std::optional<MaxLossAtom> max_loss_atom_;
};

}  // namespace

PrivacyLossPtr symmetric_atoms_loss(const std::vector<SymmetricAtom>& atoms,
                                    std::optional<Lattice> lattice) {
  return std::make_shared<SymmetricAtomsLoss>(atoms, lattice);
}

}  // namespace sotto
