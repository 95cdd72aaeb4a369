// Trains the models of a study: progress, checkpoints, intervals and the private test.
#include "study/training/train_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "learning/api/describe.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/accounting/over_steps.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/uniform.hpp"
#include "study/design/train_model.hpp"

namespace sotto::study_detail {
namespace {

void add_rows(const Examples& from, std::size_t unit, Examples::Builder& to) {
  for (std::size_t i = from.first(unit); i < from.first(unit + 1); ++i) {
    const auto row = to.add(from.target(i));
    std::copy(from.row(i), from.row(i) + from.width(), row.begin());
  }
  if (!from.one_row_a_unit()) to.next_unit();
}

std::string text_of(const Training& training, bool never_clipped) {
  const auto* sampled = std::get_if<PoissonSampling>(&training.sampling);
  std::string text =
      std::to_string(training.steps) + " steps of " + name_of(training.optimiser.kind) + " on " +
      (sampled != nullptr ? "samples of " + shortest(training.batch) + " units, about"
                          : "all units");
  text += never_clipped ? "; no gradient can be longer than " + shortest(training.clipping.norm) +
                              ", so none is clipped"
                        : "; gradients clipped to " + shortest(training.clipping.norm) + ", " +
                              name_of(training.clipping.kind);
  return text;
}

std::string strength(const ConvexProblem& problem) {
  return "the sum of losses with a penalty of " + shortest(problem.strength) + " |θ|²/2";
}

struct MethodText {
  bool never_clipped;
  std::string operator()(const Training& training) const {
    return text_of(training, never_clipped);
  }
  std::string operator()(const SufficientStatistics&) const {
    return "its moments, under noise once";
  }
  std::string operator()(const OutputPerturbation& p) const {
    return "noise on the minimum of " + strength(p.problem);
  }
  std::string operator()(const ObjectivePerturbation& p) const {
    return "the minimum, under a little noise, of " + strength(p.problem) + " and of a random line";
  }
  std::string operator()(const IndividualTraining& individual) const {
    return text_of(individual.training, never_clipped) +
           "; each unit pays for its own gradients, and is left out when its own budget is spent";
  }
};

// Returns examples in which each row is a unit, as objective perturbation needs. Every unit must
// have one row.
Examples row_by_row(const Examples& examples, const RunOptions& options) {
  if (examples.one_row_a_unit()) return examples;
  Examples::Builder builder(examples.width(), options.memory);
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    const auto row = builder.add(examples.target(i));
    std::copy(examples.row(i), examples.row(i) + examples.width(), row.begin());
  }
  return std::move(builder).build();
}

// The number of steps after which a model is measured on public rows, including the last step.
constexpr std::size_t public_points = 30;

// TrainingMonitor is called after every step: it measures on public rows when due, and reports
// progress.
class TrainingMonitor {
 public:
  using ProgressCallback = std::function<bool(const std::string&, double)>;
  TrainingMonitor(const TrainDesign& design, const Training& training,
                  const std::shared_ptr<const Model>& model, const TrainTestSplit& split,
                  const RunOptions& options, const ProgressCallback& on_progress)
      : design_(design),
        training_(training),
        model_(model),
        split_(split),
        options_(options),
        on_progress_(on_progress),
        counts_(step_counts(training.steps, public_points, Spacing::even)) {}

  void start_at(std::int64_t step) { first_ = step; }
  void measure(const Iterate& iterate, const std::vector<double>& parameters,
               std::vector<PublicPoint>& points) const {
    if (!split_.on_public || !std::binary_search(counts_.begin(), counts_.end(), iterate.step))
      return;
    points.push_back(measured_on(*model_, *split_.on_public, design_.query.target, parameters,
                                 iterate.step, options_.threads));
  }
  // Reports progress after `step`; returns false to stop.
  bool report(std::int64_t step) {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    // Computed from the declared batch size: the number of rows is secret.
    const auto rate = static_cast<std::int64_t>(
        training_.batch * static_cast<double>(step - first_) / std::max(seconds, 1e-9));
    return on_progress_("step " + std::to_string(step) + " of " + std::to_string(training_.steps) +
                            spent(step) + ", " + std::to_string(rate) +
                            (split_.train.one_row_a_unit() ? " rows/s" : " units/s"),
                        static_cast<double>(step) / static_cast<double>(training_.steps));
  }

 private:
  // Returns the ε spent, as text. It is computed at the next measured step, so it is an upper bound
  // here, and each value is computed once.
  std::string spent(std::int64_t step) {
    if (!options_.epsilon_at) return "";
    const std::int64_t count = *std::lower_bound(counts_.begin(), counts_.end(), step);
    if (count != known_) {
      known_ = count;
      try {
        const Plan uniform = plan_of(training_);
        double cost = epsilon(training_.steps == 1 ? uniform : after_steps(uniform, count),
                              *options_.epsilon_at, {.relation = training_.relation})
                          .value.upper;
        if (const auto* individual = std::get_if<IndividualTraining>(&design_.how)) {
          cost = std::min(cost, epsilon(plan_of(*individual), *options_.epsilon_at,
                                        {.relation = training_.relation})
                                    .value.upper);
        }
        spent_ = ", ε ≤ " + rounded(cost, 3, Side::upper) + " so far";
      } catch (const OutsideConditions&) {
        spent_.clear();
      }
    }
    return spent_;
  }

  const TrainDesign& design_;
  const Training& training_;
  std::shared_ptr<const Model> model_;
  const TrainTestSplit& split_;
  const RunOptions& options_;
  const ProgressCallback& on_progress_;
  std::vector<std::int64_t> counts_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::int64_t first_ = 0;
  std::int64_t known_ = 0;
  std::string spent_;
};

[[noreturn]] void throw_stopped(std::int64_t step, std::int64_t steps) {
  throw LedgerError("stopped at step " + std::to_string(step) + " of " + std::to_string(steps));
}

void learn_by(const Training& training, const std::shared_ptr<const Model>& model,
              const TrainTestSplit& split, const std::optional<Iterate>& from,
              const RunOptions& options, const std::function<void(const Iterate&)>& keep,
              TrainingMonitor& monitor, TrainedModel& result, std::vector<PublicPoint>& points) {
  using Clock = std::chrono::steady_clock;
  const std::unique_ptr<Trainer> owner =
      options.ranks != nullptr
          ? options.ranks->start(model, split.train, training, from ? &*from : nullptr,
                                 options.threads, options.memory)
          : std::make_unique<Trainer>(model, split.train, training,
                                      Resources{.threads = options.threads});
  Trainer& trainer = *owner;
  if (from) trainer.resume(*from);
  monitor.start_at(trainer.iterate().step);
  const auto start = Clock::now();
  double last_checkpoint = 0;
  while (!trainer.done()) {
    options.ranks != nullptr ? options.ranks->step(trainer) : trainer.step();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (is_time_to_keep(seconds - last_checkpoint, seconds)) {
      keep(trainer.iterate());
      last_checkpoint = seconds;
    }
    const std::int64_t step = trainer.iterate().step;
    monitor.measure(trainer.iterate(), trainer.parameters(), points);
    if (!monitor.report(step)) {
      keep(trainer.iterate());
      throw_stopped(step, training.steps);
    }
  }
  if (options.ranks != nullptr) options.ranks->finish();
  result.parameters = trainer.parameters();
}

// Individual budgets are not in checkpoints. A stopped training starts over, which is private
// because no step of it was released.
void learn_by(const IndividualTraining& individual, const std::shared_ptr<const Model>& model,
              const TrainTestSplit& split, const RunOptions& options, TrainingMonitor& monitor,
              TrainedModel& result, std::vector<PublicPoint>& points) {
  const Training& training = individual.training;
  const Iterate iterate =
      train_individually(model, split.train, individual, options.threads, [&](const Iterate& at) {
        monitor.measure(at, learned(at, training.optimiser), points);
        return monitor.report(at.step);
      });
  if (iterate.step < training.steps) throw_stopped(iterate.step, training.steps);
  result.parameters = learned(iterate, training.optimiser);
}

// Returns intervals for the minimum without noise: each parameter has independent Gaussian noise of
// a known deviation.
std::vector<Bound> intervals_of(const OutputPerturbation& perturbation,
                                const std::vector<double>& parameters, double confidence) {
  const double reach = -normal_quantile((1 - confidence) / 2, Side::lower) * perturbation.noise *
                       sensitivity_of(perturbation) * (1 + 0x1p-40);
  std::vector<Bound> intervals;
  for (const double parameter : parameters)
    intervals.push_back({parameter - reach, parameter + reach});
  return intervals;
}

// Trains one model, from a checkpoint's iterate if there is one, and tests it. `keep` writes a
// checkpoint; it is called before a step's result leaves the process.
TrainedModel train_model(const Study& study, const TrainDesign& design, const TrainTestSplit& split,
                         const std::optional<Iterate>& from, const RunOptions& options,
                         const std::function<void(const Iterate&)>& keep,
                         const std::function<bool(const std::string&, double)>& on_progress) {
  const std::shared_ptr<const Model> model = model_of(design.model);
  TrainedModel result = blank_model(study, design);
  std::vector<PublicPoint> points;
  if (const auto* statistics = std::get_if<SufficientStatistics>(&design.how)) {
    const LinearFit line = fit(release(split.train, *statistics), study.confidence);
    result.parameters = line.parameters;
    for (const Coefficient& coefficient : line.coefficients)
      result.intervals.push_back(coefficient.of_rows);
  } else if (const auto* output = std::get_if<OutputPerturbation>(&design.how)) {
    result.parameters = learn(split.train, *output);
    result.intervals = intervals_of(*output, result.parameters, study.confidence);
  } else if (const auto* objective = std::get_if<ObjectivePerturbation>(&design.how)) {
    result.parameters = learn(row_by_row(split.train, options), *objective);
  } else if (const auto* individual = std::get_if<IndividualTraining>(&design.how)) {
    TrainingMonitor monitor(design, individual->training, model, split, options, on_progress);
    learn_by(*individual, model, split, options, monitor, result, points);
  } else {
    const auto& training = std::get<Training>(design.how);
    TrainingMonitor monitor(design, training, model, split, options, on_progress);
    learn_by(training, model, split, from, options, keep, monitor, result, points);
  }
  if (split.on_public &&
      points.empty()) {  // a method without steps, or a checkpoint after the last step
    const auto* training = std::get_if<Training>(&design.how);
    const std::int64_t step = training != nullptr ? training->steps : 1;
    points.push_back(measured_on(*model, *split.on_public, design.query.target, result.parameters,
                                 step, options.threads));
  }
  add_evaluation(result, study, design, split.on_public, std::move(points));
  if (design.test_event && design.loss.is_of_classes()) {
    add_private_test(result, design, right_and_wrong(*model, split.test, result.parameters),
                     study.confidence);
  }
  return result;
}

}  // namespace

TrainedModel blank_model(const Study& study, const TrainDesign& design) {
  const TrainingRequest& ask = study.trainings[design.ask];
  TrainedModel result{ask.name,
                      model_of(design.model)->description(),
                      ask.target,
                      columns_read(study, design.query),
                      design.query.features,
                      design.query.target,
                      {},
                      {},
                      print(design.event),
                      std::visit(MethodText{design.never_clipped}, design.how)};
  result.image = design.query.image;
  result.limit = limit_of(study, ask);
  return result;
}

std::vector<double> right_and_wrong(const Model& model, const Examples& test,
                                    std::span<const double> parameters) {
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

void add_private_test(TrainedModel& result, const TrainDesign& design,
                      const std::vector<double>& counts, double confidence) {
  const Additive noise(design.test_event.value());
  add_accuracy(result, noise.release(counts), noise.scale(), confidence);
}

void add_accuracy(TrainedModel& result, const std::vector<double>& noisy, double noise,
                  double confidence) {
  const double all = std::max(1.0, noisy[0] + noisy[1]);
  const double share = std::clamp(noisy[0] / all, 0.0, 1.0);
  const double chance = share * (1 - share) / all +
                        noise * noise * ((1 - share) * (1 - share) + share * share) / (all * all);
  const double reach = -normal_quantile((1 - confidence) / 2, Side::lower) * std::sqrt(chance);
  result.accuracy = share;
  result.accuracy_low = std::max(0.0, share - reach);
  result.accuracy_high = std::min(1.0, share + reach);
}

void add_evaluation(TrainedModel& result, const Study& study, const TrainDesign& design,
                    const std::optional<Examples>& on_public, std::vector<PublicPoint> points) {
  if (!on_public) return;
  const DataFile& data = *public_data_of(study, study.trainings[design.ask], design.query);
  result.evaluation =
      PublicEvaluation{data.name, data.version, static_cast<std::int64_t>(on_public->rows()),
                       design.loss.is_of_classes(), std::move(points)};
}

TrainTestSplit read_split(Engine& engine, const Study& study, const TrainDesign& design,
                          std::size_t index, const Secret& secret, std::int64_t memory,
                          const Progress& progress) {
  Stream stream(secret);
  stream.start(index, 0);
  BoundingKey key{};
  for (std::uint64_t& word : key.seed) word = stream.word();
  stream.start(index, 1);
  Limits limits;
  limits.memory = memory;
  const Examples all =
      read_examples(engine, stored_columns(study), design.query, key, limits, progress);
  return train_test_split(design.test, all, std::move(stream), memory);
}

TrainTestSplit train_test_split(double test_share, const Examples& all, Stream stream,
                                std::int64_t memory) {
  if (test_share == 0) return {all, all};
  Examples::Builder train(all.width(), memory);
  Examples::Builder test(all.width(), memory);
  const PoissonSample sample(test_share);
  std::uint64_t next = sample.skip(stream);
  for (std::size_t unit = 0; unit < all.units(); ++unit) {
    add_rows(all, unit, unit == next ? test : train);
    if (unit == next) next += 1 + sample.skip(stream);
  }
  return {std::move(train).build(), std::move(test).build()};
}

Trainings::Trainings(const Study& study, const Design& design, Engine& engine, Ledger& ledger,
                     const std::string& request, const RunOptions& options,
                     const std::vector<std::optional<Examples>>& on_public,
                     const Watcher& on_progress)
    : study_(study),
      design_(design),
      engine_(engine),
      options_(options),
      on_public_(on_public),
      on_progress_(on_progress),
      file_(ledger, design.trainings.empty() ? std::filesystem::path() : options.checkpoints,
            request) {
  if (design.trainings.empty()) return;
  if (const auto text = file_.read()) {
    Checkpoint checkpoint = checkpoint_in(*text);
    secret_ = checkpoint.secret;
    resumed_ = std::move(checkpoint.release);
    iterate_ = std::move(checkpoint.iterate);
  } else {
    secret_.emplace();
  }
}

// Reports progress of part `part`. Each training has two parts of the run, after the measurements:
// reading and steps.
bool Trainings::report(std::size_t part, const std::string& what, double share) const {
  const std::size_t count = design_.trainings.size();
  const std::string& name = study_.trainings[design_.trainings[part % count].ask].name;
  const auto done = static_cast<double>(design_.measurements.size() + part) + share;
  return !on_progress_ ||
         on_progress_(name + ": " + what,
                      done / static_cast<double>(design_.measurements.size() + 2 * count));
}

TrainTestSplit Trainings::examples_of(std::size_t i) {
  return read_split(engine_, study_, design_.trainings[i], i, *secret_, options_.memory,
                    [&](double share) { return report(i, "reading", share); });
}

void Trainings::read() {
  for (std::size_t i = resumed_ ? resumed_->models.size() : 0; i < design_.trainings.size(); ++i)
    examples_.push_back(examples_of(i));
}

std::string Trainings::first_checkpoint(const Release& release) {
  return file_.prepare(to_text({.release = release, .secret = *secret_}));
}

void Trainings::keep(const Release& release, const Iterate* iterate) {
  if (!secret_) return;
  file_.write(to_text({.release = release,
                       .iterate = iterate == nullptr ? std::nullopt : std::optional(*iterate),
                       .secret = *secret_}));
}

void Trainings::train(Release& release) {
  const std::size_t count = design_.trainings.size();
  while (release.models.size() < count) {
    const std::size_t i = release.models.size();
    TrainTestSplit split = std::move(examples_.at(examples_.size() - (count - i)));
    split.on_public = on_public_[i];
    const auto on_step = [&](const std::string& what, double share) {
      return report(count + i, what, share);
    };
    release.models.push_back(train_model(
        study_, design_.trainings[i], split, iterate_, options_,
        [&](const Iterate& iterate) { keep(release, &iterate); }, on_step));
    iterate_.reset();
    // Also after the last model: only the process that marked the final checkpoint stores the
    // answer, so two processes cannot complete one training with different noise.
    keep(release);
  }
}

}  // namespace sotto::study_detail
