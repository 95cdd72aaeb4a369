// Poisson sampling: r = 1 - q + q e^ℓ with ℓ the base's loss under Q, and M(s) = E_Q[r^β], β = s + 1 when the record is
// removed, β = -s when it is added. Since E_Q[r] = 1, M - 1 = E_Q[(r^β - 1) - β(r - 1)], in which nothing cancels.
#include <array>
#include <cmath>

#include "oscillation.hpp"
#include "quadrature.hpp"
#include "sotto/numerics/elementary.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using detail::infinity;
using detail::Near;
using detail::pi;
using detail::unit;

// u = log r and how far it moves when q and ℓ move by their relative and absolute room.
struct Point {
  double u;
  double room;  // |du|
};

Point log_ratio(Near q, double loss, double loss_room) {
  if (loss > 40) {
    const double rest = (1 - q.value) / q.value * std::exp(-loss);
    const double u = loss + std::log(q.value) + std::log1p(rest);
    return {u, loss_room + q.relative + 4 * unit * (loss + std::abs(std::log(q.value)) + 1)};
  }
  const double x = q.value * std::expm1(loss);
  const double r = 1 + x;
  const double inner = std::abs(x) / r;
  return {std::log1p(x), q.value * std::exp(loss) / r * loss_room + inner * (q.relative + 8 * unit) + 4 * unit * std::abs(std::log1p(x))};
}

// Points u with masses under Q, from which E_Q[r^β] is summed at a fixed real part p of β.
class Grid {
 public:
  Grid(double power, bool scaled) : power_(power), scaled_(scaled) {}

  // `mass_room` is relative.
  void add(Point point, double log_mass, double mass_room) {
    u_.push_back(point.u);
    tilted_.push_back(log_mass + power_ * point.u);
    if (scaled_) {
      scale_ = std::max(scale_, tilted_.back());
      room_.push_back(mass_room + unit * (32 + 8 * std::abs(log_mass)));
      point_room_.push_back(point.room + 8 * unit * std::abs(point.u));
      return;
    }
    const double mass = std::exp(log_mass);
    const double weight = std::exp(tilted_.back());
    weight_.push_back(weight);
    // e^(βu) - 1 - βu = [e^(pu) - 1 - pu] + e^(pu) (cos y - 1) + i [e^(pu) (sin y - y) + (e^(pu) - 1) y], y = tu
    const double tilt = power_ * point.u;
    still_ += tilt < 1 ? mass * exp_excess({tilt, 0}).re : weight - mass * (1 + tilt);
    drift_ += (tilt < 1 ? mass * std::expm1(tilt) : weight - mass) * point.u;
    first_ += mass * exp_excess({point.u, 0}).re;
    const double size = std::abs(point.u);
    rounding_ += std::max(weight, mass) * (size * size * (mass_room + 96 * unit) + 2 * size * point.room);
  }
  void settle() {
    if (!scaled_) return;
    for (std::size_t j = 0; j < u_.size(); ++j) {
      weight_.push_back(std::exp(tilted_[j] - scale_));
      flat_ += weight_[j] * (room_[j] + 8 * unit * std::abs(scale_));
      steep_ += weight_[j] * point_room_[j];
    }
  }
  [[nodiscard]] double scale() const { return scaled_ ? scale_ : 0; }
  [[nodiscard]] std::size_t size() const { return u_.size(); }

  // The mean of f(u) under the tilted masses, roughly.
  template <class F>
  [[nodiscard]] double mean(F f) const {
    double total = 0;
    double sum = 0;
    for (std::size_t j = 0; j < u_.size(); ++j) {
      total += weight_[j];
      sum += weight_[j] * f(u_[j]);
    }
    return sum / total;
  }

  // log M at β = p + it; `missing` bounds what the grid itself leaves out of e^-scale M.
  [[nodiscard]] Transform at(double t, double missing) const {
    if (!(missing < infinity)) return {{infinity, 0}, infinity};
    const double size = std::hypot(power_, t);
    if (scaled_) {
      Complex sum{0, 0};
      for (std::size_t j = 0; j < u_.size(); ++j) {
        const double y = t * u_[j];
        sum += weight_[j] * Complex{std::cos(y), std::sin(y)};
      }
      return detail::log_of_scaled(sum, scale_, missing + flat_ + size * steep_);
    }
    const Complex waves = detail::oscillation(weight_, u_, t);
    const Complex excess{still_ + waves.re - power_ * first_, t * drift_ + waves.im - t * first_};
    return detail::log_of_excess(excess, missing + (size * size + size) * rounding_);
  }

 private:
  double power_;
  bool scaled_;
  std::vector<double> u_, tilted_, weight_, room_, point_room_;
  double still_ = 0;
  double drift_ = 0;
  double first_ = 0;     // sum of mass (e^u - 1 - u)
  double rounding_ = 0;  // times |β|² + |β|
  double scale_ = -infinity;
  double flat_ = 0;
  double steep_ = 0;
};

double power_of(Direction direction, double c) { return direction == Direction::remove ? c + 1 : -c; }
// Im β for Im s = t.
double imaginary_of(Direction direction, double t) { return direction == Direction::remove ? t : -t; }

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

// --- Gaussian base: ℓ = μz - μ²/2, z standard normal under Q; the trapezoidal rule in z. ---

constexpr double root_two_pi = 2.5066282746310002;
constexpr double most_points = 50000;

class SampledGaussianLine : public LossLine {
 public:
  // `scaled`: M(c) is far from 1.
  SampledGaussianLine(Near mu, Near rate, Direction direction, double c, bool scaled)
      : mu_(mu), q_(rate), direction_(direction), c_(c), power_(power_of(direction, c)), grid_(power_, false), coarse_(power_, false) {
    // M(c) <= (1-q) + q e^(c(c+1)μ²/2) by convexity; for an added record M(c) <= (1-q)^-c
    lift_ = direction == Direction::remove ? log_sum(std::log1p(-q_.value), std::log(q_.value) + c * (c + 1) * mu.value * mu.value / 2)
                                           : power_ * std::log1p(-q_.value);
    scaled_ = scaled;
    coarse_ = Grid(power_, scaled_);
    // relative to M - 1, which is about β(β-1)/2 times the variance of r
    const double variance = q_.value * q_.value * std::expm1(std::min(mu.value * mu.value, 100.0));
    coarse_missing_ = fill(coarse_, 0, std::clamp(1e-15 * variance * c * (c + 1), 1e-200, 1e-13));
  }
  void reach(double top, double tolerance) override {
    grid_ = Grid(power_, scaled_);
    missing_ = fill(grid_, top, tolerance);
    top_ = top;
  }
  Transform at(double t) const override {
    if (t == 0) return coarse_.at(0, coarse_missing_);
    return grid_.at(imaginary_of(direction_, t), t <= top_ ? missing_ : infinity);
  }
  double work() const override { return static_cast<double>(grid_.size()); }
  // Move the path of integration to Im ℓ = a: |M(c+iτ)| <= ∫ |w(ℓ+ia)| |r(ℓ+ia)|^power e^(-τ arg r(ℓ+ia)) dℓ, which falls
  // with τ because arg r >= 0 there. (For an added record the path moves down, with the same outcome.)
  double ceiling(double t, Reach /*reach*/) const override {
    const double squared = mu_.value * mu_.value;
    // near the best a: a²/(2μ²) against t times the mean of arg r, which is about a times the mean of q e^ℓ/r
    if (std::isinf(coarse_missing_)) return infinity;
    const double a = std::clamp(t * coarse_.mean([&](double u) { return std::max(0.0, 1 - (1 - q_.value) * std::exp(-u)); }) * squared, 1e-6, 0.9);
    const double all = detail::top_of(coarse_.at(imaginary_of(direction_, 0), coarse_missing_));
    const double bound = direction_ == Direction::remove ? all : power_ * std::log1p(-q_.value);  // on the lines nearby
    const double half = 10;
    const double y = std::min(0.6, 8 * mu_.value);
    const double step = std::min(0.25, 2 * pi * y / (mu_.value * (45 + (a * a + y * y) / (2 * squared))));
    const double last = half + (direction_ == Direction::remove ? power_ * mu_.value : 0);
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    std::vector<double> logs;
    double scale = -infinity;
    for (double z = -half; z <= last; z += step) {
      const double loss = mu_.value * z - squared / 2;
      const double e = std::exp(std::min(loss, 600.0)) * q_.value;
      const double re = 1 - q_.value + e * cosine;
      const double im = e * sine;
      logs.push_back(-z * z / 2 + power_ * (std::log(re * re + im * im) / 2 + std::max(0.0, loss - 600)) - t * std::atan2(im, re));
      scale = std::max(scale, logs.back());
    }
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - scale);
    double total = scale + std::log(sum * step / root_two_pi);
    // the sum's own error: its integrand is analytic for |Im ℓ| <= y, and there at most e^(y²/(2μ²)) e^bound in the mean
    total = log_sum(total, std::log(2.1) + y * y / (2 * squared) + bound - 2 * pi * y / (mu_.value * step));
    total = log_sum(total, std::log(2.0) + std::max(0.0, bound) + detail::log_tail(half - step));
    if (direction_ == Direction::remove) {
      total = log_sum(total, c_ * std::log(2.0) + power_ * std::log(q_.value) + c_ * power_ * squared / 2 + detail::log_tail(half - step));
      total = log_sum(total, c_ * std::log(2.0) + detail::log_tail(last - step));
    }
    total += a * a / (2 * squared);
    return std::min(all, total + 256 * unit * (4 + std::abs(total) + last * last));
  }

 private:
  // Fills the grid for |Im s| <= top; returns a bound on what it leaves out, relative to e^(the grid's scale).
  double fill(Grid& grid, double top, double tolerance) const {
    const double m = mu_.value;
    const double q = q_.value;
    if (!(std::abs(power_) * m < 1000) || !(top < 1e9)) return infinity;  // beyond what the grid can hold
    const double size = std::hypot(power_, top) + 1;  // bounds |β| and |β| + 1
    const double log_tolerance = std::log(tolerance) - 1.5;
    // To the left |(r^β - 1) - β(r - 1)| <= max(1, (1-q)^-c) + 1 + |β|.
    const double left_level = std::log(2 + size) + (power_ < 0 ? power_ * std::log1p(-q) : 0);
    const double left = std::sqrt(2 * std::max(1.0, left_level - log_tolerance));  // P(Z > z) <= e^(-z²/2)
    // To the right r^(c+1) <= 2^c ((1-q)^(c+1) + q^(c+1) e^((c+1)ℓ)), and |β| r.
    const auto right_level = [&](double z) {
      double level = std::log(2 + size) + log_sum(detail::log_tail(z), std::log(q) + detail::log_tail(z - m));
      if (power_ > 0) {
        const double far = power_ * std::log(q) + c_ * power_ * m * m / 2 + detail::log_tail(z - power_ * m);
        level = log_sum(level, c_ * std::log(2.0) + log_sum(detail::log_tail(z), far));
      }
      return level;
    };
    double scale = 0;
    if (scaled_) {  // the largest term, found roughly: the cut is relative to it
      scale = -infinity;
      for (double z = -left; z < left + std::max(0.0, power_) * m; z += 0.25) {
        scale = std::max(scale, -z * z / 2 + power_ * log_ratio(q_, m * z - m * m / 2, 0).u);
      }
    }
    double right = 4;
    while (right_level(right) > log_tolerance + scale && right < 1e4) right += 1;
    if (right >= 1e4) return infinity;
    // The step: 2 N_a / (e^(2πa/(μ step)) - 1), N_a the mean size of the integrand on Im ℓ = a.
    double step = 0;
    double level = infinity;
    double a = 0;
    for (const double height : {0.05, 0.15, 0.4, 0.9, 1.5, 2.6}) {
      if (height > 1.55 && direction_ == Direction::add) break;
      const double here = log_mean_on(height, top, size) - scale;
      const double candidate = 2 * pi * height / (m * std::max(1.0, here - log_tolerance));
      if (candidate > step) {
        step = candidate;
        level = here;
        a = height;
      }
    }
    step = std::min(step, 0.5);
    if ((left + right) / step > most_points) return infinity;
    const double quadrature = std::exp(std::log(2.1) + level - 2 * pi * a / (m * step));
    const auto first = static_cast<std::int64_t>(std::floor(-left / step)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil(right / step)) + 1;
    const double log_step = std::log(step / root_two_pi);
    for (std::int64_t j = first; j <= last; ++j) {
      const double z = static_cast<double>(j) * step;
      const double room = (m * m + m * std::abs(z)) * (mu_.relative + 4 * unit);
      grid.add(log_ratio(q_, m * z - m * m / 2, room), log_step - z * z / 2, (8 + z * z) * unit);
    }
    grid.settle();
    const double cut = std::exp(left_level + detail::log_tail(left) - scale) + std::exp(right_level(right) - scale);
    return (quadrature + cut) * std::exp(scale - grid.scale()) * 1.01;
  }

  // An upper bound on log of the mean of |(r^β - 1) - β(r - 1)| on Im ℓ = a, for |Im s| <= top: cell by cell, every factor at
  // its largest (|r| <= r(Re ℓ), |r| >= 1 - q for a <= π/2, and arg r grows with Re ℓ).
  double log_mean_on(double a, double top, double size) const {
    const double m = mu_.value;
    const double q = q_.value;
    if (top == 0) return a * a / (2 * m * m) + log_sum(lift_, std::log(1 + 2 * size)) + 0.01;
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    const double width = 0.5;
    const double reference = lift_ + top * a;  // an upper bound on what is summed
    double total = 0;
    double largest = -infinity;
    for (double z = -9; z < 1e6; z += width) {
      const double loss = m * (z + width) - m * m / 2;
      const double e = q * std::exp(std::min(loss, 600.0));
      const double log_size = power_ > 0 ? std::log(1 - q + e) + std::max(0.0, loss - 600) : std::log1p(-q);
      const double arg = cosine > 0 && loss < 600 ? std::min(a, std::atan2(e * sine, 1 - q + e * cosine)) : a;
      const double value = power_ * log_size + top * arg;
      const double peak = z > 0 ? z : std::min(0.0, z + width);
      if (z == -9) total = std::exp(value + detail::log_tail(9) - reference);
      const double term = value - peak * peak / 2;
      total += width / root_two_pi * std::exp(term - reference);
      largest = std::max(largest, term);
      // beyond both peaks the terms fall faster than they did
      if (z > 9 && z > std::max(power_, 1.0) * m && term < largest - 45) break;
    }
    return a * a / (2 * m * m) + log_sum(reference + std::log(total + 1e-280), std::log(1 + 2 * size)) + 0.01;
  }

  Near mu_;
  Near q_;
  Direction direction_;
  double c_;
  double power_;
  double lift_;  // bounds log M(c)
  bool scaled_ = false;
  Grid grid_;
  Grid coarse_;
  double top_ = 0;
  double missing_ = infinity;
  double coarse_missing_ = 0;
};

class SampledGaussianLoss : public Loss {
 public:
  SampledGaussianLoss(const Real& mu, const Real& rate, Direction direction) : mu_(mu), rate_(rate), direction_(direction) {
    if (direction == Direction::add) worst_ = (-log1p(-rate)).upper();
  }
  std::unique_ptr<LossLine> on(double c) const override { return std::make_unique<SampledGaussianLine>(mu_, rate_, direction_, c, cumulant(c) > 0.5); }
  double cumulant(double c) const override {
    // the trapezoidal rule as in the line, unbounded errors
    const double m = mu_.value;
    const double power = power_of(direction_, c);
    if (!(std::abs(power) * m < 1000)) return infinity;
    const double step = std::min(0.4, 0.5 / m);
    const double last = 9 + std::max(0.0, power) * m;
    const bool scaled = direction_ == Direction::remove && (c + 1) * std::log(rate_.value) + c * (c + 1) * m * m / 2 > 3;
    double sum = 0;
    double scale = 0;
    for (double z = -9; z <= last; z += step) {
      const double u = std::log1p(rate_.value * std::expm1(std::min(700.0, m * z - m * m / 2)));
      const double tilt = power * u;
      if (scaled) {
        const double log = tilt - z * z / 2;
        if (log > scale) {
          sum *= std::exp(scale - log);
          scale = log;
        }
        sum += std::exp(log - scale);
      } else {
        const double mass = std::exp(-z * z / 2);
        const double rise = tilt < 1 ? mass * exp_excess({tilt, 0}).re : std::exp(tilt - z * z / 2) - mass * (1 + tilt);
        sum += rise - power * mass * exp_excess({u, 0}).re;
      }
    }
    sum *= step / root_two_pi;
    return scaled ? scale + std::log(sum) : std::log1p(sum);
  }
  double worst() const override { return worst_; }
  double spread() const override { return rate_.value * std::sqrt(std::expm1(std::min(mu_.value * mu_.value, 30.0))); }

 private:
  Near mu_;
  Near rate_;
  Direction direction_;
  double worst_ = infinity;
};

// --- Laplace base: ℓ = -x with mass 1/2, ℓ = x with mass e^-x/2, density e^(-(ℓ+x)/2)/4 between; Gauss-Legendre. ---

class SampledLaplaceLine : public LossLine {
 public:
  SampledLaplaceLine(Near x, Near rate, Direction direction, double c)
      : x_(x), q_(rate), direction_(direction), c_(c), power_(power_of(direction, c)), grid_(power_, false) {
    scaled_ = direction == Direction::remove && power_ * log_ratio(q_, x.value, 0).u > 20;
    reach(0, 1e-13);
  }
  void reach(double top, double tolerance) override {
    const double x = x_.value;
    const double size = std::hypot(power_, top) + 1;
    const double target = std::log(tolerance);
    // the fewest panels with which the rule is good enough
    for (int panels = 1;; panels *= 2) {
      const double half = x / panels;
      double error = -infinity;
      for (int p = 0; p < panels; ++p) error = log_sum(error, panel_error(-x + (2 * p + 1) * half, half, top, size));
      if (error > target + scale_guess()) {
        if (panels < 1024) continue;
        missing_ = infinity;
        return;
      }
      grid_ = Grid(power_, scaled_);
      const double room = x * (x_.relative + 4 * unit);
      grid_.add(log_ratio(q_, -x, room), -std::log(2.0), 8 * unit);
      grid_.add(log_ratio(q_, x, room), -x - std::log(2.0), (8 + x) * unit + room);
      const detail::GaussRule& rule = detail::gauss_rule();
      for (int p = 0; p < panels; ++p) {
        for (std::size_t i = 0; i < detail::gauss_points; ++i) {
          const double loss = -x + half * (2 * p + 1 + rule.node[i]);
          grid_.add(log_ratio(q_, loss, room), std::log(half * rule.weight[i] / 4) - (loss + x) / 2, (32 + 4 * x) * unit + 2 * room);
        }
      }
      grid_.settle();
      missing_ = std::exp(error - grid_.scale());
      return;
    }
  }
  Transform at(double t) const override { return grid_.at(imaginary_of(direction_, t), missing_); }
  double work() const override { return static_cast<double>(grid_.size()); }
  // The atoms do not fall; the density, by one integration by parts, is at most (G(-x) + G(x) + its variation)/τ with
  // G = density r^(power+1) e^-ℓ/q. log G is convex in ℓ for power >= -1, and G falls for smaller powers.
  double ceiling(double t, Reach /*reach*/) const override {
    const double all = detail::top_of(at(0));
    if (t <= 0) return all;
    const double x = x_.value;
    const double low = log_ratio(q_, -x, 0).u;
    const double high = log_ratio(q_, x, 0).u;
    const double atoms = log_sum(-std::log(2.0) + power_ * low, -x - std::log(2.0) + power_ * high);
    const double left = -std::log(4.0) + (power_ + 1) * low + x - std::log(q_.value);
    const double right = -std::log(4.0) - x + (power_ + 1) * high - x - std::log(q_.value);
    const double ends = std::log(2.0) + log_sum(left, right) - std::log(t);
    const double sum = log_sum(atoms, ends);
    return std::min(all, sum + 256 * unit * (4 + std::abs(sum) + x * (1 + std::abs(power_)) * (1 + x_.relative / unit)));
  }

 private:
  [[nodiscard]] double scale_guess() const { return scaled_ ? -x_.value - 1 + power_ * log_ratio(q_, x_.value, 0).u : 0; }
  [[nodiscard]] double panel_error(double centre, double half, double top, double size) const {
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0}) {
      const detail::Ellipse region = detail::ellipse(half, rho);
      if (region.height > 1.5) break;
      const double e = q_.value * std::exp(std::min(600.0, centre + region.reach));
      const double arg = std::min(region.height, e * std::sin(region.height) / (1 - q_.value + e * std::cos(region.height)));
      const double log_size = (power_ > 0 ? power_ * std::log(1 - q_.value + e) : power_ * std::log1p(-q_.value)) + top * arg;
      const double whole = log_sum(std::max(log_size, 0.0), std::log(1 + size * (q_.value + e)));
      const double density = -std::log(4.0) - (centre - region.reach + x_.value) / 2;
      best = std::min(best, detail::log_gauss_error(half, rho, whole + density));
    }
    return best;
  }
  Near x_;
  Near q_;
  Direction direction_;
  double c_;
  double power_;
  bool scaled_ = false;
  Grid grid_;
  double missing_ = 0;
};

class SampledLaplaceLoss : public Loss {
 public:
  SampledLaplaceLoss(const Real& x, const Real& rate, Direction direction) : x_(x), rate_(rate), direction_(direction) {
    worst_ = direction == Direction::remove ? log1p(rate * expm1(x)).upper() : (-log1p(rate * expm1(-x))).upper();
  }
  std::unique_ptr<LossLine> on(double c) const override { return std::make_unique<SampledLaplaceLine>(x_, rate_, direction_, c); }
  double worst() const override { return worst_; }
  double spread() const override { return worst_; }

 private:
  Near x_;
  Near rate_;
  Direction direction_;
  double worst_;
};

// --- Finitely many atoms. ---

struct NearAtom {
  Near loss;
  Near mass;
};

class SampledAtomsLine : public LossLine {
 public:
  SampledAtomsLine(const std::vector<NearAtom>& atoms, Near rate, Direction direction, double c, double spacing)
      : direction_(direction), c_(c), spacing_(spacing), count_(atoms.size()), grid_(power_of(direction, c), false) {
    double largest = 0;
    for (const NearAtom& atom : atoms) largest = std::max(largest, power_of(direction, c) * log_ratio(rate, atom.loss.value, 0).u);
    grid_ = Grid(power_of(direction, c), largest > 20);
    for (const NearAtom& atom : atoms) {
      const double loss = atom.loss.value;
      grid_.add(log_ratio(rate, loss, std::abs(loss) * atom.loss.relative), std::log(atom.mass.value), atom.mass.relative);
    }
    grid_.settle();
  }
  void reach(double /*top*/, double /*tolerance*/) override {}
  Transform at(double t) const override { return grid_.at(imaginary_of(direction_, t), 0); }
  double work() const override { return static_cast<double>(count_); }
  double ceiling(double t, Reach reach) const override {
    const double all = detail::top_of(at(0));
    // two atoms: |M|² is linear in the cosine of t times their distance, and falls over half a period
    if (reach == Reach::half_period && count_ == 2) return std::min(all, detail::top_of(at(std::min(t, pi / spacing_))));
    return all;
  }

 private:
  Direction direction_;
  double c_;
  double spacing_;
  std::size_t count_;
  Grid grid_;
};

class SampledAtomsLoss : public Loss {
 public:
  SampledAtomsLoss(const std::vector<Atom>& base, const Real& rate, Direction direction) : rate_(rate), direction_(direction) {
    double least = infinity;
    double room = 0;
    for (const Atom& atom : base) {
      atoms_.push_back({Near(atom.loss), Near(atom.mass)});
      const Real u = log1p(rate * expm1(atom.loss));
      worst_ = std::max(worst_, (direction == Direction::remove ? u : -u).upper());
      least = std::min(least, (direction == Direction::remove ? u : -u).estimate());
      room = std::max(room, u.upper() - u.lower());
    }
    if (base.size() == 2) lattice_ = Lattice{worst_, worst_ - least, 8 * unit, 2 * room};
  }
  std::unique_ptr<LossLine> on(double c) const override {
    return std::make_unique<SampledAtomsLine>(atoms_, rate_, direction_, c, lattice_ ? lattice_->spacing : 1);
  }
  double worst() const override { return worst_; }
  std::optional<Lattice> lattice() const override { return lattice_; }
  double spread() const override { return worst_; }

 private:
  std::vector<NearAtom> atoms_;
  Near rate_;
  Direction direction_;
  double worst_ = 0;
  std::optional<Lattice> lattice_;
};

}  // namespace

LossPtr sampled_gaussian_loss(const Real& mu, const Real& rate, Direction direction) {
  return std::make_shared<SampledGaussianLoss>(mu, rate, direction);
}
LossPtr sampled_laplace_loss(const Real& x, const Real& rate, Direction direction) {
  return std::make_shared<SampledLaplaceLoss>(x, rate, direction);
}
LossPtr sampled_atoms_loss(const std::vector<Atom>& base, const Real& rate, Direction direction) {
  return std::make_shared<SampledAtomsLoss>(base, rate, direction);
}

}  // namespace sotto
