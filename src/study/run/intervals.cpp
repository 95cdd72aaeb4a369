// Intervals for numbers derived from noisy ones, by inverting tests on the exact distribution of
// the noise.
#include "study/run/intervals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "sotto/core/errors.hpp"
#include "study/api/design.hpp"

namespace sotto::study_detail {
namespace {

// Returns the hull of the accepted points of [low, high] with the value `near`. It searches a grid
// that contains `near` and refines both ends by bisection.
Interval hull(double near, double low, double high, const std::function<bool(double)>& accepted) {
  constexpr int cells = 128;
  std::vector<double> points;
  for (int i = 0; i <= cells; ++i) points.push_back(low + (high - low) * i / cells);
  points.push_back(std::clamp(near, low, high));
  // Add finer points around the estimate, to find short intervals.
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
  if (first == points.size())
    return {near, std::clamp(near, low, high), std::clamp(near, low, high)};
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
    throw InvalidValue(std::to_string(numbers.size()) + " numbers have " +
                       std::to_string(weights.size()) +
                       " weights: there must be one weight per number");
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

bool explained(const Noise& noise, std::span<const double> numbers, std::span<const double> weights,
               double alpha) {
  return noise.explains(as_weights(weights), dot(numbers, weights), alpha);
}

// Returns the weights on the three sums of a measurement of the form `thirds` that give the squared
// deviation from c, minus `less` per row. With t = (x - lower)/range in [0, 1], these sums are
// range² times Σ(1-t)², 2Σt(1-t) and Σt².
std::array<double, 3> deviation_weights(double c, double less) {
  return {c * c - less, -c * (1 - c) - less, (1 - c) * (1 - c) - less};
}
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

Linear::Linear(const Noise& noise, std::vector<double> weights, double alpha)
    : weights_(std::move(weights)), margin_(0) {
  if (noise.scale == 0) return;
  for (const double w : weights_)
    margin_ += std::abs(w) * noise.grid / 2;  // each number is rounded
  margin_ += distance_at(noise.kind, noise.scale, as_weights(weights_), alpha);
}

Interval Linear::operator()(std::span<const double> numbers) const {
  const double value = dot(numbers, weights_);
  return {value, value - margin_, value + margin_};
}

Interval mean_of_halves(const Noise& noise, std::span<const double> halves, double lower,
                        double upper, double alpha) {
  const double range = upper - lower;
  const double n = std::max(1.0, (halves[0] + halves[1]) / range);
  // Relative to the middle of the bounds: a count that noise makes too small has little effect on
  // the mean.
  const double value =
      std::clamp((lower + upper) / 2 + (halves[0] - halves[1]) / 2 / n, lower, upper);
  if (noise.scale == 0) return {value, value, value};
  return hull(value, lower, upper, [&](double mean) {
    const std::array<double, 2> weights{(upper - mean) / range, (lower - mean) / range};
    return explained(noise, halves, weights, alpha);
  });
}

Interval mean_of_thirds(const Noise& noise, std::span<const double> thirds, double lower,
                        double upper, double alpha) {
  const double range = upper - lower;
  const Moments m = moments_of(thirds, range * range);
  Interval result{m.mean, m.mean, m.mean};
  if (noise.scale != 0)
    result = hull(m.mean, 0, 1,
                  [&](double c) { return explained(noise, thirds, mean_weights(c), alpha); });
  return {lower + range * result.value, lower + range * result.low, lower + range * result.high};
}

Interval variance_of_thirds(const Noise& noise, std::span<const double> thirds, double lower,
                            double upper, double alpha) {
  const double square = (upper - lower) * (upper - lower);
  const Moments m = moments_of(thirds, square);
  if (noise.scale == 0) return {m.variance * square, m.variance * square, m.variance * square};
  // Spend half of alpha on the interval of the mean, and half on the deviation from each mean in
  // it.
  const Interval centre = hull(
      m.mean, 0, 1, [&](double c) { return explained(noise, thirds, mean_weights(c), alpha / 2); });
  Interval result{m.variance, m.variance, m.variance};
  constexpr int steps = 16;
  for (int i = 0; i <= steps; ++i) {
    const double c = centre.low + (centre.high - centre.low) * i / steps;
    const Interval at = hull(m.variance, 0, 0.25, [&](double v) {
      return explained(noise, thirds, deviation_weights(c, v), alpha / 2);
    });
    result.low = std::min(result.low, at.low);
    result.high = std::max(result.high, at.high);
  }
  return {result.value * square, result.low * square, result.high * square};
}

namespace {

// TreeEdges computes the noisy numbers of rows left and right of each leaf edge of a tree of
// counts.
class TreeEdges {
 public:
  TreeEdges(std::span<const double> nodes, std::int64_t leaves, double quantile)
      : quantile_(quantile) {
    std::size_t at = 0;
    for (std::int64_t size = leaves;; size = (size + tree_branching - 1) / tree_branching) {
      levels_.push_back(nodes.subspan(at, static_cast<std::size_t>(size)));
      at += static_cast<std::size_t>(size);
      if (size <= tree_branching) break;
    }
  }

  // (1-q)·left - q·right for the quantile q. It rises from left to right and is 0 at the quantile.
  struct Imbalance {
    double amount;
    std::array<Weight, 2> weights;
  };
  [[nodiscard]] Imbalance imbalance(std::int64_t leaf) const {
    const Rows left = left_of(leaf);
    const Rows right = right_of(leaf);
    return {(1 - quantile_) * left.count - quantile_ * right.count,
            {Weight{1 - quantile_, left.nodes}, Weight{quantile_, right.nodes}}};
  }

  [[nodiscard]] std::size_t levels() const { return levels_.size(); }

  // The highest level of the tree that has a node edge at the start of this leaf.
  [[nodiscard]] std::size_t level_of(std::int64_t leaf) const {
    std::size_t level = 0;
    for (; level + 1 < levels_.size() && leaf % tree_branching == 0; ++level)
      leaf /= tree_branching;
    return level;
  }

 private:
  // A noisy number of rows, and of how many nodes it is the sum: the fewest that cover the rows.
  struct Rows {
    double count = 0, nodes = 0;
  };

  void add(Rows& rows, std::size_t level, std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; ++i)
      rows.count += levels_[level][static_cast<std::size_t>(i)];
    rows.nodes += static_cast<double>(std::max<std::int64_t>(0, to - from));
  }
  [[nodiscard]] Rows left_of(std::int64_t leaf) const {
    Rows rows;
    for (std::size_t d = 0; d < levels_.size(); ++d) {
      const std::int64_t up = d + 1 == levels_.size() ? 0 : leaf / tree_branching;
      add(rows, d, up * tree_branching, leaf);
      leaf = up;
    }
    return rows;
  }
  [[nodiscard]] Rows right_of(std::int64_t leaf) const {
    Rows rows;
    for (std::size_t d = 0; d < levels_.size(); ++d) {
      const auto size = static_cast<std::int64_t>(levels_[d].size());
      const std::int64_t up = (leaf + tree_branching - 1) / tree_branching;
      add(rows, d, leaf, d + 1 == levels_.size() ? size : std::min(size, up * tree_branching));
      leaf = up;
    }
    return rows;
  }

  double quantile_;
  std::vector<std::span<const double>> levels_;  // level 0 has the leaves
};
using Imbalance = TreeEdges::Imbalance;

// A range of leaves, half-open.
struct LeafRange {
  std::int64_t first, end;
};

// Returns the leaf of the point estimate: a binary search that ignores noise.
std::int64_t estimated_leaf(const TreeEdges& edges, std::int64_t leaves) {
  std::int64_t low = 0;
  std::int64_t high = leaves;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (edges.imbalance(middle).amount <= 0 ? low : high) = middle;
  }
  return low;
}

// Returns leaves that contain the quantile with probability 1 - alpha, by a union bound over all
// edges: the innermost edges around `leaf` that are certainly left and right of the quantile. Each
// level of the tree gets an equal share of alpha, split equally between its edges. Edges of upper
// levels are few and sums of few nodes: each gets a larger share.
LeafRange range_by_edges(const TreeEdges& edges, const Noise& noise, std::int64_t leaves,
                         std::int64_t leaf, double alpha) {
  std::vector<double> edges_of_level(edges.levels());
  for (std::int64_t i = 1; i < leaves; ++i) edges_of_level[edges.level_of(i)] += 1;
  const auto is_certain = [&](std::int64_t i, const Imbalance& imbalance) {
    const double share =
        alpha / static_cast<double>(edges.levels()) / edges_of_level[edges.level_of(i)];
    return !noise.explains(imbalance.weights, imbalance.amount, share);
  };
  std::int64_t first = leaf;
  for (; first > 0; --first) {
    if (const Imbalance at = edges.imbalance(first); at.amount < 0 && is_certain(first, at)) break;
  }
  std::int64_t end = leaf + 1;
  for (; end < leaves; ++end) {
    if (const Imbalance at = edges.imbalance(end); at.amount > 0 && is_certain(end, at)) break;
  }
  return {first, end};
}

// Narrows a range to the leaves that may contain the quantile, with error probability alpha. A leaf
// is excluded if its start is certainly right of the quantile or its end certainly left. For the
// quantile's own leaf one of two events must happen, however many leaves there are, so no union
// bound is needed.
LeafRange possible_leaves(const TreeEdges& edges, const Noise& noise, const LeafRange& range,
                          double alpha) {
  std::int64_t first = range.end;
  std::int64_t last = range.first - 1;
  Imbalance before = edges.imbalance(range.first);
  for (std::int64_t leaf = range.first; leaf < range.end; ++leaf) {
    const Imbalance after = edges.imbalance(leaf + 1);
    const bool starts_right =
        before.amount > 0 && !noise.explains(before.weights, before.amount, alpha);
    const bool ends_left = after.amount < 0 && !noise.explains(after.weights, after.amount, alpha);
    if (!starts_right && !ends_left) {
      first = std::min(first, leaf);
      last = std::max(last, leaf);
    }
    before = after;
  }
  return last < first ? range : LeafRange{first, last + 1};
}

}  // namespace

Interval quantile_of_tree(const Noise& noise, std::span<const double> nodes, const Tree& tree,
                          double quantile, double alpha) {
  const TreeEdges edges(nodes, tree.leaves, quantile);
  const auto position = [&](std::int64_t leaf) {
    return tree.lower + static_cast<double>(leaf) * tree.width;
  };

  // The point estimate interpolates within its leaf.
  const std::int64_t leaf = estimated_leaf(edges, tree.leaves);
  const double start = edges.imbalance(leaf).amount;
  const double rise = edges.imbalance(leaf + 1).amount - start;
  const double part = rise > 0 ? std::clamp(-start / rise, 0.0, 1.0) : 0.5;
  const double value = position(leaf) + part * tree.width;
  if (noise.scale == 0) return {value, value, value};

  // Each of two tests gets half of alpha; the second is better if few leaves remain.
  const LeafRange range = possible_leaves(
      edges, noise, range_by_edges(edges, noise, tree.leaves, leaf, alpha / 2), alpha / 2);
  return {value, std::min(position(range.first), value), std::max(position(range.end), value)};
}

}  // namespace sotto::study_detail
