// Poisson sampling of two Laplace steps, and of steps with atoms beside them, all on one sample. Each Laplace loss is ±x with masses
// e^-x/2 and 1/2 and has density e^(-(ℓ+x)/2)/4 between; Gauss-Legendre in both.
#include <cmath>

#include "grid.hpp"
#include "quadrature.hpp"
#include "sotto/numerics/elementary.hpp"

namespace sotto {
namespace {

using detail::Grid;
using detail::imaginary_of;
using detail::infinity;
using detail::log_ratio;
using detail::log_sum;
using detail::Near;
using detail::power_of;
using detail::unit;

constexpr double most_points = 60000;

// A value of a loss with its mass under Q.
struct Spot {
  double loss;
  double log_mass;
  double loss_room;
  double mass_room;  // relative
};

class SampledLaplacesLine : public LossLine {
 public:
  SampledLaplacesLine(Near x, Near y, const std::vector<Spot>& atoms, Near rate, Direction direction, double c)
      : x_(x), y_(y), atoms_(atoms), q_(rate), direction_(direction), power_(power_of(direction, c)), grid_(power_, false) {
    for (const Spot& atom : atoms) farthest_ = std::max(farthest_, atom.loss);
    const double guess = power_ * log_ratio(q_, x.value + y.value + farthest_, 0).u - x.value - y.value - 2 * farthest_ - 2;
    scaled_ = guess > 0.5;
    if (scaled_) guess_ = guess;
    reach(0, 1e-13);
  }
  void reach(double top, double tolerance) override {
    const double size = std::hypot(power_, top) + 1;
    const double target = std::log(tolerance) + guess_ - std::log(2.0);
    const int first = panels_for(x_.value, y_.value + farthest_, top, size, target);
    const int second = panels_for(y_.value, x_.value + farthest_, top, size, target);
    grid_ = Grid(power_, scaled_);
    missing_ = infinity;
    const double points = (2.0 + detail::gauss_points * first) * (2.0 + detail::gauss_points * second) * static_cast<double>(atoms_.size());
    if (first == 0 || second == 0 || points > most_points) return;
    const std::vector<Spot> others = spots(y_, second);
    for (const Spot& one : spots(x_, first)) {
      for (const Spot& other : others) {
        for (const Spot& atom : atoms_) {
          grid_.add(log_ratio(q_, one.loss + other.loss + atom.loss, one.loss_room + other.loss_room + atom.loss_room),
                    one.log_mass + other.log_mass + atom.log_mass, one.mass_room + other.mass_room + atom.mass_room);
        }
      }
    }
    grid_.settle();
    // first the one rule, every value of the other loss being fixed, then the other, with the first one's weights
    const double error =
        log_sum(rule_error(x_.value, first, y_.value + farthest_, top, size), rule_error(y_.value, second, x_.value + farthest_, top, size));
    missing_ = 1.01 * std::exp(error - grid_.scale());
  }
  Transform at(double t) const override { return grid_.at(imaginary_of(direction_, t), missing_); }
  double work() const override { return static_cast<double>(grid_.size()); }
  // As for one Laplace, whatever the other losses: atoms that stay, and boundary terms of one integration by parts. Over cells of the
  // second loss every term is largest at an end: powers of r are monotone, and log of r^(power+1) e^-ℓ is convex, or falls.
  double ceiling(double t, Reach /*reach*/) const override {
    const double all = detail::top_of(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    constexpr int cells = 64;
    const double y = y_.value;
    double total = -infinity;
    for (const Spot& atom : atoms_) {
      double one = log_sum(bound_at(atom.loss - y, t) - std::log(2.0), bound_at(atom.loss + y, t) - y - std::log(2.0));
      for (int j = 0; j < cells; ++j) {
        const double low = -y + 2 * y * j / cells;
        const double high = low + 2 * y / cells;
        const double mass = std::log(-std::expm1(-(high - low) / 2) / 2) - (low + y) / 2;
        one = log_sum(one, mass + two_ends(atom.loss + low, atom.loss + high, t));
      }
      total = log_sum(total, one + atom.log_mass + atom.mass_room);
    }
    const double room = (2 + x_.value + y) * (x_.relative + y_.relative + q_.relative + 256 * unit) * (2 + std::abs(power_));
    return std::min(all, total + 256 * unit * (static_cast<double>(atoms_.size()) + std::abs(total)) + room + atoms_room());
  }

 private:
  // The Laplace step's atoms and Gauss points.
  [[nodiscard]] std::vector<Spot> spots(Near width, int panels) const {
    const double x = width.value;
    const double room = x * (width.relative + 4 * unit);
    std::vector<Spot> all{{-x, -std::log(2.0), room, 8 * unit}, {x, -x - std::log(2.0), room, (8 + x) * unit + room}};
    const detail::GaussRule& rule = detail::gauss_rule();
    const double half = x / panels;
    for (int p = 0; p < panels; ++p) {
      for (std::size_t i = 0; i < detail::gauss_points; ++i) {
        const double loss = -x + half * (2 * p + 1 + rule.node[i]);
        all.push_back({loss, std::log(half * rule.weight[i] / 4) - (loss + x) / 2, room, (32 + 4 * x) * unit + width.relative + 2 * room});
      }
    }
    return all;
  }
  // The fewest panels with which the rule is good enough; 0 if none are. `others` bounds the other losses.
  [[nodiscard]] int panels_for(double x, double others, double top, double size, double target) const {
    for (int panels = 1; panels <= 64; panels *= 2) {
      if (rule_error(x, panels, others, top, size) <= target) return panels;
    }
    return 0;
  }
  [[nodiscard]] double rule_error(double x, int panels, double others, double top, double size) const {
    const double half = x / panels;
    double error = -infinity;
    for (int p = 0; p < panels; ++p) error = log_sum(error, panel_error(-x + (2 * p + 1) * half, half, x, others, top, size));
    return error;
  }
  [[nodiscard]] double panel_error(double centre, double half, double x, double others, double top, double size) const {
    const double q = q_.value;
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0, 20.0}) {
      const detail::Ellipse region = detail::ellipse(half, rho);
      if (region.height > 1.5) break;
      const double loss = centre + region.reach + others;
      const double e = q * std::exp(std::min(600.0, loss));
      const double beyond = std::max(0.0, loss - 600);
      const double arg = std::min(region.height, e * std::sin(region.height) / (1 - q + e * std::cos(region.height)));
      const double log_size = (power_ > 0 ? power_ * (std::log(1 - q + e) + beyond) : power_ * std::log1p(-q)) + top * arg;
      const double whole = log_sum(std::max(log_size, 0.0), std::log(1 + size * (q + e)) + beyond);
      const double density = -std::log(4.0) - (centre - region.reach + x) / 2;
      best = std::min(best, detail::log_gauss_error(half, rho, whole + density));
    }
    return best;
  }
  // The terms of the bound where the other losses come to `shift`: two atoms, two ends.
  struct Terms {
    double low, high, left, right;
  };
  [[nodiscard]] Terms terms_at(double shift, double t) const {
    const double x = x_.value;
    const double low = log_ratio(q_, shift - x, 0).u;
    const double high = log_ratio(q_, shift + x, 0).u;
    const double by_parts = std::log(2.0) - std::log(4 * q_.value) - std::log(t) - shift;
    return {power_ * low - std::log(2.0), power_ * high - x - std::log(2.0), (power_ + 1) * low + x + by_parts,
            (power_ + 1) * high - 2 * x + by_parts};
  }
  static double sum_of(const Terms& terms) { return log_sum(log_sum(terms.low, terms.high), log_sum(terms.left, terms.right)); }
  [[nodiscard]] double bound_at(double shift, double t) const { return sum_of(terms_at(shift, t)); }
  [[nodiscard]] double two_ends(double low, double high, double t) const {
    const Terms a = terms_at(low, t);
    const Terms b = terms_at(high, t);
    return sum_of({std::max(a.low, b.low), std::max(a.high, b.high), std::max(a.left, b.left), std::max(a.right, b.right)});
  }
  [[nodiscard]] double atoms_room() const {
    double room = 0;
    for (const Spot& atom : atoms_) room = std::max(room, atom.loss_room);
    return room * (2 + std::abs(power_));
  }

  Near x_;
  Near y_;
  const std::vector<Spot>& atoms_;
  Near q_;
  Direction direction_;
  double power_;
  double farthest_ = 0;
  bool scaled_ = false;
  double guess_ = 0;  // about the grid's scale, from below
  Grid grid_;
  double missing_ = infinity;
};

class SampledLaplacesLoss : public Loss {
 public:
  SampledLaplacesLoss(const Real& x, const Real& y, const std::vector<Atom>& atoms, const Real& rate, Direction direction)
      : x_(x), y_(y), rate_(rate), direction_(direction) {
    Real farthest = 0;
    for (const Atom& atom : atoms) {
      const Near loss(atom.loss);
      const Near mass(atom.mass);
      atoms_.push_back(
          {loss.value, std::log(mass.value), std::abs(loss.value) * loss.relative, mass.relative + 4 * unit * (1 + std::abs(std::log(mass.value)))});
      farthest = max(farthest, atom.loss);
    }
    const Real most = x + y + farthest;
    worst_ = direction == Direction::remove ? log1p(rate * expm1(most)).upper() : (-log1p(rate * expm1(-most))).upper();
  }
  std::unique_ptr<LossLine> on(double c) const override { return std::make_unique<SampledLaplacesLine>(x_, y_, atoms_, rate_, direction_, c); }
  double worst() const override { return worst_; }
  double spread() const override { return worst_ / 2; }

 private:
  Near x_;
  Near y_;
  Near rate_;
  Direction direction_;
  std::vector<Spot> atoms_;
  double worst_;
};

}  // namespace

SampledPair sampled_laplaces_losses(const Real& x, const Real& y, const std::vector<Atom>& atoms, const Real& rate) {
  return {std::make_shared<SampledLaplacesLoss>(x, y, atoms, rate, Direction::remove),
          std::make_shared<SampledLaplacesLoss>(x, y, atoms, rate, Direction::add)};
}

}  // namespace sotto
