// DP-SGD: what a training costs, and the steps of the trainer.
#include "sotto/learning/train.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "learning/api/step_noise.hpp"
#include "learning/kernels/kernels.hpp"
#include "mechanisms/api/noisy_sum.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// Returns by how many clipping norms one unit moves the sum of gradients: under replace-one its
// gradient leaves the sum, and another one enters.
double moved_norms(Relation relation) { return relation == Relation::replace_one ? 2 : 1; }

// Returns the plan of all steps, where `gradient` is the event of the noise on the sum of a step's
// gradients.
Plan plan_with(const Training& training, const Plan& gradient) {
  const auto count = count_noise(training);
  const Plan step =
      sampled(training.sampling, count ? gradient + count->event() : gradient, training.relation);
  return training.steps == 1 ? step : static_cast<double>(training.steps) * step;
}

void require_sound(const Training& training) {
  if (training.steps < 1) throw InvalidValue("a training has at least one step");
  if (!(training.batch >= 1 && std::isfinite(training.batch)))
    throw InvalidValue("batch, what a sum of gradients is divided by, must be at least 1");
  if (!(training.noise >= 0 && training.noise <= 0x1p30))
    throw InvalidValue("noise must be between 0 and 2^30 norms");
  if (!(training.clipping.norm >= 0x1p-40 && training.clipping.norm <= 0x1p40))
    throw InvalidValue("the clipping norm must be between 2^-40 and 2^40");
  if (!(training.clipping.stability > 0))
    throw InvalidValue("the stability of automatic clipping must be above 0");
  if (!(training.optimiser.size > 0 && std::isfinite(training.optimiser.size)))
    throw InvalidValue("the step size must be above 0");
  if (const auto& adaptive = training.clipping.adaptive) {
    if (training.clipping.kind != ClippingKind::flat)
      throw InvalidValue("only flat clipping adapts its norm");
    if (!(adaptive->quantile > 0 && adaptive->quantile < 1))
      throw InvalidValue("the quantile of adaptive clipping must be between 0 and 1");
    if (!(adaptive->noise > 0))
      throw InvalidValue("the noise of adaptive clipping must be above 0");
  }
  if (const auto* ball =
          training.optimiser.region ? std::get_if<Ball>(&*training.optimiser.region) : nullptr;
      ball != nullptr && !(ball->radius > 0)) {
    throw InvalidValue("the radius of the ball must be above 0");
  }
}

void require_finite(std::span<const double> numbers, const char* what) {
  for (const double number : numbers) {
    if (!std::isfinite(number))
      throw InvalidValue(std::string(what) + " has a number that is not finite");
  }
}

// A barrier at which the threads of a step wait for each other. A step may take less time than it
// takes to wake a thread, so a thread spins before it sleeps.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : threads_(threads), missing_(threads) {}
  void arrive_and_wait() {
    const unsigned meeting = meeting_.load(std::memory_order_acquire);
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      missing_.store(threads_, std::memory_order_relaxed);
      meeting_.store(meeting + 1, std::memory_order_release);
      meeting_.notify_all();
      return;
    }
    for (int look = 0; look < 4000; ++look) {
      if (meeting_.load(std::memory_order_acquire) != meeting) return;
      pause();
    }
    meeting_.wait(meeting, std::memory_order_acquire);
  }

 private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  int threads_;
  std::atomic<int> missing_;
  std::atomic<unsigned> meeting_{0};
};

}  // namespace

GaussianNoise gradient_noise(const Training& training, double norm) {
  return {training.noise, norm, moved_norms(training.relation)};
}

std::optional<Additive> count_noise(const Training& training) {
  const auto& adaptive = training.clipping.adaptive;
  if (!adaptive) return std::nullopt;
  // a gradient adds a half to the count, or takes a half from it
  return Additive(gaussian(adaptive->noise, moved_norms(training.relation) / 2));
}

Plan plan_of(const Training& training) {
  require_sound(training);
  if (training.noise == 0)
    throw OutsideConditions("a training without noise is not private: it has no finite cost");
  return plan_with(training, gradient_noise(training, training.clipping.norm).event());
}

Plan plan_to_calibrate(const Training& training, double factor) {
  require_sound(training);
  return plan_with(training, gaussian(Hole{factor}, moved_norms(training.relation)));
}

Shard shard_of(std::size_t units, int rank, int size) {
  if (rank < 0 || rank >= size)
    throw InvalidValue("ranks are numbered from 0 to one less than their number");
  const std::size_t blocks = (units + Sampler::units_a_block - 1) / Sampler::units_a_block;
  const auto start = [&](int r) {
    return std::min(units, blocks * static_cast<std::size_t>(r) / static_cast<std::size_t>(size) *
                               Sampler::units_a_block);
  };
  return {start(rank), start(rank + 1)};
}

struct Trainer::State {
  State(std::shared_ptr<const Model> a_model, const Examples& some_examples,
        const Training& a_training, const Resources& some)
      : model(std::move(a_model)),
        examples(some_examples),
        training(a_training),
        together(some.together),
        first_block(some.first_block),
        sampler(training.sampling, population()),
        own_units(examples.units()) {
    require_sound(training);
    iterate.parameters = model->start(training.seed);
    iterate.norm = training.clipping.norm;
    const std::size_t blocks = (own_units + Sampler::units_a_block - 1) / Sampler::units_a_block;
    const auto wanted = static_cast<std::size_t>(
        some.threads > 0 ? some.threads
                         : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    const std::size_t threads = std::max<std::size_t>(1, std::min(wanted, blocks));
    const Secret secret = shared_secret();
    for (std::size_t w = 0; w < threads; ++w)
      workers.push_back(std::make_unique<Worker>(secret, model->parameters()));
    if (threads > 1) {
      gate.emplace(static_cast<int>(threads));
      for (std::size_t w = 1; w < threads; ++w) {
        crew.emplace_back([this, w] {
          for (;;) {
            gate->arrive_and_wait();
            if (stop) return;
            work(w);
            gate->arrive_and_wait();
          }
        });
      }
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gate) {
      stop = true;
      gate->arrive_and_wait();
    }
    for (std::thread& thread : crew) thread.join();
  }

  // Returns the number of units on all ranks. Throws InvalidValue for 2^31 rows or more: a row adds
  // less than 2^32 steps of the grid to a 64-bit sum.
  std::size_t population() {
    std::int64_t rows = static_cast<std::int64_t>(examples.rows());
    std::size_t units = examples.units();
    if (together != nullptr) {
      require_alike();
      std::vector<std::int64_t> count{rows};
      together->sum(count);
      rows = count[0];
      units = units_of_shards();
    } else if (first_block != 0) {
      throw InvalidValue("a training of one process has all units, from the first block on");
    }
    if (rows >= std::int64_t{1} << 31U) throw InvalidValue("at most 2^31 rows can be learned from");
    return units;
  }
  std::size_t units_of_shards() {
    // each rank learns the shards of all ranks, so that all ranks refuse shards that do not fit
    // together
    const auto size = static_cast<std::size_t>(together->size());
    std::vector<std::int64_t> shards(2 * size);
    const auto own = static_cast<std::size_t>(together->rank());
    shards[own] = static_cast<std::int64_t>(examples.units());
    shards[size + own] = static_cast<std::int64_t>(first_block);
    together->sum(shards);
    constexpr auto block = static_cast<std::int64_t>(Sampler::units_a_block);
    std::int64_t units = 0;
    for (std::size_t r = 0; r < size; ++r) {
      // two units that share a block share its random bits, and the sample would not be the one
      // that the plan accounts for
      if (shards[r] > 0 && (units % block != 0 || shards[size + r] != units / block)) {
        throw InvalidValue(
            "the shards of the ranks must be whole blocks of units, one after the other "
            "(shard_of)");
      }
      units += shards[r];
    }
    return static_cast<std::size_t>(units);
  }
  // Throws InvalidValue unless all ranks train the same model in the same way, on processors that
  // round alike.
  void require_alike() {
    const std::vector<std::uint64_t> own{learning_detail::kind_of_processor(),
                                         std::hash<std::string>{}(model->description()),
                                         static_cast<std::uint64_t>(training.steps),
                                         training.seed,
                                         static_cast<std::uint64_t>(training.sampling.index()),
                                         std::bit_cast<std::uint64_t>(training.noise),
                                         std::bit_cast<std::uint64_t>(training.batch),
                                         std::bit_cast<std::uint64_t>(training.clipping.norm),
                                         std::bit_cast<std::uint64_t>(training.optimiser.size)};
    std::vector<std::uint64_t> of_first = own;
    together->share(std::span<std::uint64_t>(of_first));
    std::vector<std::int64_t> other{
        of_first[0] == own[0] ? 0 : 1,
        std::equal(own.begin() + 1, own.end(), of_first.begin() + 1) ? 0 : 1};
    together->sum(other);
    if (other[0] != 0)
      throw InvalidValue("the ranks have processors of different kinds, which round differently");
    if (other[1] != 0) throw InvalidValue("the ranks do not train the same model in the same way");
  }
  // Returns the secret of rank 0 on all ranks, so that they draw the same batch.
  Secret shared_secret() {
    Secret secret;
    if (together == nullptr) return secret;
    Secret::Words words = secret.words();
    together->share(std::span<std::uint64_t>(words));
    return Secret::from_words(words);
  }

  struct Worker {
    Worker(const Secret& secret, std::size_t parameters) : stream(secret), sum(parameters) {}
    Stream stream;
    ExactSum sum;
    std::vector<std::uint32_t> batch;
    std::exception_ptr failure;
  };

  // Adds up the gradients of the worker's blocks of the batch. Keeps an exception for the thread
  // that waits for the step.
  void work(std::size_t w) {
    Worker& worker = *workers[w];
    try {
      worker.sum.clear();
      worker.batch.clear();
      const std::size_t blocks = (own_units + Sampler::units_a_block - 1) / Sampler::units_a_block;
      const auto step = static_cast<std::uint64_t>(iterate.step);
      for (std::size_t block = w * blocks / workers.size();
           block < (w + 1) * blocks / workers.size(); ++block) {
        sampler.draw(step, first_block + block, started, worker.stream, worker.batch);
      }
      const auto first = static_cast<std::uint32_t>(first_block * Sampler::units_a_block);
      if (first != 0) {
        for (std::uint32_t& unit : worker.batch) unit -= first;
      }
      prepared->add(examples, worker.batch, clipping, worker.sum);
    } catch (...) {
      worker.failure = std::current_exception();
    }
  }

  // Writes into `numbers`, without noise, the totals of this process's units, the number of these
  // units and how many of them were clipped.
  void add_up() {
    clipping = training.clipping;
    clipping.norm = iterate.norm;
    prepared = model->prepare(iterate.parameters);
    started = sampler.start(static_cast<std::uint64_t>(iterate.step), workers[0]->stream);
    if (gate) gate->arrive_and_wait();
    work(0);
    if (gate) gate->arrive_and_wait();
    for (const auto& worker : workers) {
      if (worker->failure) std::rethrow_exception(worker->failure);
    }
    ExactSum& all = workers[0]->sum;
    for (std::size_t w = 1; w < workers.size(); ++w) all.add(workers[w]->sum);
    const std::span<const std::int64_t> totals = all.totals();
    numbers.assign(totals.begin(), totals.end());
    numbers.push_back(all.units);
    numbers.push_back(all.clipped);
  }

  void step() {
    add_up();
    if (together != nullptr) together->sum(numbers);
    gradient.resize(numbers.size() - 1);
    if (together == nullptr || together->rank() == 0) privatise();
    if (together != nullptr) together->share(std::span<double>(gradient));
    adapt();
    advance(iterate, training.optimiser, training.steps,
            std::span<const double>(gradient).first(gradient.size() - 1));
  }

  // In a training over several parties the sums are added up, and noise is added, outside of the
  // trainer.
  void require_shared() const {
    if (together != nullptr || training.clipping.adaptive) {
      throw InvalidValue(
          "a training over several parties has one norm, which does not adapt, and each party "
          "trains in one process");
    }
  }
  std::span<const std::int64_t> own_sum() {
    require_shared();
    add_up();
    return std::span<const std::int64_t>(numbers).first(model->parameters());
  }
  void step_by(std::span<const double> noisy_sum) {
    require_shared();
    if (noisy_sum.size() != model->parameters())
      throw InvalidValue("the sum has another length than the model");
    gradient.assign(noisy_sum.begin(), noisy_sum.end());
    for (double& g : gradient) g /= training.batch;
    advance(iterate, training.optimiser, training.steps, gradient);
  }

  // Writes the noisy mean gradient into `gradient`, and the noisy share of gradients within the
  // norm behind it.
  void privatise() {
    const std::size_t parameters = gradient.size() - 1;
    const auto exponents = model->exponents(clipping);
    const auto layers = model->layers();
    std::optional<NoisySum> noise;
    if (training.noise > 0) noise.emplace(gradient_noise(training, clipping.norm), exponents);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto totals =
          std::span<const std::int64_t>(numbers).subspan(layers[l].start, layers[l].size);
      const auto part = std::span<double>(gradient).subspan(layers[l].start, layers[l].size);
      if (noise) {
        noise->release(l, totals, part);
      } else {
        for (std::size_t j = 0; j < part.size(); ++j)
          part[j] = std::ldexp(static_cast<double>(totals[j]), exponents[l]);
      }
      for (double& g : part) g /= training.batch;
    }
    gradient[parameters] = 0;
    if (const auto count = count_noise(training)) {
      const double half_more = static_cast<double>(numbers[parameters] - numbers[parameters + 1]) -
                               static_cast<double>(numbers[parameters]) / 2;
      gradient[parameters] = count->release(half_more) / training.batch + 0.5;
    }
  }

  void adapt() {
    if (const auto& adaptive = training.clipping.adaptive) {
      const double share = std::clamp(gradient.back(), 0.0, 1.0);
      iterate.norm = std::clamp(
          iterate.norm * std::exp(-adaptive->rate * (share - adaptive->quantile)), 0x1p-40, 0x1p40);
    }
  }

  std::shared_ptr<const Model> model;
  const Examples& examples;
  Training training;
  Together* together;
  std::size_t first_block;
  Sampler sampler;
  std::size_t own_units;
  Iterate iterate;
  Clipping clipping;
  std::unique_ptr<Model::Prepared> prepared;
  std::vector<std::uint32_t> started;
  std::vector<std::int64_t> numbers;
  std::vector<double> gradient;
  std::vector<std::unique_ptr<Worker>> workers;
  std::optional<SpinBarrier> gate;
  bool stop = false;
  std::vector<std::thread> crew;
};

Trainer::Trainer(std::shared_ptr<const Model> model, const Examples& examples,
                 const Training& training, const Resources& resources)
    : state_(std::make_unique<State>(std::move(model), examples, training, resources)) {}
Trainer::~Trainer() = default;

void Trainer::resume(const Iterate& iterate) {
  const std::size_t size = state_->iterate.parameters.size();
  if (iterate.parameters.size() != size) throw InvalidValue("the checkpoint is of another model");
  for (const auto* numbers : {&iterate.mean, &iterate.first, &iterate.second}) {
    if (!numbers->empty() && numbers->size() != size)
      throw InvalidValue("the checkpoint is of another model");
    require_finite(*numbers, "the checkpoint");
  }
  require_finite(iterate.parameters, "the checkpoint");
  if (iterate.step < 0 || iterate.step > state_->training.steps)
    throw InvalidValue("the checkpoint is of a longer training");
  const Clipping& clipping = state_->training.clipping;
  if (clipping.adaptive ? !(iterate.norm >= 0x1p-40 && iterate.norm <= 0x1p40)
                        : iterate.norm != clipping.norm)
    throw InvalidValue("the checkpoint is of a training with another clipping norm");
  state_->iterate = iterate;
}
void Trainer::start_at(std::span<const double> parameters) {
  Iterate& iterate = state_->iterate;
  if (iterate.step > 0)
    throw InvalidValue("the training took steps already: start_at comes before the first");
  if (parameters.size() != iterate.parameters.size()) {
    throw InvalidValue("the model has " + std::to_string(iterate.parameters.size()) +
                       " parameters, and it cannot start at " + std::to_string(parameters.size()));
  }
  require_finite(parameters, "the starting point");
  iterate.parameters.assign(parameters.begin(), parameters.end());
  if (state_->together != nullptr) state_->together->share(std::span<double>(iterate.parameters));
}
void Trainer::step() {
  if (done()) throw InvalidValue("all steps of the training were taken: one more is not paid for");
  state_->step();
}
std::span<const std::int64_t> Trainer::sum() {
  if (done()) throw InvalidValue("all steps of the training were taken: one more is not paid for");
  return state_->own_sum();
}
void Trainer::step(std::span<const double> noisy_sum) {
  if (done()) throw InvalidValue("all steps of the training were taken: one more is not paid for");
  state_->step_by(noisy_sum);
}
bool Trainer::done() const { return state_->iterate.step >= state_->training.steps; }
const Iterate& Trainer::iterate() const { return state_->iterate; }
const std::vector<double>& Trainer::parameters() const {
  return learned(state_->iterate, state_->training.optimiser);
}

Iterate train(const std::shared_ptr<const Model>& model, const Examples& examples,
              const Training& training, const Resources& resources,
              const std::function<bool(const Iterate&)>& on_step) {
  Trainer trainer(model, examples, training, resources);
  while (!trainer.done()) {
    trainer.step();
    if (on_step && !on_step(trainer.iterate())) break;
  }
  return trainer.iterate();
}

}  // namespace sotto
