// The privacy loss distributions of the mechanisms, sampled or not. Masses lie between
// rounded values of the noise: docs/theory/pld/discretisation.md, "Masses" and "Means from slopes".
#include "pld/grid/distribution.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {
namespace {

using Mass = LossDistribution::Mass;

// Returns P(Z > z) for Z standard normal and z >= 0, to 24 + 8z² units. The error bound is not set.
Mass normal_tail(double z) {
  if (z < 20) return {std::erfc(z / std::sqrt(2.0)) / 2, 0, 0};
  if (std::isinf(z)) return {0, 0, 0};
  // φ(z)/z (1 - 1/z² + 3/z⁴ - …) alternates, and the eleventh term is below 1e-17
  double series = 0;
  double term = 1;
  for (int n = 1; n <= 10; ++n) {
    series += term;
    term *= -(2 * n - 1) / (z * z);
  }
  return {series / (z * root_two_pi), 0, -z * z / 2};
}

// Returns the standard normal mass between two doubles: for a narrow interval by Taylor's series
// about its middle, in which nothing cancels, and as a difference of tails otherwise.
Mass normal_between(double from, double to) {
  const double width = to - from;
  const double middle = from + width / 2;
  const double square = middle * middle;
  const double small = width * std::max(1.0, std::abs(middle));
  if (small < 0.04) {
    // ∫ φ(m + t) over |t| <= w/2 is φ(m) w (1 + He₂(m) w²/24 + He₄(m) w⁴/1920 + …), with Hermite
    // polynomials He; the remainder is below (w max(1, |m|))⁶/15000
    const double w = width * width;
    const double series =
        1 + (square - 1) * w / 24 + (square * square - 6 * square + 3) * w * w / 1920;
    return {width * series / root_two_pi,
            small * small * small * small * small * small / 15000 + unit * (16 + 4 * square),
            -square / 2};
  }
  if (from < 0 && to > 0) {
    const double outside = normal_tail(-from).as_double() + normal_tail(to).as_double();
    return {1 - outside, 32 * unit / std::max(1 - outside, 1e-3), 0};
  }
  const bool left = to <= 0;
  const double z = left ? -to : from;
  const Mass near = normal_tail(z);
  const double far = normal_tail(left ? -from : to).times_exp(-near.log);
  return {near.value - far,
          (near.value + far) * unit * (24 + 8 * z * z) / std::max(near.value - far, 1e-305),
          near.log};
}

// Gaussian noise: L = μz - μ²/2 with the noise value z standard normal under Q, of mean μ under P.
class GaussianDistribution : public LossDistribution {
 public:
  explicit GaussianDistribution(const RoundedDouble& mu) : mu_(mu) {}
  // Beyond 45 standard deviations the mass underflows.
  Edge edge(double loss) const override {
    return {loss, std::clamp(loss / mu_.value + mu_.value / 2, -45.0, 45 + mu_.value), 1};
  }
  double loss_error(double loss) const override {
    return (std::abs(loss) + mu_.value * mu_.value) * (4 * mu_.relative + 16 * unit);
  }
  Mass mass_q(const Edge& from, const Edge& to) const override {
    return normal_between(from.noise_value, to.noise_value);
  }
  // μ is known to a relative error only. Moving it by h changes P's mass between two edges by at
  // most (|z| + 1) h of itself, which is added to the error bound.
  Mass mass_p(const Edge& from, const Edge& to) const override {
    const double m = mu_.value;
    const Mass mass = normal_between(from.noise_value - m, to.noise_value - m);
    const double size = std::abs(from.noise_value) + std::abs(to.noise_value) + m;
    return {mass.value, mass.error_bound + 2 * (size + 2) * (m * mu_.relative + 4 * unit * size),
            mass.log};
  }
  Slopes slopes(const Edge& from, const Edge& to) const override {
    const double square = mu_.value * mu_.value;
    const double error_bound =
        (8 * mu_.relative + 64 * unit) * (1 + (std::abs(from.loss) + std::abs(to.loss)) / square);
    return {-to.loss / square - 0.5 - error_bound, -from.loss / square - 0.5 + error_bound};
  }

 private:
  RoundedDouble mu_;
};

// A distribution with the density e^(log_factor - ℓ/2) under Q between -x and x: the exponential
// mechanism, and the continuous part of Laplace noise. The noise value is the loss itself.
class ExponentialDensityDistribution : public LossDistribution {
 public:
  ExponentialDensityDistribution(const RoundedDouble& x, double log_factor)
      : x_(x), log_factor_(log_factor) {}
  Edge edge(double loss) const override { return {loss, std::clamp(loss, -x_.value, x_.value), 1}; }
  double loss_error(double /*loss*/) const override { return x_.value * (x_.relative + 2 * unit); }
  Mass mass_q(const Edge& from, const Edge& to) const override {
    return integral(from, to, log_factor_ - from.noise_value / 2);
  }
  Mass mass_p(const Edge& from, const Edge& to) const override {
    return integral(from, to, log_factor_ + to.noise_value / 2);
  }
  Slopes slopes(const Edge& /*from*/, const Edge& /*to*/) const override { return {-0.5, -0.5}; }
  double min_loss() const override { return -x_.value; }
  double max_loss() const override { return x_.value; }

 protected:
  [[nodiscard]] const RoundedDouble& x() const { return x_; }

 private:
  // Returns (1 - e^-w) / (1/2) times e^log_density, w half the cell's length.
  [[nodiscard]] Mass integral(const Edge& from, const Edge& to, double log_density) const {
    return {-2 * std::expm1((from.noise_value - to.noise_value) / 2),
            (2 + x_.value) * x_.relative + 32 * unit * (2 + x_.value + std::abs(log_factor_)),
            log_density};
  }

  RoundedDouble x_;
  double log_factor_;
};

// Laplace noise: under Q atoms of mass 1/2 at -x and e^-x/2 at x, and density e^(-(ℓ+x)/2)/4
// between.
class LaplaceDistribution : public ExponentialDensityDistribution {
 public:
  explicit LaplaceDistribution(const RoundedDouble& x)
      : ExponentialDensityDistribution(x, -x.value / 2 - std::log(4.0)) {}
  std::vector<PointMass> atoms() const override {
    const double loss = x().value;
    const double error_bound = loss * x().relative;
    return {{-loss, error_bound, 0.5, 0, 0},
            {loss, error_bound, 0.5, error_bound + 8 * unit * (1 + loss), -loss}};
  }
};

// Arsinh noise u with shift D: L(u) = log cosh u - log cosh(u-D) - κ sinh D sinh(2u-D) decreases in
// u. √(2κ) sinh(u-D) is standard normal under Q, and √(2κ) sinh u under P. The noise value of an
// edge is -u, so that it increases with the loss.
class ArsinhDistribution : public LossDistribution {
 public:
  ArsinhDistribution(const RoundedDouble& kappa, const RoundedDouble& shift)
      : kappa_(kappa),
        shift_(shift),
        swing_(kappa.value * std::sinh(shift.value)),
        root_(std::sqrt(2 * kappa.value)) {}
  // Solves L(u) = loss by Newton's method.
  Edge edge(double loss) const override {
    const double d = shift_.value;
    const double end = std::asinh(50 / root_) + d;  // beyond it the mass underflows
    double u =
        std::clamp(d / 2 - std::asinh(std::clamp(loss / swing_, -1e300, 1e300)) / 2, -end, end);
    for (int turn = 0; turn < 20; ++turn) {
      const double next = std::clamp(u - (loss_at(u) - loss) / derivative(u), -end, end);
      const bool converged = std::abs(next - u) <= 4 * unit * std::abs(u);
      u = next;
      if (converged || std::isnan(u)) break;
    }
    return {loss, -u, 1};
  }
  // The change of L at a fixed u when the parameters move within their errors, and rounding;
  // Newton's iteration ends within it.
  double loss_error(double loss) const override {
    const double u = -edge(loss).noise_value;
    const double size = swing_ * std::cosh(2 * u - shift_.value) + shift_.value;
    return 8 * size * (kappa_.relative + 2 * shift_.relative + 64 * unit) +
           256 * unit * (1 + std::abs(u));
  }
  Mass mass_q(const Edge& from, const Edge& to) const override {
    return mass(from.noise_value + shift_.value, to.noise_value + shift_.value);
  }
  Mass mass_p(const Edge& from, const Edge& to) const override {
    return mass(from.noise_value, to.noise_value);
  }
  // The density of L under Q is f(L) = w(u)/|L'(u)|, w the density of u under Q. The slope of its
  // log is ((log w)' - L''/L')/L'. Every term is bounded over the interval of u.
  Slopes slopes(const Edge& from, const Edge& to) const override {
    const double d = shift_.value;
    const double low = -to.noise_value;
    const double high = -from.noise_value;
    // (log w)', which decreases
    const auto log_density_slope = [&](double u) {
      return std::tanh(u - d) - kappa_.value * std::sinh(2 * (u - d));
    };
    // the part of L' from the two log cosh, which is largest at D/2, and of L''
    const auto cosh_part = [&](double u) { return std::tanh(u) - std::tanh(u - d); };
    const auto cosh_part_slope = [&](double u) {
      return 1 / std::pow(std::cosh(u), 2) - 1 / std::pow(std::cosh(u - d), 2);
    };
    const bool inside = low < d / 2 && high > d / 2;
    // L' and L'' over the interval
    const Bound first{
        std::min(cosh_part(low), cosh_part(high)) -
            2 * swing_ * std::max(std::cosh(2 * low - d), std::cosh(2 * high - d)),
        (inside ? cosh_part(d / 2) : std::max(cosh_part(low), cosh_part(high))) -
            2 * swing_ * (inside ? 1 : std::min(std::cosh(2 * low - d), std::cosh(2 * high - d)))};
    const double bulge = 1.6 * (high - low);  // how much more it may be between the ends
    const Bound second{std::min(cosh_part_slope(low), cosh_part_slope(high)) - bulge -
                           4 * swing_ * std::sinh(2 * high - d),
                       std::max(cosh_part_slope(low), cosh_part_slope(high)) + bulge -
                           4 * swing_ * std::sinh(2 * low - d)};
    if (!(first.upper < 0)) return {-infinity, infinity};
    const Bound ratio = over(second, first);
    const Bound slope =
        over({log_density_slope(high) - ratio.upper, log_density_slope(low) - ratio.lower}, first);
    const double error_bound =
        1e-9 * (1 + std::abs(slope.lower) +
                std::abs(slope.upper));  // covers the parameters' errors, and rounding
    return {slope.lower - error_bound, slope.upper + error_bound};
  }

 private:
  // The quotient of two intervals; b does not contain 0.
  static Bound over(const Bound& a, const Bound& b) {
    const auto [low, high] =
        std::minmax({a.lower / b.lower, a.lower / b.upper, a.upper / b.lower, a.upper / b.upper});
    return {low, high};
  }
  [[nodiscard]] double loss_at(double u) const {
    const double d = shift_.value;
    // cosh u / cosh(u-D) = cosh D + sinh D tanh(u-D)
    return std::log1p(2 * std::pow(std::sinh(d / 2), 2) + std::sinh(d) * std::tanh(u - d)) -
           swing_ * std::sinh(2 * u - d);
  }
  // L'(u), which is negative.
  [[nodiscard]] double derivative(double u) const {
    const double d = shift_.value;
    return std::tanh(u) - std::tanh(u - d) - 2 * swing_ * std::cosh(2 * u - d);
  }
  [[nodiscard]] Mass mass(double from, double to) const {
    const double low = root_ * std::sinh(from);
    const double high = root_ * std::sinh(to);
    const Mass mass = normal_between(low, high);
    return {mass.value,
            mass.error_bound +
                (2 + low * low + high * high) * (kappa_.relative + 4 * shift_.relative + 16 * unit),
            mass.log};
  }

  RoundedDouble kappa_, shift_;
  double swing_;  // κ sinh D
  double root_;   // √(2κ)
};

// Returns u = log r = log(1 - q + q e^ℓ), the sampled loss of the base's loss ℓ.
double sampled_loss(const RoundedDouble& q, double loss) {
  return loss > 40
             ? loss + std::log(q.value) + std::log1p((1 - q.value) / q.value * std::exp(-loss))
             : std::log1p(q.value * std::expm1(loss));
}

// Poisson sampling at rate q. With r = 1 - q + q e^ℓ, the loss is u = log r with a record removed,
// under the mixture, and -u with a record added, under Q. An edge's loss is the base's ℓ, and its
// base_slope dℓ/du.
class PoissonDistribution : public LossDistribution {
 public:
  PoissonDistribution(DistributionPtr base, const RoundedDouble& rate, Direction direction)
      : base_(std::move(base)), q_(rate), removed_(direction == Direction::remove) {}
  Edge edge(double loss) const override {
    const double u = removed_ ? loss : -loss;
    const double back = std::exp(-u);
    if (u > 40) {
      const Edge base = base_->edge(u - std::log(q_.value) + std::log1p(-(1 - q_.value) * back));
      return {base.loss, base.noise_value, 1 / (1 - (1 - q_.value) * back)};
    }
    const double rise = std::expm1(u);
    const bool reached = rise > -q_.value;
    const Edge base = base_->edge(reached ? std::log1p(rise / q_.value) : -infinity);
    return {base.loss, base.noise_value, reached ? (rise + 1) / (rise + q_.value) : infinity};
  }
  double loss_error(double loss) const override {
    const double u = removed_ ? loss : -loss;
    const double base = edge(loss).loss;
    return std::isinf(base) ? loss_error_of(u, base, 0)
                            : loss_error_of(u, base,
                                            base_->loss_error(base) +
                                                8 * unit * std::abs(base));  // ℓ itself is rounded
  }
  Mass mass_q(const Edge& from, const Edge& to) const override {
    return removed_ ? base_->mass_q(from, to) : mixed(to, from);
  }
  Mass mass_p(const Edge& from, const Edge& to) const override {
    return removed_ ? mixed(from, to) : base_->mass_q(to, from);
  }
  // The density of u is the base's at ℓ(u), times ℓ' = e^u/(e^u - 1 + q), which decreases in u.
  // With g the base's density its log slope is (log g)' ℓ' + 1 - ℓ', as (log ℓ')' = 1 - ℓ'.
  Slopes slopes(const Edge& from, const Edge& to) const override {
    const Edge& low = removed_ ? from : to;
    const Edge& high = removed_ ? to : from;
    if (std::isinf(low.loss) || !(low.base_slope < 1e12)) return {-infinity, infinity};
    const Slopes base = base_->slopes(low, high);
    const double down =
        std::min(base.min * low.base_slope, base.min * high.base_slope) + 1 - low.base_slope;
    const double up =
        std::max(base.max * low.base_slope, base.max * high.base_slope) + 1 - high.base_slope;
    const double error_bound =
        1e-9 * (std::abs(down) + std::abs(up) +
                low.base_slope);  // covers the parameters' errors, and rounding
    // With a record added L = -u, and Q is the mixture, whose density is e^u times the base's.
    return removed_ ? Slopes{down - error_bound, up + error_bound}
                    : Slopes{-up - error_bound - 1, -down + error_bound - 1};
  }
  std::vector<PointMass> atoms() const override {
    std::vector<PointMass> atoms;
    for (const PointMass& atom : base_->atoms()) {
      const double u = sampled_loss(q_, atom.loss);
      const double error_bound =
          loss_error_of(u, atom.loss, atom.loss_error) + 8 * unit * std::abs(u);
      if (removed_) {
        atoms.push_back({u, error_bound, atom.mass, atom.error_bound, atom.log});
      } else {
        atoms.push_back({-u, error_bound, atom.mass,
                         atom.error_bound + error_bound + 8 * unit * (1 + std::abs(u)),
                         atom.log + u});
      }
    }
    return atoms;
  }
  bool only_atoms() const override { return base_->only_atoms(); }
  double truncated_mass() const override { return base_->truncated_mass(); }
  double min_loss() const override { return removed_ ? lowest() : -highest(); }
  double max_loss() const override { return removed_ ? highest() : -lowest(); }
  std::optional<double> bulk() const override {
    return removed_ && std::isinf(base_->min_loss()) && base_->atoms().empty()
               ? std::optional(lowest())
               : std::nullopt;
  }
  // The bulk is at log(1-q): e^(L - bulk) - 1 = q e^ℓ/(1-q), so its mean is q/(1-q) times the
  // P-mass.
  Mass bulk_excess(const Edge& from, const Edge& to) const override {
    const Mass p = base_->mass_p(from, to);
    return {p.value * q_.value / (1 - q_.value),
            p.error_bound + 2 * q_.relative / (1 - q_.value) + 8 * unit, p.log};
  }

 private:
  // Returns a bound on the error of u: du/dℓ = q e^ℓ/r <= 1 times the error of ℓ, and (r - 1)/r
  // times the relative error of q.
  [[nodiscard]] double loss_error_of(double u, double base, double base_error_bound) const {
    const double share = std::isinf(base) ? 0 : std::min(1.0, 1.01 * q_.value * std::exp(base - u));
    return share * base_error_bound + std::abs(std::expm1(-u)) * (q_.relative + 32 * unit);
  }
  // Returns the mass of (1-q) Q + q P between two losses of the base.
  [[nodiscard]] Mass mixed(const Edge& from, const Edge& to) const {
    const Mass q = base_->mass_q(from, to);
    const Mass p = base_->mass_p(from, to);
    const double log = std::max(p.log, q.log);
    return {(1 - q_.value) * q.times_exp(-log) + q_.value * p.times_exp(-log),
            std::max(p.error_bound, q.error_bound) + 2 * q_.relative +
                8 * unit * (2 + std::abs(p.log) + std::abs(q.log)),
            log};
  }
  [[nodiscard]] double lowest() const {
    return std::isinf(base_->min_loss()) ? std::log1p(-q_.value)
                                         : sampled_loss(q_, base_->min_loss());
  }
  [[nodiscard]] double highest() const {
    return std::isinf(base_->max_loss()) ? infinity : sampled_loss(q_, base_->max_loss());
  }

  DistributionPtr base_;
  RoundedDouble q_;
  bool removed_;
};

// Sampling without replacement: above 0 the distribution of Poisson sampling with a record removed,
// below 0 its mirror image, and the remaining mass at 0. An edge has the noise value of |loss|, and
// the sign of its base_slope says on which side of 0 it is.
class WithoutReplacementDistribution : public LossDistribution {
 public:
  WithoutReplacementDistribution(const DistributionPtr& base, const RoundedDouble& rate)
      : upper_half_(base, rate, Direction::remove) {
    double sum = 0;
    double error = 0;
    const auto count = [&](double mass, double error_bound) {
      sum += mass;
      error += mass * (error_bound + 8 * unit);
    };
    const Edge zero = upper_half_.edge(0);
    const Edge end = upper_half_.edge(upper_half_.max_loss());
    for (const Mass& all : {upper_half_.mass_p(zero, end), upper_half_.mass_q(zero, end)})
      count(all.as_double(), all.error_bound);
    for (const PointMass& atom : upper_half_.atoms()) {
      if (!(atom.loss > 0)) continue;
      const double error_bound = atom.error_bound + atom.loss_error + 8 * unit * (1 + atom.loss);
      atoms_.push_back(atom);
      atoms_.push_back({-atom.loss, atom.loss_error, atom.mass, error_bound, atom.log + atom.loss});
      count(atom.mass * (std::exp(atom.log) + std::exp(atom.log + atom.loss)), error_bound);
    }
    const double rest = std::max(1 - sum, 1e-300);
    has_bulk_ = atoms_.empty();
    atoms_.push_back({0, 0, rest, error / rest + 8 * unit, 0});
  }
  Edge edge(double loss) const override {
    Edge edge = upper_half_.edge(std::abs(loss));
    if (loss < 0) edge.base_slope = -edge.base_slope;
    return edge;
  }
  double loss_error(double loss) const override { return upper_half_.loss_error(std::abs(loss)); }
  Mass mass_q(const Edge& from, const Edge& to) const override {
    return from.base_slope < 0 ? upper_half_.mass_p(to, from) : upper_half_.mass_q(from, to);
  }
  Mass mass_p(const Edge& from, const Edge& to) const override {
    return from.base_slope < 0 ? upper_half_.mass_q(to, from) : upper_half_.mass_p(from, to);
  }
  Slopes slopes(const Edge& from, const Edge& to) const override {
    if (from.base_slope > 0) return upper_half_.slopes(from, to);
    // the mirror image: under Q it has the density that P has at -u, e^u times that of Q
    Edge low = to;
    Edge high = from;
    low.base_slope = std::abs(low.base_slope);
    high.base_slope = std::abs(high.base_slope);
    const Slopes mirrored = upper_half_.slopes(low, high);
    return {-mirrored.max - 1, -mirrored.min - 1};
  }
  std::vector<PointMass> atoms() const override { return atoms_; }
  double min_loss() const override { return -upper_half_.max_loss(); }
  double max_loss() const override { return upper_half_.max_loss(); }
  std::optional<double> bulk() const override {
    return has_bulk_ ? std::optional(0.0) : std::nullopt;
  }
  // The bulk is at 0: E_Q[e^L - 1] is the difference of the P-mass and the Q-mass.
  Mass bulk_excess(const Edge& from, const Edge& to) const override {
    const bool below = from.base_slope < 0;
    const Mass p = below ? upper_half_.mass_p(to, from) : upper_half_.mass_p(from, to);
    const Mass q = below ? upper_half_.mass_q(to, from) : upper_half_.mass_q(from, to);
    const double rise = p.as_double() - q.as_double();
    return {std::max(0.0, rise), (p.as_double() * (p.error_bound + 8 * unit) +
                                  q.as_double() * (q.error_bound + 8 * unit)) /
                                     std::max(rise, 1e-300)};
  }

 private:
  PoissonDistribution upper_half_;
  std::vector<PointMass> atoms_;
  bool has_bulk_ = false;
};

// Finitely many atoms, which are the whole distribution.
class AtomsDistribution : public LossDistribution {
 public:
  AtomsDistribution(std::vector<PointMass> atoms, double truncated)
      : atoms_(std::move(atoms)), truncated_(truncated) {
    double sum = 0;
    double error = truncated;
    for (const PointMass& atom : atoms_) {
      if (!std::isfinite(atom.loss))
        throw_unrepresentable("an atom of a privacy loss distribution has an infinite loss");
      max_loss_ = std::max(max_loss_, std::abs(atom.loss));
      const double mass = atom.mass * std::exp(atom.log);
      sum += mass;
      error += 2 * mass *
               (atom.error_bound +
                unit * (16 + 4 * std::abs(atom.log) + static_cast<double>(atoms_.size())));
    }
    require_masses(sum, error, MassSum::whole);
  }
  Edge edge(double loss) const override { return {loss, loss, 1}; }
  double loss_error(double /*loss*/) const override { return 0; }
  Mass mass_q(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  Mass mass_p(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  Slopes slopes(const Edge& /*from*/, const Edge& /*to*/) const override { return {0, 0}; }
  std::vector<PointMass> atoms() const override { return atoms_; }
  bool only_atoms() const override { return true; }
  double min_loss() const override { return -max_loss_; }
  double max_loss() const override { return max_loss_; }
  double truncated_mass() const override { return truncated_; }

 private:
  std::vector<PointMass> atoms_;
  double truncated_;
  double max_loss_ = 0;
};

}  // namespace

DistributionPtr atoms_distribution(std::vector<LossDistribution::PointMass> atoms,
                                   double truncated) {
  return std::make_shared<AtomsDistribution>(std::move(atoms), truncated);
}
DistributionPtr gaussian_distribution(const RoundedDouble& mu) {
  return std::make_shared<GaussianDistribution>(mu);
}
DistributionPtr laplace_distribution(const RoundedDouble& x) {
  return std::make_shared<LaplaceDistribution>(x);
}
DistributionPtr exponential_distribution(const RoundedDouble& x) {
  // ∫ e^(-ℓ/2) over (-x, x) is 4 sinh(x/2) = 2 e^(x/2) (1 - e^-x)
  return std::make_shared<ExponentialDensityDistribution>(
      x, -x.value / 2 - std::log(-2 * std::expm1(-x.value)));
}
DistributionPtr arsinh_distribution(const RoundedDouble& kappa, const RoundedDouble& shift) {
  return std::make_shared<ArsinhDistribution>(kappa, shift);
}
DistributionPtr poisson_distribution(const DistributionPtr& base, const RoundedDouble& rate,
                                     Direction direction) {
  return std::make_shared<PoissonDistribution>(base, rate, direction);
}
DistributionPtr without_replacement_distribution(const DistributionPtr& base,
                                                 const RoundedDouble& rate) {
  return std::make_shared<WithoutReplacementDistribution>(base, rate);
}

}  // namespace sotto::pld_detail
