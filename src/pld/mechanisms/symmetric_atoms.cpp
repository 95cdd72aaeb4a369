// Losses ±ℓ of weight w, the rest at 0 (randomized response, discrete Laplace noise): M(s) - 1 = sum of 4w sinh((s+1)ℓ/2) sinh(sℓ/2).
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "grid/distribution.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct NearAtom {
  RoundedDouble loss;
  RoundedDouble weight;
};

class MirroredLine : public LogMgf {
 public:
  MirroredLine(const std::vector<NearAtom>& atoms, double spacing, double c) : atoms_(atoms), spacing_(spacing), c_(c) {
    double steepest = 0;
    for (const NearAtom& atom : atoms) {
      steepest = std::max(steepest, (c + 0.5) * atom.loss.value);
      scale_ = std::max(scale_, (c + 0.5) * atom.loss.value + std::log(atom.weight.value));  // a far atom may weigh next to nothing
    }
    far_ = steepest >= 300;
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    spend(150 * static_cast<double>(atoms_.size() - 1));  // the first is in what a node costs; a discretised product has thousands
    if (far_) return far(t);
    Complex excess{0, 0};
    double error = 0;
    for (const NearAtom& atom : atoms_) {
      const double half = atom.loss.value / 2;
      const Complex a{(c_ + 1) * half, t * half};
      const Complex b{c_ * half, t * half};
      excess += (4 * atom.weight.value) * (sinh(a) * sinh(b));
      // |sinh z| is at most |z| and 1 times the cosh of its real part
      error += 4 * atom.weight.value * std::cosh(a.re) * std::cosh(b.re) *
               (abs(a) * abs(b) * (64 * unit + 2 * atom.loss.relative) +
                std::min(1.0, abs(a)) * std::min(1.0, abs(b)) * (adding() + atom.weight.relative));
    }
    return pld_detail::log_of_excess(excess, error);
  }
  double work() const override { return 2 * static_cast<double>(atoms_.size()); }
  double decay_bound(double t, Extent reach) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (reach == Extent::everywhere || atoms_.size() != 1) return all;
    // One atom, its mirror, and the rest at 0: |M|² is a convex quadratic function of the cosine of tℓ (or, with nothing
    // at 0, linear in that of 2tℓ), so over [t, half a period] it is largest at an end.
    return std::min(all, std::max(pld_detail::upper_log_mgf(at(t)), pld_detail::upper_log_mgf(at(pi / spacing_))));
  }

 private:
  LogMgfValue far(double t) const {  // scaled by e^-scale; what is at loss 0 is the rest
    Complex value{std::exp(-scale_), 0};
    double error = 0;
    for (const NearAtom& atom : atoms_) {
      const double loss = atom.loss.value;
      const double w = atom.weight.value;
      const double log_weight = std::log(w);
      const Complex rise = exp(Complex{(c_ + 0.5) * loss + log_weight - scale_, t * loss});
      const Complex fall = exp(Complex{-(c_ + 0.5) * loss + log_weight - scale_, -t * loss});
      const double gone = w * 2 * std::cosh(loss / 2) * std::exp(-scale_);
      value += rise + fall - Complex{gone, 0};
      error += (abs(rise) + abs(fall) + gone) *
               (32 * unit + adding() + atom.weight.relative + (abs({c_ + 0.5, t}) + 1) * loss * (atom.loss.relative + 4 * unit) +
                4 * unit * (std::abs(log_weight) + scale_));
    }
    return pld_detail::log_of_scaled(value, scale_, error);
  }
  // the rounding of a sum, relative to the sum of its terms' sizes
  [[nodiscard]] double adding() const { return 2 * unit * static_cast<double>(atoms_.size()); }

  const std::vector<NearAtom>& atoms_;
  double spacing_;
  double c_;
  double scale_ = 0;
  bool far_ = false;
};

pld_detail::DistributionPtr symmetric_atoms_distribution(const std::vector<NearAtom>& atoms, bool others) {
  std::vector<pld_detail::LossDistribution::PointMass> places;
  double rest = 1;
  double error = 4 * unit;
  for (const NearAtom& atom : atoms) {
    const double loss = atom.loss.value;
    if (!(loss < 1000)) return nullptr;  // its weight is hardly a double
    const double error_bound = atom.weight.relative + loss * atom.loss.relative + 16 * unit * (1 + loss);
    for (const double side : {-loss, loss}) places.push_back({side, loss * atom.loss.relative, atom.weight.value, error_bound, -side / 2});
    const double both = atom.weight.value * 2 * std::cosh(loss / 2);
    rest -= both;
    error += both * error_bound;
  }
  // what is left at 0, or may be
  if (others) places.push_back({0, 0, std::max(rest, error), rest > error ? error / rest : 1, 0});
  return pld_detail::atoms_distribution(std::move(places), 0);
}

class MirroredLoss : public PrivacyLoss {
 public:
  MirroredLoss(const std::vector<SymmetricAtom>& atoms, std::optional<Lattice> lattice) : lattice_(lattice) {
    double sum = 0;
    double error = 0;
    for (const SymmetricAtom& atom : atoms) {
      atoms_.push_back({RoundedDouble(atom.loss), RoundedDouble(atom.weight)});
      const NearAtom& near = atoms_.back();
      const double both = 2 * near.weight.value * std::cosh(near.loss.value / 2);
      sum += both;
      error += both * (near.weight.relative + near.loss.value * near.loss.relative + 16 * unit * (1 + near.loss.value));
      if (!(atom.loss.upper() > max_loss_)) continue;
      max_loss_ = atom.loss.upper();
      top_ = {atom.loss.lower(), log(atom.weight * exp(atom.loss / 2)).lower()};
    }
    pld_detail::require_masses(sum, 2 * error + 4 * unit * static_cast<double>(atoms.size() + 1), pld_detail::MassSum::part);
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<MirroredLine>(atoms_, lattice_ ? lattice_->spacing : 1, c); }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return top_; }
  std::optional<Lattice> lattice() const override { return lattice_; }
  bool symmetric() const override { return true; }
  pld_detail::DistributionPtr distribution() const override { return symmetric_atoms_distribution(atoms_, !fills_lattice()); }
  double standard_deviation() const override {
    double square = 0;
    for (const NearAtom& atom : atoms_) square += 2 * atom.weight.value * atom.loss.value * atom.loss.value * std::cosh(atom.loss.value / 2);
    return std::sqrt(square);
  }

 private:
  // Randomized response: two spacings apart, with nothing between them.
  [[nodiscard]] bool fills_lattice() const { return atoms_.size() == 1 && lattice_ && lattice_->spacing == 2 * atoms_.front().loss.value; }

  std::vector<NearAtom> atoms_;
  std::optional<Lattice> lattice_;
  double max_loss_ = 0;
  std::optional<MaxLossAtom> top_;
};

}  // namespace

PrivacyLossPtr symmetric_atoms_loss(const std::vector<SymmetricAtom>& atoms, std::optional<Lattice> lattice) {
  return std::make_shared<MirroredLoss>(atoms, lattice);
}

}  // namespace sotto
