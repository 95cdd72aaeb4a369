// δ(ε) from the losses' three parts: what the heap alone gives, what the middle adds to it, and all outcomes in which some step is far.
#include "rare.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "integral.hpp"
#include "sampled_gaussian.hpp"

namespace sotto::detail {
namespace {

constexpr double wider = 1e-8;  // more than the parameters' room

}  // namespace

std::optional<RarePlan> rare_plan(const std::vector<LossStep>& steps) {
  RarePlan plan{Direction::remove, {}, {}};
  for (const LossStep& step : steps) {
    const auto* one = dynamic_cast<const SampledGaussianStep*>(step.loss.get());
    if (one == nullptr || (!plan.laws.empty() && one->direction() != plan.direction)) return std::nullopt;
    plan.direction = one->direction();
    const Law law{Near(one->mu()), Near(one->rate()), step.count};
    const double m = law.mu.value;
    if (!(m > 1e-3 && m < 12) || !(law.q.value <= 0.25) || law.mu.relative > 1e-9 || law.q.relative > 1e-9) return std::nullopt;
    plan.laws.push_back(law);
    plan.added.push_back({sampled_gaussian_loss(one->mu(), one->rate(), Direction::add), step.count});
  }
  if (plan.laws.empty() || plan.laws.size() > 16) return std::nullopt;
  return plan;
}

Rare::Rare(const RarePlan& plan, double epsilon, double log_delta, double tolerance) : direction_(plan.direction) {
  const double wanted = log_delta + std::log(tolerance);
  const double depth = std::max(22.0, 6 - std::log(tolerance));
  double rates = 0;
  double square = 0;
  for (const Law& law : plan.laws) {
    rates += law.count * law.q.value;
    square += law.count * law.q.value * law.q.value * std::expm1(std::min(law.mu.value * law.mu.value, 3.0));
  }
  const double reach = epsilon + std::min(rates, 8 * std::sqrt(square));
  if (!(reach < 300) || !choose_far(plan, reach, epsilon, wanted - 1.5)) return;
  if (direction_ == Direction::add) {  // what is far has no loss
    if (auto whole = integrate(plan, split_, epsilon, wanted, depth, false)) pieces_ = {*whole};
    return;
  }
  // the heap that is surely below ε, if it leaves little; or one that is integrated by itself; or none
  const double far = split_.far;
  const bool small = choose_heap(plan, reach, epsilon, wanted - 1.5);
  const double heap = split_.heap;
  const double heap_top = heap_top_;
  double rest = 0;  // P-mass of what is not heap, roughly
  for (const Law& law : plan.laws) {
    const double z = (std::log(Split::place(heap) / law.q.value) + law.mu.value * law.mu.value / 2) / law.mu.value;
    rest += law.count * (std::erfc(z / std::sqrt(2.0)) + law.q.value * std::erfc((z - law.mu.value) / std::sqrt(2.0))) / 2;
  }
  const auto alone = [&] {
    if (!small) return false;
    split_ = {heap, far};
    heap_top_ = heap_top;
    auto middle = integrate(plan, split_, epsilon, wanted, depth, true);
    if (middle) pieces_ = {*middle};
    return middle.has_value();
  };
  const auto apart = [&] {
    split_ = {Split::theta_at(std::expm1(reach / 3)), far};
    heap_top_ = -infinity;
    auto low = integrate(plan, {0, split_.heap}, epsilon, wanted, depth, false);
    if (!low) return false;
    auto middle = integrate(plan, split_, epsilon, wanted, depth, true);
    if (middle) pieces_ = {*low, *middle};
    return middle.has_value();
  };
  if (small && rest < 0.03 ? alone() || apart() : apart() || alone()) return;
  heap_top_ = -infinity;
  split_ = {0, far};
  if (auto whole = integrate(plan, split_, epsilon, wanted, depth, true)) pieces_ = {*whole};
}

// E_Q[(e^ε - e^L)₊; some step is far] <= e^ε κ(λ) e^(λε) E_Q[e^(-λL); some step is far], and that mean is at most the sum over the
// steps of theirs.
bool Rare::choose_far(const RarePlan& plan, double reach, double epsilon, double wanted) {
  std::vector<std::pair<double, double>> lines;  // λ, log Π E_Q[r^-λ]^k
  for (const double times : {2.0, 5.0, 10.0, 20.0, 40.0, 80.0}) {
    const double line = times / reach;
    // r >= 1 - q, and r^-λ <= 1 - λ(r - 1) + λ(λ+1)/2 (1-q)^(-λ-2) (r - 1)²
    double square = 0;
    double trivial = 0;
    for (const Law& law : plan.laws) {
      const double floor = -std::log1p(-law.q.value * (1 + wider));
      const double m = law.mu.value * (1 + wider);
      square += law.count * line * (line + 1) / 2 * std::exp((line + 2) * floor) * law.q.value * law.q.value * std::expm1(m * m) * (1 + 4 * wider);
      trivial += law.count * line * floor;
    }
    lines.emplace_back(line, std::min({cumulant_above(plan.added, line), square, trivial * (1 + 1e-12)}));
  }
  for (const double times : {1.3, 1.6, 2.0, 2.6, 3.5, 5.0, 8.0}) {
    const double y = times * std::expm1(reach);
    split_ = {0, Split::theta_at(y)};
    std::vector<Cells> cells;
    for (const Law& law : plan.laws) {
      const double right = std::max(8.0, std::log(4 * y / law.q.value) / law.mu.value + law.mu.value);
      cells.emplace_back(law, split_, 0, 1, 0, Ends{right, right});
    }
    leak_top_ = infinity;
    for (const auto& [line, all] : lines) {
      double log = -infinity;
      for (std::size_t i = 0; i < cells.size(); ++i) log = log_sum(log, std::log(plan.laws[i].count) + cells[i].far_below(line));
      const double top = log + all + chernoff_factor(line) + 1e-9 * (1 + std::abs(log) + std::abs(all));
      const std::pair before{leak_top_, leak_line_};
      const double least = log_leak(epsilon);
      leak_top_ = top;
      leak_line_ = line;
      if (!(log_leak(epsilon) < least)) std::tie(leak_top_, leak_line_) = before;
    }
    if (log_leak(epsilon) <= wanted) return true;
  }
  return false;
}

double Rare::log_leak(double epsilon) const {
  return direction_ == Direction::remove ? leak_top_ + (1 + leak_line_) * epsilon : leak_top_ - leak_line_ * epsilon * (1 - 8 * unit);
}

// The largest heap that is surely below ε: looked for roughly, then proved.
bool Rare::choose_heap(const RarePlan& plan, double reach, double epsilon, double wanted) {
  constexpr double shares[] = {0.12, 0.25, 0.5, 0.9};
  for (const double part : {1.5, 1.8, 2.2, 2.7, 3.3, 4.0, 5.0, 6.5, 8.5, 11.0, 15.0}) {
    const double top = std::expm1(reach / part);
    const double theta = Split::theta_at(top);
    const double slope = 2 * Split::order * (1 + 1 / top);  // of the weight where it falls, over u
    double sums[4] = {};
    for (const Law& law : plan.laws) {
      const double m = law.mu.value;
      const double width = std::min(0.5, 0.25 / m);
      double excess[4] = {};
      for (double z = -9; z < 40; z += width) {
        const double y = law.q.value * std::exp(m * z - m * m / 2);
        const double x = theta * y * (theta * y);
        if (x > 800) break;
        double term = 1;
        double series = 1;
        for (int i = 1; i < Split::order; ++i) {
          term *= x / i;
          series += term;
          if (term < 1e-9 * series) break;
        }
        const double low = std::min(1.0, std::exp(-x) * series);
        const double u = std::log1p(y - law.q.value);
        const double mass = width / root_two_pi * std::exp(-z * z / 2);
        for (int i = 0; i < 4; ++i) {
          const double p = shares[i] * slope + 1;
          excess[i] += mass * (low * (exp_excess(p * u) - p * exp_excess(u)) - (1 - low) * (1 + p * (y - law.q.value)));
        }
      }
      for (int i = 0; i < 4; ++i) sums[i] += law.count * std::log1p(std::max(-1 + 1e-300, excess[i]));
    }
    double best = infinity;
    for (int i = 0; i < 4; ++i) {
      const double c = shares[i] * slope;
      const double sum = sums[i] - c * epsilon + chernoff_factor(c);
      if (!(sum < best)) continue;
      best = sum;
      heap_line_ = c;
    }
    if (!(best <= wanted)) continue;
    split_.heap = theta;
    heap_top_ = chernoff_factor(heap_line_);
    for (const Law& law : plan.laws) {
      const Points points(law, {0, theta}, 0, wide_angle(law) / law.mu.value, heap_line_ + 1, heap_line_ + 1, 12);
      if (points.failed()) return false;
      const Points::Node node = points.at(heap_line_ + 1);
      const double log = law.count * log_most(node);
      heap_top_ += log + 1e-12 * std::abs(log) + law.count * 4 * unit;
    }
    return heap_top_ - heap_line_ * epsilon <= wanted + 2;
  }
  return false;
}

std::optional<Piece> Rare::integrate(const RarePlan& plan, const Split& split, double epsilon, double wanted, double depth, bool with_far) {
  double rates = 0;
  double square = 0;
  for (const Law& law : plan.laws) {
    rates += law.count * law.q.value;
    square += law.count * law.q.value * law.q.value * std::expm1(std::min(law.mu.value * law.mu.value, 3.0));
  }
  // about the slope of the weight where it falls
  const double most = direction_ == Direction::remove ? 1.6 * (split.far * std::sqrt(static_cast<double>(Split::order)) + Split::order)
                                                      : 60 / std::min(rates, 3 * std::sqrt(square));
  const double power = direction_ == Direction::remove ? most + 1 : -most;
  std::vector<Points> real;
  for (const Law& law : plan.laws) {
    real.emplace_back(law, split, 0, wide_angle(law) / law.mu.value, power, most + 1, depth);
    if (real.back().failed()) return std::nullopt;
  }
  if (with_far && !settle_far(plan, real)) return std::nullopt;
  Piece piece(plan.laws, direction_, split, real, epsilon, wanted, depth, most);
  if (piece.failed()) return std::nullopt;
  return piece;
}

// g = E_Q[far] and d = E_Q[(r - 1) far]: Q(no step is far) = Π(1 - g)^k, P(no step is far) = Π(1 - g - d)^k.
bool Rare::settle_far(const RarePlan& plan, const std::vector<Points>& real) {
  Bound none{0, 0};   // log Q(no step is far)
  Bound ratio{0, 0};  // log of P's over Q's
  for (std::size_t i = 0; i < real.size(); ++i) {
    const Points::Value mass = real[i].far_mass();
    const Points::Value rise = real[i].far_rise();
    const Bound g{std::max(0.0, mass.value - mass.error), mass.value + mass.error};
    const Bound d{std::max(0.0, rise.value - rise.error), rise.value + rise.error};
    if (!(g.upper + d.upper < 0.9)) return false;
    const double k = plan.laws[i].count;
    none = {none.lower + k * std::log1p(-g.upper), none.upper + k * std::log1p(-g.lower)};
    ratio = {ratio.lower + k * std::log1p(-d.upper / (1 - g.upper)), ratio.upper + k * std::log1p(-d.lower / (1 - g.lower))};
  }
  const double room = 64 * unit * static_cast<double>(1 + plan.laws.size());
  far_parity_ = {std::exp(none.lower) * -std::expm1(ratio.upper) * (1 - room), std::exp(none.upper) * -std::expm1(ratio.lower) * (1 + room)};
  far_mass_ = {-std::expm1(none.upper) * (1 - room), -std::expm1(none.lower) * (1 + room)};
  return true;
}

// All outcomes in which some step is far: P - e^ε Q, and what is below ε.
Bound Rare::far_delta(double epsilon) const {
  const double leak = std::exp(log_leak(epsilon) + 1e-9);
  if (direction_ == Direction::add) return {0, leak};
  const double rise = std::expm1(epsilon);
  const double lower = far_parity_.lower - rise * far_mass_.upper * (1 + 16 * unit);
  const double upper = far_parity_.upper - rise * far_mass_.lower * (1 - 16 * unit);
  return {std::max(0.0, lower - 4 * unit * far_parity_.upper), std::max(0.0, upper + leak) + 4 * unit * far_parity_.upper};
}

Bound Rare::delta(double epsilon) const {
  if (failed()) return {0, 1};
  Bound sum = far_delta(epsilon);
  for (const Piece& piece : pieces_) {
    const Bound one = piece.delta(epsilon);
    sum = {sum.lower + one.lower, sum.upper + one.upper};
  }
  if (heap_top_ > -infinity) sum.upper += std::exp(heap_top_ - heap_line_ * epsilon * (1 - 8 * unit) + 1e-9);
  if (std::isnan(sum.upper) || std::isnan(sum.lower)) return {0, 1};
  return {std::clamp(sum.lower * (1 - 8 * unit), 0.0, 1.0), std::clamp(sum.upper * (1 + 8 * unit), 0.0, 1.0)};
}

}  // namespace sotto::detail
