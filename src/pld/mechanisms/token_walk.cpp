// What a coalition of c among n users sees of a token that hops uniformly at random, as a mixture of Gaussians over the walk, which is revealed:
// by one contribution that is followed by g noises before the user or the coalition is met again (μ² over g, g geometric), or between two visits of
// the coalition (μ² j²/m: j contributions of the user under m noises). docs/theory/federated.md derives both.
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
constexpr double relative_error = 1e-8;

struct WalkLaw {
  std::vector<std::pair<double, double>> shares;  // a factor of μ², and its mass
  double failure = 0;
};

double cell_end(double first) { return first < single_hops ? first + 1 : std::floor(first * (1 + fine)) + 1; }

// 1/g with g geometric: the next hop meets the user or the coalition with probability q, rounded up.
WalkLaw gap_law(double q) {
  WalkLaw law;
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

// P(Bin(trials, q) = i) summed from both ends: more than j, and at most j.
struct BinomialTails {
  std::vector<double> point, above, upto;

  BinomialTails(double trials, double q, std::size_t most) {
    const auto last = static_cast<std::size_t>(std::min(trials, std::max(static_cast<double>(most), 2 * std::ceil(trials * q)) + 64));
    point.assign(std::max(last + 1, most + 2), 0);
    point[0] = std::exp(trials * std::log1p(-q));
    const double odds = q / (1 - q);
    for (std::size_t i = 0; i < last; ++i) point[i + 1] = point[i] * (trials - static_cast<double>(i)) / static_cast<double>(i + 1) * odds;
    above.assign(point.size() + 1, 0);
    for (std::size_t i = point.size(); i-- > 1;) above[i - 1] = above[i] + point[i];
    upto = point;
    for (std::size_t i = 1; i < upto.size(); ++i) upto[i] += upto[i - 1];
    spend(4 * static_cast<double>(point.size()));
  }
};

// j²/m: j contributions before the coalition's next visit, m hops of users outside it. J is geometric with 1/(1+c), and given it the (J+1)st meeting
// of user or coalition ends the cycle: P(M <= m | J = j) = P(Bin(m+1, q) > j).
WalkLaw cycle_law(double q, double colluders) {
  const auto most = static_cast<std::size_t>(std::ceil(deepest_cycle / std::log1p(colluders)));
  std::vector<double> prior{0};
  for (std::size_t j = 1; j <= most; ++j) prior.push_back(std::pow(1 + colluders, -static_cast<double>(j)) * colluders / (1 + colluders));
  WalkLaw law;
  law.failure = 2 * std::exp(-deepest_cycle);
  if (q >= 1) {  // everybody else colludes
    for (std::size_t j = 1; j <= most; ++j) law.shares.emplace_back(static_cast<double>(j), prior[j]);
    return law;
  }
  // rounded up to a fine geometric grid of factors
  const double lowest = -40;
  std::vector<double> mass(static_cast<std::size_t>((2 * std::log(static_cast<double>(most) + 1) - lowest) / fine) + 2, 0);
  const auto add = [&](double factor, double part) {
    if (part < 1e-45) {
      law.failure += std::max(0.0, part);
      return;
    }
    mass[static_cast<std::size_t>(std::max(0.0, std::ceil((std::log(factor) - lowest) / fine - 1e-9)))] += part;
  };
  const double visit = q * colluders / (1 + colluders);
  double m = 1;
  for (; m < single_hops && m * visit < deepest_cycle; ++m) {
    const BinomialTails hops(m, q, most);
    for (std::size_t j = 1; j <= most && static_cast<double>(j) <= m; ++j) {
      add(static_cast<double>(j * j) / m, prior[j] * hops.point[j] * q);  // the last hop but one is the j-th contribution or later, the last a visit
    }
  }
  if (m * visit < deepest_cycle) {
    BinomialTails before(m, q, most);  // of M <= m - 1
    for (double end = 0; m * visit < deepest_cycle; m = end) {
      end = cell_end(m);
      BinomialTails after(end, q, most);
      for (std::size_t j = 1; j <= most; ++j) {
        const double part = after.above[j] < 0.5 ? after.above[j] - before.above[j] : before.upto[j] - after.upto[j];
        add(static_cast<double>(j * j) / m, prior[j] * part);
      }
      before = std::move(after);
    }
  }
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (mass[i] > 0) law.shares.emplace_back(std::exp(lowest + static_cast<double>(i) * fine) * (1 + 1e-8), mass[i]);
  }
  return law;
}

enum class Part { gap, cycle };

// What was computed last is kept: every order, ε, δ and noise of a question asks for the same law again.
std::shared_ptr<const WalkLaw> law_of(Part part, std::int64_t users, std::int64_t colluders) {
  using Key = std::tuple<Part, std::int64_t, std::int64_t>;
  static std::mutex guard;
  static std::vector<std::pair<Key, std::shared_ptr<const WalkLaw>>> kept;
  constexpr std::size_t most_kept = 8;
  const Key key{part, users, colluders};
  {
    const std::lock_guard lock(guard);
    for (const auto& [known, law] : kept) {
      if (known == key) return law;
    }
  }
  const double q = std::min(1.0, next_up(static_cast<double>(colluders + 1) / static_cast<double>(users)));
  auto law = std::make_shared<const WalkLaw>(part == Part::gap ? gap_law(q) : cycle_law(q, static_cast<double>(colluders)));
  const std::lock_guard lock(guard);
  if (kept.size() == most_kept) kept.erase(kept.begin());
  kept.emplace_back(key, law);
  return law;
}

PrivacyLossPtr loss_of(const WalkLaw& law, const Real& squared_mu) {
  std::vector<GaussianShare> shares;
  shares.reserve(law.shares.size());
  for (const auto& [factor, mass] : law.shares)
    shares.push_back({squared_mu * Real(factor).widened(2 * unit * factor), Real(mass).widened(relative_error * mass)});
  return gaussian_mixture_loss(split_shares(shares, most_shares));
}

}  // namespace

PrivacyLossPtr walk_gap_loss(const Real& squared_mu, std::int64_t users, std::int64_t colluders) {
  return loss_of(*law_of(Part::gap, users, colluders), squared_mu);
}

TruncatedLoss walk_cycle_loss(const Real& squared_mu, std::int64_t users, std::int64_t colluders) {
  const auto law = law_of(Part::cycle, users, colluders);
  return {loss_of(*law, squared_mu), law->failure};
}

}  // namespace sotto
