// δ(ε) = (1/2πi) ∫ over Re s = c of M(s) e^(-sε) / (s(s+1)) ds, by the trapezoidal rule with step h. The rule's result is the
// sum over m of δ(ε + 2πm/h) e^(2πmc/h) exactly: the term m = 0 is wanted, all others are positive and bounded in closed
// form. docs/theory/contour.md has the proofs of every bound below.
#include "sotto/loss/contour.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support.hpp"

namespace sotto {
namespace {

using detail::infinity;
using detail::pi;
using detail::unit;

constexpr std::size_t most_nodes = std::size_t{1} << 22;

double clamp_probability(double x) { return std::isnan(x) ? 1 : std::clamp(x, 0.0, 1.0); }

// Σ k log M(c), an estimate; infinite where the sum is not finite.
double cumulant(const std::vector<LossStep>& steps, double c) {
  double sum = 0;
  for (const LossStep& step : steps) {
    if (c >= step.loss->pole()) return infinity;
    sum += step.count * step.loss->cumulant(c);
  }
  return std::isnan(sum) ? infinity : sum;
}

// The same, rounded up.
double cumulant_above(const std::vector<LossStep>& steps, double c) {
  double sum = 0;
  for (const LossStep& step : steps) {
    if (c >= step.loss->pole()) return infinity;
    sum += step.count * detail::top_of(step.loss->on(c)->at(0));
  }
  return std::isnan(sum) ? infinity : sum + 8 * unit * static_cast<double>(steps.size()) * std::abs(sum);
}

double pole_of(const std::vector<LossStep>& steps) {
  double least = infinity;
  for (const LossStep& step : steps) least = std::min(least, step.loss->pole());
  return least;
}

// log of the largest (1 - e^-x) e^(-cx): δ(ε) <= e^(K(c) - cε) times that, for every c > 0 [Canonne2020].
double chernoff_factor(double c) { return -std::log1p(c) - c * std::log1p(1 / c) + 8 * unit; }

// A c near which f is least, from a start, within a part in 20: enough for a contour.
double roughly_least(double start, const std::function<double(double)>& f) {
  double x = start;
  double value = f(x);
  for (double factor : {3.0, 1.5, 1.15}) {
    for (int turn = 0; turn < 60; ++turn) {
      const double up = f(x * factor);
      if (up < value) {
        x *= factor;
        value = up;
        continue;
      }
      const double down = f(x / factor);
      if (down < value) {
        x /= factor;
        value = down;
        continue;
      }
      break;
    }
  }
  return x;
}

struct Node {
  double t;
  Complex size;  // M(s) / e^scale, over s(s+1) unless on a lattice
  double error;  // absolute, of `size`
  double plain;  // |M(s)| / e^scale, upper
};

// The integral on one line, for every ε near the one it was made for.
class Contour {
 public:
  // `log_delta` is about where log δ is expected; `tolerance` the relative error wanted in δ.
  Contour(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, double tolerance, double smoothing, double work)
      : c_(c), smoothing_(smoothing), work_(work) {
    for (const LossStep& step : steps) lines_.push_back({step.loss->on(c), step.count});
    if (smoothing > 0) lines_.push_back({gaussian_loss(smoothing * smoothing)->on(c), 1});
    if (smoothing == 0 && steps.size() == 1) lattice_ = steps.front().loss->lattice();
    if (lattice_) count_ = steps.front().count;
    std::vector<LossStep> all = steps;
    if (smoothing > 0) all.push_back({gaussian_loss(smoothing * smoothing), 1});
    build(all, epsilon, log_delta, tolerance);
  }
  [[nodiscard]] bool failed() const { return nodes_.empty(); }

  // δ(ε) from both sides.
  [[nodiscard]] Bound delta(double epsilon) const {
    if (failed()) return {0, 1};
    const double log_scale = scale_ - c_ * epsilon;
    const double scale = std::exp(log_scale);
    const double room = 4 * unit * (2 + std::abs(scale_) + c_ * epsilon);
    const Sum sum = lattice_ ? on_lattice(epsilon) : smooth(epsilon);
    const double value = sum.value * scale;
    const double error = sum.error * scale * (1 + 2 * room) + std::abs(value) * room;
    // the other terms of the rule: to the left δ <= 1, to the right by Chernoff's bound at c'
    const double window = 2 * pi / step_;
    const double left = 1 / std::expm1(c_ * window * (1 - 8 * unit));
    const double ratio = (far_ - c_) * window;
    const double right = std::isinf(far_) ? 0
                                          : std::exp(far_top_ - far_ * epsilon + far_factor_ + 8 * unit * (std::abs(far_top_) + far_ * epsilon)) /
                                                std::expm1(ratio * (1 - 8 * unit));
    const double alias = left + right;
    const double lift = sum.lift * scale * (1 + 2 * room);
    const double upper = value + error;
    const double lower = value - error - alias * (1 + 16 * unit) - lift;
    if (std::isnan(upper) || std::isnan(lower)) return {0, 1};
    return {clamp_probability(lower * (1 - 4 * unit)), clamp_probability(upper * (1 + 4 * unit))};
  }

 private:
  struct Line {
    std::unique_ptr<LossLine> line;
    double count;
  };
  struct Sum {
    double value;
    double error;
    double lift;  // what smoothing may have added
  };

  void build(const std::vector<LossStep>& steps, double epsilon, double log_delta, double tolerance) {
    double top = 0;
    for (const Line& line : lines_) top += line.count * line.line->at(0).log.re;
    scale_ = top;
    if (!std::isfinite(scale_)) return;
    const double wanted = log_delta + std::log(tolerance);
    // The step: the terms of the rule on either side.
    step_ = 2 * pi * c_ / std::max(1.0, -wanted);
    double allowed = 0;
    const double room = pole_of(steps) / c_;  // how far c′ may go
    for (const double times : {1.6, 1.25, 1.1, 1.04, 1.015, 2.5}) {
      const double far = c_ * (times < room ? times : 1 + 0.95 * (room - 1) * (times - 1) / 1.5);
      const double above = cumulant_above(steps, far);
      if (!std::isfinite(above)) continue;
      const double need = above - far * epsilon + chernoff_factor(far) - wanted;
      const double candidate = need <= 0 ? infinity : 2 * pi * (far - c_) / need;
      if (candidate > allowed) {
        allowed = candidate;
        far_ = far;
        far_top_ = above;
        far_factor_ = chernoff_factor(far);
      }
      if (candidate >= step_) break;
    }
    if (allowed == 0) return;
    step_ = std::min(step_, allowed);
    // The cut: where what is left of the integral is small for certain.
    double last = 0;
    const double target = wanted + c_ * epsilon;
    const Reach reach = lattice_ ? Reach::half_period : Reach::everywhere;
    const double half_period = lattice_ ? pi / lattice_->spacing : infinity;
    // without smoothing, soon or not at all
    const double most = std::min(static_cast<double>(most_nodes), (smoothing_ > 0 || lattice_ ? 0.25 : 0.01) * work_) * step_;
    const double width = second_difference(steps);
    const double first = std::sqrt(2 * (3 - std::log(tolerance)) / width);
    for (double t = first;; t *= 1.5) {
      if (t >= half_period) {
        last = half_period;
        break;
      }
      if (t > most) return;
      if (log_tail(t, reach) <= target) {
        last = t;
        break;
      }
    }
    double count = 0;
    for (const Line& line : lines_) count += line.count;
    const double inner_tolerance = std::max(1e-300, 0.01 * tolerance / count);
    double bridged = -infinity;
    if (!lattice_ && last > 2 * first && last > 100 * step_) {
      if (const double start = bridge(steps, first, last, target, inner_tolerance); start < 0.7 * last) {
        bridged = target;
        last = start;
      }
    }
    std::size_t intervals = 0;
    if (lattice_) {
      // a whole number of steps in the period
      const double period = std::ceil(2 * half_period / step_ / 2) * 2;
      if (period > 1e12) return;
      step_ = 2 * half_period / period;
      const double wanted_nodes = std::min(std::ceil(last / step_), period / 2);
      if (wanted_nodes > static_cast<double>(most_nodes)) return;
      intervals = static_cast<std::size_t>(wanted_nodes);
      whole_period_ = wanted_nodes == period / 2;
      tail_ = whole_period_ ? -infinity : log_tail(static_cast<double>(intervals) * step_, reach) - scale_;
    } else {
      intervals = static_cast<std::size_t>(std::ceil(last / step_));
      tail_ = (std::isinf(bridged) ? log_tail(static_cast<double>(intervals) * step_, reach) : bridged + std::log(2.0)) - scale_;
    }
    for (const Line& line : lines_) line.line->reach(static_cast<double>(intervals) * step_, inner_tolerance);
    double work = 0;
    for (const Line& line : lines_) {
      work += line.line->work();
      if (std::isinf(line.line->at(static_cast<double>(intervals) * step_).log.re)) return;  // out of its reach
    }
    if (work * static_cast<double>(intervals) > work_) {
      // many lines: most nodes end early; a single costly one does not
      if (lines_.size() < 8 || static_cast<double>(intervals) > 1e5) return;
    }
    // Node by node; a node whose size is surely negligible need not be finished.
    std::vector<double> rest(lines_.size() + 1, 0);  // Σ over later lines of k log M(c), from above
    for (std::size_t i = lines_.size(); i-- > 0;) rest[i] = rest[i + 1] + lines_[i].count * detail::top_of(lines_[i].line->at(0));
    const double negligible = wanted + c_ * epsilon - scale_ - 5 - std::log(static_cast<double>(intervals) + 1) + 2 * std::min(0.0, std::log(c_));
    nodes_.reserve(intervals + 1);
    for (std::size_t n = 0; n <= intervals; ++n) {
      const double t = static_cast<double>(n) * step_;
      Complex log{-scale_, 0};
      double error = 0;
      bool known = true;
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        const Transform one = lines_[i].line->at(t);
        log += lines_[i].count * one.log;
        error += lines_[i].count * one.error;
        if (std::isinf(one.error)) known = false;
        if (log.re + (known ? error : 0) + rest[i + 1] < negligible && i + 1 < lines_.size()) {
          log.re += rest[i + 1];
          known = false;
          break;
        }
      }
      error += 16 * unit * (abs(log) + std::abs(scale_));
      const Complex s{c_, t};
      const double kernel = lattice_ ? 1 : 1 / abs(s * Complex{c_ + 1, t});
      if (!known || !(error < 0.5)) {
        const double size = std::exp(log.re + (known && std::isfinite(error) ? error : 0)) * (1 + 16 * unit);
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
  [[nodiscard]] double log_tail(double t, Reach reach) const {
    double sum = 0;
    for (const Line& line : lines_) sum += line.count * line.line->ceiling(t, reach);
    sum += 8 * unit * std::abs(sum) * static_cast<double>(lines_.size());
    if (lattice_) return sum - std::log(-std::expm1(-c_ * lattice_->spacing)) + 1;
    return sum - std::log(pi * t);
  }

  // The ceilings hold from `last` on only, but M may be small long before. Between, it is looked at here and there: from t to
  // t + d it grows by at most d E_P[|L| e^(cL)], and that mean is bounded by a second difference of M. Returns the t from
  // which on all nodes together are below e^target at ε = 0; `last` itself if there is no earlier one.
  [[nodiscard]] double bridge(const std::vector<LossStep>& steps, double first, double last, double target, double inner_tolerance) const {
    const std::vector<double> slopes = slopes_of(steps);
    if (slopes.empty()) return last;
    for (const Line& line : lines_) line.line->reach(last, inner_tolerance);
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
        const Transform one = lines_[i].line->at(t);
        sizes[i] = std::exp(std::isinf(one.error) ? one.log.re : one.log.re + one.error) * (1 + 8 * unit);
      }
      // all nodes from `start` on, if each were as large as this: e^level/(π start)
      const double allowed = target + std::log(pi * start);
      double d = last - t;
      while (d > step_ && !(level(sizes, d) <= allowed)) d *= 0.6;
      if (d <= step_) {
        t = start = t * 1.2;
      } else {
        t += d;
      }
    }
    return t >= last ? start : last;
  }

  // Bounds on E_P[|L| e^(cL)], line by line: its square is at most M(c) E_P[L² e^(cL)], and h²L² <= e^(hL) + e^(-hL) - 2.
  [[nodiscard]] std::vector<double> slopes_of(const std::vector<LossStep>& steps) const {
    std::vector<double> slopes;
    for (const LossStep& step : steps) {
      const double h = 0.1 * c_;
      const auto bounds = [&](double c) {
        const Transform value = step.loss->on(c)->at(0);
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

  [[nodiscard]] double second_difference(const std::vector<LossStep>& steps) const {
    const double d = 0.1 * c_;
    const double value = (cumulant(steps, c_ + d) + cumulant(steps, c_ - d) - 2 * scale_) / (d * d);
    return value > 0 && std::isfinite(value) ? value : 1 / (c_ * c_);
  }

  [[nodiscard]] Sum smooth(double epsilon) const {
    const double lift_factor = smoothing_ * smoothing_ * std::exp(smoothing_ * smoothing_ / 8);
    double value = nodes_.front().size.re / 2;
    double error = nodes_.front().error / 2;
    double total = std::abs(value);
    double lift = smoothing_ > 0 ? nodes_.front().plain / 2 : 0;
    double lift_error = 0;
    for (std::size_t n = 1; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      const double angle = node.t * epsilon;
      const double cosine = std::cos(angle);
      const double sine = std::sin(angle);
      const double size = std::abs(node.size.re) + std::abs(node.size.im);
      value += node.size.re * cosine + node.size.im * sine;
      error += node.error + size * (angle * 2 + 8) * unit;
      total += size;
      if (smoothing_ > 0) {
        const Complex s{c_, node.t};
        const Complex plain = node.size * (s * Complex{c_ + 1, node.t});
        const double factor = abs(s) * std::hypot(c_ + 1, node.t);
        lift += plain.re * cosine + plain.im * sine;
        lift_error += node.error * factor + node.plain * (angle * 4 + 32) * unit;
      }
    }
    error += 4 * unit * total * std::sqrt(static_cast<double>(nodes_.size())) * std::sqrt(static_cast<double>(nodes_.size()));
    const double h = step_ / pi;
    const double tail = std::exp(tail_);
    double lifted = 0;
    if (smoothing_ > 0) {
      // the cut of this integral: its integrand has no 1/(s(s+1)), but the Gaussian factor ends it
      const double t = nodes_.back().t;
      const double gauss_tail = std::exp(tail_ + std::log(pi * t)) * (1 / (smoothing_ * smoothing_ * t) / pi + h);
      lifted = lift_factor * (h * (lift + lift_error) + gauss_tail) * (1 + 64 * unit);
    }
    return {h * value, h * error * (1 + 16 * unit) + tail + std::abs(h * value) * 8 * unit, std::max(0.0, lifted)};
  }

  // The lattice's kernel: with v the distance from ε to the first lattice point above it and d the spacing,
  // sum over n of e^(-s(v+nd)) (1 - e^-(v+nd)).
  [[nodiscard]] Sum on_lattice(double epsilon) const {
    const double d = lattice_->spacing;
    const double start = count_ * lattice_->start;
    const double index = std::floor((epsilon - start) / d) + 1;
    const double v = std::clamp(start + index * d - epsilon, 0.0, d);
    // ε is in doubt by this much, and δ falls by at most P(L > ε) <= e^(scale - cε) a unit
    const double room = 16 * unit * (std::abs(start) + std::abs(epsilon) + d) + lattice_->relative * (2 + epsilon) + lattice_->absolute * count_;
    const auto one_minus_exp = [](Complex z) { return Complex{0, 0} - (exp_excess(z) + z); };
    double value = 0;
    double error = 0;
    double total = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      const double share = n == 0 || (whole_period_ && n + 1 == nodes_.size()) ? 0.5 : 1;
      const Complex s{c_, node.t};
      const Complex first = exp(Complex{-c_ * v, -node.t * v}) / one_minus_exp({-c_ * d, -node.t * d});
      const Complex second = exp(Complex{-(c_ + 1) * v, -node.t * v}) / one_minus_exp({-(c_ + 1) * d, -node.t * d});
      const Complex kernel = first - second;
      const double size = abs(first) + abs(second);
      const Complex turned = node.size * kernel * exp(Complex{0, -node.t * epsilon});
      value += share * turned.re;
      error += share * (node.error * size + node.plain * size * (128 + 8 * node.t * (epsilon + d)) * unit);
      total += std::abs(turned.re);
      (void)s;
    }
    error += 4 * unit * total * static_cast<double>(nodes_.size());
    const double h = step_ * d / pi;
    const double tail = whole_period_ ? 0 : std::exp(tail_) * 2;
    return {h * value, h * error * (1 + 16 * unit) + tail + room, 0};
  }

  double c_;
  double smoothing_;
  double work_;
  std::optional<Lattice> lattice_;
  double count_ = 0;
  std::vector<Line> lines_;
  double scale_ = 0;  // Σ k log M(c), roughly
  double step_ = 0;
  double far_ = infinity;
  double far_top_ = 0;
  double far_factor_ = 0;
  double tail_ = -infinity;
  bool whole_period_ = false;
  std::vector<Node> nodes_;
};

double spread_of(const std::vector<LossStep>& steps) {
  double square = 0;
  for (const LossStep& step : steps) square += step.count * step.loss->spread() * step.loss->spread();
  return std::sqrt(square);
}

double worst_of(const std::vector<LossStep>& steps) {
  double sum = 0;
  for (const LossStep& step : steps) sum += step.count * step.loss->worst();
  return sum * (1 + 4 * unit * static_cast<double>(steps.size()));
}

// A contour that is good near (ε, δ), smoothed if it must be.
Contour contour_for(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, const Precision& precision) {
  const double about = std::max(epsilon, 1e-3);
  const double tolerance = std::clamp(0.05 * precision.smooth * about * c, 1e-14, 0.05);
  Contour plain(steps, c, epsilon, log_delta, tolerance, 0, precision.work);
  if (!plain.failed()) return plain;
  // Smoothed just enough for the precision; where that needs too many nodes, more.
  for (double smoothing = std::sqrt(0.5 * precision.atoms * about / (c + 1)); smoothing < 0.3; smoothing *= 4) {
    Contour smooth(steps, c, epsilon, log_delta, std::clamp(0.02 * precision.atoms * about * c, 1e-14, 0.05), smoothing, precision.work);
    if (!smooth.failed()) return smooth;
  }
  return plain;
}

}  // namespace

namespace {

constexpr double least_c = 1e-6;
constexpr double most_c = 1e12;

// The c at which the integrand is least high at ε, with room below the pole.
double saddle_at(const std::vector<LossStep>& steps, double epsilon) {
  const double pole = 0.9 * pole_of(steps);
  const double spread = spread_of(steps);
  const double start = std::clamp(epsilon / std::max(1e-300, spread * spread), 0.1, 1e11);
  return roughly_least(std::min(start, pole / 2), [&](double c) {
    if (c >= pole || c > most_c || c < least_c) return infinity;
    return cumulant(steps, c) - c * epsilon - std::log(c) - std::log1p(c);
  });
}

// The c at which Rényi DP's ε is least at δ.
double best_at(const std::vector<LossStep>& steps, double log_delta) {
  const double pole = 0.9 * pole_of(steps);
  const double start = std::clamp(std::sqrt(1 - 2 * log_delta) / std::max(spread_of(steps), 1e-300), 1e-5, std::min(1e11, pole / 2));
  return roughly_least(start, [&](double c) {
    if (c >= pole || c > most_c || c < least_c) return infinity;
    return (cumulant(steps, c) - log_delta + chernoff_factor(c)) / c;
  });
}

double chernoff_delta_at(const std::vector<LossStep>& steps, double c, double epsilon) {
  const double log = cumulant_above(steps, c) - c * epsilon * (1 - 4 * unit) + chernoff_factor(c);
  return std::isnan(log) ? 1 : std::min(1.0, std::exp(log) * (1 + 64 * unit));
}

double chernoff_epsilon_at(const std::vector<LossStep>& steps, double c, double log_delta) {
  const double epsilon = (cumulant_above(steps, c) - log_delta + chernoff_factor(c)) / c;
  return std::isnan(epsilon) ? infinity : std::max(0.0, epsilon + 64 * unit * (std::abs(epsilon) - log_delta / c));
}

}  // namespace

double chernoff_delta(const std::vector<LossStep>& steps, double epsilon) { return chernoff_delta_at(steps, saddle_at(steps, epsilon), epsilon); }

double chernoff_epsilon(const std::vector<LossStep>& steps, double delta) {
  return chernoff_epsilon_at(steps, best_at(steps, std::log(delta)), std::log(delta));
}

Bound composed_delta(const std::vector<LossStep>& steps, Bound range, const Precision& precision) {
  const double epsilon = range.lower;
  if (epsilon >= worst_of(steps)) return {0, 0};
  const double c = saddle_at(steps, epsilon);
  const auto height = [&](double x) { return cumulant(steps, x) - x * epsilon - std::log(x) - std::log1p(x); };
  const double top = height(c);
  if (!std::isfinite(top)) return {0, 1};
  const double d = 0.1 * c;
  const double width = (height(c + d) + height(c - d) - 2 * top) / (d * d);
  const double log_delta = std::min(-0.1, top - 0.5 * std::log(2 * pi * std::max(width, 1e-300)));
  const Contour contour = contour_for(steps, c, epsilon, log_delta, precision);
  Bound here = contour.delta(epsilon);
  here.upper = std::min(here.upper, chernoff_delta_at(steps, c, epsilon));
  here.lower = std::min(here.lower, here.upper);
  return {range.upper == epsilon ? here.lower : std::min(here.upper, contour.delta(range.upper).lower), here.upper};
}

Bound composed_epsilon(const std::vector<LossStep>& steps, Bound range, const Precision& precision) {
  const double delta = range.lower;
  const double log_delta = std::log(delta);
  const double c = best_at(steps, log_delta);
  // what Chernoff's bound gives, for certain: Rényi DP's ε
  const double worst = std::min(worst_of(steps), chernoff_epsilon_at(steps, c, log_delta));
  if (!std::isfinite(worst)) return {0, worst};
  const Contour contour = contour_for(steps, c, worst, log_delta, precision);
  if (contour.failed()) return {0, worst};
  if (contour.delta(0).upper <= delta) return {0, 0};

  // Secants on log δ, then outward until the bound is seen to hold.
  const auto log_at = [&](double epsilon, Side side) {
    const Bound here = contour.delta(epsilon);
    const double value = side == Side::upper ? here.upper : here.lower;
    return value > 0 ? std::log(value) - log_delta : -infinity;
  };
  const auto crossing = [&](Side side, double from) {
    double x = from;
    double y = log_at(x, side);
    double slope = -c;
    for (int turn = 0; turn < 12 && std::isfinite(y) && y != 0; ++turn) {
      const double next = std::clamp(x - y / slope, 0.0, worst);
      if (next == x) break;
      const double there = log_at(next, side);
      const double secant = (there - y) / (next - x);
      if (std::isfinite(secant) && secant < 0) slope = secant;
      const double moved = std::abs(next - x);
      x = next;
      y = there;
      if (moved <= 1e-14 * x) break;
    }
    return x;
  };
  const auto certain = [&](Side side, double from) {
    const double sign = side == Side::upper ? 1 : -1;
    double move = 2e-16 * from;
    for (int turn = 0; turn < 80; ++turn) {
      const double x = turn == 0 ? from : from + sign * move;
      if (side == Side::lower && x <= 0) return 0.0;
      if (side == Side::upper && x >= worst) return worst;
      const Bound here = contour.delta(std::max(0.0, x));
      if (side == Side::upper ? here.upper <= delta : here.lower > range.upper) return std::max(0.0, x);
      move = std::max(move * 2, 1e-300);
    }
    return side == Side::upper ? worst : 0.0;
  };
  const double upper = certain(Side::upper, crossing(Side::upper, worst));
  const double lower = certain(Side::lower, crossing(Side::lower, upper));
  return {std::min(lower, upper), upper};
}

}  // namespace sotto
