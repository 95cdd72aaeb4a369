// δ(ε) = (1/2πi) ∫ over Re s = c of M(s) e^(-sε) / (s(s+1)) ds, by the trapezoidal rule with step
// h.
//
// The rule's result is exactly the sum over m of δ(ε + mW) e^(cmW), W = 2π/h. The term m = 0 is
// δ(ε). All others, the aliasing, are positive and bounded in closed form, so the rule can only
// over-report: the upper bound needs no aliasing term, and the lower bound subtracts it. The nodes
// beyond a truncation point are bounded by decay bounds. docs/theory/pld/inversion-integral.md has
// the proofs.
#include "pld/saddle_point/inversion_integral.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr std::size_t max_nodes = std::size_t{1} << 22;

// A sum that adds its own rounding errors back (Neumaier's algorithm). For n terms the result is
// off by at most 4 unit + n² unit² of the sum of the terms' sizes.
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
    sum += step.count * upper_log_mgf(step.loss->log_mgf(c)->at(0));
  }
  return std::isnan(sum) ? infinity
                         : sum + 8 * unit * static_cast<double>(steps.size()) * std::abs(sum);
}

double pole_of(const std::vector<LossStep>& steps) {
  double pole = infinity;
  for (const LossStep& step : steps) pole = std::min(pole, step.loss->pole());
  return pole;
}

double chernoff_factor(double c) {
  const double log = std::log1p(c);
  return -log - c * std::log1p(1 / c) + 8 * unit * (2 + log);
}

InversionIntegral::InversionIntegral(const std::vector<LossStep>& steps, double c, double epsilon,
                                     double log_delta, double tolerance, double smoothing,
                                     double work)
    : c_(c), smoothing_(smoothing), work_(work) {
  std::vector<LossStep> all = steps;
  if (smoothing > 0) all.push_back({gaussian_loss(smoothing * smoothing), 1});
  for (const LossStep& step : all) factors_.push_back({step.loss->log_mgf(c), step.count});
  if (smoothing == 0 && steps.size() == 1) lattice_ = steps.front().loss->lattice();
  if (lattice_) count_ = steps.front().count;
  build(all, epsilon, log_delta, tolerance);
}

Bound InversionIntegral::delta(double epsilon) const {
  if (failed()) return {0, 1};
  // the sum, scaled back
  const double log_scale = scale_ - c_ * epsilon;
  const double scale = std::exp(log_scale);
  const double error_bound = 4 * unit * (2 + std::abs(scale_) + c_ * epsilon);
  const Sum sum = lattice_ ? sum_on_period(epsilon) : sum_on_line(epsilon);
  const double value = sum.value * scale;
  const double error = sum.error * scale * (1 + 2 * error_bound) + std::abs(value) * error_bound;

  // aliasing: terms m < 0 by δ <= 1, terms m > 0 by Chernoff's bound at c'
  const double window = 2 * pi / step_;
  const double left = 1 / std::expm1(c_ * window * (1 - 8 * unit));
  const double ratio = (right_.c - c_) * window;
  const double right = std::isinf(right_.c)
                           ? 0
                           : std::exp(right_.cumulant - right_.c * epsilon + right_.log_factor +
                                      8 * unit * (std::abs(right_.cumulant) + right_.c * epsilon)) /
                                 std::expm1(ratio * (1 - 8 * unit));
  const double alias = left + right;

  const double smoothing_excess = sum.smoothing_excess * scale * (1 + 2 * error_bound);
  const double upper = value + error;
  const double lower = value - error - alias * (1 + 16 * unit) - smoothing_excess;
  if (std::isnan(upper) || std::isnan(lower)) return {0, 1};
  return {clamp_probability(lower * (1 - 4 * unit)), clamp_probability(upper * (1 + 4 * unit))};
}

// Chooses the scale, the step and the truncation point, prepares the factors, and evaluates the
// nodes. Leaves nodes_ empty, which is failure, if one of these is impossible or takes too much
// work.
void InversionIntegral::build(const std::vector<LossStep>& steps, double epsilon, double log_delta,
                              double tolerance) {
  double count = 0;
  for (const Factor& factor : factors_) {
    scale_ += factor.count * factor.log_mgf->at(0).log.re;
    count += factor.count;
  }
  if (!std::isfinite(scale_)) return;

  const double log_tolerance = log_delta + std::log(tolerance);  // of δ, absolute
  const double target = log_tolerance + c_ * epsilon;            // of the integral without e^(-cε)
  const double inner_tolerance = std::max(1e-300, 0.01 * tolerance / count);
  if (!choose_step(steps, epsilon, log_tolerance)) return;
  const auto intervals = choose_truncation(steps, tolerance, target, inner_tolerance);
  if (!intervals) return;

  const double top = static_cast<double>(*intervals) * step_;
  double work = lattice_ ? 40 : 10;  // a node's sine and cosine, at each ε
  for (const Factor& factor : factors_) {
    factor.log_mgf->prepare(top, inner_tolerance);
    work += factor.log_mgf->work();
    if (std::isinf(factor.log_mgf->at(top).log.re))
      return;  // this loss cannot be evaluated as far out as `top`
  }
  // With many factors most nodes are negligible before all are evaluated; a single costly one is
  // not.
  if (work * static_cast<double>(*intervals) > work_ &&
      (factors_.size() < 8 || static_cast<double>(*intervals) > 1e5))
    return;
  evaluate(*intervals, target - scale_ - 5 - std::log(static_cast<double>(*intervals) + 1) +
                           2 * std::min(0.0, std::log(c_)));
}

// Chooses the largest step for which the aliasing on either side is below e^log_tolerance, and the
// abscissa c' that bounds the aliasing from above. Returns false if there is none.
bool InversionIntegral::choose_step(const std::vector<LossStep>& steps, double epsilon,
                                    double log_tolerance) {
  step_ = 2 * pi * c_ / std::max(1.0, -log_tolerance);
  const double pole_ratio = pole_of(steps) / c_;  // c' < c * pole_ratio
  // the step at which the aliasing by Chernoff's bound at c' is below the tolerance
  const auto allowed = [&](double far, double cumulant_there) {
    const double need = cumulant_there - far * epsilon + chernoff_factor(far) - log_tolerance;
    return !std::isfinite(cumulant_there) ? 0 : need <= 0 ? infinity : 2 * pi * (far - c_) / need;
  };

  // candidates for c', judged by estimates ...
  std::vector<std::pair<double, double>> candidates;  // the allowed step, c'
  for (const double times : {1.6, 1.25, 1.1, 1.04, 1.015, 2.5}) {
    const double far =
        c_ * (times < pole_ratio ? times : 1 + 0.95 * (pole_ratio - 1) * (times - 1) / 1.5);
    candidates.emplace_back(allowed(far, cumulant(steps, far)), far);
    if (candidates.back().first >= step_) break;
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });

  // ... and the best of them that has a finite upper bound
  for (const auto& [about, far] : candidates) {
    const double above = about > 0 ? cumulant_above(steps, far) : infinity;
    if (!std::isfinite(above)) continue;
    right_ = {far, above, chernoff_factor(far)};
    step_ = std::min(step_, allowed(far, above));
    return step_ > 0;
  }
  return false;
}

// Returns the number of steps after which the rest of the integral is below e^target at ε = 0, and
// sets log_truncation_; nullopt if that takes too many nodes.
std::optional<std::size_t> InversionIntegral::choose_truncation(const std::vector<LossStep>& steps,
                                                                double tolerance, double target,
                                                                double inner_tolerance) {
  double last = 0;
  const Extent reach = lattice_ ? Extent::half_period : Extent::everywhere;
  const double half_period = lattice_ ? pi / lattice_->spacing : infinity;
  // without smoothing or a lattice, M decays soon or not at all
  const double farthest =
      std::min(static_cast<double>(max_nodes), (smoothing_ > 0 || lattice_ ? 0.04 : 0.01) * work_) *
      step_;
  const double variance = second_difference(steps);
  const double first =
      std::sqrt(2 * (3 - std::log(tolerance)) / variance);  // where a normal loss would suffice
  for (double t = first;; t *= 1.5) {
    if (t >= half_period) {
      last = half_period;
      break;
    }
    if (t > farthest) return std::nullopt;
    if (log_truncation_error(t, reach) <= target) {
      last = t;
      break;
    }
  }
  if (lattice_) return truncate_period(last);

  double bridged = -infinity;
  if (smoothing_ == 0 && last > 2 * first && last > 100 * step_) {
    if (const double start = bridge(steps, first, last, target, inner_tolerance);
        start < 0.7 * last) {
      bridged = target;
      last = start;
    }
  }
  const auto intervals = static_cast<std::size_t>(std::ceil(last / step_));
  // after a bridge: the nodes up to the old truncation point, and those beyond it, e^target each
  log_truncation_ =
      (std::isinf(bridged)
           ? log_truncation_error(static_cast<double>(intervals) * step_, Extent::everywhere)
           : bridged + std::log(2.0)) -
      scale_;
  return intervals;
}

// On a lattice: makes the period a whole number of steps, and truncates at `last`, or not at all if
// all nodes of the period are evaluated.
std::optional<std::size_t> InversionIntegral::truncate_period(double last) {
  const double half_period = pi / lattice_->spacing;
  const double period = std::ceil(2 * half_period / step_ / 2) * 2;  // in steps
  if (period > 1e12) return std::nullopt;
  step_ = 2 * half_period / period;
  const double wanted_nodes = std::min(std::ceil(last / step_), period / 2);
  if (wanted_nodes > static_cast<double>(max_nodes)) return std::nullopt;
  const auto intervals = static_cast<std::size_t>(wanted_nodes);
  whole_period_ = wanted_nodes == period / 2;
  log_truncation_ = whole_period_ ? -infinity
                                  : log_truncation_error(static_cast<double>(intervals) * step_,
                                                         Extent::half_period) -
                                        scale_;
  return intervals;
}

// Evaluates the nodes 0, h, ..., intervals * h. A node below e^negligible is only bounded.
void InversionIntegral::evaluate(std::size_t intervals, double negligible) {
  // Σ k log M(c) over the factors from the i-th on, from above
  std::vector<double> later_factors(factors_.size() + 1, 0);
  for (std::size_t i = factors_.size(); i-- > 0;) {
    later_factors[i] =
        later_factors[i + 1] + factors_[i].count * upper_log_mgf(factors_[i].log_mgf->at(0));
  }
  nodes_.reserve(intervals + 1);
  for (std::size_t n = 0; n <= intervals; ++n)
    add_node(static_cast<double>(n) * step_, negligible, later_factors);
  if (std::isnan(nodes_.front().value.re)) nodes_.clear();
}

void InversionIntegral::add_node(double t, double negligible,
                                 const std::vector<double>& later_factors) {
  spend(100);
  // the sum of all log M; it stops early where the node is negligible, and then bounds |M|
  Complex log{-scale_, 0};
  double error = 0;  // of the factors with a known value
  double rounding = 0;
  bool known = true;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    spend(100);
    const LogMgfValue one = factors_[i].log_mgf->at(t);
    log += factors_[i].count * one.log;
    log.re = std::max(log.re, -1e9);  // M itself may have underflowed
    rounding += std::abs(log.re) + std::abs(log.im);
    if (std::isinf(one.error)) {
      known = false;
    } else {
      error += factors_[i].count * one.error;
    }
    if (log.re + error + later_factors[i + 1] < negligible && i + 1 < factors_.size()) {
      log.re += later_factors[i + 1];
      known = false;
      break;
    }
  }
  error += 4 * unit * rounding + 16 * unit * (abs(log) + std::abs(scale_));

  // the node: its value with an error, or 0 with its magnitude as the error
  const Complex s{c_, t};
  const double kernel = lattice_ ? 1 : 1 / abs(s * Complex{c_ + 1, t});
  if (!known || !(error < 0.5)) {
    const double size = std::exp(log.re + error) * (1 + 16 * unit);
    nodes_.push_back({t, {0, 0}, size * kernel, size});
  } else {
    const double size = std::exp(log.re);
    const Complex value = lattice_ ? exp(log) : exp(log) / (s * Complex{c_ + 1, t});
    nodes_.push_back(
        {t, value, size * kernel * (std::expm1(error) + 64 * unit), size * (1 + 2 * error)});
  }
}

// Returns the log of a bound on all nodes beyond t, of both signs, at ε = 0. On a lattice it
// contains a bound on the kernel.
double InversionIntegral::log_truncation_error(double t, Extent reach) const {
  double sum = 0;
  for (const Factor& factor : factors_) {
    spend(100);
    sum += factor.count * factor.log_mgf->decay_bound(t, reach);
  }
  sum += 8 * unit * std::abs(sum) * static_cast<double>(factors_.size());
  if (lattice_) return sum - std::log(-std::expm1(-c_ * lattice_->spacing)) + 1;
  return sum - std::log(pi * t);
}

// Moves the truncation point inwards. The decay bounds hold from `last` on only, but M may be small
// long before. Between, M is evaluated here and there: from t to t + d, |M| grows by at most d
// times its growth rate, a bound on E_P[|L| e^(cL)]. Returns the t from which on all nodes up to
// `last` together are below e^target at ε = 0; `last` itself if there is no smaller one.
double InversionIntegral::bridge(const std::vector<LossStep>& steps, double first, double last,
                                 double target, double inner_tolerance) const {
  const std::vector<double> rates = growth_rates(steps);
  if (rates.empty()) return last;
  for (const Factor& factor : factors_) factor.log_mgf->prepare(last, inner_tolerance);
  // log of |M| at a distance of at most d from a point at which its factors have these sizes
  const auto log_size_within = [&](const std::vector<double>& sizes, double d) {
    double sum = 0;
    for (std::size_t i = 0; i < factors_.size(); ++i)
      sum += factors_[i].count * std::log(sizes[i] + d * rates[i]);
    return sum + 64 * unit * std::abs(sum) * static_cast<double>(factors_.size());
  };

  double start = first;
  double t = first;
  std::vector<double> sizes(factors_.size());
  for (int evaluations = 0; evaluations < 400 && t < last; ++evaluations) {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const LogMgfValue one = factors_[i].log_mgf->at(t);
      sizes[i] =
          std::exp(std::isinf(one.error) ? one.log.re : one.log.re + one.error) * (1 + 8 * unit);
    }
    // if |M| were this large on all nodes from `start` on, they would sum to e^target
    const double allowed = target + std::log(pi * start);
    double d = last - t;
    while (d > step_ && !(log_size_within(sizes, d) <= allowed)) {
      spend(20 * static_cast<double>(factors_.size()));
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

// Returns bounds on E_P[|L| e^(cL)] for each factor: its square is at most M(c) E_P[L² e^(cL)], and
// h²L² <= e^(hL) + e^(-hL) - 2. Empty if one is infinite.
std::vector<double> InversionIntegral::growth_rates(const std::vector<LossStep>& steps) const {
  std::vector<double> rates;
  for (const LossStep& step : steps) {
    const double h = 0.1 * c_;
    const auto excess_at = [&](double c) {  // M - 1
      const LogMgfValue value = step.loss->log_mgf(c)->at(0);
      return Bound{std::expm1(value.log.re - value.error), std::expm1(value.log.re + value.error)};
    };
    const Bound here = excess_at(c_);
    const double second =
        (excess_at(c_ + h).upper + excess_at(c_ - h).upper - 2 * here.lower) / (h * h);
    const double rate = std::sqrt((1 + here.upper) * second) * (1 + 64 * unit) + 1e-150;
    if (!std::isfinite(rate)) return {};
    rates.push_back(rate);
  }
  return rates;
}

// Returns an estimate of K''(c), the variance of the tilted loss.
double InversionIntegral::second_difference(const std::vector<LossStep>& steps) const {
  const double d = 0.1 * c_;
  const double value = (cumulant(steps, c_ + d) + cumulant(steps, c_ - d) - 2 * scale_) / (d * d);
  return value > 0 && std::isfinite(value) ? value : 1 / (c_ * c_);
}

// The trapezoidal sum on the line. With smoothing, a second sum over the same nodes bounds the
// excess of the added Gaussian step, (1/2πi) ∫ M(s) μ² e^(μ²/8) e^(-sε) ds, M with the Gaussian
// factor.
InversionIntegral::Sum InversionIntegral::sum_on_line(double epsilon) const {
  spend(40 * static_cast<double>(nodes_.size()));
  const double excess_factor = smoothing_ * smoothing_ * std::exp(smoothing_ * smoothing_ / 8);
  CompensatedSum value(nodes_.front().value.re / 2);
  double error = nodes_.front().error / 2;
  double total = std::abs(value.value());
  CompensatedSum excess(smoothing_ > 0 ? nodes_.front().magnitude / 2 : 0);
  double excess_error = 0;
  for (std::size_t n = 1; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const double angle = node.t * epsilon;
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const double size = std::abs(node.value.re) + std::abs(node.value.im);
    value.add(node.value.re * cosine + node.value.im * sine);
    error += node.error + size * (angle * 2 + 8) * unit;
    total += size;
    if (smoothing_ > 0) {
      const Complex s{c_, node.t};
      const Complex mgf = node.value * (s * Complex{c_ + 1, node.t});
      const double factor = abs(s) * std::hypot(c_ + 1, node.t);
      excess.add(mgf.re * cosine + mgf.im * sine);
      excess_error += node.error * factor + node.magnitude * (angle * 4 + 32) * unit;
    }
  }

  // rounding of the sum, and truncation
  const auto terms = static_cast<double>(nodes_.size());
  error = error * (1 + 2 * unit * terms) + 4 * unit * total * (1 + unit * terms * terms);
  const double h = step_ / pi;
  const double sum = h * value.value();
  const double truncation = std::exp(log_truncation_);
  double smoothing_excess = 0;
  if (smoothing_ > 0) {
    // the excess's integrand lacks 1/(s(s+1)): beyond t it is bounded by its Gaussian factor
    const double t = nodes_.back().t;
    const double excess_truncation =
        std::exp(log_truncation_ + std::log(pi * t)) * (1 / (smoothing_ * smoothing_ * t) / pi + h);
    smoothing_excess =
        excess_factor * (h * (excess.value() + excess_error) + excess_truncation) * (1 + 64 * unit);
  }
  return {sum, h * error * (1 + 16 * unit) + truncation + std::abs(sum) * 8 * unit,
          std::max(0.0, smoothing_excess)};
}

// The sum over one period of a lattice of spacing d. With v the distance from ε to the first
// lattice point above it, the kernel is d times the sum over n of e^(-s(v+nd)) (1 - e^-(v+nd)), a
// difference of two geometric series.
InversionIntegral::Sum InversionIntegral::sum_on_period(double epsilon) const {
  spend(250 * static_cast<double>(nodes_.size()));
  const double d = lattice_->spacing;
  const double start = count_ * lattice_->start;
  const double index = std::floor((epsilon - start) / d) + 1;
  const double v = std::clamp(start + index * d - epsilon, 0.0, d);
  // The lattice is off by at most e, so ε is uncertain by e; on (ε - e, ε) δ falls at a rate of at
  // most P(L > ε - e) <= e^(scale - c(ε - e)).
  const double loss_error = 16 * unit * (std::abs(start) + std::abs(epsilon) + d) +
                            lattice_->relative * (epsilon + d) + lattice_->absolute * count_;
  const auto one_minus_exp = [](Complex z) { return Complex{0, 0} - (exp_excess(z) + z); };
  double value = 0;
  double error = 0;
  double total = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const double share = n == 0 || (whole_period_ && n + 1 == nodes_.size()) ? 0.5 : 1;
    const Complex first =
        exp(Complex{-c_ * v, -node.t * v}) / one_minus_exp({-c_ * d, -node.t * d});
    const Complex second =
        exp(Complex{-(c_ + 1) * v, -node.t * v}) / one_minus_exp({-(c_ + 1) * d, -node.t * d});
    const Complex kernel = first - second;
    const double size = abs(first) + abs(second);
    const Complex turned = node.value * kernel * exp(Complex{0, -node.t * epsilon});
    value += share * turned.re;
    error += share * (node.error * size +
                      node.magnitude * size * (128 + 8 * node.t * (epsilon + d)) * unit);
    total += std::abs(turned.re);
  }
  error += 4 * unit * total * static_cast<double>(nodes_.size());
  const double h = step_ * d / pi;
  const double truncation = whole_period_ ? 0 : std::exp(log_truncation_) * 2;
  return {h * value,
          h * error * (1 + 16 * unit) + truncation + loss_error * std::exp(c_ * loss_error), 0};
}

}  // namespace sotto::pld_detail
