// What a coalition of c among n users sees of a token that hops uniformly at random, as a mixture of Gaussians over the walk, which is revealed:
// by one contribution that is followed by g noises before the group or the coalition is met again (μ² over g, g geometric), or between two visits of
// the coalition (μ² j²/m: j contributions of the group under m noises). docs/theory/federated.md derives both.
#include "sotto/pld/token_walk.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::unit;

constexpr std::size_t most_shares = 1500;
constexpr double fine = 1e-4;         // hops are taken in cells of this relative width, each as its fewest: first order, so it is small
constexpr double single_hops = 1e4;   // up to here each by itself
constexpr double deepest = 100;       // -log of what is left out of gaps, which are then taken as shorter
constexpr double deepest_cycle = 75;  // -log of what is left out of cycles, which then fail
constexpr double negligible = 1e-40;  // of a mode's probability
constexpr double most_terms = 4e6;    // of all cells together
constexpr double relative_error = 1e-8;

struct WalkLaw {
  std::vector<std::pair<double, double>> shares;  // a factor of μ², and its mass
  double failure = 0;
};

double cell_end(double first) { return first < single_hops ? first + 1 : std::floor(first * (1 + fine)) + 1; }

// 1/g with g geometric: the next hop meets the group or the coalition with probability q, rounded up.
WalkLaw gap_law(double q) {
  WalkLaw law;
  if (q >= 1) {
    law.shares.emplace_back(1, 1);
    return law;
  }
  const double log_miss = std::log1p(-q);
  double first = 1;
  for (double end = 0; -(first - 1) * log_miss < deepest; first = end) {
    end = cell_end(first);
    spend(30);
    law.shares.emplace_back(1 / first, -std::exp((first - 1) * log_miss) * std::expm1((end - first) * log_miss));
  }
  law.shares.emplace_back(1 / first, std::exp((first - 1) * log_miss));
  return law;
}

// What M and J are to a cycle: at every hop the coalition is met with probability `visit`, which ends it after M hops; and a hop that does not meet
// the coalition meets the group with probability `own`, J times in all.
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
  // P(from <= M < to)
  [[nodiscard]] double mass(double from, double to) const { return -std::exp(from * log_stay) * std::expm1((to - from) * log_stay); }
};

// Factors of μ² and their masses, rounded up to a fine geometric grid.
class FactorGrid {
 public:
  void add(double log_factor, double mass) {
    const auto place = static_cast<std::size_t>(std::max(0.0, std::ceil((log_factor - lowest) / fine - 1e-9)));
    if (place >= mass_.size()) mass_.resize(place + 1, 0);
    mass_[place] += mass;
  }
  [[nodiscard]] std::vector<std::pair<double, double>> shares() const {
    std::vector<std::pair<double, double>> result;
    for (std::size_t i = 0; i < mass_.size(); ++i) {
      if (mass_[i] > 0) result.emplace_back(std::exp(lowest + static_cast<double>(i) * fine) * (1 + 1e-8), mass_[i]);
    }
    return result;
  }

 private:
  static constexpr double lowest = -60;
  std::vector<double> mass_;
};

// The law of J ~ Bin(trials, own), times `mass`, as factors j²/fewest: what it leaves out is returned.
double add_exact_terms(const Cycle& cycle, double trials, double fewest, double mass, FactorGrid& grid) {
  const double odds = cycle.own / cycle.rest;
  const double mode = std::min(trials, std::floor((trials + 1) * cycle.own));
  // from the mode outwards, in units of its probability, until nothing is left; what is below counts as what is not
  std::vector<double> below;
  double total = 1;
  for (double j = mode, term = 1; j > 0; --j) {
    term *= j / ((trials - j + 1) * odds);
    if (term < negligible) break;
    below.push_back(term);
    total += term;
  }
  std::vector<double> above;
  double left = 0;
  for (double j = mode, term = 1; j < trials; ++j) {
    const double ratio = (trials - j) / (j + 1) * odds;  // falls, and is below 1 here
    term *= ratio;
    if (term < negligible) {
      left = ratio < 1 ? term / (1 - ratio) : 1;
      break;
    }
    above.push_back(term);
    total += term;
  }
  spend(40 * static_cast<double>(below.size() + above.size() + 1));
  const double log_fewest = std::log(fewest);
  const auto put = [&](double j, double term) {
    if (j > 0) grid.add(2 * std::log(j) - log_fewest, mass * (term / total));
  };
  for (std::size_t i = 0; i < below.size(); ++i) put(mode - 1 - static_cast<double>(i), below[i]);
  put(mode, 1);
  for (std::size_t i = 0; i < above.size(); ++i) put(mode + 1 + static_cast<double>(i), above[i]);
  return mass * (left / total);
}

// The same where J has many values: P(J >= mean + t) <= e^(-t²/(2(v + t/3))), by Bernstein's inequality.
double add_bounded_terms(const Cycle& cycle, double trials, double fewest, double mass, FactorGrid& grid) {
  const double mean = trials * cycle.own;
  const double variance = mean * cycle.rest;
  const double step = (std::sqrt(variance) + 1) / 4;
  double tail = 1;  // P(J >= last)
  double last = mean;
  for (double t = step; tail > negligible && last < trials; t += step) {
    const double next = std::min(trials, mean + t);
    const double beyond = next < trials ? std::exp(-t * t / (2 * (variance + t / 3))) : 0;
    grid.add(2 * std::log(next) - std::log(fewest), mass * (tail - beyond));
    tail = beyond;
    last = next;
    spend(60);
  }
  return mass * tail;
}

// j²/m: j contributions of the group before the coalition's next visit, m hops of users outside it.
WalkLaw cycle_law(const WalkUsers& users) {
  constexpr double many = 1e6;  // values of J
  const Cycle cycle(users);
  const double last = deepest_cycle / -cycle.log_stay;
  // Cells of m are as fine as the work allows: of all their values of J, so many are taken.
  const double spread = std::sqrt(std::min(many, last * cycle.own) * cycle.rest) + 8;
  const double width = std::max(fine, 48 * spread / most_terms);
  const double single = 1 / width;
  WalkLaw law;
  FactorGrid grid;
  law.failure = 2 * std::exp(-deepest_cycle);
  double m = 1;
  for (double end = 0; m <= last; m = end) {
    end = m < single ? m + 1 : std::floor(m * (1 + width)) + 1;
    const double most = end - 1;
    const double mass = cycle.mass(m, end);
    spend(60);
    if (cycle.rest <= 0) {
      grid.add(std::log(most), mass);  // every term is the group's: j = m
    } else if (most * cycle.own > many) {
      law.failure += add_bounded_terms(cycle, most, m, mass, grid);
    } else {
      law.failure += add_exact_terms(cycle, most, m, mass, grid);
    }
  }
  law.shares = grid.shares();
  return law;
}

enum class Part { gap, cycle };

template <class Key, class Value>
class LastFew {
 public:
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(guard_);
    for (const auto& [known, value] : kept_) {
      if (known == key) return value;
    }
    return nullptr;
  }
  void keep(const Key& key, const std::shared_ptr<const Value>& value) {
    const std::lock_guard lock(guard_);
    if (kept_.size() == most_kept) kept_.erase(kept_.begin());
    kept_.emplace_back(key, value);
  }

 private:
  static constexpr std::size_t most_kept = 8;
  std::mutex guard_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

using LawKey = std::tuple<Part, std::int64_t, std::int64_t, std::int64_t>;

// What was computed last is kept: every order, ε, δ and noise of a question asks for the same law again.
std::shared_ptr<const WalkLaw> law_of(Part part, const WalkUsers& users) {
  static LastFew<LawKey, WalkLaw> kept;
  const LawKey key{part, users.all, users.colluders, users.group};
  if (auto known = kept.find(key)) return known;
  const double meeting = static_cast<double>(users.colluders + users.group) / static_cast<double>(users.all);
  auto law = std::make_shared<const WalkLaw>(part == Part::gap ? gap_law(std::min(1.0, next_up(meeting))) : cycle_law(users));
  kept.keep(key, law);
  return law;
}

std::shared_ptr<const GaussianMixture> mixture_of(Part part, const Real& squared_mu, const WalkUsers& users) {
  using Key = std::tuple<LawKey, double, double>;
  static LastFew<Key, GaussianMixture> kept;
  const Key key{{part, users.all, users.colluders, users.group}, squared_mu.lower(), squared_mu.upper()};
  if (auto known = kept.find(key)) return known;
  const auto law = law_of(part, users);
  const Real least = negligible_loss * negligible_loss;
  std::vector<GaussianComponent> shares;
  shares.reserve(law->shares.size());
  for (const auto& [factor, mass] : law->shares) {
    const Real one = squared_mu * Real(factor).widened(2 * unit * factor);
    shares.push_back({certainly_less(one, least) ? least : one, Real(mass).widened(relative_error * mass)});
  }
  const auto mixture = std::make_shared<const GaussianMixture>(GaussianMixture{coarsen_mixture(shares, most_shares), law->failure});
  kept.keep(key, mixture);
  return mixture;
}

}  // namespace

std::shared_ptr<const GaussianMixture> walk_gap_mixture(const Real& squared_mu, const WalkUsers& users) {
  return mixture_of(Part::gap, squared_mu, users);
}

std::shared_ptr<const GaussianMixture> walk_cycle_mixture(const Real& squared_mu, const WalkUsers& users) {
  return mixture_of(Part::cycle, squared_mu, users);
}

}  // namespace sotto
