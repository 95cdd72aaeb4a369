// Sampling without replacement under replace-one: the pair of the symmetrised amplified profile. On the losses above 0 it
// is ((1-s)Q + sP, Q), below 0 its mirror, and an atom (1-s) TV at 0, so that
// M(z) - 1 = 4 E_Q[e^(u/2) sinh((z+1)u/2) sinh(zu/2); ℓ > 0], u = log(1 - s + s e^ℓ).
#include <cmath>

#include "quadrature.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using detail::infinity;
using detail::log_sum;
using detail::Near;
using detail::root_two_pi;
using detail::unit;

struct Node {
  double u;
  double even;  // 4 w cosh((c+1/2)u) and 4 w sinh((c+1/2)u), w = e^(u/2) times the mass, over e^scale
  double odd;
};

class ReplacedLine : public LossLine {
 public:
  ReplacedLine(Near mu, Near rate, double c) : mu_(mu), s_(rate), c_(c) {
    const double m = mu.value;
    scaled_ = (c + 1) * std::log(s_.value) + c * (c + 1) * m * m / 2 > -1;
    reach(0, 1e-13);
  }
  void reach(double top, double tolerance) override {
    const double m = mu_.value;
    const double target = std::log(tolerance) - 1.5;
    missing_ = infinity;
    if (!((c_ + 1) * m * std::max(1.0, m) < 2000) || !(top < 1e9)) return;  // beyond what the panels can hold
    scale_ = 0;
    if (scaled_) {
      scale_ = -infinity;
      for (double z = m / 2; z < 12 + (c_ + 1) * m; z += 0.125) scale_ = std::max(scale_, -z * z / 2 + (c_ + 1) * ratio(m * z - m * m / 2));
    }
    // where to cut: r^(c+1) + r^-c + 1 + r, beyond z, as for Poisson sampling
    const auto beyond = [&](double z) {
      const double far = (c_ + 1) * std::log(s_.value) + c_ * (c_ + 1) * m * m / 2 + detail::log_tail(z - (c_ + 1) * m);
      return log_sum(std::log(4.0) + log_sum(detail::log_tail(z), detail::log_tail(z - m)), c_ * std::log(2.0) + log_sum(detail::log_tail(z), far));
    };
    double right = m / 2 + 1;
    while (beyond(right) > target + scale_) {
      right += 0.25;
      if (right * std::max(1.0, m) > 2000) return;
    }
    // panels in z from μ/2 on, halved until each is good enough
    nodes_.clear();
    still_ = flat_ = steep_ = total_ = 0;
    double error = beyond(right);
    double low = m / 2;
    double half = std::min(0.75, (right - low) / 2);
    while (low < right) {
      half = std::min(half * 2, (right - low) / 2);
      double here = panel_error(low + half, half, top);
      while (here > target + scale_ - 4) {
        half /= 2;
        if (half < 1e-4) return;
        here = panel_error(low + half, half, top);
      }
      error = log_sum(error, here);
      add_panel(low + half, half);
      low += 2 * half;
      if (nodes_.size() > 50000) return;
      if (right - low < 1e-12 * right) break;
    }
    (scaled_ ? flat_ : steep_) += 2 * unit * static_cast<double>(nodes_.size()) * total_;  // adding them up
    missing_ = std::exp(error - scale_);
  }
  Transform at(double t) const override {
    if (std::isinf(missing_)) return {{infinity, 0}, infinity};
    const double one = std::hypot(c_ + 1, t);
    const double other = std::hypot(c_, t);
    // cosh((z+1/2)u) - cosh(u/2), z = c + it: [cosh x - cosh(u/2)] + cosh x (cos y - 1) + i sinh x sin y
    Complex sum{still_, 0};
    for (const Node& node : nodes_) {
      const double y = t * node.u / 2;
      const double sine = std::sin(y);
      sum.re -= node.even * sine * sine;
      sum.im += node.odd * sine * std::cos(y);
    }
    if (scaled_) return detail::log_of_scaled({sum.re + std::exp(-scale_), sum.im}, scale_, missing_ + flat_ + one * steep_);
    return detail::log_of_excess(sum, missing_ + one * other * steep_);
  }
  double work() const override { return static_cast<double>(nodes_.size()); }
  // The atom at 0 stays; each half line, by one integration by parts, is at most (G(0) + variation of G)/τ with
  // G = density r^(power+1) e^-ℓ/s. Where G falls all the way that is 2G(0); it has at most two peaks in any case.
  double ceiling(double t, Reach /*reach*/) const override {
    const double all = detail::top_of(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    const double tv = std::erf(mu_.value / (2 * std::sqrt(2.0)));
    double total = std::log((1 - s_.value) * tv);
    for (const double power : {c_ + 1, -c_}) total = log_sum(total, variation(power) - std::log(t));
    return std::min(all, total + 256 * unit * (4 + std::abs(total)) + 4 * s_.relative + 4 * mu_.relative);
  }

 private:
  [[nodiscard]] double ratio(double loss) const {
    return loss > 40 ? loss + std::log(s_.value) + std::log1p((1 - s_.value) / s_.value * std::exp(-loss)) : std::log1p(s_.value * std::expm1(loss));
  }
  void add_panel(double centre, double half) {
    const detail::GaussRule& rule = detail::gauss_rule();
    const double m = mu_.value;
    for (std::size_t i = 0; i < detail::gauss_points; ++i) {
      const double z = centre + half * rule.node[i];
      const double loss = m * z - m * m / 2;
      const double u = ratio(loss);
      if (!(u > 0)) continue;                                          // the left end, rounded
      const double logistic = -std::expm1(std::log1p(-s_.value) - u);  // s e^ℓ / r
      const double shift = logistic * (m * m + m * z) * (mu_.relative + 8 * unit) + u * (s_.relative + 8 * unit);
      const double room = (64 + z * z) * unit + shift;
      const double log_weight = std::log(half * rule.weight[i] / root_two_pi) - z * z / 2 + u / 2 - scale_;
      const double x = (c_ + 0.5) * u;
      const double rise = std::exp(log_weight + x);
      const double fall = std::exp(log_weight - x);
      nodes_.push_back({u, 2 * (rise + fall), 2 * (rise - fall)});
      if (scaled_) {
        const double weight = std::exp(log_weight);
        still_ += rise + fall - 2 * weight * std::cosh(u / 2);
        flat_ += 4 * rise * (room + 16 * unit * (1 + std::abs(log_weight) + std::abs(scale_)));
        steep_ += 4 * rise * shift;
        total_ += 4 * rise;
      } else {
        const double a = (c_ + 1) * u / 2;
        const double b = c_ * u / 2;
        const double weight = std::exp(log_weight);
        still_ += 4 * weight * std::sinh(a) * std::sinh(b);
        nodes_.back().odd = 4 * weight * std::sinh(x);
        // times |z| |z+1|
        const double height = weight * u * u * std::cosh(a) * std::cosh(b);
        steep_ += height * (room + 2 * shift / u);
        total_ += height;
      }
    }
  }
  [[nodiscard]] double panel_error(double centre, double half, double top) const {
    const double m = mu_.value;
    const double s = s_.value;
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0}) {
      const detail::Ellipse region = detail::ellipse(half, rho);  // in z; ℓ = μz
      const double height = m * region.height;
      if (height > 1.5) break;
      const double loss = m * (centre + region.reach) - m * m / 2;
      const double e = s * std::exp(std::min(600.0, loss));
      const double high = std::log(1 - s + e) + std::max(0.0, loss - 600);
      const double arg = std::min(height, e * std::sin(height) / (1 - s + e * std::cos(height)));
      const double powers = log_sum((c_ + 1) * std::max(0.0, high), -c_ * std::log1p(-s)) + top * arg;
      const double whole = log_sum(powers, std::log(2.0) + std::max(0.0, high));
      const double nearest = std::max(0.0, centre - region.reach);
      const double density = (region.height * region.height - nearest * nearest) / 2 - std::log(root_two_pi);
      best = std::min(best, detail::log_gauss_error(half, rho, whole + density));
    }
    return best;
  }
  // log of G(0) plus its variation, G = w r^(power+1) e^-ℓ / s on ℓ > 0.
  [[nodiscard]] double variation(double power) const {
    const double m2 = mu_.value * mu_.value;
    const double start = -m2 / 8 - std::log(root_two_pi * mu_.value) - std::log(s_.value);
    // d log G/dℓ = -(ℓ/μ² + 1/2) - 1 + (power+1) s e^ℓ/r; negative on every cell?
    bool falls = power + 1 <= 0;
    double largest = start;
    if (!falls) {
      falls = true;
      const double width = 0.05 * mu_.value;
      for (double loss = 0; loss < 12 * mu_.value + (power + 3) * m2; loss += width) {
        const double u = ratio(loss + width);
        const double logistic = -std::expm1(std::log1p(-s_.value) - u);
        if ((power + 1) * logistic >= 1.5 + loss / m2) falls = false;
        const double w = -(loss + m2 / 2) * (loss + m2 / 2) / (2 * m2) - std::log(root_two_pi * mu_.value);
        largest = std::max(largest, w + (power + 1) * u - loss - std::log(s_.value));
      }
    }
    return falls ? std::log(2.0) + start : std::log(4.0) + largest;
  }

  Near mu_;
  Near s_;
  double c_;
  bool scaled_ = false;
  double scale_ = 0;
  std::vector<Node> nodes_;
  double still_ = 0;
  double flat_ = 0;
  double steep_ = 0;
  double total_ = 0;  // the sizes of all terms
  double missing_ = infinity;
};

class ReplacedLoss : public Loss {
 public:
  ReplacedLoss(const Real& mu, const Real& rate) : mu_(mu), rate_(rate) {}
  std::unique_ptr<LossLine> on(double c) const override { return std::make_unique<ReplacedLine>(mu_, rate_, c); }
  double spread() const override { return rate_.value * std::sqrt(std::expm1(std::min(mu_.value * mu_.value, 30.0))); }

 private:
  Near mu_;
  Near rate_;
};

}  // namespace

LossPtr replaced_gaussian_loss(const Real& mu, const Real& rate) { return std::make_shared<ReplacedLoss>(mu, rate); }

}  // namespace sotto
