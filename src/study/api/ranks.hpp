// Several processes train a study's models together. Rank 0 runs the study: it alone has the ledger, its key and the data, charges once and adds the
// noise. The others get their shards of a training's examples from it, and add up their part of each step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sotto/learning/train.hpp"

namespace sotto {

/// Rank 0's side. Whatever happens, the others are either waiting for what to do, and can be dismissed, or in the middle of a step with rank 0, and
/// then all of them have to be ended: the run goes on from its checkpoint.
class Ranks {
 public:
  /// `together` is rank 0, and lives as long.
  explicit Ranks(Together& together) : together_(together) {}

  /// Starts a training on all ranks and gives each its shard of the examples, which stay alive as long as the trainer: rank 0's own. `from`: the
  /// iterate that it goes on from, or nullptr. threads and memory are each rank's. InvalidValue as for Trainer.
  std::unique_ptr<Trainer> start(const std::shared_ptr<const Model>& model, const Examples& examples, const Training& training, const Iterate* from,
                                 int threads, std::int64_t memory);
  /// A step on all ranks.
  void step(Trainer& own);
  /// The training is over.
  void finish();

  [[nodiscard]] bool are_waiting() const { return waiting_; }
  /// Sends the others home.
  void dismiss();

 private:
  Together& together_;
  std::optional<Examples> shard_;  // rank 0's
  bool waiting_ = true;
};

/// What a rank other than 0 does until it is dismissed. It sees its shard of the examples, and neither ledger nor source.
void run_worker_rank(Together& together);

}  // namespace sotto
