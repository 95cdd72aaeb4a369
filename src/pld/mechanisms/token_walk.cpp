// The mixtures of Gaussian steps that a coalition of c among n users sees of a token that hops
// uniformly at random. The walk is revealed. A gap is one contribution, followed by g noises until
// the group or the coalition is met again (μ²/g, g geometric). A cycle is the time between two
// visits of the coalition (μ² j²/m: j contributions of the group under m noises).
// docs/theory/federated.md derives both.
#include "pld/api/token_walk.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto {
namespace {

using pld_detail::unit;

constexpr std::size_t max_components = 1500;  // of a mixture
constexpr double fine = 1e-4;  // relative width of a cell of hops; a cell counts as its fewest hops
constexpr double single_hops = 1e4;  // up to here every number of hops is a cell
constexpr double gap_depth = 100;  // longer gaps have e^-100 of the mass, and count as shorter ones
constexpr double cycle_depth =
    75;  // longer cycles have e^-75 of the mass, which is added to `failure`
constexpr double negligible =
    1e-40;  // terms below this share of their mode's probability are left out
constexpr double max_terms = 4e6;        // of all cells of a cycle together
constexpr double relative_error = 1e-8;  // of a mass

// The distribution of the factor of μ²: the mixture without its noise.
struct WalkDistribution {
  std::vector<std::pair<double, double>> factors;  // a factor of μ², and its mass
  double failure = 0;
};

// Returns the end of the cell of hops that begins at `first`.
double cell_end(double first) {
  return first < single_hops ? first + 1 : std::floor(first * (1 + fine)) + 1;
}

// Returns the distribution of 1/g, g geometric: each hop meets the group or the coalition with
// probability q, which is rounded up.
WalkDistribution gap_distribution(double q) {
  WalkDistribution distribution;
  if (q >= 1) {
    distribution.factors.emplace_back(1, 1);
    return distribution;
  }
  const double log_miss = std::log1p(-q);
  double first = 1;
  for (double end = 0; -(first - 1) * log_miss < gap_depth; first = end) {
    end = cell_end(first);
    spend(30);
    distribution.factors.emplace_back(
        1 / first, -std::exp((first - 1) * log_miss) * std::expm1((end - first) * log_miss));
  }
  distribution.factors.emplace_back(1 / first, std::exp((first - 1) * log_miss));
  return distribution;
}

// A cycle: every hop meets the coalition with probability `visit`, which ends the cycle after M
// hops. A hop that does not meet the coalition meets the group with probability `own`, J times in
// all.
struct Cycle {
  double log_stay;  // log(1 - visit)
  double own;
  double rest;  // 1 - own, without cancellation

  explicit Cycle(const WalkUsers& users) {
    const auto coalition = static_cast<double>(users.colluders);
    const auto group = static_cast<double>(users.group);
    const double others = std::max(0.0, static_cast<double>(users.all) - coalition - group);
    const double all = coalition + group + others;
    const double visit = coalition / all;
    log_stay = visit < 0.5 ? std::log1p(-visit) : std::log((group + others) / all);
    own = group / (group + others);
    rest = others / (group + others);
  }
  // Returns P(from <= M < to).
  [[nodiscard]] double mass(double from, double to) const {
    return -std::exp(from * log_stay) * std::expm1((to - from) * log_stay);
  }
};

// Collects factors of μ² and their masses. Factors are rounded up to a fine geometric grid.
class FactorGrid {
 public:
  void add(double log_factor, double mass) {
    const auto place =
        static_cast<std::size_t>(std::max(0.0, std::ceil((log_factor - lowest) / fine - 1e-9)));
    if (place >= mass_.size()) mass_.resize(place + 1, 0);
    mass_[place] += mass;
  }
  [[nodiscard]] std::vector<std::pair<double, double>> factors() const {
    std::vector<std::pair<double, double>> result;
    for (std::size_t i = 0; i < mass_.size(); ++i) {
      if (mass_[i] > 0)
        result.emplace_back(std::exp(lowest + static_cast<double>(i) * fine) * (1 + 1e-8),
                            mass_[i]);
    }
    return result;
  }

 private:
  static constexpr double lowest = -60;
  std::vector<double> mass_;
};

// Adds the factors j²/fewest_hops for J ~ Bin(trials, own), with `mass` in all. Returns the mass
// that is left out.
double add_exact_terms(const Cycle& cycle, double trials, double fewest_hops, double mass,
                       FactorGrid& grid) {
  const double odds = cycle.own / cycle.rest;
  const double mode = std::min(trials, std::floor((trials + 1) * cycle.own));
  // Terms over the mode's probability, from the mode outwards. Negligible ones below the mode count
  // in proportion to all others; those above it are bounded by a geometric series.
  std::vector<double> below;
  double total = 1;
  for (double j = mode, term = 1; j > 0; --j) {
    term *= j / ((trials - j + 1) * odds);
    if (term < negligible) break;
    below.push_back(term);
    total += term;
  }
  std::vector<double> above;
  double omitted = 0;
  for (double j = mode, term = 1; j < trials; ++j) {
    const double ratio =
        (trials - j) / (j + 1) * odds;  // decreases in j, and is below 1 beyond the mode
    term *= ratio;
    if (term < negligible) {
      omitted = ratio < 1 ? term / (1 - ratio) : 1;
      break;
    }
    above.push_back(term);
    total += term;
  }
  spend(40 * static_cast<double>(below.size() + above.size() + 1));
  const double log_fewest_hops = std::log(fewest_hops);
  const auto put = [&](double j, double term) {
    if (j > 0) grid.add(2 * std::log(j) - log_fewest_hops, mass * (term / total));
  };
  for (std::size_t i = 0; i < below.size(); ++i) put(mode - 1 - static_cast<double>(i), below[i]);
  put(mode, 1);
  for (std::size_t i = 0; i < above.size(); ++i) put(mode + 1 + static_cast<double>(i), above[i]);
  return mass * (omitted / total);
}

// Adds the factors where J has too many values to list: by Bernstein's inequality
// P(J >= mean + t) <= e^(-t²/(2(v + t/3))), in steps of t. Returns the mass that is left out.
double add_bounded_terms(const Cycle& cycle, double trials, double fewest_hops, double mass,
                         FactorGrid& grid) {
  const double mean = trials * cycle.own;
  const double variance = mean * cycle.rest;
  const double step = (std::sqrt(variance) + 1) / 4;
  double tail = 1;  // P(J >= last)
  double last = mean;
  for (double t = step; tail > negligible && last < trials; t += step) {
    const double next = std::min(trials, mean + t);
    const double beyond = next < trials ? std::exp(-t * t / (2 * (variance + t / 3))) : 0;
    grid.add(2 * std::log(next) - std::log(fewest_hops), mass * (tail - beyond));
    tail = beyond;
    last = next;
    spend(60);
  }
  return mass * tail;
}

// Returns the distribution of j²/m: j contributions of the group, and m hops of users outside the
// coalition, before its next visit.
WalkDistribution cycle_distribution(const WalkUsers& users) {
  constexpr double many = 1e6;  // more values of J are not listed
  const Cycle cycle(users);
  const double last = cycle_depth / -cycle.log_stay;
  // cells of m are as narrow as max_terms allows for the values of J in all of them
  const double spread = std::sqrt(std::min(many, last * cycle.own) * cycle.rest) + 8;
  const double width = std::max(fine, 48 * spread / max_terms);
  const double single = 1 / width;
  WalkDistribution distribution;
  FactorGrid grid;
  distribution.failure = 2 * std::exp(-cycle_depth);
  double m = 1;
  for (double end = 0; m <= last; m = end) {
    end = m < single ? m + 1 : std::floor(m * (1 + width)) + 1;
    const double max_hops = end - 1;
    const double mass = cycle.mass(m, end);
    spend(60);
    if (cycle.rest <= 0) {
      grid.add(std::log(max_hops), mass);  // every hop outside the coalition meets the group: j = m
    } else if (max_hops * cycle.own > many) {
      distribution.failure += add_bounded_terms(cycle, max_hops, m, mass, grid);
    } else {
      distribution.failure += add_exact_terms(cycle, max_hops, m, mass, grid);
    }
  }
  distribution.factors = grid.factors();
  return distribution;
}

enum class Part { gap, cycle };

// A cache of the values that were computed last. Safe for concurrent callers.
template <class Key, class Value>
class RecentCache {
 public:
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, value] : entries_) {
      if (known == key) return value;
    }
    return nullptr;
  }
  void insert(const Key& key, const std::shared_ptr<const Value>& value) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() == capacity) entries_.erase(entries_.begin());
    entries_.emplace_back(key, value);
  }

 private:
  static constexpr std::size_t capacity = 8;
  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> entries_;
};

using DistributionKey = std::tuple<Part, std::int64_t, std::int64_t, std::int64_t>;

// Cached, since every order, ε, δ and noise level of one question needs the same distribution.
std::shared_ptr<const WalkDistribution> walk_distribution(Part part, const WalkUsers& users) {
  static RecentCache<DistributionKey, WalkDistribution> cache;
  const DistributionKey key{part, users.all, users.colluders, users.group};
  if (auto known = cache.find(key)) return known;
  const double meeting =
      static_cast<double>(users.colluders + users.group) / static_cast<double>(users.all);
  auto distribution = std::make_shared<const WalkDistribution>(
      part == Part::gap ? gap_distribution(std::min(1.0, next_up(meeting)))
                        : cycle_distribution(users));
  cache.insert(key, distribution);
  return distribution;
}

// Returns the mixture for one μ². A component below negligible_loss is raised to it.
std::shared_ptr<const GaussianMixture> mixture_of(Part part, const Real& squared_mu,
                                                  const WalkUsers& users) {
  using Key = std::tuple<DistributionKey, double, double>;
  static RecentCache<Key, GaussianMixture> cache;
  const Key key{
      {part, users.all, users.colluders, users.group}, squared_mu.lower(), squared_mu.upper()};
  if (auto known = cache.find(key)) return known;
  const auto distribution = walk_distribution(part, users);
  const Real smallest = negligible_loss * negligible_loss;
  std::vector<GaussianComponent> components;
  components.reserve(distribution->factors.size());
  for (const auto& [factor, mass] : distribution->factors) {
    const Real one = squared_mu * Real(factor).widened(2 * unit * factor);
    components.push_back({certainly_less(one, smallest) ? smallest : one,
                          Real(mass).widened(relative_error * mass)});
  }
  const auto mixture = std::make_shared<const GaussianMixture>(
      GaussianMixture{coarsen_mixture(components, max_components), distribution->failure});
  cache.insert(key, mixture);
  return mixture;
}

}  // namespace

std::shared_ptr<const GaussianMixture> walk_gap_mixture(const Real& squared_mu,
                                                        const WalkUsers& users) {
  return mixture_of(Part::gap, squared_mu, users);
}

std::shared_ptr<const GaussianMixture> walk_cycle_mixture(const Real& squared_mu,
                                                          const WalkUsers& users) {
  return mixture_of(Part::cycle, squared_mu, users);
}

}  // namespace sotto
