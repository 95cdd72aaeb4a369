// Sampling without replacement under replace-one of Gaussian noise together with other steps: as in replaced.cpp, with the density of
// their joint loss, M(z) - 1 = E_Q[r^(z+1) + r^-z - 1 - r; ℓ > 0], r = 1 - s + s e^ℓ.
#include <cmath>

#include "product/joint_density.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/numerics/gauss_legendre.hpp"
#include "subsampling/symmetric_sum.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::JointDensity;
using pld_detail::log_sum;
using pld_detail::root_two_pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

// The density, and its values at the points of Gauss's rule on panels of one length from 0 on.
struct Base {
  JointDensity density;
  double half;                              // of a panel
  std::vector<JointDensity::Value> values;  // panel by panel
  double distance = 1;                      // of P and Q: a bound on E_Q[e^L - 1; L > 0]

  Base(const Real& squared_mu, const std::vector<LossStep>& rest) : density(squared_mu, rest) {
    half = std::min(density.mu().value, 0.3);
    const GaussLegendre& rule = gauss_legendre();
    double sum = 0;
    double error = 0;
    const double last = density.rest() + 20 * density.mu().value;
    for (double p = 0; 2 * (p + 1) * half < density.reach(); ++p) {
      for (std::size_t i = 0; i < gauss_points; ++i) {
        const double loss = half * (2 * p + 1 + rule.node[i]);
        values.push_back(density.at(loss));
        const double term = half * rule.weight[i] * std::exp(values.back().log) * std::expm1(loss);
        if (loss < last) sum += term * (1 + values.back().error_bound + 64 * unit);
      }
      const Ellipse region = ellipse(half, 3);
      const double centre = half * (2 * p + 1);
      error += std::exp(log_gauss_error(half, 3, std::log(2.0) + centre + region.reach + size_on(centre, region)));
    }
    error += std::exp(density.tail(1, last - 2 * half));
    distance = std::min(1.0, sum * (1 + 1e-12) + error);
  }
  // log of a bound on the density in the box around an ellipse.
  [[nodiscard]] double size_on(double centre, const Ellipse& region) const {
    const double m = density.mu().value;
    return density.above(centre - region.reach, centre + region.reach) + region.height * region.height / (2 * m * m);
  }
};

// log(1 - s + s e^ℓ) for ℓ >= 0.
double ratio_at(const RoundedDouble& s, double loss) {
  return loss > 40 ? loss + std::log(s.value) + std::log1p((1 - s.value) / s.value * std::exp(-loss)) : std::log1p(s.value * std::expm1(loss));
}

class ReplacedJointLine : public LogMgf {
 public:
  ReplacedJointLine(const Base& base, RoundedDouble rate, double c) : base_(base), s_(rate), c_(c), log_moment_(base.density.moment(c + 1)) {
    scaled_ = (c + 1) * std::log(s_.value) + log_moment_ > -1;
    reach(0, 1e-13);
  }
  void reach(double top, double tolerance) override {
    const JointDensity& density = base_.density;
    const double m = density.mu().value;
    const double target = std::log(tolerance) - 1.5;
    missing_ = infinity;
    if (!std::isfinite(log_moment_) || !(top < 1e9)) return;
    scale_ = 0;
    if (scaled_) {
      scale_ = -infinity;
      for (std::size_t j = 0; j < base_.values.size(); j += 4) {
        const double loss = node(j, base_.half);
        scale_ = std::max(scale_, base_.values[j].log + std::log(m) + (c_ + 1) * ratio_at(s_, loss));
      }
    }
    double right = m;
    while (beyond(right) > target + scale_) {
      right += 0.5 * m;
      if (right >= density.reach() - 4 * base_.half) return;
    }
    // the fewest halvings of the panels with which the rule is good enough
    for (int parts = 1; parts <= 64; parts *= 2) {
      const double half = base_.half / parts;
      const auto panels = static_cast<std::size_t>(std::ceil(right / (2 * half)));
      double error = beyond(right);
      for (std::size_t p = 0; p < panels; ++p) error = log_sum(error, panel_error((2 * static_cast<double>(p) + 1) * half, half, top));
      if (!(error <= target + 1.5 + scale_)) continue;
      grid_ = pld_detail::SymmetricSum(c_, scaled_, scale_);
      const GaussLegendre& rule = gauss_legendre();
      for (std::size_t j = 0; j < panels * gauss_points; ++j) {
        const double loss = node(j, half);
        const JointDensity::Value value = parts == 1 && j < base_.values.size() ? base_.values[j] : density.at(loss);
        if (std::isinf(value.error_bound)) return;
        add(loss, std::log(half * rule.weight[j % gauss_points]) + value.log, value.error_bound + 16 * unit);
      }
      missing_ = std::exp(error - scale_);
      return;
    }
  }
  LogMgfValue at(double t) const override { return grid_.at(t, missing_); }
  double work() const override { return static_cast<double>(grid_.size()); }
  // The atom at 0, which is (1-s) times the distance of P and Q, and two half-line integrals. Their path goes from 0 up to ia and on to
  // the right: there arg r >= 0.79 s Im ℓ for Im ℓ <= 3/4, and the density is at most e^(a²/(2μ²)) times that at Re ℓ.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::top_of(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    const double s = s_.value;
    const double m = base_.density.mu().value;
    const double start = base_.density.above(0, 0);
    double best = infinity;
    for (const double times : {0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0}) {
      const double a = std::min(0.75, times * m);
      const double fall = 0.79 * s * t;
      const double low = -c_ * std::log1p(-s * (1 - std::cos(a)));  // of |r|^-c
      const double up = log_sum(0, low) + start - std::log(fall);
      const double on = log_sum(log_sum(std::log1p(-s), std::log(s) + log_moment_), low) - fall * a;
      best = std::min(best, a * a / (2 * m * m) + log_sum(up, on));
    }
    const double sum = log_sum(std::log((1 - s) * base_.distance), best);
    return std::min(all, sum + 256 * unit * (4 + std::abs(sum)) + 4 * (1 + c_) * (s_.relative + base_.density.mu().relative));
  }

 private:
  static double node(std::size_t j, double half) {
    return half * (2 * std::floor(static_cast<double>(j) / gauss_points) + 1 + gauss_legendre().node[j % gauss_points]);
  }
  // log of a bound on E_Q[r^(c+1) + r^-c + 1 + r; ℓ > from], by r^(c+1) <= (1-s) + s e^((c+1)ℓ).
  [[nodiscard]] double beyond(double from) const {
    const JointDensity& density = base_.density;
    const double some = log_sum(std::log(4.0) + density.tail(0, from), std::log(s_.value) + density.tail(1, from));
    return log_sum(some, std::log(s_.value) + density.tail(c_ + 1, from));
  }
  void add(double loss, double log_mass, double mass_error) {
    const double u = ratio_at(s_, loss);
    if (!(u > 0)) return;
    const double error_bound = 4 * unit * loss;
    const double share = -std::expm1(std::log1p(-s_.value) - u);  // s e^ℓ / r
    const double shift = share * error_bound + u * (s_.relative + 8 * unit) + 8 * unit * (loss > 40 ? loss - std::log(s_.value) : u);
    grid_.add(u, log_mass, mass_error + 8 * unit + shift, shift);
  }
  [[nodiscard]] double panel_error(double centre, double half, double top) const {
    spend(500);
    const double s = s_.value;
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0}) {
      const Ellipse region = ellipse(half, rho);
      if (region.height > 1.5) break;
      const double loss = centre + region.reach;
      const double e = s * std::exp(std::min(600.0, loss));
      const double high = std::log(1 - s + e) + std::max(0.0, loss - 600);
      const double arg = std::min(region.height, e * std::sin(region.height) / (1 - s + e * std::cos(region.height)));
      const double powers = log_sum((c_ + 1) * std::max(0.0, high), -c_ * std::log1p(-s)) + top * arg;
      const double whole = log_sum(powers, std::log(2.0) + std::max(0.0, high));
      best = std::min(best, log_gauss_error(half, rho, whole + base_.size_on(centre, region)));
    }
    return best;
  }

  const Base& base_;
  RoundedDouble s_;
  double c_;
  double log_moment_;  // log E_Q[e^((c+1)L)], from above
  bool scaled_ = false;
  double scale_ = 0;
  pld_detail::SymmetricSum grid_;
  double missing_ = infinity;
};

class ReplacedJointLoss : public PrivacyLoss {
 public:
  ReplacedJointLoss(const Real& squared_mu, const std::vector<LossStep>& rest, const Real& rate) : base_(squared_mu, rest), rate_(rate) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<ReplacedJointLine>(base_, rate_, c); }
  double standard_deviation() const override { return rate_.value * std::sqrt(std::expm1(std::min(base_.density.moment(2), 30.0))); }

 private:
  Base base_;
  RoundedDouble rate_;
};

}  // namespace

PrivacyLossPtr without_replacement_joint_loss(const Real& squared_mu, const std::vector<LossStep>& rest, const Real& rate) {
  return std::make_shared<ReplacedJointLoss>(squared_mu, rest, rate);
}

}  // namespace sotto
