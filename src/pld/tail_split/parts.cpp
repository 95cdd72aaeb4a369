// Bounds and sums for the parts of a sampled Gaussian step (parts.hpp).
#include "tail_split/parts.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

struct Moving {
  Complex heavy, light, u;
};

// Γ_n(x) and 1 - Γ_n(x) with absolute errors, and |x Γ_n'(x)|.
struct Weight {
  Complex low, high;
  double low_error, high_error;
  double steep;
};

constexpr double tiniest = 1e-320;  // more than what is lost where a weight is no double; powers that it meets may be large

Weight weight(Complex x, int n) {
  const double size = magnitude(x);
  if (x.re > 700) {  // at most n |x|^(n-1)/(n-1)! e^(-Re x), and |x Γ'| = |x|^n/(n-1)! e^(-Re x)
    const double bound = 2 * std::exp(n * std::log(size) - x.re - std::lgamma(static_cast<double>(n))) + tiniest;
    return {{0, 0}, {1, 0}, bound, bound, bound};
  }
  const Complex fall = exp(Complex{-x.re, -x.im});
  const double scale = std::exp(-x.re);
  Complex term{1, 0};  // x^i/i!, to 6i units
  double term_size = 1;
  Complex sum{0, 0};
  double total = 0;
  for (int i = 0; i < n; ++i) {
    sum += term;
    total += term_size * (24 + 6 * i + n);
    term = (1.0 / (i + 1)) * (term * x);
    term_size *= size / (i + 1);
  }
  const double steep = 1.01 * n * term_size * scale;
  if (size > 0.7 * n) {
    const Complex low = fall * sum;
    const double error = scale * total * unit;
    return {low, Complex{1, 0} - low, error, error + 4 * unit * (1 + magnitude(low)), steep};
  }
  // 1 - Γ_n(x) = e^-x x^n/n! (1 + x/(n+1) + x²/((n+1)(n+2)) + …)
  sum = {0, 0};
  total = 0;
  for (int i = n; i < n + 400; ++i) {
    sum += term;
    total += term_size * (24 + 7 * i);
    term = (1.0 / (i + 1)) * (term * x);
    term_size *= size / (i + 1);
    if (term_size <= 1e-19 * total) break;
  }
  const Complex high = fall * sum;
  const double error = scale * total * unit + 1e-300;
  return {Complex{1, 0} - high, high, error + 4 * unit * (1 + abs(high)), error, steep};
}

// log Γ_n(x) and log(1 - Γ_n(x)) for real x, from above.
struct LogShares {
  double low, high;
};

LogShares log_shares(double x, int n) {
  const bool few = x < n;  // then 1 - Γ has the shorter series
  const double top = few ? n : n - 1;
  double sum = 0;
  double term = 1;  // over x^top/top!
  for (double i = top; few ? i < top + 2000 : i >= 0; i += few ? 1 : -1) {
    sum += term;
    term *= few ? x / (i + 1) : i / x;
    if (term < 1e-12 * sum) break;
  }
  const double log = std::min(0.0, top * std::log(x + 1e-300) - x - std::lgamma(top + 1) + std::log(sum) + 1e-9);
  const double other = std::min(0.0, std::log1p(-std::min(1 - 1e-12, std::exp(log) * (1 - 4e-9))) + 1e-9);
  return few ? LogShares{other, log} : LogShares{log, other};
}

// Upper bounds on log |Γ(v²)| and log |1 - Γ(v²)| for log |v| from `least` to `most`, cos of the angle at least `cosine`:
// |Γ(x)| <= Γ(|x|) e^(|x| (1 - cos)), and the same for 1 - Γ. Where that falls, it is smaller still for all larger v in the same ratio.
LogShares above(double log_least, double log_most, double cosine, int n) {
  const double large = std::log(1e6);
  double least = std::exp(std::min(log_least, log_least - log_most + large));
  double most = std::exp(std::min(log_most, large));
  if (log_most > large && !(least * least > (1 - cosine) * most * most + n)) return {infinity, infinity};
  least *= least;
  most *= most;
  const double lift = (1 - cosine) * most;
  LogShares bound{log_shares(least, n).low + lift, log_shares(most, n).high + lift};
  bound.high = std::min(bound.high, log_sum(0, bound.low));
  return bound;
}

// Past y all bounds fall: with x = θ²y², log of Γ's bound has the slope 2(n-1) - 2x cos at most, log r^(p+2) that of (p+2) y/(1-q+y).
bool falls_at(const Law& distribution, const Split& split, double cosine, double power, double log_y) {
  const double x = std::exp(std::min(600.0, 2 * (std::min(split.far, split.base_theta()) + log_y)));
  const double rise = std::min(1.0, 1.01 * std::exp(std::min(10.0, log_y)) / (1 - distribution.q.value));
  return 2 * x * cosine >= 2 * split.order + (std::max(0.0, power) + 2) * rise;
}

constexpr double wave_room = 256 * unit;  // of E below relative to min(2, |tu|), of G to min(|tu|², 2 + |tu|)
constexpr double log_tiny = -620;         // of weights that are left out
constexpr double wider = 1e-6;            // the parameters' room and rounding, amply
constexpr double least = 1e-280;          // more than all that underflows

}  // namespace

Cells::Cells(const Law& distribution, const Split& split, double angle, double cosine, double power, Ends ends) {
  const double m = distribution.mu.value;
  const double q = distribution.q.value;
  const double width = std::min(0.25, 0.1 / m * split.angle());
  const double left = ends.left;
  const double cosine_of = std::cos(angle);
  const double sine_of = std::sin(angle);
  lift_ = angle * angle / (2 * m * m) * (1 + wider) + 1e-6;
  floor_ = std::log1p(-q * (1 + wider));
  const double off = 1e-14 + 4 * (distribution.q.relative + unit) * q / (1 - q);
  const double log_q = std::log(q);
  const auto y_at = [&](double x) { return log_q + m * x - m * m / 2; };  // its logarithm
  const auto log_r = [&](double log_y) { return log_y > 40 ? log_y + std::log1p((1 - q) * std::exp(-log_y)) : std::log1p(std::exp(log_y) - q); };
  const auto add = [&](double y0, double y1, double log_mass, bool far_only) {
    spend(600);
    const auto bounds = [&](double theta) { return above(theta + y0, theta + y1, cosine, split.order); };
    const LogShares near = bounds(split.base_theta());
    const LogShares far = split.has_bulk() ? bounds(split.far) : near;
    const double rest = (1 - q) * std::exp(-std::max(y0, -600.0));  // (1 - q)/y
    const double arg = std::atan2(sine_of, rest + cosine_of) * (1 - 4 * wider);
    const double log_rise = angle == 0 ? std::max(y1, log_q) : log_sum(log_sum(y1, y1), log_q + std::log(2.0));
    double middle = std::min(log_sum(near.high, far.high), log_sum(near.low, far.low));
    if (angle == 0) middle = std::min(middle, std::min(near.high, far.low));
    if (!split.has_bulk() || far_only) middle = -infinity;
    const double log_plain = log_sum(far_only ? -infinity : log_mass + near.low, log_mass + near.high);
    cells_.push_back({far_only ? -infinity : log_mass + near.low, log_mass + middle, log_mass + far.high, std::exp(log_plain),
                      std::exp(log_plain + log_rise), far_only ? 0 : log_r(y1) + off * (1 + std::abs(y1)), log_r(y0) - off * (1 + std::max(0.0, y0)),
                      log_rise, std::max(0.0, arg)});
  };
  add(-infinity, y_at(-left) + wider, distribution.noise->log_left(left - 0.5), false);
  for (double x = -left; x < ends.right; x += width) {
    const double log_mass = std::log(width) + distribution.noise->log_above(x, x + width);
    add(y_at(x) - wider, y_at(x + width) + wider, log_mass, x >= ends.near);
  }
  const double y = y_at(ends.near) - wider;
  log_outer_ = std::log(8.0) + distribution.noise->log_right(ends.right - 0.5);
  outer_rise_ = 8 * q * std::exp(distribution.noise->log_right_raised(ends.right - 0.5));
  add(y, y, distribution.noise->log_right(ends.near - 0.5), false);
  Cell& last = cells_.back();
  last.plain = std::exp(last.log_base);  // the complement and the far part are beyond the right end
  last.plain_rise = std::exp(last.log_base + last.log_rise);
  last.log_far = -infinity;
  falls_ = falls_at(distribution, split, cosine, power, y);
}

double Cells::middle(double power, double t) const {
  double sum = least;
  for (const Cell& cell : cells_) sum += std::exp(cell.log_middle + power_of(cell, power) - t * cell.arg);
  return lift_ + std::log(sum) + 1e-9;
}

double Cells::base(double power, double size) const {
  double sum = least + (std::exp(log_outer_) + outer_rise_) * (1 + size);
  for (const Cell& cell : cells_) sum += base_in(cell, power, size);
  return lift_ + std::log(sum) + 1e-9;
}
double Cells::base_power(double power) const {
  double sum = least;
  for (const Cell& cell : cells_) sum += std::exp(cell.log_base + power_of(cell, power));
  return lift_ + std::log(sum) + 1e-9;
}

double Cells::far() const {
  double top = log_outer_;
  for (const Cell& cell : cells_) top = std::max(top, cell.log_far);
  double sum = std::exp(log_outer_ - top);
  for (const Cell& cell : cells_) sum += std::exp(cell.log_far - top);
  return lift_ + top + std::log(sum) + 1e-9;
}
double Cells::far_rise() const {
  double sum = least + outer_rise_ + std::exp(log_outer_);
  for (const Cell& cell : cells_) sum += std::exp(cell.log_far + cell.log_rise);
  return lift_ + std::log(sum) + 1e-9;
}

double Cells::far_below(double power) const {
  double log = log_outer_ - power * cells_.back().log_least;
  double top = log;
  for (const Cell& cell : cells_) top = std::max(top, cell.log_far - power * cell.log_least);
  double sum = std::exp(log - top);
  for (const Cell& cell : cells_) sum += std::exp(cell.log_far - power * cell.log_least - top);
  return top + std::log(sum) + 1e-9;
}

double Cells::edge_middle(double power) const {
  double sum = least;
  for (const Cell* cell : {&cells_.front(), &cells_.back()}) sum += std::exp(cell->log_middle + power_of(*cell, power));
  return std::exp(lift_ + 1e-9) * sum;
}
double Cells::edge_base(double power, double size) const {
  double sum = least + (std::exp(log_outer_) + outer_rise_) * (1 + size);
  for (const Cell* cell : {&cells_.front(), &cells_.back()}) sum += base_in(*cell, power, size);
  return std::exp(lift_ + 1e-9) * sum;
}
double Cells::edge_far() const { return lift_ + log_sum(log_outer_, cells_.front().log_far) + 1e-9; }
double Cells::edge_far_rise() const {
  const Cell& first = cells_.front();
  return std::exp(lift_ + 1e-9) * (least + outer_rise_ + std::exp(log_outer_) + std::exp(first.log_far + first.log_rise));
}
double Cells::base_in(const Cell& cell, double power, double size) const {
  return std::exp(cell.log_base + power_of(cell, power)) + cell.plain + size * cell.plain_rise;
}

Ends ends_for(const Law& distribution, const Split& split, double cosine, double any_power, double depth) {
  const double power = std::max(0.0, any_power);
  const double m = distribution.mu.value;
  const double q = distribution.q.value;
  const auto y_at = [&](double z) { return std::log(q) + m * z - m * m / 2; };  // its logarithm
  const auto z_at = [&](double log_y) { return (log_y - std::log(q) + m * m / 2) / m; };
  const double log_factorial = std::lgamma(static_cast<double>(split.order));
  const auto size = [&](double slope, double z) {  // log of the size of Γ(θ²y²) r^p φ there
    const double log_here = 2 * (split.far + y_at(z));
    const double here = std::exp(std::min(600.0, log_here));
    return std::min(0.0, (split.order - 1) * log_here - here * slope - log_factorial) + power * log_one_plus(y_at(z)) +
           distribution.noise->log_near(z);
  };
  const double move = 0.25 / std::max(1.0, m);
  const double beside = distribution.noise->beside();
  double x = std::max(-4 - beside, z_at(split.place(split.far)));
  double top = -infinity;  // of the middle on the real line
  for (double z = split.has_bulk() ? z_at(split.place(split.bulk)) : std::min(0.0, x); z < x + 2 / m; z += move) top = std::max(top, size(1, z));
  // the middle is cut relative to itself, the base alone relative to one step
  const double enough = (split.has_bulk() ? top : std::max(0.0, top) - std::log(distribution.count)) - depth - 8;
  while ((!falls_at(distribution, split, cosine, power, y_at(x) - 0.01) || size(cosine, x) + split.order * std::log(1 / cosine) > enough) && x < 1e4)
    x += move;
  const double far = std::max(0.0, z_at(split.place(split.far)) - m - beside);
  return {x, std::max(x, m + beside + std::sqrt(far * far + 2 * depth) + 1),
          beside + std::sqrt(2 * (depth + std::log(distribution.count) + 4 - std::min(0.0, any_power) * -std::log1p(-q)))};
}

Points::Points(const Law& distribution, const Split& split, double b, double half, double power, double size, double depth, double about)
    : ends_(ends_for(distribution, split, std::cos(2 * distribution.mu.value * (b + half)), power, depth + 10)),
      bound_(distribution, split, distribution.mu.value * (b + half), std::cos(2 * distribution.mu.value * (b + half)), power, ends_) {
  const double m = distribution.mu.value;
  const double q = distribution.q.value;
  const double log_q = std::log(q);
  const double right = ends_.right;
  const double left = ends_.left;
  if (!bound_.falls()) return;
  // the step that the errors ask for: each channel against its size on the real line
  const Cells plain(distribution, split, 0, 1, power, ends_);
  double need = bound_.base(power, size) + std::log(distribution.count);
  if (split.has_bulk()) need = std::max(need, bound_.middle(power, 0) - about);
  if (b == 0) need = std::max({need, bound_.far() - plain.far() + 6, bound_.far_rise() - plain.far_rise() + 6});  // its cells are rough
  if (!std::isfinite(need)) return;
  const double step = std::min(0.5, 2 * pi * half / (std::max(1.0, need + depth)));
  const double turns = 2 * pi * half / step;
  log_damping_ = std::log(2.0) - turns - std::log1p(-std::exp(-turns)) + 1e-9;
  if ((left + right) / step > 200000) return;
  const auto first = static_cast<std::int64_t>(std::floor(-left / step));
  const auto last = static_cast<std::int64_t>(std::ceil(right / step));
  spend((300 + 30.0 * split.order) * static_cast<double>(last - first + 1));
  points_.reserve(static_cast<std::size_t>(last - first + 1));
  for (std::int64_t j = first; j <= last; ++j) {
    const double x = static_cast<double>(j) * step;
    const BaseNoise::Value noise = distribution.noise->at(x, b);
    Point point;
    point.log = std::log(step) + noise.log;
    point.mass = std::exp(point.log);
    const Complex w = noise.density;
    const double w_room = noise.error_bound + unit * (16 + 4 * std::abs(point.log));
    const double mass = magnitude(w);
    const Complex log_y{log_q + m * x - m * m / 2, m * b};
    const bool large = log_y.re > 40;
    const Complex y = large ? Complex{0, 0} : exp(log_y);
    const Complex rise{y.re - q, y.im};
    const Complex back = large ? (1 - q) * exp(Complex{-log_y.re, -log_y.im}) : Complex{0, 0};
    point.u = large ? log_y + log1p(back) : log1p(rise);
    // r moves by this much of itself, as ℓ and q do
    const double loss_error = (m * m + m * std::hypot(x, b)) * (distribution.mu.relative + 8 * unit) + 16 * unit * (1 + std::abs(log_q));
    const double size_r = large ? 1 : magnitude(Complex{1 + rise.re, rise.im});
    const double share_y = large ? 1.01 : magnitude(y) / size_r;
    const double share_rise = large ? 1.01 : magnitude(rise) / size_r;
    const double moved = share_y * loss_error + share_rise * (distribution.q.relative + 16 * unit);
    point.u_error = moved + 16 * unit * (magnitude(point.u) + share_rise);
    // r - 1 times the mass
    point.rise = large ? exp(Complex{point.log + point.u.re, point.u.im}) - Complex{point.mass, 0} : point.mass * rise;
    point.rise_error = (large ? std::exp(point.log + point.u.re) : point.mass * size_r) *
                       (moved + unit * share_rise * (16 + 4 * std::abs(point.log) + 4 * magnitude(point.u)));
    // the weights are functions of z as written, whatever μ and q are; x is off by this much, x Γ' = e^-x x^n/(n-1)!
    const double x_room = unit * (64 + 8 * std::abs(m * x) + 8 * m * m + 8 * std::abs(log_q));
    const auto weigh = [&](double log_theta) {
      const Complex log_v{log_theta + log_y.re, log_y.im};
      if (2 * split.order * log_v.re < log_tiny) return Weight{{1, 0}, {0, 0}, 1e-270, 1e-270, 0};
      // beyond all doubles: as if at a smaller v, which is as good as 0 already
      const Complex v = log_v.re < 230 ? exp(log_v) : Complex{0, 0};
      Weight one = log_v.re < 230 ? weight(v * v, split.order) : Weight{{0, 0}, {1, 0}, tiniest, tiniest, tiniest};
      one.low_error += one.steep * x_room;
      one.high_error += one.steep * x_room;
      return one;
    };
    const Weight far = weigh(split.far);
    // |1 - Γ(x)| <= |x|^n/n! e^(|x| - Re x)
    const double log_far = 2 * split.order * (split.far + log_y.re);
    point.log_far = log_far < log_tiny ? log_far + 1 : -infinity;
    const Weight base = split.has_bulk() ? weigh(split.bulk) : far;
    const auto scaled = [&](Complex value, double error_bound) {
      return std::pair{w * value, magnitude(value) * w_room + (mass + w_room) * (error_bound + 4 * unit * magnitude(value))};
    };
    std::tie(point.base, point.base_error_bound) = scaled(base.low, base.low_error);
    std::tie(point.complement, point.complement_error) = scaled(base.high, base.high_error);
    std::tie(point.far, point.far_error) = scaled(far.high, far.high_error);
    if (split.has_bulk()) {  // Γ(θ₂²y²) - Γ(θ₁²y²), from the side on which both are small
      const bool high = base.high_error + far.high_error < base.low_error + far.low_error;
      std::tie(point.middle, point.middle_error_bound) =
          high ? scaled(base.high - far.high, base.high_error + far.high_error) : scaled(far.low - base.low, far.low_error + base.low_error);
    } else {
      point.middle = {0, 0};
      point.middle_error_bound = 0;
    }
    if (x > ends_.near) {
      point.base = point.middle = {0, 0};
      point.base_error_bound = point.middle_error_bound = 0;
    }
    points_.push_back(point);
  }
}

std::size_t Points::moving() const {
  return static_cast<std::size_t>(std::count_if(points_.begin(), points_.end(), [](const Point& point) { return magnitude(point.u) > 1e-12; }));
}

Points::Value Points::far_mass(double raised) const {
  double sum = 0;
  double error = std::exp(raised + bound_.edge_far()) + std::exp(raised + log_damping_ + bound_.far());
  for (const Point& point : points_) {
    if (point.log_far > -infinity) {
      error += std::exp(raised + point.log + point.log_far);
      continue;
    }
    const double mass = std::exp(raised + point.log);
    sum += point.far.re * mass;
    error += mass * (point.far_error + magnitude(point.far) * unit * static_cast<double>(points_.size() + 16) * (1 + 0.25 * std::abs(raised)));
  }
  return {sum, error * (1 + 1e-9)};
}

Points::Value Points::far_rise() const {
  double sum = 0;
  double error = bound_.edge_far_rise() + std::exp(log_damping_ + bound_.far_rise());
  for (const Point& point : points_) {
    sum += (point.far * point.rise).re;
    error += point.far_error * magnitude(point.rise) +
             magnitude(point.far) * (point.rise_error + magnitude(point.rise) * unit * static_cast<double>(8 + points_.size()));
  }
  return {sum, error * (1 + 1e-9)};
}

// `powered` is |r^p| times the mass.
void Points::Errors::add(const Point& point, double powered, double p, double many) {
  const double size = magnitude(point.u);
  const double most = std::max(point.mass, powered);
  const double rise = magnitude(point.rise);
  const double whole = magnitude(point.base);
  const double own = point.base_error_bound + whole * (wave_room + many + 128 * unit);
  if (size * (std::abs(p) + 1) < 0.5) {
    square += most * (own * size * size + 2 * whole * size * point.u_error);
  } else {
    flat += most * 3 * own;
    steep += 2 * own * (most * size + rise) + 2 * most * whole * point.u_error;
  }
  const double rest = magnitude(point.complement);
  fixed += point.mass * (point.complement_error + rest * (many + 8 * unit));
  fixed_steep += point.complement_error * rise + rest * (point.rise_error + rise * (many + 16 * unit));
  const double part = magnitude(point.middle);
  middle_flat += powered * (point.middle_error_bound + part * (wave_room + many + 64 * unit + std::abs(p) * (point.u_error + 8 * unit * size)));
  middle_steep += powered * part * (point.u_error + 64 * unit * size);
}

// What the rule and the ends leave out.
Points::Errors Points::missing(double p) const {
  Errors errors;
  errors.middle_flat = bound_.edge_middle(p) + std::exp(log_damping_ + bound_.middle(p, 0));
  errors.fixed = bound_.edge_base(p, 0) + std::exp(log_damping_ + bound_.base(p, 0));
  errors.fixed_steep = bound_.edge_base(p, 1) + std::exp(log_damping_ + bound_.base(p, 1)) - errors.fixed * (1 - 1e-9);
  return errors;
}

Points::Node Points::Errors::of(Complex base, Complex middle, double p, double t) const {
  const double size = std::hypot(p, t);
  const double waves = (size * size + size) * square + flat + size * steep;
  return {base, (waves + fixed + size * fixed_steep + 16 * unit * abs(base)) * (1 + 1e-9), middle, (middle_flat + t * middle_steep) * (1 + 1e-9)};
}

Points::Node Points::at(double p) const {
  spend(200 * static_cast<double>(points_.size()));
  const double many = static_cast<double>(points_.size()) * unit;
  Errors errors = missing(p);
  double base = 0;
  double middle = 0;
  for (const Point& point : points_) {
    const bool counts = point.base.re != 0 || point.base_error_bound != 0 || point.middle.re != 0;
    const double u = counts ? point.u.re : 0;
    const double powered = std::exp(point.log + p * u);
    // e^(pu) - 1 - p(r - 1), times the mass
    const double excess =
        u * (std::abs(p) + 1) < 0.5 ? point.mass * (exp_excess(p * u) - p * exp_excess(u)) : powered - point.mass - p * point.rise.re;
    base += point.base.re * excess - point.complement.re * (point.mass + p * point.rise.re);
    middle += point.middle.re * powered;
    errors.add(point, powered, p, many);
  }
  return errors.of({base, 0}, {middle, 0}, p, 0);
}

// e^(βu) - 1 - β(r - 1) = [e^(pu) - 1 - p(r - 1)] + it [u e^(pu) - (r - 1)] + e^(pu) G, G = e^(itu) - 1 - itu. From node to node
// E = e^(itu) - 1 and G are moved on by E' = E + F + EF, G' = G + (F - ihu) + EF with F = e^(ihu) - 1, and made anew every so often.
std::vector<Points::Node> Points::nodes(double p, double step, std::size_t count) const {
  constexpr std::size_t renewed = 32;
  const double many = static_cast<double>(points_.size()) * unit;
  Errors errors = missing(p);
  Complex still{0, 0};  // [e^(pu) - 1 - p(r - 1)], and the complement's mass
  Complex drift{0, 0};
  std::vector<Moving> all;
  for (const Point& point : points_) {
    const bool counts = magnitude(point.base) + point.base_error_bound + magnitude(point.middle) + point.middle_error_bound > 0;
    const Complex u = counts ? point.u : Complex{0, 0};
    const Complex powered = exp(Complex{point.log + p * u.re, p * u.im});
    // times the mass: e^(pu) - 1 - p(r - 1), and u e^(pu) - (r - 1)
    Complex excess;
    Complex turn;
    if (magnitude(u) * (std::abs(p) + 1) < 0.5) {
      const Complex second = exp_excess(u);
      const Complex tilt = p * u;
      const Complex first = exp_excess(tilt);
      excess = point.mass * (first - p * second);
      turn = point.mass * (u * (first + tilt) - second);
    } else {
      excess = powered - Complex{point.mass, 0} - p * point.rise;
      turn = u * powered - point.rise;
    }
    still += point.base * excess - point.mass * point.complement - p * (point.complement * point.rise);
    drift += point.base * turn - point.complement * point.rise;
    errors.add(point, magnitude(powered) * (1 + 8 * unit), p, many);
    if (counts) all.push_back({point.base * powered, point.middle * powered, u});
  }
  // most points hardly move, and have next to nothing in the middle: they are left out
  double top = 0;
  for (const Moving& one : all) top = std::max(top, magnitude(one.light));
  std::vector<Complex> heavy, light, turned, excesses, u;
  for (const Moving& one : all) {
    const double far = magnitude(one.u) * static_cast<double>(count) * step;
    const double moved = magnitude(one.heavy) * far * far;  // |G| <= |tu|² as long as Im u >= 0
    const double part = magnitude(one.light);
    if (moved < 1e-26 && part < 1e-22 * top) {
      errors.fixed += moved;
      errors.middle_flat += part;
      continue;
    }
    heavy.push_back(one.heavy);
    light.push_back(one.light);
    u.push_back(one.u);
    const Complex turn{-step * one.u.im, step * one.u.re};
    excesses.push_back(exp_excess(turn));
    turned.push_back(excesses.back() + turn);
  }
  const std::size_t n = u.size();
  spend(static_cast<double>(count) * (60 + 6 * static_cast<double>(n)) + 300 * static_cast<double>(points_.size()));
  std::vector<Complex> wave(n), rest(n);
  std::vector<Node> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) * step;
    if (i % renewed == 0) {
      for (std::size_t j = 0; j < n; ++j) {
        const Complex turn{-t * u[j].im, t * u[j].re};
        rest[j] = exp_excess(turn);
        wave[j] = rest[j] + turn;
      }
    } else {
      for (std::size_t j = 0; j < n; ++j) {
        const Complex both = wave[j] * turned[j];
        wave[j] = wave[j] + (turned[j] + both);
        rest[j] = rest[j] + (excesses[j] + both);
      }
    }
    Complex base{0, 0};
    Complex middle{0, 0};
    for (std::size_t j = 0; j < n; ++j) {
      base += heavy[j] * rest[j];
      middle += light[j] * Complex{1 + wave[j].re, wave[j].im};
    }
    out.push_back(errors.of({still.re - t * drift.im + base.re, still.im + t * drift.re + base.im}, middle, p, t));
  }
  return out;
}

}  // namespace sotto::pld_detail
