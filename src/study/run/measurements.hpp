// The measurements of a study in a run: first their exact numbers are read from the data, then
// noise is added.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/api/run.hpp"

namespace sotto::study_detail {

/// Returns a fresh secret that decides which rows of each unit count.
BoundingKey draw_key();

/// Returns how many rows the engine read. Call it after the answer is stored. Empty without an
/// engine, or if the engine fails now, since a failure must not undo an answer that is stored.
std::optional<RowsRead> rows_read(Engine* engine);

/// Returns a release that has no answers yet.
Release blank_release(const Study& study, const Design& design, const std::string& ledger,
                      const std::string& request);

/// The measurements of one run of a study.
class Measurements {
 public:
  Measurements(const Study& study, const Design& design, Engine& engine,
               const Watcher& on_progress);

  /// Reads the exact numbers of all measurements with public groups, and the keys of those with
  /// private ones. Draws no noise.
  void aggregate();
  /// The exact numbers of measurement i, whose groups are public. Secret until noise is added.
  [[nodiscard]] const std::vector<double>& numbers(std::size_t i) const {
    return aggregates_[i].numbers;
  }
  /// Adds noise to all measurements, and writes the answers into the release.
  void answer(Release& release);

 private:
  // The data of a measurement before any noise: its exact numbers or, if its keys are private, the
  // keys in the data with their counts of units.
  struct Aggregates {
    PresentGroups present = {};
    std::vector<double> numbers = {};
  };
  [[nodiscard]] Progress progress_of(std::size_t i, double start, double end) const;

  const Study& study_;
  const Design& design_;
  Engine& engine_;
  const Watcher& on_progress_;
  std::vector<Column> columns_;
  std::vector<Aggregates> aggregates_;
};

/// Writes the answers of all queries of a measurement, computed from its noisy numbers, into the
/// release.
void add_answers(const Study& study, const Measurement& measurement,
                 const std::vector<std::vector<Value>>& groups, const std::vector<double>& numbers,
                 Release& release);

}  // namespace sotto::study_detail
