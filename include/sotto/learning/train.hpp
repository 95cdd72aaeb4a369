// DP-SGD: sample, clip and sum exactly, add noise, step.
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

/// How a model is trained. All of it is public.
struct Training {
  Sampling sampling = FullBatch{};
  std::int64_t steps = 100;
  Clipping clipping = {};
  double noise = 1;  ///< σ: the noise on each coordinate of the sum has standard deviation noise · clipping.norm
  double batch = 1;  ///< what a sum is divided by: declared, never counted
  Optimiser optimiser = {};
  Relation relation = Relation::add_remove;
  std::uint64_t seed = 0;  ///< of the starting point
  friend bool operator==(const Training&, const Training&) = default;
};

/// What the whole training costs: one event. steps · sampled(gaussian(σ)), with sensitivity 2 under replace-one; and the noise of adaptive clipping.
Plan plan_of(const Training& training);
/// The same with a hole for the noise, which is `factor` times what fills it: calibrate finds that.
Plan plan_to_calibrate(const Training& training, double factor = 1);

/// How many processes train together: each holds a shard of the units, adds up its part, and all take the same step.
class Together {
 public:
  virtual ~Together() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Each number becomes the sum over all ranks.
  virtual void sum(std::span<std::int64_t> numbers) = 0;
  /// The numbers of rank 0, everywhere.
  virtual void share(std::span<std::uint64_t> numbers) = 0;
  virtual void share(std::span<double> numbers) = 0;
};

/// A rank's units: whole blocks of the sampler, so that each unit has a coin of its own in every step.
struct Shard {
  std::size_t first, end;  ///< units
  [[nodiscard]] std::size_t first_block() const { return first / Sampler::units_a_block; }
};
Shard shard_of(std::size_t units, int rank, int size);

struct Resources {
  int threads = 0;  ///< 0: all of the machine's
  Together* together = nullptr;
  std::size_t first_block = 0;  ///< of the shard: its units' blocks in the whole, so that all shards draw one batch
};

/// Takes steps. A step reads the data, adds noise once, and moves the parameters: after it they may be shown, since they are paid for.
class Trainer {
 public:
  /// The examples stay alive as long as the trainer. InvalidValue for numbers out of range; on all ranks, where shards overlap, leave a gap or cut a
  /// block, or where ranks train otherwise or on another kind of processor, which may round differently.
  Trainer(std::shared_ptr<const Model> model, const Examples& examples, const Training& training, const Resources& resources = {});
  ~Trainer();
  /// Goes on from a checkpoint: the noise of its steps is in it, and later steps draw their own. InvalidValue if it is of another training.
  void resume(const Iterate& iterate);
  /// Starts at these parameters and not at the model's own: public ones, or such as an earlier training released. They cost nothing more; what was
  /// computed from rows without noise is neither. On several ranks those of rank 0. InvalidValue after the first step, for another length, or for
  /// numbers that are not finite.
  void start_at(std::span<const double> parameters);
  void step();
  /// For a training over several parties, each with units of its own: this one's sum of clipped gradients in the step that comes next, exact, without
  /// noise and therefore secret; and the step with the noisy sum of all parties' (share.hpp), in place of step(). InvalidValue for adaptive clipping.
  [[nodiscard]] std::span<const std::int64_t> sum();
  void step(std::span<const double> noisy_sum);
  [[nodiscard]] bool done() const;
  [[nodiscard]] const Iterate& iterate() const;
  [[nodiscard]] const std::vector<double>& parameters() const;  ///< what is released after the last step

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All steps. Told after each; false stops (what was learned by then is returned).
Iterate train(const std::shared_ptr<const Model>& model, const Examples& examples, const Training& training, const Resources& resources = {},
              const std::function<bool(const Iterate&)>& told = {});

}  // namespace sotto
