// Solves noisy subset counts for the bits of a table.
#include <algorithm>
#include <cmath>

#include "course/api/attack_reconstruction.hpp"
#include "course/attacks/least_squares.hpp"
#include "course/attacks/limits.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

using course_detail::BitMatrix;
using course_detail::LeastSquares;

void check(const ReconstructionSettings& settings) {
  (void)require_count(settings.people, 1, "people");
  if (settings.people > 1000) {
    throw InvalidValue(
        "people = " + std::to_string(settings.people) +
        " is not allowed: it must be at most 1000, since the attack solves that many equations");
  }
  if (settings.queries < settings.people || settings.queries > 20'000) {
    throw InvalidValue("queries = " + std::to_string(settings.queries) +
                       " is not allowed: it must be a number from people, " +
                       std::to_string(settings.people) + ", to 20000");
  }
  (void)require_count(settings.runs, 1, "runs");
  course_detail::require_at_most(settings.runs, 1000, "runs");
  for (const double noise : settings.noise) (void)require_positive(noise, "noise");
  (void)require_open_unit(settings.delta, "delta");
  (void)require_positive(settings.budget, "budget");
}

BitMatrix random_queries(const ReconstructionSettings& settings) {
  BitMatrix queries(static_cast<std::size_t>(settings.queries),
                    static_cast<std::size_t>(settings.people));
  for (std::size_t i = 0; i < queries.rows(); ++i) {
    for (std::size_t j = 0; j < queries.columns(); ++j) queries.set(i, j, bernoulli(1, 2));
  }
  return queries;
}

// Returns the largest number of queries that count one bit. A flip changes each of them by 1, so
// this is the square of the L2 sensitivity.
std::int64_t most_counted(const BitMatrix& queries) {
  std::vector<std::int64_t> counted(queries.columns(), 0);
  for (std::size_t i = 0; i < queries.rows(); ++i) {
    for (std::size_t j = 0; j < queries.columns(); ++j) counted[j] += queries.at(i, j) ? 1 : 0;
  }
  return *std::max_element(counted.begin(), counted.end());
}

double recovered_share(const BitMatrix& queries, const LeastSquares& solver,
                       const Additive& mechanism, std::int64_t runs) {
  std::size_t right = 0;
  for (std::int64_t run = 0; run < runs; ++run) {
    std::vector<double> bits(queries.columns());
    for (double& bit : bits) bit = bernoulli(1, 2) ? 1 : 0;
    const std::vector<double> guess = solver.solve(mechanism.release(queries.times(bits)));
    for (std::size_t j = 0; j < bits.size(); ++j)
      right += (guess[j] > 0.5 ? 1 : 0) == static_cast<int>(bits[j]) ? 1 : 0;
  }
  return static_cast<double>(right) /
         (static_cast<double>(runs) * static_cast<double>(queries.columns()));
}

}  // namespace

ReconstructionAttack reconstruction_attack(const ReconstructionSettings& settings) {
  check(settings);
  ReconstructionAttack attack{.settings = settings};
  if (attack.settings.noise.empty()) attack.settings.noise = {1, 2, 3, 5, 10, 20, 30, 50, 100, 200};
  std::sort(attack.settings.noise.begin(), attack.settings.noise.end());
  const BitMatrix queries = random_queries(settings);
  const LeastSquares solver(queries);
  attack.sensitivity =
      std::nextafter(std::sqrt(static_cast<double>(most_counted(queries))), INFINITY);
  const auto point = [&](double noise) {
    const Additive mechanism(gaussian(noise, attack.sensitivity));
    return ReconstructionPoint{
        .noise = noise,
        .epsilon = epsilon(mechanism.event(), Delta(settings.delta)).value.upper,
        .recovered = recovered_share(queries, solver, mechanism, settings.runs),
        .ceiling = Tradeoff(mechanism.event()).success(0.5).upper};
  };
  for (const double noise : attack.settings.noise) attack.points.push_back(point(noise));
  attack.within_budget = point(
      gaussian_for(Epsilon(settings.budget), Delta(settings.delta), attack.sensitivity).scale());
  return attack;
}

}  // namespace sotto
