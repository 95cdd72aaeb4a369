// δ(ε) = (1/2πi) ∫ over Re s = c of M(s) e^(-sε) / (s(s+1)) ds, by the trapezoidal rule with step h. The rule's result is the
// sum over m of δ(ε + 2πm/h) e^(2πmc/h) exactly: the term m = 0 is wanted, all others are positive and bounded in closed
// form. docs/theory/pld/inversion-integral.md has the proofs of every bound below.
#include "pld/saddle_point/inversion_integral.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr std::size_t most_nodes = std::size_t{1} << 22;

// A sum with what rounding took from it, added back: off by 4 units of the terms' sizes, and n² unit² of them for n terms, as Neumaier does it.
class CompensatedSum {
 public:
  explicit CompensatedSum(double start) : sum_(start) {}
  void add(double term) {
    const double next = sum_ + term;
    rest_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return sum_ + rest_; }

 private:
  double sum_;
  double rest_ = 0;
};

double clamp_probability(double x) { return std::isnan(x) ? 1 : std::clamp(x, 0.0, 1.0); }

}  // namespace

double cumulant(const std::vector<LossStep>& steps, double c) {
  double sum = 0;
  for (const LossStep& step : steps) {
    if (c >= step.loss->pole()) return infinity;
    spend(50);
    sum += step.count * step.loss->cumulant(c);
  }
  return std::isnan(sum) ? infinity : sum;
}

double cumulant_above(const std::vector<LossStep>& steps, double c) {
  double sum = 0;
  for (const LossStep& step : steps) {
    if (c >= step.loss->pole()) return infinity;
    spend(100);
    sum += step.count * pld_detail::upper_value(step.loss->log_mgf(c)->at(0));
  }
  return std::isnan(sum) ? infinity : sum + 8 * unit * static_cast<double>(steps.size()) * std::abs(sum);
}

double pole_of(const std::vector<LossStep>& steps) {
  double least = infinity;
  for (const LossStep& step : steps) least = std::min(least, step.loss->pole());
  return least;
}

double chernoff_factor(double c) {
  const double log = std::log1p(c);
  return -log - c * std::log1p(1 / c) + 8 * unit * (2 + log);
}

InversionIntegral::InversionIntegral(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, double tolerance,
                                     double smoothing, double work)
    : c_(c), smoothing_(smoothing), work_(work) {
  std::vector<LossStep> all = steps;
  if (smoothing > 0) all.push_back({gaussian_loss(smoothing * smoothing), 1});
  for (const LossStep& step : all) lines_.push_back({step.loss->log_mgf(c), step.count});
  if (smoothing == 0 && steps.size() == 1) lattice_ = steps.front().loss->lattice();
  if (lattice_) count_ = steps.front().count;
  build(all, epsilon, log_delta, tolerance);
}

Bound InversionIntegral::delta(double epsilon) const {
  if (failed()) return {0, 1};
  const double log_scale = scale_ - c_ * epsilon;
  const double scale = std::exp(log_scale);
  const double error_bound = 4 * unit * (2 + std::abs(scale_) + c_ * epsilon);
  const Sum sum = lattice_ ? on_lattice(epsilon) : smooth(epsilon);
  const double value = sum.value * scale;
  const double error = sum.error * scale * (1 + 2 * error_bound) + std::abs(value) * error_bound;
  // the other terms of the rule: to the left δ <= 1, to the right by Chernoff's bound at c'
  const double window = 2 * pi / step_;
  const double left = 1 / std::expm1(c_ * window * (1 - 8 * unit));
  const double ratio = (far_ - c_) * window;
  const double right = std::isinf(far_) ? 0
                                        : std::exp(far_top_ - far_ * epsilon + far_factor_ + 8 * unit * (std::abs(far_top_) + far_ * epsilon)) /
                                              std::expm1(ratio * (1 - 8 * unit));
  const double alias = left + right;
  const double lift = sum.lift * scale * (1 + 2 * error_bound);
  const double upper = value + error;
  const double lower = value - error - alias * (1 + 16 * unit) - lift;
  if (std::isnan(upper) || std::isnan(lower)) return {0, 1};
  return {clamp_probability(lower * (1 - 4 * unit)), clamp_probability(upper * (1 + 4 * unit))};
}

void InversionIntegral::build(const std::vector<LossStep>& steps, double epsilon, double log_delta, double tolerance) {
  double count = 0;
  for (const Line& line : lines_) {
    scale_ += line.count * line.line->at(0).log.re;
    count += line.count;
  }
  if (!std::isfinite(scale_)) return;
  const double wanted = log_delta + std::log(tolerance);
  const double target = wanted + c_ * epsilon;
  const double inner_tolerance = std::max(1e-300, 0.01 * tolerance / count);
  if (!choose_step(steps, epsilon, wanted)) return;
  const auto intervals = choose_cut(steps, tolerance, target, inner_tolerance);
  if (!intervals) return;
  const double top = static_cast<double>(*intervals) * step_;
  double work = lattice_ ? 40 : 10;  // reading the nodes, again and again
  for (const Line& line : lines_) {
    line.line->prepare(top, inner_tolerance);
    work += line.line->work();
    if (std::isinf(line.line->at(top).log.re)) return;  // out of its reach
  }
  // With many lines most nodes end early; a single costly one does not.
  if (work * static_cast<double>(*intervals) > work_ && (lines_.size() < 8 || static_cast<double>(*intervals) > 1e5)) return;
  evaluate(*intervals, target - scale_ - 5 - std::log(static_cast<double>(*intervals) + 1) + 2 * std::min(0.0, std::log(c_)));
}

// The step: the terms of the rule on either side of the wanted one.
bool InversionIntegral::choose_step(const std::vector<LossStep>& steps, double epsilon, double wanted) {
  step_ = 2 * pi * c_ / std::max(1.0, -wanted);
  const double error_bound = pole_of(steps) / c_;  // how far c′ may go
  const auto allowed = [&](double far, double height) {
    const double need = height - far * epsilon + chernoff_factor(far) - wanted;
    return !std::isfinite(height) ? 0 : need <= 0 ? infinity : 2 * pi * (far - c_) / need;
  };
  // c′ is looked for roughly, then bounded
  std::vector<std::pair<double, double>> candidates;  // the step that it seems to allow, c′
  for (const double times : {1.6, 1.25, 1.1, 1.04, 1.015, 2.5}) {
    const double far = c_ * (times < error_bound ? times : 1 + 0.95 * (error_bound - 1) * (times - 1) / 1.5);
    candidates.emplace_back(allowed(far, cumulant(steps, far)), far);
    if (candidates.back().first >= step_) break;
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [about, far] : candidates) {
    const double above = about > 0 ? cumulant_above(steps, far) : infinity;
    if (!std::isfinite(above)) continue;
    far_ = far;
    far_top_ = above;
    far_factor_ = chernoff_factor(far);
    step_ = std::min(step_, allowed(far, above));
    return step_ > 0;
  }
  return false;
}

// The cut: the number of steps after which what is left of the integral is below e^target at ε = 0 for certain.
std::optional<std::size_t> InversionIntegral::choose_cut(const std::vector<LossStep>& steps, double tolerance, double target,
                                                         double inner_tolerance) {
  double last = 0;
  const Extent reach = lattice_ ? Extent::half_period : Extent::everywhere;
  const double half_period = lattice_ ? pi / lattice_->spacing : infinity;
  // without smoothing, soon or not at all
  const double most = std::min(static_cast<double>(most_nodes), (smoothing_ > 0 || lattice_ ? 0.04 : 0.01) * work_) * step_;
  const double width = second_difference(steps);
  const double first = std::sqrt(2 * (3 - std::log(tolerance)) / width);
  for (double t = first;; t *= 1.5) {
    if (t >= half_period) {
      last = half_period;
      break;
    }
    if (t > most) return std::nullopt;
    if (log_tail(t, reach) <= target) {
      last = t;
      break;
    }
  }
  double bridged = -infinity;
  if (!lattice_ && smoothing_ == 0 && last > 2 * first && last > 100 * step_) {
    if (const double start = bridge(steps, first, last, target, inner_tolerance); start < 0.7 * last) {
      bridged = target;
      last = start;
    }
  }
  std::size_t intervals = 0;
  if (lattice_) {
    // a whole number of steps in the period
    const double period = std::ceil(2 * half_period / step_ / 2) * 2;
    if (period > 1e12) return std::nullopt;
    step_ = 2 * half_period / period;
    const double wanted_nodes = std::min(std::ceil(last / step_), period / 2);
    if (wanted_nodes > static_cast<double>(most_nodes)) return std::nullopt;
    intervals = static_cast<std::size_t>(wanted_nodes);
    whole_period_ = wanted_nodes == period / 2;
    tail_ = whole_period_ ? -infinity : log_tail(static_cast<double>(intervals) * step_, reach) - scale_;
  } else {
    intervals = static_cast<std::size_t>(std::ceil(last / step_));
    tail_ = (std::isinf(bridged) ? log_tail(static_cast<double>(intervals) * step_, reach) : bridged + std::log(2.0)) - scale_;
  }
  return intervals;
}

// Node by node; a node whose size is surely negligible need not be finished.
void InversionIntegral::evaluate(std::size_t intervals, double negligible) {
  std::vector<double> rest(lines_.size() + 1, 0);  // Σ over later lines of k log M(c), from above
  for (std::size_t i = lines_.size(); i-- > 0;) rest[i] = rest[i + 1] + lines_[i].count * pld_detail::upper_value(lines_[i].line->at(0));
  nodes_.reserve(intervals + 1);
  for (std::size_t n = 0; n <= intervals; ++n) {
    const double t = static_cast<double>(n) * step_;
    spend(100);
    Complex log{-scale_, 0};
    double error = 0;  // of what is known; a line of which only the size is known adds none
    double rounding = 0;
    bool known = true;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      spend(100);
      const LogMgfValue one = lines_[i].line->at(t);
      log += lines_[i].count * one.log;
      log.re = std::max(log.re, -1e9);  // M itself may have underflowed
      rounding += std::abs(log.re) + std::abs(log.im);
      if (std::isinf(one.error)) {
        known = false;
      } else {
        error += lines_[i].count * one.error;
      }
      if (log.re + error + rest[i + 1] < negligible && i + 1 < lines_.size()) {
        log.re += rest[i + 1];
        known = false;
        break;
      }
    }
    error += 4 * unit * rounding + 16 * unit * (abs(log) + std::abs(scale_));
    const Complex s{c_, t};
    const double kernel = lattice_ ? 1 : 1 / abs(s * Complex{c_ + 1, t});
    if (!known || !(error < 0.5)) {
      const double size = std::exp(log.re + error) * (1 + 16 * unit);
      nodes_.push_back({t, {0, 0}, size * kernel, size});
    } else {
      const double size = std::exp(log.re);
      const Complex value = lattice_ ? exp(log) : exp(log) / (s * Complex{c_ + 1, t});
      nodes_.push_back({t, value, size * kernel * (std::expm1(error) + 64 * unit), size * (1 + 2 * error)});
    }
  }
  if (std::isnan(nodes_.front().size.re)) nodes_.clear();
}

// log of what the rule's nodes beyond t could add at ε = 0, apart from the lattice's kernel.
double InversionIntegral::log_tail(double t, Extent reach) const {
  double sum = 0;
  for (const Line& line : lines_) {
    spend(100);
    sum += line.count * line.line->decay_bound(t, reach);
  }
  sum += 8 * unit * std::abs(sum) * static_cast<double>(lines_.size());
  if (lattice_) return sum - std::log(-std::expm1(-c_ * lattice_->spacing)) + 1;
  return sum - std::log(pi * t);
}

// The ceilings hold from `last` on only, but M may be small long before. Between, it is looked at here and there: from t to
// t + d it grows by at most d E_P[|L| e^(cL)], and that mean is bounded by a second difference of M. Returns the t from
// which on all nodes together are below e^target at ε = 0; `last` itself if there is no earlier one.
double InversionIntegral::bridge(const std::vector<LossStep>& steps, double first, double last, double target, double inner_tolerance) const {
  const std::vector<double> slopes = slopes_of(steps);
  if (slopes.empty()) return last;
  for (const Line& line : lines_) line.line->prepare(last, inner_tolerance);
  const auto level = [&](const std::vector<double>& sizes, double d) {
    double sum = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) sum += lines_[i].count * std::log(sizes[i] + d * slopes[i]);
    return sum + 64 * unit * std::abs(sum) * static_cast<double>(lines_.size());
  };
  double start = first;
  double t = first;
  std::vector<double> sizes(lines_.size());
  for (int looks = 0; looks < 400 && t < last; ++looks) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const LogMgfValue one = lines_[i].line->at(t);
      sizes[i] = std::exp(std::isinf(one.error) ? one.log.re : one.log.re + one.error) * (1 + 8 * unit);
    }
    // all nodes from `start` on, if each were as large as this: e^level/(π start)
    const double allowed = target + std::log(pi * start);
    double d = last - t;
    while (d > step_ && !(level(sizes, d) <= allowed)) {
      spend(20 * static_cast<double>(lines_.size()));
      d *= 0.6;
    }
    if (d <= step_) {
      t = start = t * 1.2;
    } else {
      t += d;
    }
  }
  return t >= last ? start : last;
}

// Bounds on E_P[|L| e^(cL)], line by line: its square is at most M(c) E_P[L² e^(cL)], and h²L² <= e^(hL) + e^(-hL) - 2.
std::vector<double> InversionIntegral::slopes_of(const std::vector<LossStep>& steps) const {
  std::vector<double> slopes;
  for (const LossStep& step : steps) {
    const double h = 0.1 * c_;
    const auto bounds = [&](double c) {
      const LogMgfValue value = step.loss->log_mgf(c)->at(0);
      return Bound{std::expm1(value.log.re - value.error), std::expm1(value.log.re + value.error)};  // of M - 1
    };
    const Bound here = bounds(c_);
    const double second = (bounds(c_ + h).upper + bounds(c_ - h).upper - 2 * here.lower) / (h * h);
    const double slope = std::sqrt((1 + here.upper) * second) * (1 + 64 * unit) + 1e-150;
    if (!std::isfinite(slope)) return {};
    slopes.push_back(slope);
  }
  return slopes;
}

double InversionIntegral::second_difference(const std::vector<LossStep>& steps) const {
  const double d = 0.1 * c_;
  const double value = (cumulant(steps, c_ + d) + cumulant(steps, c_ - d) - 2 * scale_) / (d * d);
  return value > 0 && std::isfinite(value) ? value : 1 / (c_ * c_);
}

InversionIntegral::Sum InversionIntegral::smooth(double epsilon) const {
  spend(40 * static_cast<double>(nodes_.size()));
  const double lift_factor = smoothing_ * smoothing_ * std::exp(smoothing_ * smoothing_ / 8);
  CompensatedSum value(nodes_.front().size.re / 2);
  double error = nodes_.front().error / 2;
  double total = std::abs(value.value());
  CompensatedSum lift(smoothing_ > 0 ? nodes_.front().plain / 2 : 0);
  double lift_error = 0;
  for (std::size_t n = 1; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const double angle = node.t * epsilon;
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const double size = std::abs(node.size.re) + std::abs(node.size.im);
    value.add(node.size.re * cosine + node.size.im * sine);
    error += node.error + size * (angle * 2 + 8) * unit;
    total += size;
    if (smoothing_ > 0) {
      const Complex s{c_, node.t};
      const Complex plain = node.size * (s * Complex{c_ + 1, node.t});
      const double factor = abs(s) * std::hypot(c_ + 1, node.t);
      lift.add(plain.re * cosine + plain.im * sine);
      lift_error += node.error * factor + node.plain * (angle * 4 + 32) * unit;
    }
  }
  const auto terms = static_cast<double>(nodes_.size());
  error = error * (1 + 2 * unit * terms) + 4 * unit * total * (1 + unit * terms * terms);
  const double h = step_ / pi;
  const double sum = h * value.value();
  const double tail = std::exp(tail_);
  double lifted = 0;
  if (smoothing_ > 0) {
    // the cut of this integral: its integrand has no 1/(s(s+1)), but the Gaussian factor ends it
    const double t = nodes_.back().t;
    const double gauss_tail = std::exp(tail_ + std::log(pi * t)) * (1 / (smoothing_ * smoothing_ * t) / pi + h);
    lifted = lift_factor * (h * (lift.value() + lift_error) + gauss_tail) * (1 + 64 * unit);
  }
  return {sum, h * error * (1 + 16 * unit) + tail + std::abs(sum) * 8 * unit, std::max(0.0, lifted)};
}

// The lattice's kernel: with v the distance from ε to the first lattice point above it and d the spacing,
// sum over n of e^(-s(v+nd)) (1 - e^-(v+nd)).
InversionIntegral::Sum InversionIntegral::on_lattice(double epsilon) const {
  spend(250 * static_cast<double>(nodes_.size()));
  const double d = lattice_->spacing;
  const double start = count_ * lattice_->start;
  const double index = std::floor((epsilon - start) / d) + 1;
  const double v = std::clamp(start + index * d - epsilon, 0.0, d);
  // ε is uncertain by this error e, and δ falls by at most P(L > ε - e) <= e^(scale - c(ε - e)) for each unit of it
  const double error_bound = 16 * unit * (std::abs(start) + std::abs(epsilon) + d) + lattice_->relative * (epsilon + d) + lattice_->absolute * count_;
  const auto one_minus_exp = [](Complex z) { return Complex{0, 0} - (exp_excess(z) + z); };
  double value = 0;
  double error = 0;
  double total = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const double share = n == 0 || (whole_period_ && n + 1 == nodes_.size()) ? 0.5 : 1;
    const Complex first = exp(Complex{-c_ * v, -node.t * v}) / one_minus_exp({-c_ * d, -node.t * d});
    const Complex second = exp(Complex{-(c_ + 1) * v, -node.t * v}) / one_minus_exp({-(c_ + 1) * d, -node.t * d});
    const Complex kernel = first - second;
    const double size = abs(first) + abs(second);
    const Complex turned = node.size * kernel * exp(Complex{0, -node.t * epsilon});
    value += share * turned.re;
    error += share * (node.error * size + node.plain * size * (128 + 8 * node.t * (epsilon + d)) * unit);
    total += std::abs(turned.re);
  }
  error += 4 * unit * total * static_cast<double>(nodes_.size());
  const double h = step_ * d / pi;
  const double tail = whole_period_ ? 0 : std::exp(tail_) * 2;
  return {h * value, h * error * (1 + 16 * unit) + tail + error_bound * std::exp(c_ * error_bound), 0};
}

}  // namespace sotto::pld_detail
