// The privacy losses of Poisson-sampled Laplace noise, and of a Poisson-sampled mechanism with
// finitely many losses: M(s) = E_Q[r^β] with r = 1 - q + q e^ℓ
// (docs/theory/pld/moment-generating-functions.md).
#include <cmath>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gauss_legendre.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/subsampling/poisson_sum.hpp"

namespace sotto {
namespace {

using pld_detail::imaginary_of;
using pld_detail::infinity;
using pld_detail::log_ratio;
using pld_detail::log_sum;
using pld_detail::pi;
using pld_detail::PoissonSum;
using pld_detail::power_of;
using pld_detail::RoundedDouble;
using pld_detail::unit;

// --- Laplace base ---
// Under Q the loss ℓ is -x with mass 1/2, x with mass e^-x/2, and has the density e^(-(ℓ+x)/2)/4
// between. The density is integrated by Gauss-Legendre quadrature on equal panels.

class PoissonLaplaceLogMgf : public LogMgf {
 public:
  PoissonLaplaceLogMgf(RoundedDouble x, RoundedDouble rate, Direction direction, double c)
      : x_(x),
        q_(rate),
        direction_(direction),
        power_(power_of(direction, c)),
        sum_(power_, false) {
    scaled_ = direction == Direction::remove && power_ * log_ratio(q_, x.value, 0).u > 20;
    prepare(0, 1e-13);
  }
  void prepare(double top, double tolerance) override {
    const double x = x_.value;
    const double size = std::hypot(power_, top) + 1;
    const double target = std::log(tolerance);
    // the fewest panels for which the quadrature error is below the tolerance
    for (int panels = 1;; panels *= 2) {
      const double half = x / panels;
      double error = -infinity;
      for (int p = 0; p < panels; ++p)
        error = log_sum(error, panel_error(-x + (2 * p + 1) * half, half, top, size));
      if (error > target + scale_guess()) {
        if (panels < 1024) continue;
        sum_error_ = infinity;
        return;
      }
      sum_ = PoissonSum(power_, scaled_);
      const double error_bound = x * (x_.relative + 4 * unit);
      sum_.add(log_ratio(q_, -x, error_bound), -std::log(2.0), 8 * unit);
      sum_.add(log_ratio(q_, x, error_bound), -x - std::log(2.0), (8 + x) * unit + error_bound);
      const GaussLegendre& rule = gauss_legendre();
      for (int p = 0; p < panels; ++p) {
        for (std::size_t i = 0; i < gauss_points; ++i) {
          const double loss = -x + half * (2 * p + 1 + rule.node[i]);
          sum_.add(log_ratio(q_, loss, error_bound),
                   std::log(half * rule.weight[i] / 4) - (loss + x) / 2,
                   (32 + 4 * x) * unit + x_.relative + 2 * error_bound);
        }
      }
      sum_.finish();
      sum_error_ = std::exp(error - sum_.scale());
      return;
    }
  }
  LogMgfValue at(double t) const override {
    return sum_.at(imaginary_of(direction_, t), sum_error_);
  }
  double work() const override { return static_cast<double>(sum_.size()); }
  // The atoms do not decay. By one integration by parts, the integral over the density is at most
  // (G(-x) + G(x) + variation of G)/τ with G = density r^(power+1) e^-ℓ/q. log G is convex in ℓ for
  // power >= -1, and G decreases for a smaller power, so that is at most 2(G(-x) + G(x))/τ.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (t <= 0) return all;
    const double x = x_.value;
    const double low = log_ratio(q_, -x, 0).u;
    const double high = log_ratio(q_, x, 0).u;
    const double atoms = log_sum(-std::log(2.0) + power_ * low, -x - std::log(2.0) + power_ * high);
    const double left = -std::log(4.0) + (power_ + 1) * low + x - std::log(q_.value);
    const double right = -std::log(4.0) - x + (power_ + 1) * high - x - std::log(q_.value);
    const double ends = std::log(2.0) + log_sum(left, right) - std::log(t);
    const double sum = log_sum(atoms, ends);
    return std::min(
        all, sum + 256 * unit *
                       (4 + std::abs(sum) + x * (1 + std::abs(power_)) * (1 + x_.relative / unit)));
  }

 private:
  // Returns a lower estimate of the sum's scale.
  [[nodiscard]] double scale_guess() const {
    return scaled_ ? -x_.value - 1 + power_ * log_ratio(q_, x_.value, 0).u : 0;
  }
  // Returns the log of a bound on the quadrature error of one panel: the integrand is bounded on
  // the box around a Bernstein ellipse, every factor at its largest. The smallest bound of several
  // ellipses is returned.
  [[nodiscard]] double panel_error(double centre, double half, double top, double size) const {
    spend(500);
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0}) {
      const Ellipse region = ellipse(half, rho);
      if (region.height > 1.5) break;
      const double loss = centre + region.reach;
      const double e = q_.value * std::exp(std::min(600.0, loss));
      const double beyond = std::max(0.0, loss - 600);
      const double arg = std::min(region.height, e * std::sin(region.height) /
                                                     (1 - q_.value + e * std::cos(region.height)));
      const double log_size = (power_ > 0 ? power_ * (std::log(1 - q_.value + e) + beyond)
                                          : power_ * std::log1p(-q_.value)) +
                              top * arg;
      const double whole =
          log_sum(std::max(log_size, 0.0), std::log(1 + size * (q_.value + e)) + beyond);
      const double density = -std::log(4.0) - (centre - region.reach + x_.value) / 2;
      best = std::min(best, log_gauss_error(half, rho, whole + density));
    }
    return best;
  }
  RoundedDouble x_;
  RoundedDouble q_;
  Direction direction_;
  double power_;
  bool scaled_ = false;
  PoissonSum sum_;
  double sum_error_ = 0;
};

class PoissonLaplaceLoss : public PrivacyLoss {
 public:
  PoissonLaplaceLoss(const Real& x, const Real& rate, Direction direction)
      : x_(x), rate_(rate), direction_(direction), exact_x_(x), exact_rate_(rate) {
    const Real max_loss =
        direction == Direction::remove ? log1p(rate * expm1(x)) : -log1p(rate * expm1(-x));
    const Real mass =
        direction == Direction::remove ? (exp(-x) + rate * -expm1(-x)) / 2 : Real(0.5);
    max_loss_ = max_loss.upper();
    max_loss_atom_ = {max_loss.lower(), log(mass).lower()};
    // points that cumulant() needs at every c, closer together at the ends, where most mass is
    const double end = x_.value;
    const auto add = [&](double loss, double mass_under_q) {
      points_.push_back({log_ratio(rate_, loss, 0).u, std::log(mass_under_q)});
    };
    add(-end, 0.5);
    add(end, 0.5 * std::exp(-end));
    constexpr double edges[] = {0, 1.0 / 64, 1.0 / 16, 1.0 / 4, 3.0 / 4, 15.0 / 16, 63.0 / 64, 1};
    const GaussLegendre& rule = gauss_legendre();
    for (std::size_t p = 1; p < std::size(edges); ++p) {
      const double half = end * (edges[p] - edges[p - 1]);
      for (std::size_t i = 0; i < gauss_points; ++i) {
        const double loss = -end + 2 * end * edges[p - 1] + half * (1 + rule.node[i]);
        add(loss, half * rule.weight[i] / 4 * std::exp(-(loss + end) / 2));
      }
    }
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<PoissonLaplaceLogMgf>(x_, rate_, direction_, c);
  }
  double cumulant(double c) const override {
    spend(20 * static_cast<double>(points_.size()));
    const double power = power_of(direction_, c);
    double scale = -infinity;
    for (const RoughPoint& point : points_)
      scale = std::max(scale, point.log_mass + power * point.u);
    double sum = 0;
    for (const RoughPoint& point : points_) {
      const double tilt = power * point.u;
      sum += scale > 3
                 ? std::exp(point.log_mass + tilt - scale)
                 : std::exp(point.log_mass) * (exp_excess(tilt) - power * exp_excess(point.u));
    }
    return scale > 3 ? scale + std::log(sum) : std::log1p(sum);
  }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return max_loss_atom_; }
  double standard_deviation() const override { return max_loss_; }
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::poisson_distribution(pld_detail::laplace_distribution(x_), rate_,
                                            direction_);
  }
  PrivacyLossPtr reversed() const override {
    return poisson_laplace_loss(exact_x_, exact_rate_, pld_detail::opposite(direction_));
  }
  std::optional<SampledFamily> sampled_family() const override {
    return SampledFamily{exact_x_, exact_rate_,
                         [direction = direction_](const Real& x, const Real& rate) {
                           return poisson_laplace_loss(x, rate, direction);
                         }};
  }

 private:
  struct RoughPoint {
    double u;
    double log_mass;
  };
  RoundedDouble x_;
  RoundedDouble rate_;
  Direction direction_;
  std::vector<RoughPoint> points_;
  Real exact_x_;
  Real exact_rate_;
  double max_loss_;
  MaxLossAtom max_loss_atom_{};
};

// --- A base of finitely many atoms ---

struct RoundedAtom {
  RoundedDouble loss;
  RoundedDouble mass;
};

class PoissonAtomsLogMgf : public LogMgf {
 public:
  PoissonAtomsLogMgf(const std::vector<RoundedAtom>& atoms, RoundedDouble rate, Direction direction,
                     double c, double spacing)
      : direction_(direction),
        spacing_(spacing),
        count_(atoms.size()),
        sum_(power_of(direction, c), false) {
    double largest = 0;
    for (const RoundedAtom& atom : atoms)
      largest = std::max(largest, power_of(direction, c) * log_ratio(rate, atom.loss.value, 0).u);
    sum_ = PoissonSum(power_of(direction, c), largest > 20);
    for (const RoundedAtom& atom : atoms) {
      const double loss = atom.loss.value;
      sum_.add(log_ratio(rate, loss, std::abs(loss) * atom.loss.relative),
               std::log(atom.mass.value), atom.mass.relative);
    }
    sum_.finish();
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override { return sum_.at(imaginary_of(direction_, t), 0); }
  double work() const override { return static_cast<double>(count_); }
  double decay_bound(double t, Extent reach) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    // with two atoms, |M|² is linear in the cosine of t times their distance, and decreases over
    // half a period
    if (reach == Extent::half_period && count_ == 2)
      return std::min(all, pld_detail::upper_log_mgf(at(std::min(t, pi / spacing_))));
    return all;
  }

 private:
  Direction direction_;
  double spacing_;
  std::size_t count_;
  PoissonSum sum_;
};

class PoissonAtomsLoss : public PrivacyLoss {
 public:
  PoissonAtomsLoss(const std::vector<Atom>& base, const Real& rate, Direction direction)
      : rate_(rate), direction_(direction), exact_base_(base), exact_rate_(rate) {
    double min_loss = infinity;
    double error_bound = 0;
    double sum = 0;
    double mass_error = 4 * unit * static_cast<double>(base.size() + 1);
    for (const Atom& atom : base) {
      atoms_.push_back({RoundedDouble(atom.loss), RoundedDouble(atom.mass)});
      sum += atoms_.back().mass.value;
      mass_error += 2 * atoms_.back().mass.value * atoms_.back().mass.relative;
      const Real u = log1p(rate * expm1(atom.loss));
      const Real loss = direction == Direction::remove ? u : -u;
      if (loss.upper() > max_loss_) {
        max_loss_ = loss.upper();
        max_loss_atom_ = {
            loss.lower(),
            log(direction == Direction::remove ? atom.mass * exp(u) : atom.mass).lower()};
      }
      min_loss = std::min(min_loss, (direction == Direction::remove ? u : -u).estimate());
      error_bound = std::max(error_bound, u.upper() - u.lower());
    }
    pld_detail::require_masses(sum, mass_error, pld_detail::MassSum::whole);
    if (!std::isfinite(max_loss_))
      pld_detail::throw_unrepresentable("the largest loss of a Poisson-sampled step is not finite");
    if (base.size() == 2)
      lattice_ = Lattice{max_loss_, max_loss_ - min_loss, 8 * unit, 2 * error_bound};
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<PoissonAtomsLogMgf>(atoms_, rate_, direction_, c,
                                                lattice_ ? lattice_->spacing : 1);
  }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return max_loss_atom_; }
  std::optional<Lattice> lattice() const override { return lattice_; }
  double standard_deviation() const override { return max_loss_; }
  PrivacyLossPtr reversed() const override {
    return poisson_atoms_loss(exact_base_, exact_rate_, pld_detail::opposite(direction_));
  }

 private:
  std::vector<RoundedAtom> atoms_;
  RoundedDouble rate_;
  Direction direction_;
  std::vector<Atom> exact_base_;
  Real exact_rate_;
  double max_loss_ = 0;
  std::optional<MaxLossAtom> max_loss_atom_;
  std::optional<Lattice> lattice_;
};

}  // namespace

PrivacyLossPtr poisson_laplace_loss(const Real& x, const Real& rate, Direction direction) {
  return std::make_shared<PoissonLaplaceLoss>(x, rate, direction);
}
PrivacyLossPtr poisson_atoms_loss(const std::vector<Atom>& base, const Real& rate,
                                  Direction direction) {
  return std::make_shared<PoissonAtomsLoss>(base, rate, direction);
}

}  // namespace sotto
