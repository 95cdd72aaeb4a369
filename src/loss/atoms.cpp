// Losses with atoms alone: symmetric pairs (randomized response, discrete Laplace) and discrete Gaussian noise.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "exact.hpp"
#include "law.hpp"
#include "sotto/numerics/elementary.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using loss_detail::infinity;
using loss_detail::Near;
using loss_detail::pi;
using loss_detail::unit;

// --- Atoms ±ℓ with weight w: M(s) - 1 = sum of 4w sinh((s+1)ℓ/2) sinh(sℓ/2). ---

struct NearAtom {
  Near loss;
  Near weight;
};

class MirroredLine : public LossLine {
 public:
  MirroredLine(const std::vector<NearAtom>& atoms, double spacing, double c) : atoms_(atoms), spacing_(spacing), c_(c) {
    for (const NearAtom& atom : atoms) scale_ = std::max(scale_, (c + 0.5) * atom.loss.value);
    if (scale_ < 300) scale_ = 0;
  }
  void reach(double /*top*/, double /*tolerance*/) override {}
  Transform at(double t) const override {
    if (scale_ > 0) return far(t);
    Complex excess{0, 0};
    double error = 0;
    for (const NearAtom& atom : atoms_) {
      const double half = atom.loss.value / 2;
      const Complex a{(c_ + 1) * half, t * half};
      const Complex b{c_ * half, t * half};
      excess += (4 * atom.weight.value) * (sinh(a) * sinh(b));
      error += 4 * atom.weight.value * abs(a) * abs(b) * std::cosh(a.re) * std::cosh(b.re) *
               (64 * unit + adding() + 2 * atom.loss.relative + atom.weight.relative);
    }
    return loss_detail::log_of_excess(excess, error);
  }
  double work() const override { return 2 * static_cast<double>(atoms_.size()); }
  double ceiling(double t, Reach reach) const override {
    const double all = loss_detail::top_of(at(0));
    if (reach == Reach::everywhere || atoms_.size() != 1) return all;
    // One atom, its mirror, and the rest at 0: |M|² is a convex quadratic function of the cosine of tℓ (or, with nothing
    // at 0, linear in that of 2tℓ), so over [t, half a period] it is largest at an end.
    return std::min(all, std::max(loss_detail::top_of(at(t)), loss_detail::top_of(at(pi / spacing_))));
  }

 private:
  Transform far(double t) const {  // scaled by e^-scale; what is at loss 0 is the rest
    Complex value{std::exp(-scale_), 0};
    double error = 0;
    for (const NearAtom& atom : atoms_) {
      const double loss = atom.loss.value;
      const double w = atom.weight.value;
      const Complex rise = w * exp(Complex{(c_ + 0.5) * loss - scale_, t * loss});
      const Complex fall = w * exp(Complex{-(c_ + 0.5) * loss - scale_, -t * loss});
      const double gone = w * 2 * std::cosh(loss / 2) * std::exp(-scale_);
      value += rise + fall - Complex{gone, 0};
      error += (abs(rise) + abs(fall) + gone) *
               (32 * unit + adding() + atom.weight.relative + (abs({c_ + 0.5, t}) + 1) * loss * (atom.loss.relative + 4 * unit));
    }
    return loss_detail::log_of_scaled(value, scale_, error);
  }
  // the rounding of a sum, relative to the sum of its terms' sizes
  [[nodiscard]] double adding() const { return 2 * unit * static_cast<double>(atoms_.size()); }

  const std::vector<NearAtom>& atoms_;
  double spacing_;
  double c_;
  double scale_ = 0;
};

// Nothing but atoms.
class AtomsLaw : public loss_detail::LossLaw {
 public:
  AtomsLaw(std::vector<Place> places, double beyond) : places_(std::move(places)), beyond_(beyond) {
    for (const Place& atom : places_) most_ = std::max(most_, std::abs(atom.loss));
  }
  Edge edge(double loss) const override { return {loss, loss, 1}; }
  double off(double /*loss*/) const override { return 0; }
  Mass without(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  Mass with(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  Slopes slopes(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  std::vector<Place> atoms() const override { return places_; }
  bool only_atoms() const override { return true; }
  double least() const override { return -most_; }
  double most() const override { return most_; }
  double beyond() const override { return beyond_; }

 private:
  std::vector<Place> places_;
  double beyond_;
  double most_ = 0;
};

loss_detail::LawPtr mirrored_law(const std::vector<NearAtom>& atoms, bool others) {
  std::vector<loss_detail::LossLaw::Place> places;
  double rest = 1;
  double error = 4 * unit;
  for (const NearAtom& atom : atoms) {
    const double loss = atom.loss.value;
    if (!(loss < 1000)) return nullptr;  // its weight is hardly a double
    const double room = atom.weight.relative + loss * atom.loss.relative + 16 * unit * (1 + loss);
    for (const double side : {-loss, loss}) places.push_back({side, loss * atom.loss.relative, atom.weight.value, room, -side / 2});
    const double both = atom.weight.value * 2 * std::cosh(loss / 2);
    rest -= both;
    error += both * room;
  }
  // what is left at 0, or may be
  if (others) places.push_back({0, 0, std::max(rest, error), rest > error ? error / rest : 1, 0});
  return std::make_shared<AtomsLaw>(std::move(places), 0);
}

class MirroredLoss : public Loss, public loss_detail::TwoLosses, public loss_detail::KnownLoss {
 public:
  MirroredLoss(const std::vector<MirroredAtom>& atoms, std::optional<Lattice> lattice) : lattice_(lattice) {
    for (const MirroredAtom& atom : atoms) {
      atoms_.push_back({Near(atom.loss), Near(atom.weight)});
      if (!(atom.loss.upper() > worst_)) continue;
      worst_ = atom.loss.upper();
      top_ = {atom.loss.lower(), log(atom.weight * exp(atom.loss / 2)).lower()};
    }
  }
  std::unique_ptr<LossLine> on(double c) const override { return std::make_unique<MirroredLine>(atoms_, lattice_ ? lattice_->spacing : 1, c); }
  double worst() const override { return worst_; }
  std::optional<Top> top() const override { return top_; }
  std::optional<Lattice> lattice() const override { return lattice_; }
  bool symmetric() const override { return true; }
  loss_detail::LawPtr law() const override { return mirrored_law(atoms_, !either()); }
  // two spacings apart there is nothing between them
  std::optional<Near> either() const override {
    if (atoms_.size() != 1 || !lattice_ || lattice_->spacing != 2 * atoms_.front().loss.value) return std::nullopt;
    return atoms_.front().loss;
  }
  double spread() const override {
    double square = 0;
    for (const NearAtom& atom : atoms_) square += 2 * atom.weight.value * atom.loss.value * atom.loss.value * std::cosh(atom.loss.value / 2);
    return std::sqrt(square);
  }

 private:
  std::vector<NearAtom> atoms_;
  std::optional<Lattice> lattice_;
  double worst_ = 0;
  std::optional<Top> top_;
};

// --- Discrete Gaussian: M(s) = e^(s(s+1)d²/(2σ²)) V(s)/V(0), V(s) = sum over j of e^(-(j+sd)²/(2σ²)), d the sensitivity. ---

class DiscreteGaussianLine : public LossLine {
 public:
  DiscreteGaussianLine(Near sigma, double d, double c) : sigma_(sigma), d_(d), c_(c), period_(2 * pi * sigma.value * sigma.value / d) {}
  void reach(double /*top*/, double /*tolerance*/) override {}
  Transform at(double t) const override {
    // One period further M is the same but for the sign (-1)^d, since all losses are multiples of d/σ² from d²/(2σ²).
    const double turns = std::floor(t / period_ + 0.5);
    const double inside = t - turns * period_;
    Transform here = within(std::abs(inside));
    if (inside < 0) here.log.im = -here.log.im;
    if (std::fmod(turns, 2) != 0 && std::fmod(d_, 2) != 0) here.log.im += pi;
    if (turns != 0) here.error += (c_ + std::abs(inside)) * 4 * (unit + sigma_.relative) * turns * period_ * d_ * d_ / (sigma_.value * sigma_.value);
    return here;
  }
  double ceiling(double t, Reach reach) const override {
    // V is a theta function: by its product, |V| falls from 0 to half a period.
    const double all = loss_detail::top_of(at(0));
    return reach == Reach::half_period ? std::min(all, loss_detail::top_of(within(std::min(t, period_ / 2)))) : all;
  }

 private:
  Transform within(double t) const {
    const double square = sigma_.value * sigma_.value;
    const double factor = d_ * d_ / (2 * square);
    const Complex main{factor * (c_ * (c_ + 1) - t * t), factor * t * (2 * c_ + 1)};
    const double main_error = factor * (c_ * (c_ + 1) + t * t + t * (2 * c_ + 1)) * (16 * unit + 3 * sigma_.relative);
    const Transform theta = sigma_.value >= 0.8 ? by_waves(t) : by_terms(t);
    if (std::isinf(theta.error)) return {{main.re + main_error + theta.log.re, 0}, infinity};
    return {main + theta.log, main_error + theta.error};
  }
  // Poisson summation: V(s)/V(0) = 1 + (sum over m != 0 of p^(m²) (e^(2πimsd) - 1)) / sum of p^(m²), p = e^(-2π²σ²).
  Transform by_waves(double t) const {
    const double slope = 2 * pi * pi * sigma_.value * sigma_.value;
    const double phase = 2 * pi * std::fmod(c_ * d_, 1.0);
    Complex sum{0, 0};
    double total = 1;
    double error = 0;
    for (int m = 1; m <= 6; ++m) {
      const double base = -slope * m * m;
      const double wave = 2 * pi * m * t * d_;
      const Complex there = exp(Complex{base - wave, m * phase});
      const Complex back = exp(Complex{base + wave, -m * phase});
      const double still = std::exp(base);
      sum += there + back - Complex{2 * still, 0};
      total += 2 * still;
      error +=
          (abs(there) + abs(back) + 2 * still) * (32 * unit + (slope * m * m + wave + m * 2 * pi * (1 + c_ * d_)) * (4 * unit + 2 * sigma_.relative));
      if (base + wave < -60) break;
    }
    error += 1e-22;  // what the later m could add: below e^(-2π²σ²(49 - 7)) at the edge of the period
    return loss_detail::log_of_excess((1 / total) * sum, error + abs(sum) * 16 * unit);
  }
  Transform by_terms(double t) const {
    const double square = sigma_.value * sigma_.value;
    const double centre = c_ * d_;
    const double nearest = std::floor(-centre + 0.5);
    // e^(t²d²/(2σ²)) and the largest term are taken out of every term
    const double largest = -(nearest + centre) * (nearest + centre) / (2 * square);
    Complex sum{0, 0};
    double total = 0;
    double error = 0;
    for (int i = -12; i <= 12; ++i) {
      const double x = nearest + i + centre;
      const double size = -x * x / (2 * square);
      const double phase = -x * t * d_ / square;
      sum += exp(Complex{size - largest, phase});
      total += std::exp(-static_cast<double>(i) * i / (2 * square));
      error += std::exp(size - largest) *
               (64 * unit + (std::abs(size) + std::abs(phase) + std::abs(centre) * t * d_ / square) * (8 * unit + 4 * sigma_.relative));
    }
    const double out = t * t * d_ * d_ / (2 * square);
    Transform log = loss_detail::log_of_scaled(sum, out + largest - std::log(total), error + 1e-40);
    log.error += (out - largest) * (8 * unit + 3 * sigma_.relative) + 64 * unit + 4 * sigma_.relative;
    return log;
  }
  Near sigma_;
  double d_;
  double c_;
  double period_;
};

class DiscreteGaussianLoss : public Loss, public loss_detail::WholeNoise, public loss_detail::KnownLoss {
 public:
  DiscreteGaussianLoss(const Real& sigma, std::int64_t sensitivity) : sigma_(sigma), d_(static_cast<double>(sensitivity)) {}
  std::unique_ptr<LossLine> on(double c) const override { return std::make_unique<DiscreteGaussianLine>(sigma_, d_, c); }
  std::optional<Lattice> lattice() const override {
    const double square = sigma_.value * sigma_.value;
    return Lattice{d_ * d_ / (2 * square), d_ / square, 2 * sigma_.relative + 8 * unit};
  }
  double spread() const override { return d_ / sigma_.value; }
  bool symmetric() const override { return true; }
  Near sigma() const override { return sigma_; }
  double sensitivity() const override { return d_; }
  // Under Q the noise is x and the loss (xd - d²/2)/σ²; what has e^-600 or less under both is left out.
  loss_detail::LawPtr law() const override {
    constexpr double deepest = 600;
    const double square = sigma_.value * sigma_.value;
    const double end = std::ceil(sigma_.value * std::sqrt(2 * deepest));
    if (2 * end + d_ > 4000) return nullptr;
    double all = 0;
    for (double n = -end; n <= end; ++n) all += std::exp(-n * n / (2 * square));
    std::vector<loss_detail::LossLaw::Place> places;
    const double relative = 2 * sigma_.relative + 4 * unit;
    for (double x = -end; x <= end + d_; ++x) {
      const double loss = (x * d_ - d_ * d_ / 2) / square;
      const double log = -x * x / (2 * square);
      places.push_back(
          {loss, (std::abs(loss) + d_ * d_ / square) * relative, 1 / all, (2 + std::abs(log)) * (relative + 8 * unit) + 256 * unit, log});
    }
    return std::make_shared<AtomsLaw>(std::move(places), 8 * std::exp(-deepest));
  }

 private:
  Near sigma_;
  double d_;
};

}  // namespace

LossPtr mirrored_loss(const std::vector<MirroredAtom>& atoms, std::optional<Lattice> lattice) {
  return std::make_shared<MirroredLoss>(atoms, lattice);
}

LossPtr discrete_gaussian_loss(const Real& sigma, std::int64_t sensitivity) { return std::make_shared<DiscreteGaussianLoss>(sigma, sensitivity); }

}  // namespace sotto
