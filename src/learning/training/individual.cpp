// Individual accounting: every step adds noise once, and every unit pays for its own gradient from
// a budget that the plan charges.
#include "learning/api/individual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "learning/api/step_noise.hpp"
#include "learning/training/unit_budgets.hpp"
#include "mechanisms/api/noisy_sum.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

void require_sound(const IndividualTraining& individual) {
  const Training& training = individual.training;
  if (!std::holds_alternative<FullBatch>(training.sampling)) {
    throw OutsideConditions(
        "individual accounting is proved for full batches: set `sampling` to FullBatch, or train "
        "with "
        "a uniform budget");
  }
  if (training.clipping.kind != ClippingKind::flat || training.clipping.adaptive) {
    throw OutsideConditions(
        "individual accounting needs flat clipping to one norm: automatic clipping makes all "
        "gradients equally long");
  }
  if (training.relation != Relation::add_remove && training.relation != Relation::zero_out) {
    throw OutsideConditions(
        "individual accounting is proved for add-remove: a unit that replaces another has another "
        "cost");
  }
  if (!(individual.mu > 0 && individual.mu <= 0x1p20))
    throw InvalidValue("mu must be above 0 and at most 2^20");
  (void)plan_of(training);  // throws unless the training itself is sound
}

// Computes upper bounds on the norms of the units' gradients after clipping and rounding, which are
// what the units pay for.
class Lengths {
 public:
  Lengths(const Model& model, const Examples& examples, const Clipping& clipping)
      : examples_(examples),
        clipping_(clipping),
        layers_(model.layers()),
        exponents_(model.exponents(clipping)),
        own_(model.parameters()) {}

  void of(const Model::Prepared& prepared, std::span<const std::uint32_t> units,
          std::span<double> lengths) {
    if (examples_.one_row_a_unit()) {
      prepared.norms(examples_, units, lengths);
    } else {  // a unit's gradient is a sum of rounded gradients, so its norm is computed from the
              // rounded numbers
      for (std::size_t i = 0; i < units.size(); ++i) lengths[i] = added(prepared, units[i]);
    }
    for (double& length : lengths)
      length =
          length <= clipping_.norm ? length : clipping_.norm;  // NaN becomes the clipping norm, too
  }

 private:
  double added(const Model::Prepared& prepared, std::uint32_t unit) {
    own_.clear();
    prepared.add(examples_, std::span<const std::uint32_t>(&unit, 1), clipping_, own_);
    const auto totals = own_.totals();
    double square = 0;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (std::size_t j = layers_[l].start; j < layers_[l].start + layers_[l].size; ++j) {
        square += std::pow(std::ldexp(static_cast<double>(totals[j]), exponents_[l]), 2);
      }
    }
    return std::sqrt(square) * (1 + static_cast<double>(totals.size() + 8) * 0x1p-52);
  }

  const Examples& examples_;
  const Clipping& clipping_;
  std::vector<Layer> layers_;
  std::vector<int> exponents_;
  ExactSum own_;
};

struct Worker {
  Worker(std::size_t first, std::size_t end, const Model& model, const Examples& examples,
         const Clipping& clipping)
      : units(end - first),
        norms(end - first),
        lengths(model, examples, clipping),
        sum(model.parameters()) {
    std::iota(units.begin(), units.end(), static_cast<std::uint32_t>(first));
  }
  std::vector<std::uint32_t> units, active;
  std::vector<double> norms;
  Lengths lengths;
  ExactSum sum;
  std::exception_ptr failure;
};

// Adds up the clipped gradients of the worker's units that can pay for them under this noise.
void work(Worker& worker, const Model::Prepared& prepared, const Examples& examples,
          const Clipping& clipping, const NoisySum& noise,
          learning_detail::UnitBudgets& budgets) try {
  worker.sum.clear();
  worker.active.clear();
  worker.lengths.of(prepared, worker.units, worker.norms);
  for (std::size_t i = 0; i < worker.units.size(); ++i) {
    if (budgets.pay(worker.units[i], worker.norms[i], noise.scale()))
      worker.active.push_back(worker.units[i]);
  }
  prepared.add(examples, worker.active, clipping, worker.sum);
} catch (...) {
  worker.failure = std::current_exception();
}

}  // namespace

Plan plan_of(const IndividualTraining& individual) {
  require_sound(individual);
  return learning_detail::UnitBudgets(0, individual.mu).event();
}

std::int64_t uniform_steps(const IndividualTraining& individual) {
  require_sound(individual);
  const Real ratio = Real(individual.mu) * Real(individual.training.noise);
  return static_cast<std::int64_t>(std::floor((ratio * ratio).lower()));
}

Iterate train_individually(const std::shared_ptr<const Model>& model, const Examples& examples,
                           const IndividualTraining& individual, int threads,
                           const std::function<bool(const Iterate&)>& on_step) {
  require_sound(individual);
  const Training& training = individual.training;
  if (examples.rows() >= (std::uint64_t{1} << 31U))
    throw InvalidValue("at most 2^31 rows can be learned from");
  const auto exponents = model->exponents(training.clipping);
  // the units pay by the scale of the object that draws the noise
  const NoisySum noise(gradient_noise(training, training.clipping.norm), exponents);
  learning_detail::UnitBudgets budgets(examples.units(), individual.mu);
  const auto wanted = static_cast<std::size_t>(
      threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  const std::size_t count = std::max<std::size_t>(1, std::min(wanted, examples.units() / 1000));
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t w = 0; w < count; ++w) {
    workers.push_back(std::make_unique<Worker>(w * examples.units() / count,
                                               (w + 1) * examples.units() / count, *model, examples,
                                               training.clipping));
  }
  const auto layers = model->layers();
  Iterate iterate;
  iterate.parameters = model->start(training.seed);
  iterate.norm = training.clipping.norm;
  std::vector<double> gradient(iterate.parameters.size());
  while (iterate.step < training.steps) {
    const auto prepared = model->prepare(iterate.parameters);
    std::vector<std::thread> crew;
    for (std::size_t w = 1; w < count; ++w) {
      crew.emplace_back(
          [&, w] { work(*workers[w], *prepared, examples, training.clipping, noise, budgets); });
    }
    work(*workers[0], *prepared, examples, training.clipping, noise, budgets);
    for (std::thread& thread : crew) thread.join();
    for (const auto& worker : workers) {
      if (worker->failure) std::rethrow_exception(worker->failure);
    }
    ExactSum& all = workers[0]->sum;
    for (std::size_t w = 1; w < count; ++w) all.add(workers[w]->sum);
    const auto totals = all.totals();
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (std::size_t j = layers[l].start; j < layers[l].start + layers[l].size; ++j) {
        gradient[j] = noise.release(l, totals[j]) / training.batch;
      }
    }
    advance(iterate, training.optimiser, training.steps, gradient);
    if (on_step && !on_step(iterate)) break;
  }
  return iterate;
}

}  // namespace sotto
