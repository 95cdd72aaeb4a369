// The trapezoidal rule on one line, for a part of the losses (piece.hpp).
#include "tail_split/piece.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "saddle_point/inversion_integral.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double most_nodes = 40000;

// The path, and how far from it the sums on it are bounded.
double path_angle(const Law& distribution, const Split& split) { return std::min(0.2 * split.angle(), 1.3 * distribution.mu.value); }
double path_half(const Law& distribution, const Split& split) { return std::min(0.16 * split.angle(), 1.3 * distribution.mu.value); }

// log A from above.
double log_base(const Points::Node& node) {
  const double most = node.base.re + node.base_error;
  return std::isnan(most) ? infinity : std::log1p(std::max(-1 + 1e-16, most));
}

struct Height {
  double most, about;  // log of the transform at a real power, from above and roughly
};

Height height(const std::vector<Law>& distributions, const Split& split, const std::vector<Points>& real, double power) {
  double base = 0;
  double base_most = 0;
  double ratio = 0;
  double ratio_most = 0;
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    const Points::Node node = real[i].at(power);
    const double k = distributions[i].count;
    const double whole = std::max(1e-300, 1 + node.base.re);
    const double whole_most = std::max(1e-300, 1 + node.base.re + node.base_error);
    base += k * std::log(whole);
    base_most += k * log_base(node) * (1 + 1e-14) + k * 4 * unit;
    // (A + B)^k - A^k grows with A and with B
    ratio += k * std::log1p(node.middle.re / whole);
    ratio_most += k * std::log1p((node.middle.re + node.middle_error) / whole_most);
  }
  const double error_bound = 1e-9 + 1e-12 * std::abs(base_most);
  if (!split.has_bulk()) return {base_most + error_bound, base};
  const auto log_rise = [](double x) { return x < 30 ? std::log(std::expm1(x)) : x; };
  return {base_most + log_rise(ratio_most) * (1 + 1e-15) + error_bound, base + log_rise(ratio)};
}

}  // namespace

double log_most(const std::vector<Law>& distributions, const Split& split, const std::vector<Points>& real, double power) {
  return height(distributions, split, real, power).most;
}

double log_beside(const std::vector<LossStep>& others, double c) { return others.empty() || c == 0 ? 0 : cumulant_above(others, c); }

double wide_angle(const Law& distribution, const Split& split) { return std::min(0.3 * split.angle(), 6 * distribution.mu.value); }

Piece::Piece(const std::vector<Law>& distributions, const std::vector<LossStep>& others, Direction direction, const Split& split,
             const std::vector<Points>& real, double c, double right, const std::vector<double>& about, double epsilon, double wanted, double depth,
             double most_work)
    : direction_(direction), split_(split), others_(others), c_(c), right_line_(right), most_work_(most_work) {
  for (const LossStep& step : others) beside_.push_back({step.loss->log_mgf(c), step.count});
  if (!build(distributions, real, about, epsilon, wanted, depth)) nodes_.clear();
}

bool Piece::build(const std::vector<Law>& distributions, const std::vector<Points>& real, const std::vector<double>& about, double epsilon,
                  double wanted, double depth) {
  log_mass_ = height(distributions, split_, real, power(0)).most;
  if (!choose_step(distributions, real, epsilon, wanted)) return false;
  const auto top = choose_cut(distributions, real, wanted + c_ * epsilon, depth);
  if (!top) return false;
  const double count = std::ceil(*top / step_) + 1;
  for (const Line& one : beside_) one.line->reach(*top + step_, std::exp(-depth) / one.count);
  if (count > most_nodes) return false;
  constexpr double slower = 10;  // whose terms are not moved from node to node
  for (const Line& one : beside_) work_ += slower * count * one.line->work();
  if (work_ > most_work_) return false;
  std::vector<Points> path;
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    const Law& distribution = distributions[i];
    const double b = path_angle(distribution, split_) / distribution.mu.value;
    path.emplace_back(distribution, split_, b, path_half(distribution, split_) / distribution.mu.value, power(c_), std::hypot(c_ + 1, *top), depth,
                      about[i]);
    if (path.back().failed()) return false;
    work_ += count * static_cast<double>(path.back().moving());
  }
  if (work_ > most_work_) return false;
  evaluate(distributions, path, static_cast<std::size_t>(count));
  return true;
}

// As in integral.cpp.
bool Piece::choose_step(const std::vector<Law>& distributions, const std::vector<Points>& real, double epsilon, double wanted) {
  scale_ = height(distributions, split_, real, power(c_)).about + (others_.empty() ? 0 : cumulant(others_, c_));
  right_top_ = height(distributions, split_, real, power(right_line_)).most + chernoff_factor(right_line_) + log_beside(others_, right_line_);
  if (!std::isfinite(scale_) || !std::isfinite(right_top_)) return false;
  step_ = 2 * pi * c_ / std::max(1.0, log_mass_ - wanted);
  const double need = right_top_ - right_line_ * epsilon - wanted;
  if (need > 0) step_ = std::min(step_, 2 * pi * (right_line_ - c_) / need);
  return step_ > 0;
}

// Bounds on |A(c + iτ)|, τ >= t: ∫ |w(ℓ+ia)| Γ̂ |r|^p e^(-t arg r), Γ̂ = e^(-x cos 2a) Σ x^i/i!, x = θ²y², by the trapezoidal rule. It is analytic for
// |Im ℓ| <= v, and there at most e^(v²/(2μ²)) r^p e^(-x cos 2a cos 2v) Σ x^i/i!.
std::vector<Piece::Ceiling> Piece::base_ceilings(const Law& distribution, double depth) const {
  const double m = distribution.mu.value;
  const double q = distribution.q.value;
  const double p = power(c_);
  const Split base{split_.order, -infinity, split_.base_theta()};
  std::vector<Ceiling> all;
  // the best a is about μ times the square root of twice the fall that it gives, over the count
  for (double angle = std::min({0.35, 4 / std::sqrt(distribution.count), 0.15 / m}); angle < 9; angle *= 1.8) {
    const double a = angle * m;
    if (a > 0.5) break;
    const double v = std::min(0.2 * base.angle(), 6 * m);
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    const double twice = std::cos(2 * a);
    const double both = twice * std::cos(2 * v);
    const Ends ends = ends_for(distribution, base, both, p, depth);
    const Cells bound(distribution, base, v, both, p, ends);
    const double level = bound.base_power(p);
    if (!bound.falls() || !std::isfinite(level)) continue;
    const double step = std::min(0.25, 2 * pi * v / (m * (36 + std::log(distribution.count) + std::max(0.0, level))));
    Ceiling one;
    for (double j = std::floor(-ends.left / step); j * step <= ends.near + step; ++j) {
      const double z = j * step;
      spend(250);
      const double log_y = std::log(q) + m * z - m * m / 2;
      const double x = std::exp(std::min(600.0, 2 * (base.far + log_y)));
      double term = 1;
      double series = 0;  // Σ x^i/i! - 1
      for (int n = 1; n < base.order; ++n) {
        term *= x / n;
        series += term;
        if (term < 1e-18 * series) break;
      }
      // log |r|, and its argument
      const bool large = log_y > 40;
      const double y = large ? 0 : std::exp(log_y);
      const double re = y * cosine - q;
      const double im = y * sine;
      const double back = large ? (1 - q) * std::exp(-log_y) : 0;
      const double log_r = large ? log_y + std::log1p(back * (2 * cosine + back)) / 2 : std::log1p(re * (2 + re) + im * im) / 2;
      // parameters and rounding: u moves by its room, θy cos a by its own
      const BaseNoise::Value noise = distribution.noise->at(z, 0);
      const double error_bound = ((m * m + m * (std::abs(z) + angle)) * (distribution.mu.relative + 8 * unit) + distribution.q.relative +
                                  24 * unit * (1 + std::abs(std::log(q)))) /
                                 (1 - q);
      const double log = std::log1p(series) - x * twice + noise.log + std::log(noise.density.re + noise.error_bound + 1e-300) + p * log_r;
      one.logs.push_back(log + (std::abs(p) * std::min(2.0, y + q + (large ? 2 : 0)) * 2 + x * 8) * error_bound + unit * (16 + 4 * std::abs(log)) +
                         std::log(step));
      one.args.push_back((large ? std::atan2(sine, back + cosine) : std::atan2(im, 1 + re)) * (1 - 2 * error_bound));
    }
    one.beside = log_sum(level + std::log(2.1) - 2 * pi * v / (m * step), std::log(bound.edge_base(p, 0) + 1e-300));
    one.lift = a * a / (2 * m * m) * (1 + 8 * unit);
    all.push_back(std::move(one));
  }
  return all;
}

// The cut: the t from which on what is left of the rule is below e^target at ε = 0 for certain.
std::optional<double> Piece::choose_cut(const std::vector<Law>& distributions, const std::vector<Points>& real, double target, double depth) {
  std::vector<double> tops;
  std::vector<std::vector<Cells>> cells(distributions.size());
  std::vector<std::vector<Ceiling>> ceilings(distributions.size());
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    const Law& distribution = distributions[i];
    const Points::Node node = real[i].at(power(c_));
    tops.push_back(log_base(node) + 8 * unit);
    if (!split_.has_bulk()) continue;
    for (const double times : {0.6, 1.0, 1.5, 2.2}) {
      const double angle = times * path_angle(distribution, split_);
      Cells one(distribution, split_, angle, std::cos(2 * angle), power(c_), ends_for(distribution, split_, std::cos(2 * angle), power(c_), depth));
      if (one.falls()) cells[i].push_back(std::move(one));
    }
  }
  const auto log_rest = [&](double t) {
    double base = 0;
    double ratio = 0;
    for (std::size_t i = 0; i < distributions.size(); ++i) {
      double top = tops[i];
      for (const Ceiling& one : ceilings[i]) {
        spend(8 * static_cast<double>(one.logs.size()));
        double sum = 0;
        for (std::size_t j = 0; j < one.logs.size(); ++j) sum += std::exp(one.logs[j] - t * one.args[j]);
        top = std::min(top, one.lift + log_sum(std::log(sum), one.beside) + 1e-13);
      }
      base += distributions[i].count * top;
      if (!split_.has_bulk()) continue;
      // (|A| + |B|)^k - |A|^k grows with |A|, and |A| <= A(c)
      double middle = infinity;
      spend(2e3 * static_cast<double>(cells[i].size()));
      for (const Cells& one : cells[i]) middle = std::min(middle, one.middle(power(c_), t));
      ratio += distributions[i].count * std::log1p(std::exp(middle - top));
    }
    const double rise = !split_.has_bulk() ? 0 : ratio < 30 ? std::log(std::expm1(ratio)) : ratio;
    for (const Line& one : beside_) base += one.count * one.line->decay_bound(t, Extent::everywhere);
    return base + rise + 1e-9 + 1e-12 * std::abs(base) - std::log(pi * t);
  };
  const auto cut = [&]() -> std::optional<double> {
    for (double t = 2 * c_; t < most_nodes * step_; t *= 1.2) {
      const double log = log_rest(t);
      if (log > target) continue;
      tail_ = std::exp(log - scale_ + 1e-6);
      return t;
    }
    return std::nullopt;
  };
  // B alone may fall fast enough
  if (split_.has_bulk()) {
    if (const auto top = cut()) return top;
  }
  for (std::size_t i = 0; i < distributions.size(); ++i) ceilings[i] = base_ceilings(distributions[i], depth);
  return cut();
}

void Piece::evaluate(const std::vector<Law>& distributions, const std::vector<Points>& path, std::size_t count) {
  std::vector<std::vector<Points::Node>> values;
  for (const Points& one : path) values.push_back(one.nodes(power(c_), step_, count));
  std::vector<Points::Node> here(distributions.size());
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t i = 0; i < distributions.size(); ++i) {
      here[i] = values[i][n];
      if (direction_ == Direction::add) here[i].base.im = -here[i].base.im;  // r^-s, by its conjugate
    }
    spend(400 * static_cast<double>(distributions.size()) + 150 * static_cast<double>(beside_.size()));
    nodes_.push_back(node_at(distributions, here, static_cast<double>(n) * step_));
    if (std::isnan(nodes_.back().error) || std::isnan(nodes_.back().size.re)) {
      nodes_.clear();
      return;
    }
  }
}

Piece::Node Piece::node_at(const std::vector<Law>& distributions, const std::vector<Points::Node>& values, double t) const {
  struct Power {  // a product of powers, by its logarithm
    Complex log;
    double error = 0;
    double top;  // its size is at most e^top
    void multiply(double k, const LogMgfValue& one) {
      log = log + k * one.log;
      error += k * one.error;
      top += k * top_of(one);
    }
    // the product, and how far off it may be
    [[nodiscard]] std::pair<Complex, double> value(double error_bound) const {
      const double size = std::exp(top + error_bound);
      if (!(error + error_bound < 0.5)) return {{0, 0}, size};
      return {exp(log), size * (std::expm1(error + error_bound) + 64 * unit)};
    }
  };
  Power beside{{-scale_, 0}, 0, -scale_};  // the others
  for (const Line& one : beside_) beside.multiply(one.count, one.line->at(t));
  Power base = beside;  // A^k
  Power both = beside;  // (A + B)^k
  Complex ratio{0, 0};  // log (1 + B/A)^k
  double ratio_error = 0;
  double ratio_top = 0;  // log of (1 + |B|/|A|)^k, both as large as they may be
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    const Points::Node& node = values[i];
    const double k = distributions[i].count;
    const LogMgfValue below = log_of_excess(node.base, node.base_error);
    base.multiply(k, below);
    if (!split_.has_bulk()) continue;
    ratio_top += k * std::log1p((magnitude(node.middle) + node.middle_error) * std::exp(-top_of(below))) * (1 + 16 * unit);
    both.multiply(k, log_of_excess(node.base + node.middle, node.base_error + node.middle_error));
    const Complex whole{1 + node.base.re, node.base.im};
    const Complex part = node.middle / whole;
    const double part_error = (node.middle_error + magnitude(part) * node.base_error) / magnitude(whole) * 1.3 + 16 * unit * magnitude(part);
    if (!(node.base_error < 0.1 * magnitude(whole)) || !(magnitude(part) < 0.5) || !(part_error < 0.1)) ratio_error = infinity;
    ratio = ratio + k * log1p(part);
    ratio_error += k * (part_error / (1 - magnitude(part)) * 1.3 + 64 * unit * magnitude(part));
  }
  const auto error_bound = [&](const Power& power) { return 16 * unit * (abs(power.log) + std::abs(scale_)); };
  Complex value;
  double error = infinity;
  if (!split_.has_bulk()) {
    std::tie(value, error) = base.value(error_bound(base));
  } else if (distributions.size() == 1 && distributions.front().count == 1) {  // B alone
    const Points::Node& node = values.front();
    const auto [factor, factor_error] = beside.value(error_bound(beside));
    value = factor * node.middle;
    error = (magnitude(factor) + factor_error) * node.middle_error + factor_error * magnitude(node.middle) + 16 * unit * magnitude(value);
  } else if (base.error < 0.5 && ratio_error < 0.5) {
    // A^k (e^w - 1), w = Σ k log(1 + B/A)
    const auto [power, power_error] = base.value(error_bound(base));
    const Complex rise = exp_excess(ratio) + ratio;
    const double rise_error = (std::expm1(ratio_error) + 64 * unit * std::min(1.0, magnitude(ratio))) * std::max(1.0, std::exp(ratio.re)) * 1.1;
    value = power * rise;
    error = power_error * (magnitude(rise) + rise_error) + magnitude(power) * rise_error + 16 * unit * magnitude(value);
  } else {
    const auto [first, first_error] = both.value(error_bound(both));
    const auto [second, second_error] = base.value(error_bound(base));
    value = first - second;
    error = first_error + second_error;
    // (|A| + |B|)^k - |A|^k grows with both
    if (const double most = std::exp(base.top + error_bound(base) + log_expm1(ratio_top) + 64 * unit * (1 + ratio_top)); most < error) {
      value = {0, 0};
      error = most;
    }
  }
  const Complex kernel = Complex{c_, t} * Complex{c_ + 1, t};
  return {value / kernel, (error + magnitude(value) * 32 * unit) / magnitude(kernel) * (1 + 1e-12)};
}

double Piece::beyond(double t) const {
  double sum = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) sum += static_cast<double>(n) * step_ > t ? magnitude(nodes_[n].size) : 0;
  return sum * step_ / pi;
}

Bound Piece::delta(double epsilon) const {
  double value = nodes_.front().size.re / 2;
  double error = nodes_.front().error / 2;
  double total = std::abs(value);
  for (std::size_t n = 1; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const double angle = static_cast<double>(n) * step_ * epsilon;
    const double size = std::abs(node.size.re) + std::abs(node.size.im);
    value += node.size.re * std::cos(angle) + node.size.im * std::sin(angle);
    error += node.error + size * (angle * 4 + 8) * unit;
    total += size;
  }
  error += 4 * unit * total * static_cast<double>(nodes_.size());
  const double h = step_ / pi;
  const double error_bound = 4 * unit * (4 + std::abs(scale_) + c_ * epsilon);
  const double scale = std::exp(scale_ - c_ * epsilon);
  const double sum = h * value * scale;
  const double off = (h * error * (1 + 16 * unit) + tail_) * scale * (1 + 2 * error_bound) + std::abs(sum) * (error_bound + 8 * unit);
  // the other terms of the rule: to the left δ is at most the mass, to the right by Chernoff's bound
  const double window = 2 * pi / step_ * (1 - 8 * unit);
  const double left = std::exp(log_mass_) / std::expm1(c_ * window);
  const double right = std::exp(right_top_ - right_line_ * epsilon + 1e-9) / std::expm1((right_line_ - c_) * window);
  const double most = std::exp(std::min(log_mass_, right_top_ - right_line_ * epsilon * (1 - 8 * unit)) + 1e-9);
  if (std::isnan(sum + off + left + right)) return {0, most};
  return {std::max(0.0, sum - off - (left + right) * (1 + 16 * unit)), std::clamp(sum + off, 0.0, most)};
}

}  // namespace sotto::pld_detail
