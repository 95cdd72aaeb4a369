// Shuffled reports by their clones [Feldman2021b], [Feldman2023]: N - 1 of the other reports look like a fair coin between the two that are to be
// told apart. With N given, a ~ Bin(N, 1/2) and y = 2a/N - 1, P has density 1 + ky and Q 1 - ky, k = tanh(ε₀/2): the loss is 2 artanh(ky).
//
// Given |y| that is randomized response with bias τ = k|y|. It is moved to a lattice of losses by splitting: response with bias τ is what is left of
// two neighbouring biases, chosen with the right mean, when the choice is forgotten. What dominates so is off in second order of the spacing alone.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <utility>

#include "sotto/core/errors.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/numerics/gamma.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::unit;

constexpr double depth = 240;            // what is left out has e^-240 of the mass: it is `failure`
constexpr double most_reports = 1e12;    // more are counted as so many: fewer reports dominate
constexpr double relative_step = 2e-5;   // of N, where single N would be too many
constexpr double spacings = 64;          // of the lattice, in a standard deviation of the loss
constexpr double fewest_spacings = 512;  // in the largest loss

// A bias τ of randomized response and 1 - τ, each accurate by itself: near 1 only 1 - τ tells biases apart.
struct Bias {
  double value;
  double complement;
};

Bias bias_of(double loss) { return {std::tanh(loss / 2), 2 / (std::exp(loss) + 1)}; }

// j/n of a bias.
Bias scaled(const Bias& bias, double j, double n) { return {bias.value * j / n, ((n - j) + j * bias.complement) / n}; }

bool at_most(const Bias& a, const Bias& b) { return a.value < 0.5 ? a.value <= b.value : a.complement >= b.complement; }

// b - a for a <= b.
double difference(const Bias& a, const Bias& b) { return a.value < 0.5 ? b.value - a.value : a.complement - b.complement; }

// Masses of |loss| on multiples of `spacing`, up to `reach`; the local ε is one of them.
class LossLattice {
 public:
  LossLattice(double local, double deviation, double reach) {
    steps_ = std::ceil(std::max(fewest_spacings, local / deviation * spacings));
    spacing_ = local / steps_;
    const auto last = static_cast<std::size_t>(std::min(steps_, std::ceil(reach / spacing_)));
    for (std::size_t i = 0; i <= last; ++i) bias_.push_back(bias_of(static_cast<double>(i) / steps_ * local));
    largest_ = bias_of(local);
    mass_.assign(bias_.size(), 0);
  }
  [[nodiscard]] const Bias& largest_bias() const { return largest_; }
  /// To the two neighbours; `cell` is where to look from, biases come in rising order. Rounded to the upper one.
  void add(const Bias& bias, double mass, std::size_t& cell) {
    while (cell + 2 < bias_.size() && at_most(bias_[cell + 1], bias)) ++cell;
    const Bias& below = bias_[cell];
    const Bias& above = bias_[cell + 1];
    const double width = difference(below, above);
    const double share = std::clamp((difference(below, bias) + rounding(below, above)) / width, 0.0, 1.0);
    mass_[cell + 1] += mass * share;
    mass_[cell] += mass * (1 - share);
    added_ += mass;
    ++additions_;
  }
  /// Mass that is beyond, or may be.
  void fail(double mass) { failure_ += mass; }

  /// Each mass that was added is right to `relative`.
  [[nodiscard]] TruncatedLoss loss(const Real& local, double relative) const {
    std::vector<SymmetricAtom> atoms;
    const double error = relative + 2 * unit * (additions_ + 8);
    double failure = failure_;
    require_all_mass(error);
    for (std::size_t i = 1; i < mass_.size(); ++i) {
      if (mass_[i] == 0) continue;
      const Real at = local * (Real(static_cast<double>(i)) / Real(steps_));
      const Real weight = Real(mass_[i]) / (exp(at / 2) + exp(-(at / 2)));
      if (weight.upper() < 1e-290) {  // hardly a double
        failure += mass_[i];
      } else {
        atoms.push_back({at, weight.widened(error * weight.upper())});
      }
    }
    return {symmetric_atoms_loss(atoms, Lattice{0, spacing_, 8 * unit}), failure * (1 + 1e-6)};
  }

 private:
  // Upper bound on the rounding of a difference from a; the losses themselves are rounded, so e^loss is off by up to 4 units of the loss.
  [[nodiscard]] double rounding(const Bias& a, const Bias& b) const {
    return unit * (a.value < 0.5 ? 16 * b.value : (16 + 4 * steps_ * spacing_) * a.complement);
  }
  // What is added and what fails have all the mass, and every share of it is on the lattice. False for NaN.
  void require_all_mass(double error) const {
    double total = 0;
    for (const double mass : mass_) total += mass;
    if (std::abs(total - added_) <= error && total + failure_ >= 1 - 2 * error && total <= 1 + 2 * error) return;
    throw OutsideConditions("method pld gives no bound in double precision: the masses of the shuffled reports' losses do not sum to 1; use another method");
  }

  double steps_ = 1;  // to the largest loss
  double spacing_ = 0;
  std::vector<Bias> bias_;
  std::vector<double> mass_;
  Bias largest_{};
  double failure_ = 0;
  double added_ = 0;
  double additions_ = 0;
};

// Adds the law of |y| for N reports that look alike, with that mass: y = j/N for j of N's parity, 2 C(N, (N-j)/2)/2^N.
void add_reports(LossLattice& lattice, double n, double mass) {
  const bool odd = std::fmod(n, 2) == 1;
  const double first = odd ? 1 : 0;
  const auto whole = static_cast<std::int64_t>(n);
  const double centre = exp(log_binomial(whole, (whole - (odd ? 1 : 0)) / 2) - Real(n) * log_two()).estimate();
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

// C ~ Bin(trials, p) and N = C + 1: N's by cells, each taken as its least.
TruncatedLoss compute(double local, double reports, double p) {
  // a probability that is a little smaller dominates
  p = std::min(p, 1 - 0x1p-40);
  const double trials = p > 1e-290 ? std::min(reports, most_reports) - 1 : 0;
  const double mean = trials * p;
  const double deviation = 2 * std::tanh(local / 2) / std::sqrt(mean + 1);
  // P(|C - mean| > x) <= 2 exp(-x²/(2(mean + x/3))): Bernstein's
  const double wide = depth / 3 + std::sqrt(depth * depth / 9 + 2 * depth * mean);
  const double low = std::max(0.0, std::floor(mean - wide));
  const double high = std::min(trials, std::ceil(mean + wide));
  const double fewest = low + 1;
  const double bias = std::tanh(local / 2) * (std::sqrt(2 * depth * fewest) + 2) / fewest;  // of the farthest report counts that are not left out
  LossLattice lattice(local, deviation, bias < std::tanh(local / 2) ? std::min(local, 2 * std::atanh(bias)) : local);
  const double mode = std::clamp(std::floor((trials + 1) * p), low, high);
  const auto count = static_cast<std::int64_t>(trials);
  const auto top = static_cast<std::int64_t>(mode);
  const double odds = p / (1 - p);
  const double at_mode =
      trials == 0 ? 1 : exp(log_binomial(count, top) + Real(mode) * log(Real(p)) + Real(trials - mode) * log1p(-Real(p))).estimate();
  spend(high - low);
  // upward from the mode, then downward; a cell is [first, first + width)
  const auto width_of = [](double n) { return std::max(1.0, std::floor(relative_step * n)); };
  double mass = at_mode;
  for (double c = mode; c <= high;) {
    const double end = c + width_of(c + 1);
    double sum = 0;
    const double first = c;
    for (; c < end && c <= high; ++c) {
      sum += mass;
      mass *= (trials - c) / (c + 1) * odds;
    }
    add_reports(lattice, first + 1, sum);
  }
  mass = mode > low ? at_mode * mode / (trials - mode + 1) / odds : 0;
  for (double c = mode - 1; c >= low;) {
    const double end = c - width_of(c + 1);
    double sum = 0;
    for (; c > end && c >= low; --c) {
      sum += mass;
      mass *= c / (trials - c + 1) / odds;
    }
    add_reports(lattice, c + 2, sum);
  }
  if (low > 0 || high < trials) lattice.fail(2 * std::exp(-depth));
  const double steps = (high - low) + 2 * std::sqrt(2 * depth * (high + 1));
  return lattice.loss(local, 12 * unit * (steps + 1000));
}

using Key = std::tuple<double, double, double>;

}  // namespace

// What was computed last is kept: every order, ε and δ of a question asks for the same loss again.
TruncatedLoss clones_loss(const Real& local, std::int64_t reports, const Real& probability) {
  static std::mutex guard;
  static std::vector<std::pair<Key, TruncatedLoss>> kept;
  constexpr std::size_t most_kept = 8;
  const Key key{local.upper(), static_cast<double>(reports), std::min(1.0, probability.lower())};
  {
    const std::lock_guard lock(guard);
    for (const auto& [known, loss] : kept) {
      if (known == key) return loss;
    }
  }
  TruncatedLoss loss = compute(std::get<0>(key), std::get<1>(key), std::get<2>(key));
  const std::lock_guard lock(guard);
  if (kept.size() == most_kept) kept.erase(kept.begin());
  kept.emplace_back(key, loss);
  return loss;
}

}  // namespace sotto
