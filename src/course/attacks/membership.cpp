#include "course/api/attack_membership.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

using Genome = std::vector<std::uint8_t>;

constexpr std::int64_t most_alleles = 100'000'000;

void check(const MembershipSettings& settings) {
  (void)require_count(settings.sites, 1, "sites");
  (void)require_count(settings.people, 2, "people");
  (void)require_count(settings.runs, 1, "runs");
  if (settings.sites > most_alleles / settings.people || settings.runs > most_alleles / (settings.people * settings.sites)) {
    throw InvalidValue("sites times people times runs must be at most 10^8");
  }
  (void)require_positive(settings.epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
}

std::vector<double> population(std::int64_t sites) {
  std::vector<double> frequencies(static_cast<std::size_t>(sites));
  for (double& frequency : frequencies) frequency = static_cast<double>(50 + uniform_below(901)) / 1000;
  return frequencies;
}

Genome somebody(const std::vector<double>& frequencies) {
  Genome genome(frequencies.size());
  for (std::size_t i = 0; i < genome.size(); ++i) genome[i] = bernoulli(frequencies[i]) ? 1 : 0;
  return genome;
}

double score(const Genome& genome, const std::vector<double>& frequencies, const std::vector<double>& released) {
  double sum = 0;
  for (std::size_t i = 0; i < genome.size(); ++i) sum += (genome[i] - frequencies[i]) * (released[i] - frequencies[i]);
  return sum;
}

struct Scores {
  std::vector<double> members, others;
  // Those above the threshold are accused, which the wanted share of the others at most is.
  [[nodiscard]] double true_positive_rate(double fpr) const {
    const auto accused = static_cast<std::size_t>(std::floor(fpr * static_cast<double>(others.size()) * (1 + 1e-12)));
    if (accused >= others.size()) return 1;
    const auto found = std::lower_bound(members.begin(), members.end(), others[accused], std::greater<>()) - members.begin();
    return static_cast<double>(found) / static_cast<double>(members.size());
  }
  void sort() {
    std::sort(members.begin(), members.end(), std::greater<>());
    std::sort(others.begin(), others.end(), std::greater<>());
  }
};

}  // namespace

MembershipAttack membership_attack(const MembershipSettings& settings) {
  check(settings);
  MembershipAttack attack{.settings = settings};
  const auto people = static_cast<double>(settings.people);
  // Replacing one person changes each frequency by 1/people at most. Two roundings up cover the two operations.
  attack.sensitivity = std::sqrt(static_cast<double>(settings.sites)) / people;
  for (int i = 0; i < 2; ++i) attack.sensitivity = std::nextafter(attack.sensitivity, INFINITY);
  const Additive mechanism = gaussian_for(Epsilon(settings.epsilon), Delta(settings.delta), attack.sensitivity);
  attack.noise = mechanism.scale();
  attack.members = settings.people * settings.runs;

  Scores exact, noisy;
  const std::vector<double> frequencies = population(settings.sites);
  for (std::int64_t run = 0; run < settings.runs; ++run) {
    std::vector<Genome> pool;
    std::vector<double> pooled(frequencies.size(), 0.0);
    for (std::int64_t i = 0; i < settings.people; ++i) {
      pool.push_back(somebody(frequencies));
      for (std::size_t site = 0; site < pooled.size(); ++site) pooled[site] += pool.back()[site];
    }
    for (double& frequency : pooled) frequency /= people;
    const std::vector<double> released = mechanism.release(pooled);
    for (const Genome& member : pool) {
      exact.members.push_back(score(member, frequencies, pooled));
      noisy.members.push_back(score(member, frequencies, released));
      const Genome other = somebody(frequencies);
      exact.others.push_back(score(other, frequencies, pooled));
      noisy.others.push_back(score(other, frequencies, released));
    }
  }
  exact.sort();
  noisy.sort();

  const Tradeoff tradeoff(mechanism.event());
  const auto point = [&](double fpr) {
    const double found = noisy.true_positive_rate(fpr);
    // The share of members, and the threshold, which is read off as many others: there the curve's slope is about found/fpr.
    const double variance = (found * (1 - found) + found * found * (1 - fpr) / fpr) / static_cast<double>(attack.members);
    return MembershipPoint{.fpr = fpr,
                           .exact = exact.true_positive_rate(fpr),
                           .noisy = found,
                           .margin = 2 * std::sqrt(variance),
                           .ceiling = tradeoff.true_positive_rate(fpr).upper};
  };
  for (const double fpr : {0.01, 0.05, 0.1, 0.2, 0.5}) attack.points.push_back(point(fpr));
  constexpr int steps = 48;
  const double least = 1 / static_cast<double>(attack.members);
  for (int i = 0; i <= steps; ++i) attack.curve.push_back(point(i == steps ? 1 : std::pow(least, 1 - static_cast<double>(i) / steps)));
  return attack;
}

}  // namespace sotto
