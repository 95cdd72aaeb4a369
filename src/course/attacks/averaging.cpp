// Releases a count repeatedly and averages the answers.
#include <algorithm>
#include <cmath>

#include "course/api/attack_averaging.hpp"
#include "course/attacks/limits.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/filter.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

constexpr std::int64_t most_questions = 1'000'000;
constexpr std::int64_t most_answers = 100'000'000;

void check(const AveragingSettings& settings) {
  (void)require_positive(settings.epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
  (void)require_positive(settings.budget, "budget");
  (void)require_count(settings.questions, 1, "questions");
  (void)require_count(settings.runs, 1, "runs");
  course_detail::require_at_most(settings.questions, most_questions, "questions");
  if (settings.runs > most_answers / settings.questions) {
    throw InvalidValue("runs = " + std::to_string(settings.runs) +
                       " with questions = " + std::to_string(settings.questions) +
                       " is not allowed: questions times runs must be at most 10^8");
  }
}

// Returns the number of questions that a ledger with the budget admits.
std::int64_t admitted(const Plan& event, const AveragingSettings& settings) {
  Filter ledger(ApproximateBudget{.epsilon = settings.budget});
  std::int64_t count = 0;
  while (count < settings.questions && ledger.admit(event)) ++count;
  return count;
}

// Returns 1, 2, 5, 10, … below `last`, and `last` and `allowed`, sorted.
std::vector<std::int64_t> stops(std::int64_t last, std::int64_t allowed) {
  std::vector<std::int64_t> result{last};
  if (allowed > 0) result.push_back(allowed);
  for (std::int64_t ten = 1; ten < last; ten *= 10) {
    for (const std::int64_t stop : {ten, 2 * ten, 5 * ten}) {
      if (stop < last) result.push_back(stop);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

double quantile(std::vector<double>& values, double share) {
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

}  // namespace

AveragingAttack averaging_attack(const AveragingSettings& settings) {
  check(settings);
  const Additive mechanism = laplace_for(Epsilon(settings.epsilon), 1);
  AveragingAttack attack{.settings = settings,
                         .scale = mechanism.scale(),
                         .secret = static_cast<std::int64_t>(1000 + uniform_below(9000))};
  const auto truth = static_cast<double>(attack.secret);
  const std::int64_t allowed = admitted(mechanism.event(), settings);
  const std::vector<std::int64_t> at = stops(settings.questions, allowed);

  // errors[i] has the error of the mean after at[i] answers, for each run.
  std::vector<std::vector<double>> errors(at.size());
  for (std::int64_t run = 0; run < settings.runs; ++run) {
    double sum = 0;
    std::int64_t answered = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::vector<double> question(static_cast<std::size_t>(at[i] - answered), truth);
      for (const double answer : mechanism.release(question)) sum += answer - truth;
      answered = at[i];
      errors[i].push_back(sum / static_cast<double>(answered));
    }
    attack.guess = truth + errors.back().back();
  }

  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double>& here = errors[i];
    for (double& error : here) error = std::abs(error);
    const auto recovered =
        std::count_if(here.begin(), here.end(), [](double error) { return error < 0.5; });
    const Plan all_answers = static_cast<double>(at[i]) * mechanism.event();
    attack.points.push_back(
        {.questions = at[i],
         .typical_error = quantile(here, 0.5),
         .large_error = quantile(here, 0.95),
         .recovered = static_cast<double>(recovered) / static_cast<double>(settings.runs),
         .epsilon = epsilon(all_answers, Delta(settings.delta)).value.upper});
    if (at[i] == allowed) attack.allowed = attack.points.back();
  }
  return attack;
}

}  // namespace sotto
