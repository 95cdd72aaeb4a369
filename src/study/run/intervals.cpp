#include "study/run/intervals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "sotto/core/errors.hpp"
#include "study/api/design.hpp"

namespace sotto::study_detail {
namespace {

// The hull of the accepted points of [low, high]: looked for on a grid that holds `near`, its ends refined.
Interval hull(double near, double low, double high, const std::function<bool(double)>& accepted) {
  constexpr int cells = 128;
  std::vector<double> points;
  for (int i = 0; i <= cells; ++i) points.push_back(low + (high - low) * i / cells);
  points.push_back(std::clamp(near, low, high));
  // finer about the estimate, where a short interval lies
  for (double step = (high - low) / cells / 2; step > (high - low) * 1e-12; step /= 4) {
    points.push_back(std::clamp(near - step, low, high));
    points.push_back(std::clamp(near + step, low, high));
  }
  std::sort(points.begin(), points.end());
  std::size_t first = points.size();
  std::size_t last = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!accepted(points[i])) continue;
    first = std::min(first, i);
    last = std::max(last, i);
  }
  if (first == points.size()) return {near, std::clamp(near, low, high), std::clamp(near, low, high)};
  const auto refined = [&](double out, double in) {
    for (int i = 0; i < 40 && std::abs(out - in) > 1e-12 * (high - low); ++i) {
      const double middle = out + (in - out) / 2;
      (accepted(middle) ? in : out) = middle;
    }
    return out;
  };
  const double from = first == 0 ? low : refined(points[first - 1], points[first]);
  const double to = last + 1 == points.size() ? high : refined(points[last + 1], points[last]);
  return {near, from, to};
}

double dot(std::span<const double> numbers, std::span<const double> weights) {
  if (numbers.size() != weights.size()) {
    throw InvalidValue(std::to_string(numbers.size()) + " numbers have " + std::to_string(weights.size()) + " weights");
  }
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers[i] * weights[i];
  return sum;
}

std::vector<Weight> as_weights(std::span<const double> weights) {
  std::vector<Weight> all;
  for (const double w : weights) all.push_back({w});
  return all;
}

bool explained(const Noise& noise, std::span<const double> numbers, std::span<const double> weights, double alpha) {
  return noise.explains(as_weights(weights), dot(numbers, weights), alpha);
}

// With t = (x - lower)/range in [0, 1], thirds are range² times Σ(1-t)², 2Σt(1-t), Σt².
std::array<double, 3> deviation_weights(double c, double less) { return {c * c - less, -c * (1 - c) - less, (1 - c) * (1 - c) - less}; }
std::array<double, 3> mean_weights(double c) { return {-c, 0.5 - c, 1 - c}; }

struct Moments {
  double n, mean, variance;
};
Moments moments_of(std::span<const double> thirds, double square) {
  const double n = std::max(1.0, (thirds[0] + thirds[1] + thirds[2]) / square);
  const double first = (thirds[1] / 2 + thirds[2]) / square / n;
  const double second = thirds[2] / square / n;
  return {n, std::clamp(first, 0.0, 1.0), std::clamp(second - first * first, 0.0, 0.25)};
}

}  // namespace

bool Noise::explains(std::span<const Weight> weights, double distance, double alpha) const {
  if (scale == 0) return std::abs(distance) < 1e-9;
  double rounding = 0;
  for (const Weight& w : weights) rounding += std::abs(w.size) * w.times * grid / 2;
  return tail(kind, scale, weights, std::max(0.0, std::abs(distance) - rounding)) >= alpha;
}

Linear::Linear(const Noise& noise, std::vector<double> weights, double alpha) : weights_(std::move(weights)), margin_(0) {
  if (noise.scale == 0) return;
  for (const double w : weights_) margin_ += std::abs(w) * noise.grid / 2;  // each number is rounded
  margin_ += distance_at(noise.kind, noise.scale, as_weights(weights_), alpha);
}

Interval Linear::operator()(std::span<const double> numbers) const {
  const double value = dot(numbers, weights_);
  return {value, value - margin_, value + margin_};
}

Interval mean_of_halves(const Noise& noise, std::span<const double> halves, double lower, double upper, double alpha) {
  const double range = upper - lower;
  const double n = std::max(1.0, (halves[0] + halves[1]) / range);
  // about the middle: a count that is too small by chance does not throw the mean off
  const double value = std::clamp((lower + upper) / 2 + (halves[0] - halves[1]) / 2 / n, lower, upper);
  if (noise.scale == 0) return {value, value, value};
  return hull(value, lower, upper, [&](double mean) {
    const std::array<double, 2> weights{(upper - mean) / range, (lower - mean) / range};
    return explained(noise, halves, weights, alpha);
  });
}

Interval mean_of_thirds(const Noise& noise, std::span<const double> thirds, double lower, double upper, double alpha) {
  const double range = upper - lower;
  const Moments m = moments_of(thirds, range * range);
  Interval found{m.mean, m.mean, m.mean};
  if (noise.scale != 0) found = hull(m.mean, 0, 1, [&](double c) { return explained(noise, thirds, mean_weights(c), alpha); });
  return {lower + range * found.value, lower + range * found.low, lower + range * found.high};
}

Interval variance_of_thirds(const Noise& noise, std::span<const double> thirds, double lower, double upper, double alpha) {
  const double square = (upper - lower) * (upper - lower);
  const Moments m = moments_of(thirds, square);
  if (noise.scale == 0) return {m.variance * square, m.variance * square, m.variance * square};
  // half of the doubt for where the mean is, half for the deviation from there
  const Interval centre = hull(m.mean, 0, 1, [&](double c) { return explained(noise, thirds, mean_weights(c), alpha / 2); });
  Interval found{m.variance, m.variance, m.variance};
  constexpr int steps = 16;
  for (int i = 0; i <= steps; ++i) {
    const double c = centre.low + (centre.high - centre.low) * i / steps;
    const Interval at = hull(m.variance, 0, 0.25, [&](double v) { return explained(noise, thirds, deviation_weights(c, v), alpha / 2); });
    found.low = std::min(found.low, at.low);
    found.high = std::max(found.high, at.high);
  }
  return {found.value * square, found.low * square, found.high * square};
}

Interval quantile_of_tree(const Noise& noise, std::span<const double> nodes, const Tree& tree, double quantile, double alpha) {
  // level 0 has the leaves
  std::vector<std::span<const double>> levels;
  std::size_t at = 0;
  for (std::int64_t size = tree.leaves;; size = (size + tree_branching - 1) / tree_branching) {
    levels.push_back(nodes.subspan(at, static_cast<std::size_t>(size)));
    at += static_cast<std::size_t>(size);
    if (size <= tree_branching) break;
  }
  // rows left and right of a leaf's start, from as few nodes as cover them
  struct Part {
    double rows = 0, nodes = 0;
  };
  const auto add = [&](Part& part, std::size_t level, std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) part.rows += levels[level][static_cast<std::size_t>(i)];
    part.nodes += static_cast<double>(std::max<std::int64_t>(0, to - from));
  };
  const auto left_of = [&](std::int64_t leaf) {
    Part part;
    for (std::size_t d = 0; d < levels.size(); ++d) {
      const std::int64_t up = d + 1 == levels.size() ? 0 : leaf / tree_branching;
      add(part, d, up * tree_branching, leaf);
      leaf = up;
    }
    return part;
  };
  const auto right_of = [&](std::int64_t leaf) {
    Part part;
    for (std::size_t d = 0; d < levels.size(); ++d) {
      const auto size = static_cast<std::int64_t>(levels[d].size());
      const std::int64_t up = (leaf + tree_branching - 1) / tree_branching;
      add(part, d, leaf, d + 1 == levels.size() ? size : std::min(size, up * tree_branching));
      leaf = up;
    }
    return part;
  };
  // (1-q)·left - q·right rises from left to right and is 0 at the quantile
  struct Lean {
    double amount;
    std::array<Weight, 2> weights;
  };
  const auto lean = [&](std::int64_t leaf) -> Lean {
    const Part left = left_of(leaf);
    const Part right = right_of(leaf);
    return {(1 - quantile) * left.rows - quantile * right.rows, {Weight{1 - quantile, left.nodes}, Weight{quantile, right.nodes}}};
  };
  const auto edge = [&](std::int64_t leaf) { return tree.lower + static_cast<double>(leaf) * tree.width; };

  // down the tree, as if its noise were none
  std::int64_t low = 0;
  std::int64_t high = tree.leaves;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (lean(middle).amount <= 0 ? low : high) = middle;
  }
  const double start = lean(low).amount;
  const double rise = lean(low + 1).amount - start;
  const double part = rise > 0 ? std::clamp(-start / rise, 0.0, 1.0) : 0.5;
  const double value = edge(low) + part * tree.width;
  if (noise.scale == 0) return {value, value, value};

  // Half of the doubt: all edges at once, each with its share of it, so that the innermost edges that are certainly left and right of the quantile
  // bound it. A level of the tree has as much as any other; the few edges of the upper ones, which take few nodes to reach, have most each.
  const auto level_of = [&](std::int64_t leaf) {
    std::size_t level = 0;
    for (; level + 1 < levels.size() && leaf % tree_branching == 0; ++level) leaf /= tree_branching;
    return level;
  };
  std::vector<double> edges(levels.size());
  for (std::int64_t leaf = 1; leaf < tree.leaves; ++leaf) edges[level_of(leaf)] += 1;
  const auto is_certain = [&](std::int64_t leaf, const Lean& found) {
    const double share = alpha / 2 / static_cast<double>(levels.size()) / edges[level_of(leaf)];
    return !noise.explains(found.weights, found.amount, share);
  };
  std::int64_t start_at = low;
  for (; start_at > 0; --start_at) {
    if (const Lean found = lean(start_at); found.amount < 0 && is_certain(start_at, found)) break;
  }
  std::int64_t end_at = low + 1;
  for (; end_at < tree.leaves; ++end_at) {
    if (const Lean found = lean(end_at); found.amount > 0 && is_certain(end_at, found)) break;
  }

  // The other half: of these leaves one is out when its start certainly lies right of the quantile, or its end left of it. For the quantile's own
  // leaf that takes one of two events, however many leaves there are; it is the better way where few leaves are in question.
  std::int64_t first = end_at;
  std::int64_t last = start_at - 1;
  Lean before = lean(start_at);
  for (std::int64_t leaf = start_at; leaf < end_at; ++leaf) {
    const Lean after = lean(leaf + 1);
    const bool starts_right = before.amount > 0 && !noise.explains(before.weights, before.amount, alpha / 2);
    const bool ends_left = after.amount < 0 && !noise.explains(after.weights, after.amount, alpha / 2);
    if (!starts_right && !ends_left) {
      first = std::min(first, leaf);
      last = std::max(last, leaf);
    }
    before = after;
  }
  if (last < first) {
    first = start_at;
    last = end_at - 1;
  }
  return {value, std::min(edge(first), value), std::max(edge(last + 1), value)};
}

}  // namespace sotto::study_detail
