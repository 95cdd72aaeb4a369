// Chooses events on pilot outputs and measures them on new ones; the split makes the confidence
// exact.
#include "sotto/audit/audit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "audit/events.hpp"
#include "sotto/accounting/account.hpp"
#include "audit/api/proportion.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"

namespace sotto {
namespace {

using audit_detail::Aim;
using audit_detail::BoundPrediction;
using audit_detail::Event;

constexpr std::int64_t most_pilots = 1'000'000;
constexpr std::int64_t a_block = 1 << 14;  // outputs between two calls of the progress callback

// Reports the share of the outputs that were drawn, of all that may have to be drawn.
class ProgressMeter {
 public:
  ProgressMeter(const AuditOptions& options, double all) : options_(options), all_(all) {}
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

// The numbers of the pilot outputs on both inputs; a column for each of the suspect's numbers.
struct Pilot {
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;
};

template <class Receive>
void draw_many(const Suspect& suspect, bool second, std::int64_t outputs, ProgressMeter& meter, const Receive& receive) {
  std::vector<double> numbers(suspect.numbers.size());
  for (std::int64_t done = 0; done < outputs; ++done) {
    suspect.draw(second, numbers);
    receive(numbers);
    if ((done + 1) % a_block == 0) meter.add(a_block);
  }
  meter.add(outputs % a_block);
}

Pilot pilot_of(const Suspect& suspect, std::int64_t outputs, ProgressMeter& meter) {
  Pilot pilot;
  for (const bool second : {false, true}) {
    auto& columns = second ? pilot.second : pilot.first;
    columns.resize(suspect.numbers.size());
    draw_many(suspect, second, outputs, meter, [&](const std::vector<double>& numbers) {
      for (std::size_t i = 0; i < numbers.size(); ++i) columns[i].push_back(numbers[i]);
    });
  }
  return pilot;
}

// An event on a number of a suspect, and its frequency in the measurement.
struct Choice {
  std::size_t suspect = 0;
  std::size_t number = 0;
  Event event;
  std::int64_t hits = 0;
  std::int64_t false_hits = 0;
};

// Replaces a choice if this pilot has a better event.
void improve(std::span<Choice> choices, const Pilot& pilot, std::size_t suspect, const Foresight& foresight, std::span<const Aim> aims) {
  for (std::size_t number = 0; number < pilot.first.size(); ++number) {
    std::vector<Event> events = best_events(pilot.first[number], pilot.second[number], prediction, aims);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (events[i].score > choices[i].event.score) choices[i] = {suspect, number, std::move(events[i])};
    }
  }
}

// Returns histograms of the number on both inputs, over its range without the outermost
// thousandths.
AuditHistogram histogram_of(const Pilot& pilot, const Suspect& suspect, const Choice& choice) {
  AuditHistogram histogram{.number = suspect.numbers[choice.number], .edges = {}, .first = {}, .second = {}, .threshold = {}};
  const auto& first = pilot.first[choice.number];
  const auto& second = pilot.second[choice.number];
  std::vector<double> all(first);
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  double low = all[all.size() / 1000];
  double high = all[all.size() - 1 - all.size() / 1000];
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::size_t bins = 60;
  if (all.size() <= bins) {  // few different values: a bin around each whole number
    low = all.front() - 0.5;
    high = all.back() + 0.5;
    if (high - low <= static_cast<double>(bins)) bins = static_cast<std::size_t>(high - low);
  }
  if (!(high > low) || !std::isfinite(high - low)) return histogram;
  const double width = (high - low) / static_cast<double>(bins);
  for (std::size_t i = 0; i <= bins; ++i) histogram.edges.push_back(low + width * static_cast<double>(i));
  if (std::adjacent_find(histogram.edges.begin(), histogram.edges.end(), std::greater_equal<>()) != histogram.edges.end()) {
    histogram.edges.clear();
    return histogram;
  }
  const auto count = [&](const std::vector<double>& numbers) {
    std::vector<double> shares(bins);
    for (const double x : numbers) {
      if (x >= low && x < high) shares[std::min(bins - 1, static_cast<std::size_t>((x - low) / width))] += 1 / static_cast<double>(numbers.size());
    }
    return shares;
  };
  histogram.first = count(first);
  histogram.second = count(second);
  if (choice.event.kind == Event::Kind::above || choice.event.kind == Event::Kind::below) histogram.threshold = choice.event.threshold;
  return histogram;
}

AuditEvent event_of(const Choice& choice, const Suspect& suspect, std::int64_t trials, double doubt) {
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
  if (options.trials < 100 || options.trials > std::int64_t{1} << 31U) {
    throw InvalidValue("trials = " + std::to_string(options.trials) + " is not allowed: it must be a whole number from 100 to 2^31");
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw InvalidValue("confidence = " + shortest(options.confidence) + " is not allowed: it must be a number in (0, 1)");
  }
  if (suspects.empty()) throw InvalidValue("the list of suspects is empty: give at least one");
}

// Counts, on new outputs of one suspect, how often the events of the choices happen.
void count_hits(const Suspect& suspect, std::int64_t trials, std::span<Choice* const> choices, ProgressMeter& meter) {
  for (const bool second : {false, true}) {
    draw_many(suspect, second, trials, meter, [&](const std::vector<double>& numbers) {
      for (Choice* choice : choices) {
        if (choice->event.happens(numbers[choice->number])) ++(choice->event.of_second == second ? choice->hits : choice->false_hits);
      }
    });
  }
}

// ε >= log((P - δ)/Q), rounded down; 0 if P - δ is not positive.
double epsilon_bound(const AuditEvent& event, const Real& delta) {
  const Real above = Real(event.p_lower) - delta;
  if (!(above.lower() > 0)) return 0;
  return std::max(0.0, (log(Real(above.lower())) - log(Real(event.q_upper))).lower());
}

// δ >= P - e^ε Q, rounded down. `factor` is e^ε.
double delta_bound(const AuditEvent& event, const Real& factor) {
  const Real difference = Real(event.p_lower) - factor * Real(event.q_upper);
  return std::max(0.0, difference.lower());
}

}  // namespace

Audit audit(const std::vector<Suspect>& suspects, const AuditOptions& options) {
  require(suspects, options);
  const std::int64_t pilots = std::min(options.trials / 4, most_pilots);
  const std::int64_t trials = options.trials - pilots;
  const double doubt = next_down((Real(1) - Real(options.confidence)).lower() / 2);  // half for P, half for Q
  if (!(doubt > 0)) {
    throw InvalidValue("confidence = " + shortest(options.confidence) + " is too close to 1 to be proved: choose a smaller one");
  }
  const Real delta = Real::reading(options.delta.value());
  const Real factor = exp(Real::reading(options.epsilon.value()));
  const double delta_estimate = delta.estimate();
  const double factor_estimate = factor.estimate();
  const BoundPrediction prediction{-normal_quantile(doubt, Side::lower), static_cast<double>(trials)};
  const std::array<Aim, 2> aims{[&](double p, double q) { return p > delta_estimate ? std::log((p - delta_estimate) / q) : -1e300; },
                                [&](double p, double q) { return p - factor_estimate * q; }};

  // Choose the events on the pilots' outputs.
  ProgressMeter meter(options, 2 * (static_cast<double>(suspects.size()) * static_cast<double>(pilots) + 2 * static_cast<double>(trials)));
  Audit result{.confidence = options.confidence,
               .delta_at = options.delta.value(),
               .epsilon_at = options.epsilon.value(),
               .epsilon = {},
               .delta = {},
               .histogram = {}};
  std::array<Choice, 2> choices;
  Choice& by_epsilon = choices[0];
  Choice& by_delta = choices[1];
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    const Pilot pilot = pilot_of(suspects[i], pilots, meter);
    const double before = by_epsilon.event.score;
    improve(choices, pilot, i, foresight, aims);
    if (i == 0 || by_epsilon.event.score > before) result.histogram = histogram_of(pilot, suspects[i], by_epsilon);
  }

  // Measure them on new outputs.
  const auto measure = [&](std::size_t suspect, std::span<Choice* const> here) { count_hits(suspects[suspect], trials, here, meter); };
  if (by_epsilon.suspect == by_delta.suspect) {
    measure(by_epsilon.suspect, std::vector{&by_epsilon, &by_delta});
  } else {
    measure(by_epsilon.suspect, std::vector{&by_epsilon});
    measure(by_delta.suspect, std::vector{&by_delta});
  }
  meter.finish();

  result.epsilon.event = event_of(by_epsilon, suspects[by_epsilon.suspect], trials, doubt);
  result.delta.event = event_of(by_delta, suspects[by_delta.suspect], trials, doubt);
  result.epsilon.lower = epsilon_bound(result.epsilon.event, delta);
  result.delta.lower = delta_bound(result.delta.event, factor);
  return result;
}

AuditClaim claim_of(const Plan& event, Delta delta, Epsilon epsilon) {
  return {sotto::epsilon(event, delta).value.upper, sotto::delta(event, epsilon).value.upper};
}

bool contradicts(const Audit& audit, const AuditClaim& claim) { return audit.epsilon.lower > claim.epsilon || audit.delta.lower > claim.delta; }

Delta audit_delta(const Plan& event) {
  try {
    if (std::isfinite(epsilon(event, Delta(0)).value.upper)) return Delta(0);
  } catch (const OutsideConditions&) {
  }
  return Delta(1e-5);
}

}  // namespace sotto
