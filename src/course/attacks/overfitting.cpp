// Builds a classifier from the answers of a holdout set and measures it on that set.
#include <algorithm>
#include <cmath>

#include "accounting/api/generalisation.hpp"
#include "course/api/attack_overfitting.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/random.hpp"

namespace sotto {
namespace {

constexpr std::int64_t most_cells = 1'000'000'000;

void check(const OverfittingSettings& settings) {
  (void)require_count(settings.people, 2, "people");
  (void)require_count(settings.questions, 1, "questions");
  (void)require_count(settings.runs, 1, "runs");
  if (settings.people > most_cells / settings.questions ||
      settings.runs > most_cells / (settings.people * settings.questions)) {
    throw InvalidValue("people = " + std::to_string(settings.people) +
                       " with questions = " + std::to_string(settings.questions) +
                       " and runs = " + std::to_string(settings.runs) +
                       " is not allowed: people times questions times runs must be at most 10^9");
  }
  (void)require_positive(settings.epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
}

// Returns 1, 2, 5, 10, … below `last`, and `last`.
std::vector<std::int64_t> marks_up_to(std::int64_t last) {
  std::vector<std::int64_t> result;
  for (std::int64_t ten = 1; ten < last; ten *= 10) {
    for (const std::int64_t mark : {ten, 2 * ten, 5 * ten}) {
      if (mark < last) result.push_back(mark);
    }
  }
  result.push_back(last);
  return result;
}

// For each feature, its product with the label of each person, ±1. Feature and label are fair
// coins, so the product is a fair coin.
using Agreement = std::vector<std::vector<std::int8_t>>;

Agreement made_up(const OverfittingSettings& settings) {
  Agreement agreement(static_cast<std::size_t>(settings.questions),
                      std::vector<std::int8_t>(static_cast<std::size_t>(settings.people)));
  Random& random = Random::here();
  for (auto& feature : agreement) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < feature.size(); ++i) {
      if (i % 64 == 0) bits = random.word();
      feature[i] = (bits & 1U) != 0 ? 1 : -1;
      bits >>= 1U;
    }
  }
  return agreement;
}

// Returns the share of people for whom the vote of the features is right; a tie counts as half
// right.
double accuracy(const Agreement& agreement, const std::vector<double>& answers) {
  std::vector<std::int32_t> votes(agreement.front().size());
  for (std::size_t j = 0; j < answers.size(); ++j) {
    const std::int32_t sign = answers[j] > 0 ? 1 : -1;
    for (std::size_t i = 0; i < votes.size(); ++i) votes[i] += sign * agreement[j][i];
  }
  double right = 0;
  for (const std::int32_t vote : votes) right += vote > 0 ? 1 : (vote == 0 ? 0.5 : 0);
  return right / static_cast<double>(votes.size());
}

}  // namespace

OverfittingAttack overfitting_attack(const OverfittingSettings& settings) {
  check(settings);
  OverfittingAttack attack{.settings = settings};
  attack.gap =
      generalisation_gap(Real(settings.epsilon), Real(settings.delta), Relation::replace_one)
          .upper();
  attack.usual =
      usual_generalisation_gap(Real(settings.epsilon), Real(settings.delta), Relation::replace_one)
          .upper();
  const std::vector<std::int64_t> at = marks_up_to(settings.questions);
  std::vector<Additive> mechanisms;
  for (const std::int64_t questions : at) {
    // Replacing a person changes each mean of ±1 by at most 2/people. Rounding up four times covers
    // the operations.
    double sensitivity =
        2 * std::sqrt(static_cast<double>(questions)) / static_cast<double>(settings.people);
    for (int i = 0; i < 4; ++i) sensitivity = std::nextafter(sensitivity, INFINITY);
    mechanisms.push_back(
        gaussian_for(Epsilon(settings.epsilon), Delta(settings.delta), sensitivity));
    const double variation = delta(mechanisms.back().event(), Epsilon(0)).value.upper;
    attack.points.push_back({.questions = questions,
                             .exact = 0,
                             .noisy = 0,
                             .margin = 0,
                             .noise = mechanisms.back().scale(),
                             .most = std::min(1.0, 0.5 + variation)});
  }

  std::vector<double> squares(at.size());
  const auto runs = static_cast<double>(settings.runs);
  for (std::int64_t run = 0; run < settings.runs; ++run) {
    const Agreement agreement = made_up(settings);
    std::vector<double> answers;
    for (const auto& feature : agreement) {
      double sum = 0;
      for (const std::int8_t agrees : feature) sum += agrees;
      answers.push_back(sum / static_cast<double>(settings.people));
    }
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::vector<double> first(answers.begin(), answers.begin() + at[k]);
      const double noisy = accuracy(agreement, mechanisms[k].release(first));
      attack.points[k].exact += accuracy(agreement, first) / runs;
      attack.points[k].noisy += noisy / runs;
      squares[k] += noisy * noisy / runs;
    }
  }
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double variance =
        std::max(0.0, squares[k] - attack.points[k].noisy * attack.points[k].noisy);
    attack.points[k].margin = 2 * std::sqrt(variance / std::max(1.0, runs - 1));
  }
  return attack;
}

}  // namespace sotto
