// The privacy loss of shuffled reports, by clones [Feldman2021b], [Feldman2023]: N - 1 of the other
// reports look like a fair coin between the two reports to be distinguished. Given N, with
// a ~ Bin(N, 1/2) and y = 2a/N - 1, P has the density 1 + ky and Q 1 - ky, k = tanh(ε₀/2): the loss
// is 2 artanh(ky).
//
// Given |y| that is randomized response with bias τ = k|y|. It is moved to a lattice of losses:
// response with bias τ is dominated by the choice, revealed, of two neighbouring biases with mean
// τ. The excess is of second order in the spacing.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "pld/arithmetic/support.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using pld_detail::unit;

constexpr double depth =
    240;  // outcomes with e^-240 of the mass are left out, and counted as `failure`
constexpr double max_reports = 1e12;    // more count as this many: fewer reports dominate
constexpr double relative_step = 2e-5;  // the relative width of a cell of N
constexpr double spacings = 64;         // of the lattice, for one standard deviation of the loss
constexpr double min_spacings = 512;    // of the lattice, for the largest loss

// A bias τ of randomized response and its complement 1 - τ, both with a small relative error:
// biases near 1 differ in their complements only.
struct Bias {
  double value;
  double complement;
};

Bias bias_of(double loss) { return {std::tanh(loss / 2), 2 / (std::exp(loss) + 1)}; }

// Returns j/n times a bias.
Bias scaled(const Bias& bias, double j, double n) {
  return {bias.value * j / n, ((n - j) + j * bias.complement) / n};
}

bool at_most(const Bias& a, const Bias& b) {
  return a.value < 0.5 ? a.value <= b.value : a.complement >= b.complement;
}

// Returns b - a for a <= b.
double difference(const Bias& a, const Bias& b) {
  return a.value < 0.5 ? b.value - a.value : a.complement - b.complement;
}

// The distribution of |loss| on a lattice: multiples of a spacing up to `reach`, of which the local
// ε is one.
class LossLattice {
 public:
  LossLattice(double local, double deviation, double reach) {
    steps_ = std::ceil(std::max(min_spacings, local / deviation * spacings));
    spacing_ = local / steps_;
    const auto last = static_cast<std::size_t>(std::min(steps_, std::ceil(reach / spacing_)));
    for (std::size_t i = 0; i <= last; ++i)
      bias_.push_back(bias_of(static_cast<double>(i) / steps_ * local));
    largest_ = bias_of(local);
    mass_.assign(bias_.size(), 0);
  }
  [[nodiscard]] const Bias& largest_bias() const { return largest_; }
  /// Splits a mass between the two neighbours of a bias, rounded to the upper one. Biases must be
  /// added in ascending order; `cell` is the cell of the previous one.
  void add(const Bias& bias, double mass, std::size_t& cell) {
    while (cell + 2 < bias_.size() && at_most(bias_[cell + 1], bias)) ++cell;
    const Bias& below = bias_[cell];
    const Bias& above = bias_[cell + 1];
    const double width = difference(below, above);
    const double share =
        std::clamp((difference(below, bias) + rounding(below, above)) / width, 0.0, 1.0);
    mass_[cell + 1] += mass * share;
    mass_[cell] += mass * (1 - share);
    added_ += mass;
    ++additions_;
  }
  /// Adds the mass to the failure probability instead of to an atom.
  void fail(double mass) { failure_ += mass; }

  /// Returns the loss. `relative` bounds the relative error of each mass that was added. Throws
  /// OutsideConditions if the masses do not sum to 1.
  [[nodiscard]] TruncatedLoss loss(const Real& local, double relative) const {
    std::vector<SymmetricAtom> atoms;
    const double error = relative + 2 * unit * (additions_ + 8);
    double failure = failure_;
    require_all_mass(error);
    for (std::size_t i = 1; i < mass_.size(); ++i) {
      if (mass_[i] == 0) continue;
      const Real at = local * (Real(static_cast<double>(i)) / Real(steps_));
      const Real weight = Real(mass_[i]) / (exp(at / 2) + exp(-(at / 2)));
      if (weight.upper() < 1e-290) {  // nearly underflows
        failure += mass_[i];
      } else {
        atoms.push_back({at, weight.widened(error * weight.upper())});
      }
    }
    return {symmetric_atoms_loss(atoms, Lattice{0, spacing_, 8 * unit}), failure * (1 + 1e-6)};
  }

 private:
  // Returns an upper bound on the rounding of a difference of biases in [a, b]. The losses are
  // rounded, too, so e^loss has a relative error of up to 4 units times the loss.
  [[nodiscard]] double rounding(const Bias& a, const Bias& b) const {
    return unit * (a.value < 0.5 ? 16 * b.value : (16 + 4 * steps_ * spacing_) * a.complement);
  }
  // Throws unless the masses on the lattice are those that were added, and sum to 1 with those left
  // out. NaN fails.
  void require_all_mass(double error) const {
    double total = 0;
    for (const double mass : mass_) total += mass;
    if (std::abs(total - added_) <= error && total + failure_ >= 1 - 2 * error &&
        total <= 1 + 2 * error)
      return;
    throw OutsideConditions(
        "method pld gives no bound in double precision: the masses of the shuffled reports' losses "
        "do not sum to 1; use another method");
  }

  double steps_ = 1;  // spacings in the largest loss
  double spacing_ = 0;
  std::vector<Bias> bias_;
  std::vector<double> mass_;
  Bias largest_{};
  double failure_ = 0;
  double added_ = 0;
  double additions_ = 0;
};

// Adds the distribution of |y| for N reports, with `mass` in all: |y| = j/N for j of N's parity has
// the probability 2 C(N, (N-j)/2)/2^N, or half of that for j = 0.
void add_reports(LossLattice& lattice, double n, double mass) {
  const bool odd = std::fmod(n, 2) == 1;
  const double first = odd ? 1 : 0;
  const auto whole = static_cast<std::int64_t>(n);
  const double centre =
      exp(log_binomial(whole, (whole - (odd ? 1 : 0)) / 2) - Real(n) * log_two()).estimate();
  const double reach = std::min(n, std::ceil(std::sqrt(2 * depth * n)));
  spend(reach);
  double here = 2 * centre * mass;
  const Bias& largest = lattice.largest_bias();
  std::size_t cell = 0;
  double j = first;
  for (; j <= reach && j < n; j += 2) {
    lattice.add(scaled(largest, j, n), j == 0 ? here / 2 : here, cell);
    here *= (n - j) / (n + j + 2);
  }
  if (j == n) {
    lattice.add(largest, here, cell);
  } else {
    lattice.fail(2 * mass * std::exp(-depth));  // Hoeffding's bound
  }
}

// The number C ~ Bin(trials, p) of clones among the other reports, so N = C + 1, truncated to [low,
// high] by Bernstein's inequality P(|C - mean| > x) <= 2 exp(-x²/(2(mean + x/3))).
struct CloneCount {
  double p, trials, low, high;

  CloneCount(double reports, double probability)
      : p(std::min(probability, 1 - 0x1p-40)),  // a probability that is a little smaller dominates
        trials(p > 1e-290 ? std::min(reports, max_reports) - 1 : 0) {
    const double wide = depth / 3 + std::sqrt(depth * depth / 9 + 2 * depth * mean());
    low = std::max(0.0, std::floor(mean() - wide));
    high = std::min(trials, std::ceil(mean() + wide));
  }
  [[nodiscard]] double mean() const { return trials * p; }
  [[nodiscard]] double odds() const { return p / (1 - p); }
  [[nodiscard]] double mode() const { return std::clamp(std::floor((trials + 1) * p), low, high); }
  // Returns P(C = mode).
  [[nodiscard]] double mass_at_mode() const {
    if (trials == 0) return 1;
    const auto count = static_cast<std::int64_t>(trials);
    const auto top = static_cast<std::int64_t>(mode());
    return exp(log_binomial(count, top) + Real(mode()) * log(Real(p)) +
               Real(trials - mode()) * log1p(-Real(p)))
        .estimate();
  }
};

// Adds all N, from the mode of C upward, then downward, in cells [n, n + width). A cell counts as
// its least N, which dominates.
void add_all_counts(LossLattice& lattice, const CloneCount& clones) {
  const double p_mode = clones.mass_at_mode();
  const double odds = clones.odds();
  spend(clones.high - clones.low);
  const auto width_of = [](double n) { return std::max(1.0, std::floor(relative_step * n)); };
  double mass = p_mode;
  for (double c = clones.mode(); c <= clones.high;) {
    const double end = c + width_of(c + 1);
    double sum = 0;
    const double first = c;
    for (; c < end && c <= clones.high; ++c) {
      sum += mass;
      mass *= (clones.trials - c) / (c + 1) * odds;
    }
    add_reports(lattice, first + 1, sum);
  }
  const double mode = clones.mode();
  mass = mode > clones.low ? p_mode * mode / (clones.trials - mode + 1) / odds : 0;
  for (double c = mode - 1; c >= clones.low;) {
    const double end = c - width_of(c + 1);
    double sum = 0;
    for (; c > end && c >= clones.low; --c) {
      sum += mass;
      mass *= c / (clones.trials - c + 1) / odds;
    }
    add_reports(lattice, c + 2, sum);
  }
}

TruncatedLoss compute(double local, double reports, double probability) {
  const CloneCount clones(reports, probability);
  // the lattice ends at the largest bias of the report counts that are not left out
  const double deviation = 2 * std::tanh(local / 2) / std::sqrt(clones.mean() + 1);
  const double fewest = clones.low + 1;
  const double bias = std::tanh(local / 2) * (std::sqrt(2 * depth * fewest) + 2) / fewest;
  LossLattice lattice(local, deviation,
                      bias < std::tanh(local / 2) ? std::min(local, 2 * std::atanh(bias)) : local);

  add_all_counts(lattice, clones);
  if (clones.low > 0 || clones.high < clones.trials) lattice.fail(2 * std::exp(-depth));
  const double steps = (clones.high - clones.low) + 2 * std::sqrt(2 * depth * (clones.high + 1));
  return lattice.loss(local, 12 * unit * (steps + 1000));
}

using Key = std::tuple<double, double, double>;

}  // namespace

// The last few losses are cached, since every order, ε and δ of one question needs the same one.
TruncatedLoss clones_loss(const Real& local, std::int64_t reports, const Real& probability) {
  static std::mutex mutex;
  static std::vector<std::pair<Key, TruncatedLoss>> cache;
  constexpr std::size_t capacity = 8;
  const Key key{local.upper(), static_cast<double>(reports), std::min(1.0, probability.lower())};
  {
    const std::lock_guard lock(mutex);
    for (const auto& [known, loss] : cache) {
      if (known == key) return loss;
    }
  }
  TruncatedLoss loss = compute(std::get<0>(key), std::get<1>(key), std::get<2>(key));
  const std::lock_guard lock(mutex);
  if (cache.size() == capacity) cache.erase(cache.begin());
  cache.emplace_back(key, loss);
  return loss;
}

}  // namespace sotto
