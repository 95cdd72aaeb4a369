#include "grid/distribution.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {
namespace {

using Mass = LossDistribution::Mass;

// P(Z > z) for z >= 0, as value e^log, to 24 + 8z² units.
Mass normal_tail(double z) {
  if (z < 20) return {std::erfc(z / std::sqrt(2.0)) / 2, 0, 0};
  if (std::isinf(z)) return {0, 0, 0};
  // φ(z)/z (1 - 1/z² + 3/z⁴ - …), which alternates: the eleventh term is below 1e-17
  double series = 0;
  double term = 1;
  for (int n = 1; n <= 10; ++n) {
    series += term;
    term *= -(2 * n - 1) / (z * z);
  }
  return {series / (z * root_two_pi), 0, -z * z / 2};
}

// The normal mass between two doubles: by Taylor's series about the middle, or as a difference of tails.
Mass normal_between(double from, double to) {
  const double width = to - from;
  const double middle = from + width / 2;
  const double square = middle * middle;
  const double small = width * std::max(1.0, std::abs(middle));
  if (small < 0.04) {
    // ∫ φ(m + t) over |t| <= w/2 is φ(m) w (1 + He₂ w²/24 + He₄ w⁴/1920 + …), the rest below (w max(1, |m|))⁶/15000
    const double w = width * width;
    const double series = 1 + (square - 1) * w / 24 + (square * square - 6 * square + 3) * w * w / 1920;
    return {width * series / root_two_pi, small * small * small * small * small * small / 15000 + unit * (16 + 4 * square), -square / 2};
  }
  if (from < 0 && to > 0) {
    const double outside = normal_tail(-from).at(0) + normal_tail(to).at(0);
    return {1 - outside, 32 * unit / std::max(1 - outside, 1e-3), 0};
  }
  const bool left = to <= 0;
  const double z = left ? -to : from;
  const Mass near = normal_tail(z);
  const double far = normal_tail(left ? -from : to).at(-near.log);
  return {near.value - far, (near.value + far) * unit * (24 + 8 * z * z) / std::max(near.value - far, 1e-305), near.log};
}

// L = μz - μ²/2 with z standard normal under Q.
class GaussianDistribution : public LossDistribution {
 public:
  explicit GaussianDistribution(const RoundedDouble& mu) : mu_(mu) {}
  // Beyond 45 there is nothing.
  Edge edge(double loss) const override { return {loss, std::clamp(loss / mu_.value + mu_.value / 2, -45.0, 45 + mu_.value), 1}; }
  double loss_error(double loss) const override { return (std::abs(loss) + mu_.value * mu_.value) * (4 * mu_.relative + 16 * unit); }
  Mass mass_q(const Edge& from, const Edge& to) const override { return normal_between(from.place, to.place); }
  // P's mass moves with μ: by (|z| + 1) of itself a unit, at most.
  Mass mass_p(const Edge& from, const Edge& to) const override {
    const double m = mu_.value;
    const Mass mass = normal_between(from.place - m, to.place - m);
    const double size = std::abs(from.place) + std::abs(to.place) + m;
    return {mass.value, mass.error_bound + 2 * (size + 2) * (m * mu_.relative + 4 * unit * size), mass.log};
  }
  Slopes slopes(const Edge& from, const Edge& to) const override {
    const double square = mu_.value * mu_.value;
    const double error_bound = (8 * mu_.relative + 64 * unit) * (1 + (std::abs(from.loss) + std::abs(to.loss)) / square);
    return {-to.loss / square - 0.5 - error_bound, -from.loss / square - 0.5 + error_bound};
  }

 private:
  RoundedDouble mu_;
};

// Density e^(lift - ℓ/2) under Q between -x and x.
class ExponentialDensityDistribution : public LossDistribution {
 public:
  ExponentialDensityDistribution(const RoundedDouble& x, double lift) : x_(x), lift_(lift) {}
  Edge edge(double loss) const override { return {loss, std::clamp(loss, -x_.value, x_.value), 1}; }
  double loss_error(double /*loss*/) const override { return x_.value * (x_.relative + 2 * unit); }
  Mass mass_q(const Edge& from, const Edge& to) const override { return times(from, to, lift_ - from.place / 2); }
  Mass mass_p(const Edge& from, const Edge& to) const override { return times(from, to, lift_ + to.place / 2); }
  Slopes slopes(const Edge& /*from*/, const Edge& /*to*/) const override { return {-0.5, -0.5}; }
  double min_loss() const override { return -x_.value; }
  double max_loss() const override { return x_.value; }

 protected:
  [[nodiscard]] const RoundedDouble& x() const { return x_; }

 private:
  [[nodiscard]] Mass times(const Edge& from, const Edge& to, double log_density) const {
    return {-2 * std::expm1((from.place - to.place) / 2), (2 + x_.value) * x_.relative + 32 * unit * (2 + x_.value + std::abs(lift_)), log_density};
  }

  RoundedDouble x_;
  double lift_;
};

// With atoms of 1/2 at -x and e^-x/2 at x, and density e^(-(ℓ+x)/2)/4 between.
class LaplaceDistribution : public ExponentialDensityDistribution {
 public:
  explicit LaplaceDistribution(const RoundedDouble& x) : ExponentialDensityDistribution(x, -x.value / 2 - std::log(4.0)) {}
  std::vector<PointMass> atoms() const override {
    const double loss = x().value;
    const double error_bound = loss * x().relative;
    return {{-loss, error_bound, 0.5, 0, 0}, {loss, error_bound, 0.5, error_bound + 8 * unit * (1 + loss), -loss}};
  }
};

// L(u) = log cosh u - log cosh(u-D) - κ sinh D sinh(2u-D) falls; √(2κ) sinh(u-D) is standard normal under Q, √(2κ) sinh u under P. A place is -u.
class ArsinhDistribution : public LossDistribution {
 public:
  ArsinhDistribution(const RoundedDouble& kappa, const RoundedDouble& shift)
      : kappa_(kappa), shift_(shift), swing_(kappa.value * std::sinh(shift.value)), root_(std::sqrt(2 * kappa.value)) {}
  Edge edge(double loss) const override {
    const double d = shift_.value;
    const double end = std::asinh(50 / root_) + d;  // beyond there is nothing
    double u = std::clamp(d / 2 - std::asinh(std::clamp(loss / swing_, -1e300, 1e300)) / 2, -end, end);
    for (int turn = 0; turn < 20; ++turn) {
      const double next = std::clamp(u - (loss_at(u) - loss) / rise(u), -end, end);
      const bool there = std::abs(next - u) <= 4 * unit * std::abs(u);
      u = next;
      if (there || std::isnan(u)) break;
    }
    return {loss, -u, 1};
  }
  // The parameters' errors at a fixed value of the noise, and rounding; Newton's iteration ends within it.
  double loss_error(double loss) const override {
    const double u = -edge(loss).place;
    const double size = swing_ * std::cosh(2 * u - shift_.value) + shift_.value;
    return 8 * size * (kappa_.relative + 2 * shift_.relative + 64 * unit) + 256 * unit * (1 + std::abs(u));
  }
  Mass mass_q(const Edge& from, const Edge& to) const override { return mass(from.place + shift_.value, to.place + shift_.value); }
  Mass mass_p(const Edge& from, const Edge& to) const override { return mass(from.place, to.place); }
  // Of f(L) = q(u)/|L'(u)|: ((log q)' - L''/L')/L'. All terms over the interval.
  Slopes slopes(const Edge& from, const Edge& to) const override {
    const double d = shift_.value;
    const double low = -to.place;
    const double high = -from.place;
    const auto fall = [&](double u) { return std::tanh(u - d) - kappa_.value * std::sinh(2 * (u - d)); };  // falls
    const auto turn = [&](double u) { return std::tanh(u) - std::tanh(u - d); };                           // largest at D/2
    const auto bend = [&](double u) { return 1 / std::pow(std::cosh(u), 2) - 1 / std::pow(std::cosh(u - d), 2); };
    const bool inside = low < d / 2 && high > d / 2;
    const Bound first{std::min(turn(low), turn(high)) - 2 * swing_ * std::max(std::cosh(2 * low - d), std::cosh(2 * high - d)),
                      (inside ? turn(d / 2) : std::max(turn(low), turn(high))) -
                          2 * swing_ * (inside ? 1 : std::min(std::cosh(2 * low - d), std::cosh(2 * high - d)))};
    const double bulge = 1.6 * (high - low);
    const Bound second{std::min(bend(low), bend(high)) - bulge - 4 * swing_ * std::sinh(2 * high - d),
                       std::max(bend(low), bend(high)) + bulge - 4 * swing_ * std::sinh(2 * low - d)};
    if (!(first.upper < 0)) return {-infinity, infinity};
    const Bound ratio = over(second, first);
    const Bound slope = over({fall(high) - ratio.upper, fall(low) - ratio.lower}, first);
    const double error_bound = 1e-9 * (1 + std::abs(slope.lower) + std::abs(slope.upper));  // more than the parameters' and rounding
    return {slope.lower - error_bound, slope.upper + error_bound};
  }

 private:
  static Bound over(const Bound& a, const Bound& b) {
    const auto [least, most] = std::minmax({a.lower / b.lower, a.lower / b.upper, a.upper / b.lower, a.upper / b.upper});
    return {least, most};
  }
  [[nodiscard]] double loss_at(double u) const {
    const double d = shift_.value;
    // log of cosh u / cosh(u-D) = cosh D + sinh D tanh(u-D)
    return std::log1p(2 * std::pow(std::sinh(d / 2), 2) + std::sinh(d) * std::tanh(u - d)) - swing_ * std::sinh(2 * u - d);
  }
  [[nodiscard]] double rise(double u) const {
    const double d = shift_.value;
    return std::tanh(u) - std::tanh(u - d) - 2 * swing_ * std::cosh(2 * u - d);
  }
  [[nodiscard]] Mass mass(double from, double to) const {
    const double low = root_ * std::sinh(from);
    const double high = root_ * std::sinh(to);
    const Mass mass = normal_between(low, high);
    return {mass.value, mass.error_bound + (2 + low * low + high * high) * (kappa_.relative + 4 * shift_.relative + 16 * unit), mass.log};
  }

  RoundedDouble kappa_, shift_;
  double swing_;  // κ sinh D
  double root_;   // √(2κ)
};

// u = log(1 - q + q e^ℓ).
double sampled_loss(const RoundedDouble& q, double loss) {
  return loss > 40 ? loss + std::log(q.value) + std::log1p((1 - q.value) / q.value * std::exp(-loss)) : std::log1p(q.value * std::expm1(loss));
}

// An edge's loss is the base's, its rate ℓ'(u); L is u, or -u with a record added.
class PoissonDistribution : public LossDistribution {
 public:
  PoissonDistribution(DistributionPtr base, const RoundedDouble& rate, Direction direction)
      : base_(std::move(base)), q_(rate), removed_(direction == Direction::remove) {}
  Edge edge(double loss) const override {
    const double u = removed_ ? loss : -loss;
    const double back = std::exp(-u);
    if (u > 40) {
      const Edge base = base_->edge(u - std::log(q_.value) + std::log1p(-(1 - q_.value) * back));
      return {base.loss, base.place, 1 / (1 - (1 - q_.value) * back)};
    }
    const double rise = std::expm1(u);
    const bool reached = rise > -q_.value;
    const Edge base = base_->edge(reached ? std::log1p(rise / q_.value) : -infinity);
    return {base.loss, base.place, reached ? (rise + 1) / (rise + q_.value) : infinity};
  }
  double loss_error(double loss) const override {
    const double u = removed_ ? loss : -loss;
    const double base = edge(loss).loss;
    return std::isinf(base) ? moved(u, base, 0) : moved(u, base, base_->loss_error(base) + 8 * unit * std::abs(base));  // ℓ is rounded, too
  }
  Mass mass_q(const Edge& from, const Edge& to) const override { return removed_ ? base_->mass_q(from, to) : mixed(to, from); }
  Mass mass_p(const Edge& from, const Edge& to) const override { return removed_ ? mixed(from, to) : base_->mass_q(to, from); }
  // The density of u is the base's at ℓ(u) times ℓ' = e^u/(e^u - 1 + q), which falls; (log ℓ')' = 1 - ℓ'.
  Slopes slopes(const Edge& from, const Edge& to) const override {
    const Edge& low = removed_ ? from : to;
    const Edge& high = removed_ ? to : from;
    if (std::isinf(low.loss) || !(low.rate < 1e12)) return {-infinity, infinity};
    const Slopes base = base_->slopes(low, high);
    const double down = std::min(base.least * low.rate, base.least * high.rate) + 1 - low.rate;
    const double up = std::max(base.most * low.rate, base.most * high.rate) + 1 - high.rate;
    const double error_bound = 1e-9 * (std::abs(down) + std::abs(up) + low.rate);  // more than the parameters' and rounding
    // with a record added L = -u under the mixture, whose density is e^u times that without the record
    return removed_ ? Slopes{down - error_bound, up + error_bound} : Slopes{-up - error_bound - 1, -down + error_bound - 1};
  }
  std::vector<PointMass> atoms() const override {
    std::vector<PointMass> places;
    for (const PointMass& atom : base_->atoms()) {
      const double u = sampled_loss(q_, atom.loss);
      const double error_bound = moved(u, atom.loss, atom.loss_error) + 8 * unit * std::abs(u);
      if (removed_) {
        places.push_back({u, error_bound, atom.mass, atom.error_bound, atom.log});
      } else {
        places.push_back({-u, error_bound, atom.mass, atom.error_bound + error_bound + 8 * unit * (1 + std::abs(u)), atom.log + u});
      }
    }
    return places;
  }
  bool only_atoms() const override { return base_->only_atoms(); }
  double truncated_mass() const override { return base_->truncated_mass(); }
  double min_loss() const override { return removed_ ? lowest() : -highest(); }
  double max_loss() const override { return removed_ ? highest() : -lowest(); }
  std::optional<double> bulk() const override {
    return removed_ && std::isinf(base_->min_loss()) && base_->atoms().empty() ? std::optional(lowest()) : std::nullopt;
  }
  // r - (1 - q) = q e^ℓ
  Mass bulk_excess(const Edge& from, const Edge& to) const override {
    const Mass p = base_->mass_p(from, to);
    return {p.value * q_.value / (1 - q_.value), p.error_bound + 2 * q_.relative / (1 - q_.value) + 8 * unit, p.log};
  }

 private:
  // How far u moves at most: by 1 and q e^ℓ/r of what ℓ does, and by (r - 1)/r of q's relative error.
  [[nodiscard]] double moved(double u, double base, double base_error_bound) const {
    const double share = std::isinf(base) ? 0 : std::min(1.0, 1.01 * q_.value * std::exp(base - u));
    return share * base_error_bound + std::abs(std::expm1(-u)) * (q_.relative + 32 * unit);
  }
  // Under the mixture, between two losses of the base.
  [[nodiscard]] Mass mixed(const Edge& from, const Edge& to) const {
    const Mass q = base_->mass_q(from, to);
    const Mass p = base_->mass_p(from, to);
    const double log = std::max(p.log, q.log);
    return {(1 - q_.value) * q.at(-log) + q_.value * p.at(-log),
            std::max(p.error_bound, q.error_bound) + 2 * q_.relative + 8 * unit * (2 + std::abs(p.log) + std::abs(q.log)), log};
  }
  [[nodiscard]] double lowest() const { return std::isinf(base_->min_loss()) ? std::log1p(-q_.value) : sampled_loss(q_, base_->min_loss()); }
  [[nodiscard]] double highest() const { return std::isinf(base_->max_loss()) ? infinity : sampled_loss(q_, base_->max_loss()); }

  DistributionPtr base_;
  RoundedDouble q_;
  bool removed_;
};

// Above 0 as with a record removed, below 0 its mirror, and what is left at 0. An edge's place has no sign; its rate has.
class WithoutReplacementDistribution : public LossDistribution {
 public:
  WithoutReplacementDistribution(const DistributionPtr& base, const RoundedDouble& rate) : half_(base, rate, Direction::remove) {
    double sum = 0;
    double error = 0;
    const auto take = [&](double mass, double error_bound) {
      sum += mass;
      error += mass * (error_bound + 8 * unit);
    };
    const Edge zero = half_.edge(0);
    const Edge end = half_.edge(half_.max_loss());
    for (const Mass& all : {half_.mass_p(zero, end), half_.mass_q(zero, end)}) take(all.at(0), all.error_bound);
    for (const PointMass& atom : half_.atoms()) {
      if (!(atom.loss > 0)) continue;
      const double error_bound = atom.error_bound + atom.loss_error + 8 * unit * (1 + atom.loss);
      atoms_.push_back(atom);
      atoms_.push_back({-atom.loss, atom.loss_error, atom.mass, error_bound, atom.log + atom.loss});
      take(atom.mass * (std::exp(atom.log) + std::exp(atom.log + atom.loss)), error_bound);
    }
    const double rest = std::max(1 - sum, 1e-300);
    has_bulk_ = atoms_.empty();
    atoms_.push_back({0, 0, rest, error / rest + 8 * unit, 0});
  }
  Edge edge(double loss) const override {
    Edge edge = half_.edge(std::abs(loss));
    if (loss < 0) edge.rate = -edge.rate;
    return edge;
  }
  double loss_error(double loss) const override { return half_.loss_error(std::abs(loss)); }
  Mass mass_q(const Edge& from, const Edge& to) const override { return from.rate < 0 ? half_.mass_p(to, from) : half_.mass_q(from, to); }
  Mass mass_p(const Edge& from, const Edge& to) const override { return from.rate < 0 ? half_.mass_q(to, from) : half_.mass_p(from, to); }
  Slopes slopes(const Edge& from, const Edge& to) const override {
    if (from.rate > 0) return half_.slopes(from, to);
    // the mirror: under Q it has the density that P has at -u
    Edge low = to;
    Edge high = from;
    low.rate = std::abs(low.rate);
    high.rate = std::abs(high.rate);
    const Slopes turned = half_.slopes(low, high);
    return {-turned.most - 1, -turned.least - 1};
  }
  std::vector<PointMass> atoms() const override { return atoms_; }
  double min_loss() const override { return -half_.max_loss(); }
  double max_loss() const override { return half_.max_loss(); }
  std::optional<double> bulk() const override { return has_bulk_ ? std::optional(0.0) : std::nullopt; }
  // r - 1 = q (e^ℓ - 1), and its mirror
  Mass bulk_excess(const Edge& from, const Edge& to) const override {
    const bool below = from.rate < 0;
    const Mass p = below ? half_.mass_p(to, from) : half_.mass_p(from, to);
    const Mass q = below ? half_.mass_q(to, from) : half_.mass_q(from, to);
    const double rise = p.at(0) - q.at(0);
    return {std::max(0.0, rise), (p.at(0) * (p.error_bound + 8 * unit) + q.at(0) * (q.error_bound + 8 * unit)) / std::max(rise, 1e-300)};
  }

 private:
  PoissonDistribution half_;
  std::vector<PointMass> atoms_;
  bool has_bulk_ = false;
};

// Nothing but atoms.
class AtomsDistribution : public LossDistribution {
 public:
  AtomsDistribution(std::vector<PointMass> places, double beyond) : places_(std::move(places)), beyond_(beyond) {
    double sum = 0;
    double error = beyond;
    for (const PointMass& atom : places_) {
      if (!std::isfinite(atom.loss)) throw_unrepresentable("an atom of a privacy loss distribution has an infinite loss");
      most_ = std::max(most_, std::abs(atom.loss));
      const double mass = atom.mass * std::exp(atom.log);
      sum += mass;
      error += 2 * mass * (atom.error_bound + unit * (16 + 4 * std::abs(atom.log) + static_cast<double>(places_.size())));
    }
    require_masses(sum, error, MassSum::whole);
  }
  Edge edge(double loss) const override { return {loss, loss, 1}; }
  double loss_error(double /*loss*/) const override { return 0; }
  Mass mass_q(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  Mass mass_p(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  Slopes slopes(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  std::vector<PointMass> atoms() const override { return places_; }
  bool only_atoms() const override { return true; }
  double min_loss() const override { return -most_; }
  double max_loss() const override { return most_; }
  double truncated_mass() const override { return beyond_; }

 private:
  std::vector<PointMass> places_;
  double beyond_;
  double most_ = 0;
};

}  // namespace

DistributionPtr atoms_distribution(std::vector<LossDistribution::PointMass> atoms, double truncated) {
  return std::make_shared<AtomsDistribution>(std::move(atoms), truncated);
}
DistributionPtr gaussian_distribution(const RoundedDouble& mu) { return std::make_shared<GaussianDistribution>(mu); }
DistributionPtr laplace_distribution(const RoundedDouble& x) { return std::make_shared<LaplaceDistribution>(x); }
DistributionPtr exponential_distribution(const RoundedDouble& x) {  // of mass 1: 4 sinh(x/2) is 2 e^(x/2) (1 - e^-x)
  return std::make_shared<ExponentialDensityDistribution>(x, -x.value / 2 - std::log(-2 * std::expm1(-x.value)));
}
DistributionPtr arsinh_distribution(const RoundedDouble& kappa, const RoundedDouble& shift) {
  return std::make_shared<ArsinhDistribution>(kappa, shift);
}
DistributionPtr poisson_distribution(const DistributionPtr& base, const RoundedDouble& rate, Direction direction) {
  return std::make_shared<PoissonDistribution>(base, rate, direction);
}
DistributionPtr without_replacement_distribution(const DistributionPtr& base, const RoundedDouble& rate) {
  return std::make_shared<WithoutReplacementDistribution>(base, rate);
}

}  // namespace sotto::pld_detail
