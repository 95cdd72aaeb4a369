// DP-SGD. Each step samples a batch, clips and sums gradients exactly, adds noise and moves the
// parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sotto/data/examples.hpp"
#include "sotto/learning/clipping.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/learning/optimiser.hpp"
#include "sotto/learning/sampling.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// The settings of a training. All of it is public.
struct Training {
  Sampling sampling = FullBatch{};
  std::int64_t steps = 100;
  Clipping clipping = {};
  double noise = 1;  ///< σ: the noise on each coordinate of the sum has standard deviation noise ·
                     ///< clipping.norm
  double batch = 1;  ///< divisor of the noisy sum: a public number, never counted from data
  Optimiser optimiser = {};
  Relation relation = Relation::add_remove;
  std::uint64_t seed = 0;  ///< of the initial parameters: public
  friend bool operator==(const Training&, const Training&) = default;
};

/// Returns the event of the whole training: steps · sampled(gaussian(σ)), with sensitivity 2 under
/// replace-one, plus the noise of adaptive clipping.
Plan plan_of(const Training& training);
/// Returns that event with an open noise parameter for calibrate(): the training's noise is
/// `factor` times the value that calibrate() finds.
Plan plan_to_calibrate(const Training& training, double factor = 1);

/// Communication between processes (ranks) that train one model together. Each rank holds a shard
/// of the units and sums its part of the gradients; all ranks take the same step.
class Together {
 public:
  virtual ~Together() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Replaces each number by its sum over all ranks.
  virtual void sum(std::span<std::int64_t> numbers) = 0;
  /// Replaces the numbers on every rank by those of rank 0.
  virtual void share(std::span<std::uint64_t> numbers) = 0;
  virtual void share(std::span<double> numbers) = 0;
};

/// The units of a rank: whole blocks of the sampler, so that the sampling of every unit is
/// independent.
struct Shard {
  std::size_t first, end;  ///< half-open range of units
  [[nodiscard]] std::size_t first_block() const { return first / Sampler::units_a_block; }
};
Shard shard_of(std::size_t units, int rank, int size);

/// Threads and processes that a training uses. The result does not depend on them.
struct Resources {
  int threads = 0;               ///< 0 means all threads of the machine
  Together* together = nullptr;  ///< the ranks that train together; null for one process
  std::size_t first_block = 0;   ///< index of the shard's first sampler block among all units
};

/// A Trainer takes the steps of one training. Each step reads the data, adds noise once and moves
/// the parameters. After any step the parameters may be published: the plan covers them.
class Trainer {
 public:
  /// The examples must outlive the trainer. Throws InvalidValue for settings out of range. With
  /// several ranks every rank throws it if shards overlap, leave a gap or cut a block, or if ranks
  /// differ in their settings or in their kind of processor, which may round differently.
  Trainer(std::shared_ptr<const Model> model, const Examples& examples, const Training& training,
          const Resources& resources = {});
  ~Trainer();
  /// Continues from a checkpoint. Its parameters contain the noise of the steps so far; later steps
  /// draw fresh noise. Throws InvalidValue if the checkpoint belongs to another training.
  void resume(const Iterate& iterate);
  /// Starts at these parameters instead of model.start(). They must be public or released by an
  /// earlier private training, and then cost nothing more: parameters computed from rows without
  /// noise would break the guarantee. With several ranks those of rank 0 count. Throws InvalidValue
  /// after the first step, for a wrong number of parameters, or for numbers that are not finite.
  void start_at(std::span<const double> parameters);
  /// Takes the next step.
  void step();
  /// Returns this party's exact sum of clipped gradients for the next step, in a training over
  /// several parties that each hold some of the units. It has no noise and must stay secret
  /// (learning/api/share.hpp adds noise). Throws InvalidValue for adaptive clipping.
  [[nodiscard]] std::span<const std::int64_t> sum();
  /// Takes the next step with the noisy sum over all parties, in place of step().
  void step(std::span<const double> noisy_sum);
  [[nodiscard]] bool done() const;
  [[nodiscard]] const Iterate& iterate() const;
  [[nodiscard]] const std::vector<double>& parameters()
      const;  ///< to release, as learned() in optimiser.hpp returns them

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Takes all steps and calls `on_step` after each; if it returns false, the training stops. Returns
/// the state after the last step taken.
Iterate train(const std::shared_ptr<const Model>& model, const Examples& examples,
              const Training& training, const Resources& resources = {},
              const std::function<bool(const Iterate&)>& on_step = {});

}  // namespace sotto
