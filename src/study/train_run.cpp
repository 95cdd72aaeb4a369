#include "train_run.hpp"

#include <chrono>
#include <cmath>
#include <set>

#include "sotto/core/decimal.hpp"
#include "sotto/learning/describe.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/numerics/normal.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto::study_detail {
namespace {

void add_rows(const Examples& from, std::size_t unit, Examples::Maker& to) {
  for (std::size_t i = from.first(unit); i < from.first(unit + 1); ++i) {
    const auto row = to.add(from.target(i));
    std::copy(from.row(i), from.row(i) + from.width(), row.begin());
  }
  if (!from.one_row_a_unit()) to.next_unit();
}

// How often the model is right, of at most so many rows a unit.
std::vector<double> right_and_wrong(const Model& model, const Examples& test, std::span<const double> parameters) {
  const auto prepared = model.prepare(parameters);
  std::vector<double> z(model.outputs());
  std::vector<double> counts{0, 0};
  for (std::size_t i = 0; i < test.rows(); ++i) {
    prepared->outputs(test, i, z);
    std::size_t best = 0;
    if (z.size() == 1) {
      best = z[0] > 0 ? 1 : 0;
    } else {
      for (std::size_t k = 1; k < z.size(); ++k) best = z[k] > z[best] ? k : best;
    }
    counts[best == static_cast<std::size_t>(test.target(i)) ? 0 : 1] += 1;
  }
  return counts;
}

// The share of right predictions, with an interval for the noise and for the chance of the test's units.
void add_accuracy(TrainedModel& found, const Plan& event, const std::vector<double>& counts, double confidence) {
  const Additive noise(event);
  const std::vector<double> noisy = noise.release(counts);
  const double all = std::max(1.0, noisy[0] + noisy[1]);
  const double share = std::clamp(noisy[0] / all, 0.0, 1.0);
  const double chance = share * (1 - share) / all + noise.scale() * noise.scale() * ((1 - share) * (1 - share) + share * share) / (all * all);
  const double reach = -normal_quantile((1 - confidence) / 2, Side::lower) * std::sqrt(chance);
  found.accuracy = share;
  found.accuracy_low = std::max(0.0, share - reach);
  found.accuracy_high = std::min(1.0, share + reach);
}

std::vector<Column> columns_read(const Study& study, const ExampleQuery& query) {
  std::set<std::string> names;
  const auto add = [&names](const Feature& feature) {
    for (const std::string& name : feature.field.value.columns()) names.insert(name);
  };
  for (const Feature& feature : query.features) add(feature);
  if (query.target) add(*query.target);
  std::vector<Column> read;
  for (const Column& column : stored_columns(study)) {
    if (names.count(column.name) != 0) read.push_back(column);
  }
  return read;
}

std::string in_words(const TrainDesign& design) {
  if (std::holds_alternative<SufficientStatistics>(design.how)) return "from its moments, under noise once";
  const auto& training = std::get<Training>(design.how);
  const auto* sampled = std::get_if<PoissonSampling>(&training.sampling);
  std::string text = std::to_string(training.steps) + " steps of " + name_of(training.optimiser.kind) + " on " +
                     (sampled != nullptr ? "samples of " + shortest(training.batch) + " units, about" : "all units");
  text += design.never_clipped ? "; no gradient can be longer than " + shortest(training.clipping.norm) + ", so none is clipped"
                               : "; gradients clipped to " + shortest(training.clipping.norm) + ", " + name_of(training.clipping.kind);
  return text;
}

}  // namespace

Split split_of(const TrainDesign& design, Examples all, const Asking& asking) {
  if (design.test == 0) return {all, all};
  Examples::Maker train(all.width(), asking.memory);
  Examples::Maker test(all.width(), asking.memory);
  for (std::size_t unit = 0; unit < all.units(); ++unit) add_rows(all, unit, bernoulli(design.test) ? test : train);
  return {std::move(train).made(), std::move(test).made()};
}

TrainedModel trained(const Study& study, const TrainDesign& design, const Split& split, const std::optional<Iterate>& from, const Asking& asking,
                     const std::function<void(const Iterate&)>& keep, const std::function<bool(const std::string&, double)>& told) {
  const TrainAsk& ask = study.trainings[design.ask];
  const std::shared_ptr<const Model> model = model_of(design.model);
  TrainedModel found{
      ask.name, model->description(), ask.target,      columns_read(study, design.query), design.query.features, design.query.target, {},
      {},       print(design.event),  in_words(design)};
  if (const auto* statistics = std::get_if<SufficientStatistics>(&design.how)) {
    const LinearFit line = fit(release(split.train, *statistics), study.confidence);
    found.parameters = line.parameters;
    for (const Coefficient& coefficient : line.coefficients) found.intervals.push_back(coefficient.of_rows);
  } else {
    using Clock = std::chrono::steady_clock;
    const auto& training = std::get<Training>(design.how);
    Trainer trainer(model, split.train, training, {.threads = asking.threads});
    if (from) trainer.resume(*from);
    const auto start = Clock::now();
    auto kept = start;
    const std::int64_t first = trainer.iterate().step;
    while (!trainer.done()) {
      trainer.step();
      const auto now = Clock::now();
      if (now - kept > std::chrono::seconds(5)) {
        keep(trainer.iterate());
        kept = now;
      }
      const std::int64_t step = trainer.iterate().step;
      const double seconds = std::chrono::duration<double>(now - start).count();
      const auto rate = static_cast<std::int64_t>(training.batch * static_cast<double>(step - first) / std::max(seconds, 1e-9));
      if (!told("step " + std::to_string(step) + " of " + std::to_string(training.steps) + ", " + std::to_string(rate) + " units/s",
                static_cast<double>(step) / static_cast<double>(training.steps))) {
        keep(trainer.iterate());
        throw LedgerError("stopped at step " + std::to_string(step) + " of " + std::to_string(training.steps));
      }
    }
    found.parameters = trainer.parameters();
  }
  // behind a checkpoint the units are split anew, and the test would hold units that were learned from
  if (design.test_event && !from && design.loss.is_of_classes()) {
    add_accuracy(found, *design.test_event, right_and_wrong(*model, split.test, found.parameters), study.confidence);
  }
  return found;
}

}  // namespace sotto::study_detail
