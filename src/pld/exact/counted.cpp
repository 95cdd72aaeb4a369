// Steps of several kinds, the losses of kind i being ±ε_i: with j_i of the k_i steps positive the loss is Σ (2j_i - k_i) ε_i, and j_i is binomial
// under P with p = 1/(1 + e^-ε_i). Summed over all kinds but one by outcomes, over that one by its tails.
#include <algorithm>
#include <cmath>

#include "exact/exact.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;

constexpr Long deepest = 500;  // -log of the probabilities that are left out
constexpr double most_outcomes = 1e6;
constexpr double most_window = 4e6;

// log n! - log(√(2πn) (n/e)^n).
Long beyond_stirling(Long n) {
  if (n < 16) {
    Long log = 0;
    for (Long i = 2; i <= n; ++i) log += std::log(i);
    return log - (0.5L * std::log(2 * 3.14159265358979323846264338328L * n) + n * std::log(n) - n);
  }
  const Long s = 1 / (n * n);
  return (1.0L / 12 - s * (1.0L / 360 - s * (1.0L / 1260 - s * (1.0L / 1680 - s * (1.0L / 1188 - s * (691.0L / 360360)))))) / n;
}

// x log(x/m) + m - x, without cancellation.
Long deviance(Long x, Long m) {
  if (x == 0) return m;
  const Long v = (x - m) / (x + m);
  if (std::abs(v) > 0.1L) return x * std::log(x / m) + m - x;
  // x log(x/m) = 2x artanh v
  Long sum = (x - m) * v;
  Long term = 2 * x * v;
  for (int j = 1; j < 60; ++j) {
    term *= v * v;
    const Long next = sum + term / (2 * j + 1);
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

struct Kind {
  RoundedDouble epsilon;
  double count;
};

// The binomial distribution under P where it is not negligible.
struct Binomial {
  double first = 0;          // the least number of positive losses
  std::vector<Long> masses;  // from there on
  explicit Binomial(const Kind& kind) {
    const Long k = kind.count;
    const Long up = 1 / (1 + std::exp(-static_cast<Long>(kind.epsilon.value)));
    const Long down = 1 / (1 + std::exp(static_cast<Long>(kind.epsilon.value)));
    const auto log_mass = [&](Long j) {
      if (j == 0) return k * std::log(down);
      if (j == k) return k * std::log(up);
      const Long correction = beyond_stirling(k) - beyond_stirling(j) - beyond_stirling(k - j);
      return correction - deviance(j, k * up) - deviance(k - j, k * down) - 0.5L * std::log(2 * 3.14159265358979323846264338328L * j * (k - j) / k);
    };
    const Long middle = std::floor(k * up);
    const auto end = [&](Long from, Long to) {  // the last number that counts, from the middle on
      Long near = from;
      Long far = to;
      if (log_mass(far) > -deepest) return far;
      while (std::abs(far - near) > 1) {
        const Long half = std::floor((near + far) / 2);
        (log_mass(half) > -deepest ? near : far) = half;
      }
      return near;
    };
    const Long low = end(middle, 0);
    const Long high = end(middle, k);
    first = static_cast<double>(low);
    if (high - low > std::min(most_window, bytes_allowed() / 64)) return;
    spend(300 * static_cast<double>(high - low));
    for (Long j = low; j <= high; ++j) masses.push_back(std::exp(log_mass(j)));
  }
};

struct Outcome {
  double loss;
  double mass;
};

class Counted {
 public:
  explicit Counted(std::vector<Kind> kinds) {
    std::sort(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) { return a.count > b.count; });
    outcomes_ = {{0, 1}};
    double most = 0;
    for (const Kind& kind : kinds) {
      const double whole = kind.count * kind.epsilon.value;
      most += whole;
      // losses move with ε, and the logarithm of a mass by no more than all of them
      error_bound_ += whole * (kind.epsilon.relative + 4 * unit) + 1e-14;
    }
    shift_ = error_bound_ + 16 * unit * most;
    inner_ = kinds.front().epsilon.value;
    inner_count_ = kinds.front().count;
    for (std::size_t i = 1; i < kinds.size(); ++i) {
      const Binomial distribution(kinds[i]);
      if (distribution.masses.empty() || static_cast<double>(distribution.masses.size()) * static_cast<double>(outcomes_.size()) > most_outcomes)
        return;
      spend(30 * static_cast<double>(distribution.masses.size()) * static_cast<double>(outcomes_.size()));
      std::vector<Outcome> next;
      for (const Outcome& one : outcomes_) {
        for (std::size_t j = 0; j < distribution.masses.size(); ++j) {
          const double positive = distribution.first + static_cast<double>(j);
          const double mass = one.mass * static_cast<double>(distribution.masses[j]);
          if (mass > 0) next.push_back({one.loss + (2 * positive - kinds[i].count) * kinds[i].epsilon.value, mass});
        }
      }
      outcomes_ = std::move(next);
    }
    const Binomial distribution(kinds.front());
    if (distribution.masses.empty()) return;
    first_ = distribution.first;
    const std::size_t many = distribution.masses.size();
    tails_.resize(many);
    sunk_.resize(many);
    Long tail = 0;
    Long sunk = 0;
    const Long fall = std::exp(-2 * static_cast<Long>(inner_));
    for (std::size_t j = many; j-- > 0;) {
      tail += distribution.masses[j];
      sunk = distribution.masses[j] + fall * sunk;
      tails_[j] = static_cast<double>(tail);
      sunk_[j] = static_cast<double>(sunk);
    }
    const double kinds_count = static_cast<double>(kinds.size());
    double steps = 0;
    for (const Kind& kind : kinds) steps += kind.count + 1;
    lost_ = 2 * steps * kinds_count * static_cast<double>(std::exp(-deepest)) + 1e-300;
    ready_ = true;
  }
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] Bound delta(double epsilon) const {
    const auto [low, low_size] = sum_at(epsilon + shift_);
    const auto [high, high_size] = sum_at(epsilon - shift_);
    return {std::max(0.0, low - low_size * (error_bound_ + 1e-14)), std::min(1.0, high + high_size * (error_bound_ + 1e-14) + lost_)};
  }

 private:
  struct Sum {
    double value;
    double size;  // of what it is a difference of
  };
  // Σ P(outcome) [P(tail) - e^(ε - least loss) Σ P e^(-(loss - least))].
  [[nodiscard]] Sum sum_at(double epsilon) const {
    spend(60 * static_cast<double>(outcomes_.size()));
    Long value = 0;
    Long size = 0;
    const auto many = static_cast<double>(tails_.size());
    for (const Outcome& one : outcomes_) {
      // the least number of positive losses that takes the loss above ε
      const double least = std::max(0.0, std::ceil(((epsilon - one.loss) / inner_ + inner_count_) / 2));
      const double place = std::max(least, first_) - first_;
      if (!(place < many)) continue;
      const auto j = static_cast<std::size_t>(place);
      const double gap = one.loss + (2 * (first_ + place) - inner_count_) * inner_ - epsilon;
      value += one.mass * (static_cast<Long>(tails_[j]) - std::exp(-static_cast<Long>(gap)) * sunk_[j]);
      size += static_cast<Long>(one.mass) * tails_[j];
    }
    return {static_cast<double>(std::max<Long>(0, value)), static_cast<double>(size)};
  }

  double inner_ = 0, inner_count_ = 0, first_ = 0;
  std::vector<double> tails_, sunk_;
  std::vector<Outcome> outcomes_;
  double error_bound_ = 0, shift_ = 0, lost_ = 0;
  bool ready_ = false;
};

}  // namespace

std::optional<Profile> counted_profile(const std::vector<LossStep>& steps) {
  if (steps.size() < 2) return std::nullopt;
  std::vector<Kind> kinds;
  for (const LossStep& step : steps) {
    const auto* two = dynamic_cast<const TwoLosses*>(step.loss.get());
    const auto epsilon = two == nullptr ? std::nullopt : two->either();
    if (!epsilon) return std::nullopt;
    kinds.push_back({*epsilon, step.count});
  }
  const auto counted = std::make_shared<const Counted>(std::move(kinds));
  if (!counted->ready()) return std::nullopt;
  return [counted](double epsilon) { return counted->delta(epsilon); };
}

}  // namespace sotto::pld_detail
