// Tests by Homer's statistic whether a genome was in a pool.
#include <algorithm>
#include <cmath>
#include <functional>

#include "course/api/attack_membership.hpp"
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
  if (settings.sites > most_alleles / settings.people ||
      settings.runs > most_alleles / (settings.people * settings.sites)) {
    throw InvalidValue("sites = " + std::to_string(settings.sites) +
                       " with people = " + std::to_string(settings.people) +
                       " and runs = " + std::to_string(settings.runs) +
                       " is not allowed: sites times people times runs must be at most 10^8");
  }
  (void)require_positive(settings.epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
}

std::vector<double> population(std::int64_t sites) {
  std::vector<double> frequencies(static_cast<std::size_t>(sites));
  for (double& frequency : frequencies)
    frequency = static_cast<double>(50 + uniform_below(901)) / 1000;
  return frequencies;
}

Genome random_genome(const std::vector<double>& frequencies) {
  Genome genome(frequencies.size());
  for (std::size_t i = 0; i < genome.size(); ++i) genome[i] = bernoulli(frequencies[i]) ? 1 : 0;
  return genome;
}

double score(const Genome& genome, const std::vector<double>& frequencies,
             const std::vector<double>& released) {
  double sum = 0;
  for (std::size_t i = 0; i < genome.size(); ++i)
    sum += (genome[i] - frequencies[i]) * (released[i] - frequencies[i]);
  return sum;
}

struct Scores {
  std::vector<double> members, others;
  // Accuses everyone above a threshold that at most a share `fpr` of the others exceeds.
  [[nodiscard]] double true_positive_rate(double fpr) const {
    const auto accused = static_cast<std::size_t>(
        std::floor(fpr * static_cast<double>(others.size()) * (1 + 1e-12)));
    if (accused >= others.size()) return 1;
    const auto detected =
        std::lower_bound(members.begin(), members.end(), others[accused], std::greater<>()) -
        members.begin();
    return static_cast<double>(detected) / static_cast<double>(members.size());
  }
  void sort() {
    std::sort(members.begin(), members.end(), std::greater<>());
    std::sort(others.begin(), others.end(), std::greater<>());
  }
};

// Draws a pool of people, releases its frequencies, and adds the scores of its members and of
// equally many others.
void score_pool(std::int64_t people, const std::vector<double>& frequencies,
                const Additive& mechanism, Scores& exact, Scores& noisy) {
  std::vector<Genome> pool;
  std::vector<double> pooled(frequencies.size(), 0.0);
  for (std::int64_t i = 0; i < people; ++i) {
    pool.push_back(random_genome(frequencies));
    for (std::size_t site = 0; site < pooled.size(); ++site) pooled[site] += pool.back()[site];
  }
  for (double& frequency : pooled) frequency /= static_cast<double>(people);
  const std::vector<double> released = mechanism.release(pooled);
  for (const Genome& member : pool) {
    exact.members.push_back(score(member, frequencies, pooled));
    noisy.members.push_back(score(member, frequencies, released));
    const Genome other = random_genome(frequencies);
    exact.others.push_back(score(other, frequencies, pooled));
    noisy.others.push_back(score(other, frequencies, released));
  }
}

}  // namespace

MembershipAttack membership_attack(const MembershipSettings& settings) {
  check(settings);
  MembershipAttack attack{.settings = settings};
  const auto people = static_cast<double>(settings.people);
  // Replacing a person changes each frequency by at most 1/people. Rounding up twice covers the two
  // operations.
  attack.sensitivity = std::sqrt(static_cast<double>(settings.sites)) / people;
  for (int i = 0; i < 2; ++i) attack.sensitivity = std::nextafter(attack.sensitivity, INFINITY);
  const Additive mechanism =
      gaussian_for(Epsilon(settings.epsilon), Delta(settings.delta), attack.sensitivity);
  attack.noise = mechanism.scale();
  attack.members = settings.people * settings.runs;

  Scores exact, noisy;
  const std::vector<double> frequencies = population(settings.sites);
  for (std::int64_t run = 0; run < settings.runs; ++run)
    score_pool(settings.people, frequencies, mechanism, exact, noisy);
  exact.sort();
  noisy.sort();

  const Tradeoff tradeoff(mechanism.event());
  const auto point = [&](double fpr) {
    const double tpr = noisy.true_positive_rate(fpr);
    // Variance of the share of detected members, plus that of the threshold, which is estimated
    // from equally many others; the slope of the curve at the threshold is about tpr/fpr.
    const double variance =
        (tpr * (1 - tpr) + tpr * tpr * (1 - fpr) / fpr) / static_cast<double>(attack.members);
    return MembershipPoint{.fpr = fpr,
                           .exact = exact.true_positive_rate(fpr),
                           .noisy = tpr,
                           .margin = 2 * std::sqrt(variance),
                           .ceiling = tradeoff.true_positive_rate(fpr).upper};
  };
  for (const double fpr : {0.01, 0.05, 0.1, 0.2, 0.5}) attack.points.push_back(point(fpr));
  constexpr int steps = 48;
  const double least = 1 / static_cast<double>(attack.members);
  for (int i = 0; i <= steps; ++i)
    attack.curve.push_back(
        point(i == steps ? 1 : std::pow(least, 1 - static_cast<double>(i) / steps)));
  return attack;
}

}  // namespace sotto
