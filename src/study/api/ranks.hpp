// Training a study's models on several processes (ranks). Rank 0 runs the study: it alone has the
// ledger, the key and the data, charges once and adds the noise. It sends each worker rank a shard
// of the examples, and the workers sum their part of the gradients in each step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sotto/learning/train.hpp"

namespace sotto {

/// Ranks is the side of rank 0. After an error the workers either wait for a command and can be
/// dismissed (are_waiting()), or they are in the middle of a step with rank 0; then all processes
/// must be terminated, and the next run continues from the checkpoint.
class Ranks {
 public:
  /// `together` is the communication of rank 0, and must outlive this object.
  explicit Ranks(Together& together) : together_(together) {}

  /// Starts a training on all ranks, sends each its shard of the examples, and returns the trainer
  /// of rank 0. The examples must outlive it. `from` is the iterate to continue from, or null.
  /// `threads` and `memory` hold for each rank. Throws InvalidValue as Trainer does.
  std::unique_ptr<Trainer> start(const std::shared_ptr<const Model>& model,
                                 const Examples& examples, const Training& training,
                                 const Iterate* from, int threads, std::int64_t memory);
  /// Takes a step on all ranks. `own` is the trainer of rank 0.
  void step(Trainer& own);
  /// Ends the training; the workers wait for the next command.
  void finish();

  [[nodiscard]] bool are_waiting() const { return waiting_; }
  /// Terminates the workers.
  void dismiss();

 private:
  Together& together_;
  std::optional<Examples> shard_;  // the shard of rank 0
  bool waiting_ = true;
};

/// Runs a worker rank until rank 0 dismisses it. A worker receives its shard of the examples, and
/// has no access to the ledger or the data source.
void run_worker_rank(Together& together);

}  // namespace sotto
