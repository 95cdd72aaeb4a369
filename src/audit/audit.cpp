// Chooses events on pilot outputs, and measures them on fresh ones (docs/theory/audit.md).
#include "sotto/audit/audit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "audit/api/proportion.hpp"
#include "audit/events.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using audit_detail::Aim;
using audit_detail::BoundPrediction;
using audit_detail::Event;

constexpr std::int64_t most_pilots = 1'000'000;
constexpr std::int64_t block = 1 << 14;  // the number of outputs between two reports of progress

// Reports progress, as the part of all outputs that may have to be drawn.
class Work {
 public:
  Work(const AuditOptions& options, double all) : options_(options), all_(all) {}
  void add(std::int64_t outputs) {
    done_ += static_cast<double>(outputs);
    if (options_.progress) options_.progress(std::min(1.0, done_ / all_));
  }
  void finish() const {
    if (options_.progress) options_.progress(1);
  }

 private:
  const AuditOptions& options_;
  double all_;
  double done_ = 0;
};

// Pilot outputs on each input: a column for each number of the suspect.
struct Pilot {
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;
};

// Draws outputs and passes their numbers to `take`.
template <class Take>
void draw_many(const Suspect& suspect, bool second, std::int64_t outputs, Work& work,
               const Take& take) {
  std::vector<double> numbers(suspect.numbers.size());
  for (std::int64_t done = 0; done < outputs; ++done) {
    suspect.draw(second, numbers);
    take(numbers);
    if ((done + 1) % block == 0) work.add(block);
  }
  work.add(outputs % block);
}

Pilot pilot_of(const Suspect& suspect, std::int64_t outputs, Work& work) {
  Pilot pilot;
  for (const bool second : {false, true}) {
    auto& columns = second ? pilot.second : pilot.first;
    columns.resize(suspect.numbers.size());
    draw_many(suspect, second, outputs, work, [&](const std::vector<double>& numbers) {
      for (std::size_t i = 0; i < numbers.size(); ++i) columns[i].push_back(numbers[i]);
    });
  }
  return pilot;
}

// An event, the suspect and the number on which it is defined, and its hits in the measurement.
struct Choice {
  std::size_t suspect = 0;
  std::size_t number = 0;
  Event event;
  std::int64_t hits = 0;
  std::int64_t false_hits = 0;
};

// Replaces each choice by a better event of this pilot, if there is one.
void improve(std::span<Choice> choices, const Pilot& pilot, std::size_t suspect,
             const BoundPrediction& prediction, std::span<const Aim> aims) {
  for (std::size_t number = 0; number < pilot.first.size(); ++number) {
    std::vector<Event> events =
        best_events(pilot.first[number], pilot.second[number], prediction, aims);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (events[i].score > choices[i].event.score)
        choices[i] = {suspect, number, std::move(events[i])};
    }
  }
}

// Histograms over the central range of the numbers on both inputs.
AuditHistogram histogram_of(const Pilot& pilot, const Suspect& suspect, const Choice& choice) {
  AuditHistogram histogram{.number = suspect.numbers[choice.number],
                           .edges = {},
                           .first = {},
                           .second = {},
                           .threshold = {}};
  const auto& first = pilot.first[choice.number];
  const auto& second = pilot.second[choice.number];
  std::vector<double> all(first);
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  double low = all[all.size() / 1000];
  double high = all[all.size() - 1 - all.size() / 1000];
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::size_t bins = 60;
  if (all.size() <= bins) {  // a bin around each integer
    low = all.front() - 0.5;
    high = all.back() + 0.5;
    if (high - low <= static_cast<double>(bins)) bins = static_cast<std::size_t>(high - low);
  }
  if (!(high > low) || !std::isfinite(high - low)) return histogram;
  const double width = (high - low) / static_cast<double>(bins);
  for (std::size_t i = 0; i <= bins; ++i)
    histogram.edges.push_back(low + width * static_cast<double>(i));
  if (std::adjacent_find(histogram.edges.begin(), histogram.edges.end(), std::greater_equal<>()) !=
      histogram.edges.end()) {
    histogram.edges.clear();
    return histogram;
  }
  const auto count = [&](const std::vector<double>& numbers) {
    std::vector<double> shares(bins);
    for (const double x : numbers) {
      if (x >= low && x < high)
        shares[std::min(bins - 1, static_cast<std::size_t>((x - low) / width))] +=
            1 / static_cast<double>(numbers.size());
    }
    return shares;
  };
  histogram.first = count(first);
  histogram.second = count(second);
  if (choice.event.kind == Event::Kind::above || choice.event.kind == Event::Kind::below)
    histogram.threshold = choice.event.threshold;
  return histogram;
}

AuditEvent event_of(const Choice& choice, const Suspect& suspect, std::int64_t trials,
                    double doubt) {
  return {.inputs = suspect.inputs,
          .what = choice.event.text(suspect.numbers[choice.number]),
          .of_second = choice.event.of_second,
          .hits = choice.hits,
          .false_hits = choice.false_hits,
          .trials = trials,
          .p_lower = proportion_lower(choice.hits, trials, doubt),
          .q_upper = proportion_upper(choice.false_hits, trials, doubt)};
}

void require(const std::vector<Suspect>& suspects, const AuditOptions& options) {
  if (options.trials < 100 || options.trials > std::int64_t{1} << 31U)
    throw InvalidValue("trials = " + std::to_string(options.trials) +
                       " is not allowed: it must be a whole number from 100 to 2^31");
  if (!(options.confidence > 0 && options.confidence < 1))
    throw InvalidValue("confidence = " + shortest(options.confidence) +
                       " is not allowed: it must be above 0 and below 1");
  if (suspects.empty()) throw InvalidValue("there is nothing to audit: pass at least one suspect");
}

// The choices for the two quantities of an audit, and the histogram of the number of the first one.
struct Choices {
  std::array<Choice, 2> choices;
  AuditHistogram histogram;
  Choice& by_epsilon() { return choices[0]; }
  Choice& by_delta() { return choices[1]; }
};

// Chooses the best events of all suspects on pilot outputs.
Choices choose(const std::vector<Suspect>& suspects, std::int64_t pilots,
               const BoundPrediction& prediction, std::span<const Aim> aims, Work& work) {
  Choices result;
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    const Pilot pilot = pilot_of(suspects[i], pilots, work);
    const double before = result.by_epsilon().event.score;
    improve(result.choices, pilot, i, prediction, aims);
    if (i == 0 || result.by_epsilon().event.score > before)
      result.histogram = histogram_of(pilot, suspects[i], result.by_epsilon());
  }
  return result;
}

// Counts the hits of choices on one suspect, on fresh outputs.
void measure(const Suspect& suspect, std::span<Choice* const> choices, std::int64_t trials,
             Work& work) {
  for (const bool second : {false, true}) {
    draw_many(suspect, second, trials, work, [&](const std::vector<double>& numbers) {
      for (Choice* choice : choices) {
        if (choice->event.happens(numbers[choice->number]))
          ++(choice->event.of_second == second ? choice->hits : choice->false_hits);
      }
    });
  }
}

}  // namespace

Audit audit(const std::vector<Suspect>& suspects, const AuditOptions& options) {
  require(suspects, options);
  const std::int64_t pilots = std::min(options.trials / 4, most_pilots);
  const std::int64_t trials = options.trials - pilots;
  const double doubt =
      next_down((Real(1) - Real(options.confidence)).lower() / 2);  // half for P, half for Q
  if (!(doubt > 0))
    throw InvalidValue("confidence = " + shortest(options.confidence) +
                       " is not allowed: it is too close to 1");
  const Real delta = Real::reading(options.delta.value());
  const Real factor = exp(Real::reading(options.epsilon.value()));
  const double delta_estimate = delta.estimate();
  const double factor_estimate = factor.estimate();
  const BoundPrediction prediction{-normal_quantile(doubt, Side::lower),
                                   static_cast<double>(trials)};
  const std::array<Aim, 2> aims{[&](double p, double q) {
                                  return p > delta_estimate ? std::log((p - delta_estimate) / q)
                                                            : -1e300;
                                },
                                [&](double p, double q) { return p - factor_estimate * q; }};

  // Choose the events on pilot outputs.
  Work work(options, 2 * (static_cast<double>(suspects.size()) * static_cast<double>(pilots) +
                          2 * static_cast<double>(trials)));
  Choices choices = choose(suspects, pilots, prediction, aims, work);
  Choice& by_epsilon = choices.by_epsilon();
  Choice& by_delta = choices.by_delta();

  // Measure them on outputs that were not used to choose them.
  if (by_epsilon.suspect == by_delta.suspect) {
    measure(suspects[by_epsilon.suspect], std::vector{&by_epsilon, &by_delta}, trials, work);
  } else {
    measure(suspects[by_epsilon.suspect], std::vector{&by_epsilon}, trials, work);
    measure(suspects[by_delta.suspect], std::vector{&by_delta}, trials, work);
  }
  work.finish();

  // Convert the bounds on P and Q to lower bounds on ε and δ.
  Audit result{.confidence = options.confidence,
               .delta_at = options.delta.value(),
               .epsilon_at = options.epsilon.value(),
               .epsilon = {},
               .delta = {},
               .histogram = std::move(choices.histogram)};
  result.epsilon.event = event_of(by_epsilon, suspects[by_epsilon.suspect], trials, doubt);
  result.delta.event = event_of(by_delta, suspects[by_delta.suspect], trials, doubt);
  const Real above = Real(result.epsilon.event.p_lower) - delta;
  if (above.lower() > 0)
    result.epsilon.lower =
        std::max(0.0, (log(Real(above.lower())) - log(Real(result.epsilon.event.q_upper))).lower());
  const Real difference =
      Real(result.delta.event.p_lower) - factor * Real(result.delta.event.q_upper);
  result.delta.lower = std::max(0.0, difference.lower());
  return result;
}

AuditClaim claim_of(const Plan& event, Delta delta, Epsilon epsilon) {
  return {sotto::epsilon(event, delta).value.upper, sotto::delta(event, epsilon).value.upper};
}

bool contradicts(const Audit& audit, const AuditClaim& claim) {
  return audit.epsilon.lower > claim.epsilon || audit.delta.lower > claim.delta;
}

Delta audit_delta(const Plan& event) {
  try {
    if (std::isfinite(epsilon(event, Delta(0)).value.upper)) return Delta(0);
  } catch (const OutsideConditions&) {
  }
  return Delta(1e-5);
}

}  // namespace sotto
