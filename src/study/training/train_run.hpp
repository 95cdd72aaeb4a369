// Trains the models of a study: reading, steps, checkpoints, private test.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/api/checkpoint.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/learning/model.hpp"
#include "study/api/run.hpp"
#include "study/training/checkpoint.hpp"
#include "study/training/evaluate.hpp"

namespace sotto::study_detail {

/// The examples of a training, split into those to learn from and those of the private test. They
/// are read before any noise is drawn.
struct TrainTestSplit {
  Examples train, test;
  std::optional<Examples> on_public =
      std::nullopt;  ///< public rows on which the model is measured during training
};
/// Splits examples. Whether a unit is in the test depends on the stream and on its position only;
/// reading equal rows with an equal key gives equal positions, so a resumed run gets an equal
/// split.
TrainTestSplit train_test_split(double test_share, const Examples& all, Stream stream,
                                std::int64_t memory);

/// Reads and splits the examples of a training. The secret decides which rows of a unit are read
/// and which units are in the test.
TrainTestSplit read_split(Engine& engine, const Study& study, const TrainDesign& design,
                          std::size_t index, const Secret& secret, std::int64_t memory,
                          const Progress& progress);
/// Returns a model with all released fields set except those that depend on the training.
TrainedModel blank_model(const Study& study, const TrainDesign& design);
/// Returns the number of rows that the model predicts right, and the number that it predicts wrong.
/// Both are secret.
std::vector<double> right_and_wrong(const Model& model, const Examples& test,
                                    std::span<const double> parameters);
/// Adds the accuracy in a private test, from right_and_wrong with the noise of the design's test
/// event.
void add_private_test(TrainedModel& model, const TrainDesign& design,
                      const std::vector<double>& counts, double confidence);
/// Sets the accuracy from the noisy numbers of right and wrong predictions, with an interval that
/// accounts for the noise and for the random choice of test units.
void add_accuracy(TrainedModel& model, const std::vector<double>& noisy, double noise,
                  double confidence);
/// Sets the evaluation on public rows, if the training names some.
void add_evaluation(TrainedModel& model, const Study& study, const TrainDesign& design,
                    const std::optional<Examples>& on_public, std::vector<PublicPoint> points);

/// Trainings runs the trainings of one run: it reads all examples first, then trains model after
/// model. A checkpoint marks progress, so that a resumed run never repeats a step with fresh noise.
class Trainings {
 public:
  Trainings(const Study& study, const Design& design, Engine& engine, Ledger& ledger,
            const std::string& request, const RunOptions& options,
            const std::vector<std::optional<Examples>>& on_public, const Watcher& on_progress);

  /// Returns the release in the checkpoint from which this run continues; empty for a new run.
  [[nodiscard]] const std::optional<Release>& resumed() const { return resumed_; }
  /// Reads the examples of all incomplete models.
  void read();
  /// Writes a checkpoint before the first noise, and returns its seal for the ledger to mark.
  [[nodiscard]] std::string first_checkpoint(const Release& release);
  /// Writes a checkpoint and marks it in the ledger.
  void keep(const Release& release, const Iterate* iterate = nullptr);
  /// Trains the incomplete models and adds them to `release`.
  void train(Release& release);

 private:
  [[nodiscard]] bool report(std::size_t part, const std::string& what, double share) const;
  [[nodiscard]] TrainTestSplit examples_of(std::size_t i);

  const Study& study_;
  const Design& design_;
  Engine& engine_;
  const RunOptions& options_;
  const std::vector<std::optional<Examples>>& on_public_;  // one per training
  const Watcher& on_progress_;
  CheckpointFile file_;
  std::optional<Secret> secret_;  // absent without trainings
  std::optional<Release> resumed_;
  std::optional<Iterate> iterate_;        // of the first incomplete model
  std::vector<TrainTestSplit> examples_;  // of the incomplete models, in order
};

}  // namespace sotto::study_detail
