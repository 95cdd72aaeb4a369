// The privacy losses of sampling without replacement under replace-one [Balle2018b]: the pair of
// the symmetrised amplified profile. Above 0 it is ((1-s)Q + sP, Q), below 0 the mirror image, and
// at 0 there is an atom. With u = log(1 - s + s e^ℓ),
// M(z) - 1 = 4 E_Q[e^(u/2) sinh((z+1)u/2) sinh(zu/2); ℓ > 0]
// (docs/theory/pld/dominating-pairs.md, "Sampling without replacement, replace-one").
#include <cmath>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gauss_legendre.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/subsampling/symmetric_sum.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::log_sum;
using pld_detail::root_two_pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

// Returns u = log r = log(1 - s + s e^ℓ) for ℓ >= 0.
double log_ratio_at(const RoundedDouble& s, double loss) {
  return loss > 40
             ? loss + std::log(s.value) + std::log1p((1 - s.value) / s.value * std::exp(-loss))
             : std::log1p(s.value * std::expm1(loss));
}
// Returns du/dℓ = s e^ℓ / r, from u = log r.
double logistic_at(const RoundedDouble& s, double u) {
  return -std::expm1(std::log1p(-s.value) - u);
}

class WithoutReplacementGaussianLogMgf : public LogMgf {
 public:
  WithoutReplacementGaussianLogMgf(RoundedDouble mu, RoundedDouble rate, double c)
      : mu_(mu), s_(rate), c_(c) {
    const double m = mu.value;
    scaled_ = (c + 1) * std::log(s_.value) + c * (c + 1) * m * m / 2 > -1;
    prepare(0, 1e-13);
  }
  void prepare(double top, double tolerance) override {
    const double m = mu_.value;
    const double target = std::log(tolerance) - 1.5;
    sum_error_ = infinity;
    if (!((c_ + 1) * m * std::max(1.0, m) < 2000) || !(top < 1e9))
      return;  // the integrand would overflow
    scale_ = 0;
    if (scaled_) {
      scale_ = -infinity;
      for (double z = m / 2; z < 12 + (c_ + 1) * m; z += 0.125)
        scale_ = std::max(scale_, -z * z / 2 + (c_ + 1) * log_ratio(m * z - m * m / 2));
    }
    double right = m / 2 + 1;
    while (log_truncation_error(right) > target + scale_) {
      right += 0.25;
      if (right * std::max(1.0, m) > 2000) return;
    }
    fill(right, top, target + scale_);
  }
  LogMgfValue at(double t) const override { return sum_.at(t, sum_error_); }
  double work() const override { return static_cast<double>(sum_.size()); }
  // The atom at 0 does not decay. By one integration by parts, each half line is at most
  // (G(0) + variation of G)/τ with G = density r^(power+1) e^-ℓ/s.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    const double tv = std::erf(mu_.value / (2 * std::sqrt(2.0)));
    double total = std::log((1 - s_.value) * tv);
    for (const double power : {c_ + 1, -c_}) total = log_sum(total, variation(power) - std::log(t));
    return std::min(
        all, total + 256 * unit * (4 + std::abs(total)) + 4 * s_.relative + 4 * mu_.relative);
  }

 private:
  [[nodiscard]] double log_ratio(double loss) const { return log_ratio_at(s_, loss); }

  // Returns the log of a bound on the integral beyond z, of r^(c+1) + r^-c + 1 + r, as for Poisson
  // sampling.
  [[nodiscard]] double log_truncation_error(double z) const {
    const double m = mu_.value;
    const double far = (c_ + 1) * std::log(s_.value) + c_ * (c_ + 1) * m * m / 2 +
                       pld_detail::log_normal_tail(z - (c_ + 1) * m);
    return log_sum(
        std::log(4.0) + log_sum(pld_detail::log_normal_tail(z), pld_detail::log_normal_tail(z - m)),
        c_ * std::log(2.0) + log_sum(pld_detail::log_normal_tail(z), far));
  }

  // Fills the sum for |Im s| <= top with panels in z from μ/2 to `right`, halved until the
  // quadrature error of each is below e^(log_target - 4). sum_error_ stays infinite if that takes
  // too many.
  void fill(double right, double top, double log_target) {
    const double m = mu_.value;
    sum_ = pld_detail::SymmetricSum(c_, scaled_, scale_);
    double error = log_truncation_error(right);
    double low = m / 2;
    double half = std::min(0.75, (right - low) / 2);
    while (low < right) {
      half = std::min(half * 2, (right - low) / 2);
      double here = panel_error(low + half, half, top);
      while (here > log_target - 4) {
        half /= 2;
        if (half < 1e-4) return;
        here = panel_error(low + half, half, top);
      }
      error = log_sum(error, here);
      add_panel(low + half, half);
      low += 2 * half;
      if (sum_.size() > 50000) return;
      if (right - low < 1e-12 * right) break;
    }
    sum_error_ = std::exp(error - scale_);
  }

  void add_panel(double centre, double half) {
    const GaussLegendre& rule = gauss_legendre();
    const double m = mu_.value;
    for (std::size_t i = 0; i < gauss_points; ++i) {
      const double z = centre + half * rule.node[i];
      const double loss = m * z - m * m / 2;
      const double u = log_ratio(loss);
      if (!(u > 0)) continue;  // the left end is rounded
      const double loss_error = logistic_at(s_, u) * (m * m + m * z) * (mu_.relative + 8 * unit) +
                                u * (s_.relative + 8 * unit);
      sum_.add(u, std::log(half * rule.weight[i] / root_two_pi) - z * z / 2,
               (64 + z * z) * unit + loss_error, loss_error);
    }
  }
  // Returns the log of a bound on the quadrature error of one panel, from a bound on the integrand
  // on the box around a Bernstein ellipse; the best of several ellipses.
  [[nodiscard]] double panel_error(double centre, double half, double top) const {
    const double m = mu_.value;
    const double s = s_.value;
    spend(500);
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0}) {
      const Ellipse region = ellipse(half, rho);  // in z; ℓ = μz
      const double height = m * region.height;
      if (height > 1.5) break;
      const double loss = m * (centre + region.reach) - m * m / 2;
      const double e = s * std::exp(std::min(600.0, loss));
      const double high = std::log(1 - s + e) + std::max(0.0, loss - 600);
      const double arg = std::min(height, e * std::sin(height) / (1 - s + e * std::cos(height)));
      const double powers =
          log_sum((c_ + 1) * std::max(0.0, high), -c_ * std::log1p(-s)) + top * arg;
      const double whole = log_sum(powers, std::log(2.0) + std::max(0.0, high));
      const double nearest = std::max(0.0, centre - region.reach);
      const double density =
          (region.height * region.height - nearest * nearest) / 2 - std::log(root_two_pi);
      best = std::min(best, log_gauss_error(half, rho, whole + density));
    }
    return best;
  }
  // Returns the log of a bound on G(0) plus the variation of G, G = w r^(power+1) e^-ℓ/s on ℓ > 0.
  // If G decreases throughout that is 2G(0); it has at most two peaks, so it is at most 4 max G.
  [[nodiscard]] double variation(double power) const {
    const double m2 = mu_.value * mu_.value;
    const double start = -m2 / 8 - std::log(root_two_pi * mu_.value) - std::log(s_.value);
    // it decreases if d log G/dℓ = -(ℓ/μ² + 1/2) - 1 + (power+1) s e^ℓ/r is negative on every cell
    bool decreases = power + 1 <= 0;
    double largest = start;
    if (!decreases) {
      decreases = true;
      const double width = 0.05 * mu_.value;
      for (double loss = 0; loss < 12 * mu_.value + (power + 3) * m2; loss += width) {
        spend(60);
        const double u = log_ratio(loss + width);
        if ((power + 1) * logistic_at(s_, u) >= 1.5 + loss / m2) decreases = false;
        const double w =
            -(loss + m2 / 2) * (loss + m2 / 2) / (2 * m2) - std::log(root_two_pi * mu_.value);
        largest = std::max(largest, w + (power + 1) * u - loss - std::log(s_.value));
      }
    }
    return decreases ? std::log(2.0) + start : std::log(4.0) + largest;
  }

  RoundedDouble mu_;
  RoundedDouble s_;
  double c_;
  bool scaled_ = false;
  double scale_ = 0;
  pld_detail::SymmetricSum sum_;
  double sum_error_ = infinity;
};

class WithoutReplacementGaussianLoss : public PrivacyLoss {
 public:
  WithoutReplacementGaussianLoss(const Real& mu, const Real& rate) : mu_(mu), rate_(rate) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<WithoutReplacementGaussianLogMgf>(mu_, rate_, c);
  }
  double standard_deviation() const override {
    return rate_.value * std::sqrt(std::expm1(std::min(mu_.value * mu_.value, 30.0)));
  }
  bool symmetric() const override { return true; }
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::without_replacement_distribution(pld_detail::gaussian_distribution(mu_),
                                                        rate_);
  }

 private:
  RoundedDouble mu_;
  RoundedDouble rate_;
};

// --- Laplace base ---
// Under Q the loss ℓ > 0 is x with mass e^-x/2, and has the density e^(-(ℓ+x)/2)/4 on (0, x).

class WithoutReplacementLaplaceLogMgf : public LogMgf {
 public:
  WithoutReplacementLaplaceLogMgf(RoundedDouble x, RoundedDouble rate, double c)
      : x_(x), s_(rate), c_(c) {
    const double top = (c + 1) * log_ratio_at(s_, x.value) - x.value - std::log(2.0);
    scaled_ = top > -1;
    scale_ = scaled_ ? top : 0;
    prepare(0, 1e-13);
  }
  void prepare(double top, double tolerance) override {
    const double x = x_.value;
    sum_error_ = infinity;
    // the fewest panels for which the quadrature error is below the tolerance
    for (int panels = 1; panels <= 1024; panels *= 2) {
      const double half = x / (2 * panels);
      double error = -infinity;
      for (int p = 0; p < panels; ++p)
        error = log_sum(error, panel_error((2 * p + 1) * half, half, top));
      if (!(error <= std::log(tolerance) + scale_)) continue;
      sum_ = pld_detail::SymmetricSum(c_, scaled_, scale_);
      add(x, -x - std::log(2.0), 8 * unit);
      const GaussLegendre& rule = gauss_legendre();
      for (int p = 0; p < panels; ++p) {
        for (std::size_t i = 0; i < gauss_points; ++i) {
          const double loss = half * (2 * p + 1 + rule.node[i]);
          add(loss, std::log(half * rule.weight[i] / 4) - (loss + x) / 2, x_.relative + 32 * unit);
        }
      }
      sum_error_ = std::exp(error - scale_);
      return;
    }
  }
  LogMgfValue at(double t) const override { return sum_.at(t, sum_error_); }
  double work() const override { return static_cast<double>(sum_.size()); }
  // The atoms at 0 and ±x do not decay. By one integration by parts as for Poisson sampling, the
  // integral over the density is at most 2(G(0) + G(x))/τ.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    const double x = x_.value;
    const double high = log_ratio_at(s_, x);
    double total = std::log((1 - s_.value) * -std::expm1(-x / 2));
    for (const double power : {c_ + 1, -c_}) {
      const double start = -x / 2 - std::log(4 * s_.value);
      const double end = -2 * x - std::log(4 * s_.value) + (power + 1) * high;
      total = log_sum(total, -x - std::log(2.0) + power * high);
      total = log_sum(total, std::log(2.0) + log_sum(start, end) - std::log(t));
    }
    const double error_bound = (x_.relative + s_.relative + 256 * unit) * (4 + x * (c_ + 3));
    return std::min(all, total + 256 * unit * std::abs(total) + error_bound);
  }

 private:
  void add(double loss, double log_mass, double mass_error) {
    const double u = log_ratio_at(s_, loss);
    if (!(u > 0)) return;
    const double base_error = x_.value * (x_.relative + 4 * unit);
    const double loss_error = logistic_at(s_, u) * base_error + u * (s_.relative + 8 * unit) +
                              8 * unit * (loss > 40 ? loss - std::log(s_.value) : u);
    sum_.add(u, log_mass, mass_error + 2 * base_error + (8 + 4 * x_.value) * unit + loss_error,
             loss_error);
  }
  // Returns the log of a bound on the quadrature error of one panel, from a bound on the integrand
  // on the box around a Bernstein ellipse; the best of several ellipses.
  [[nodiscard]] double panel_error(double centre, double half, double top) const {
    const double s = s_.value;
    spend(500);
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0}) {
      const Ellipse region = ellipse(half, rho);
      if (region.height > 1.5) break;
      const double loss = centre + region.reach;
      const double e = s * std::exp(std::min(600.0, loss));
      const double high = std::log(1 - s + e) + std::max(0.0, loss - 600);
      const double arg = std::min(
          region.height, e * std::sin(region.height) / (1 - s + e * std::cos(region.height)));
      const double powers =
          log_sum((c_ + 1) * std::max(0.0, high), -c_ * std::log1p(-s)) + top * arg;
      const double whole = log_sum(powers, std::log(2.0) + std::max(0.0, high));
      const double density = -std::log(4.0) - (centre - region.reach + x_.value) / 2;
      best = std::min(best, log_gauss_error(half, rho, whole + density));
    }
    return best;
  }

  RoundedDouble x_;
  RoundedDouble s_;
  double c_;
  bool scaled_ = false;
  double scale_ = 0;
  pld_detail::SymmetricSum sum_;
  double sum_error_ = infinity;
};

class WithoutReplacementLaplaceLoss : public PrivacyLoss {
 public:
  WithoutReplacementLaplaceLoss(const Real& x, const Real& rate) : x_(x), rate_(rate) {
    const Real max_loss = log1p(rate * expm1(x));
    max_loss_ = max_loss.upper();
    max_loss_atom_ = {max_loss.lower(), (max_loss - x - log(Real(2))).lower()};
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<WithoutReplacementLaplaceLogMgf>(x_, rate_, c);
  }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return max_loss_atom_; }
  double standard_deviation() const override { return max_loss_; }
  bool symmetric() const override { return true; }
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::without_replacement_distribution(pld_detail::laplace_distribution(x_),
                                                        rate_);
  }

 private:
  RoundedDouble x_;
  RoundedDouble rate_;
  double max_loss_;
  MaxLossAtom max_loss_atom_{};
};

}  // namespace

PrivacyLossPtr without_replacement_laplace_loss(const Real& x, const Real& rate) {
  return std::make_shared<WithoutReplacementLaplaceLoss>(x, rate);
}
PrivacyLossPtr without_replacement_gaussian_loss(const Real& mu, const Real& rate) {
  return std::make_shared<WithoutReplacementGaussianLoss>(mu, rate);
}

}  // namespace sotto
