// Trains a study's models.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/training/checkpoint.hpp"
#include "study/training/evaluate.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/learning/model.hpp"
#include "ledger/api/checkpoint.hpp"
#include "study/api/run.hpp"

namespace sotto::study_detail {

/// A training's examples, read before the first noise: those to learn from, and those of the private test.
struct TrainTestSplit {
  Examples train, test;
  std::optional<Examples> on_public = std::nullopt;  ///< public rows, on which the model is measured as it learns
};
/// Which units are in the test depends on the stream and on their places, which are the same whenever the same rows are read with the same key.
TrainTestSplit train_test_split(double test_share, const Examples& all, Stream stream, std::int64_t memory);

/// The examples of a training: which rows of a unit are read, and which units are in the test, depends on the secret alone.
TrainTestSplit read_split(Engine& engine, const Study& study, const TrainDesign& design, std::size_t index, const Secret& secret, std::int64_t memory,
                 const Progress& progress);
/// What is released of a training, before its parameters are known.
TrainedModel blank_model(const Study& study, const TrainDesign& design);
/// Returns the number of rows that the model predicts right, and the number that it predicts wrong.
/// Both are secret.
std::vector<double> right_and_wrong(const Model& model, const Examples& test, std::span<const double> parameters);
/// Adds the accuracy in a private test, from right_and_wrong with the noise of the design's test
/// event.
void add_private_test(TrainedModel& found, const TrainDesign& design, const std::vector<double>& counts, double confidence);
/// Adds the share of right predictions, from noisy numbers of right and wrong ones, with an
/// interval that covers the noise and the random choice of the test's units.
void add_accuracy(TrainedModel& found, const std::vector<double>& noisy, double noise, double confidence);
/// The last point on public rows, if a training names some.
void add_evaluation(TrainedModel& found, const Study& study, const TrainDesign& design, const std::optional<Examples>& on_public,
                    std::vector<PublicPoint> points);

/// The trainings of one run: their examples first, then model after model, each step paid for and none that was marked taken again.
class Trainings {
 public:
  Trainings(const Study& study, const Design& design, Engine& engine, Ledger& ledger, const std::string& request, const RunOptions& options,
            const std::vector<std::optional<Examples>>& on_public, const Watcher& told);

  /// What was released by the run that this one goes on from; nothing if it starts.
  [[nodiscard]] const std::optional<Release>& resumed() const { return resumed_; }
  /// Reads the examples of the models that are not done.
  void read();
  /// A checkpoint before the first noise, for Begin to mark: its seal.
  [[nodiscard]] std::string first_checkpoint(const Release& release);
  /// Marks how far the release came.
  void keep(const Release& release, const Iterate* iterate = nullptr);
  /// Trains the models that are not done, and adds them.
  void train(Release& release);

 private:
  [[nodiscard]] bool say(std::size_t part, const std::string& what, double share) const;
  [[nodiscard]] TrainTestSplit examples_of(std::size_t i);

  const Study& study_;
  const Design& design_;
  Engine& engine_;
  const RunOptions& options_;
  const std::vector<std::optional<Examples>>& on_public_;  // of each training
  const Watcher& told_;
  CheckpointFile file_;
  std::optional<Secret> secret_;  // where there are trainings
  std::optional<Release> resumed_;
  std::optional<Iterate> iterate_;  // of the first model that is not done
  std::vector<TrainTestSplit> examples_;     // of those that are not done, in their order
};

}  // namespace sotto::study_detail
