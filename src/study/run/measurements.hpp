// The measurements of a study: what the data say of them first, then their noise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/api/run.hpp"

namespace sotto::study_detail {

/// Which rows of each unit count: a fresh secret.
BoundingKey draw_key();

/// What the engine read, once the answer is kept: nothing where there was no engine, or where it fails now, which undoes nothing.
std::optional<RowsRead> rows_read(Engine* engine);

/// A release without answers.
Release blank_release(const Study& study, const Design& design, const std::string& ledger, const std::string& request);

class Measurements {
 public:
  Measurements(const Study& study, const Design& design, Engine& engine, const Watcher& told);

  /// Without noise.
  void look();
  /// The numbers of a measurement whose groups are public, before noise.
  [[nodiscard]] const std::vector<double>& numbers(std::size_t i) const { return looked_[i].numbers; }
  /// Noise, and the answers.
  void answer(Release& release);

 private:
  // What the data say of a measurement before any noise: its numbers or, where its keys are private, the keys that there are.
  struct Looked {
    PresentGroups present = {};
    std::vector<double> numbers = {};
  };
  [[nodiscard]] Progress progress_of(std::size_t i, double start, double end) const;

  const Study& study_;
  const Design& design_;
  Engine& engine_;
  const Watcher& told_;
  std::vector<Column> columns_;
  std::vector<Looked> looked_;
};

/// What all queries of a measurement read from its noisy numbers.
void add_answers(const Study& study, const Measurement& measurement, const std::vector<std::vector<Value>>& groups,
                 const std::vector<double>& numbers, Release& release);

}  // namespace sotto::study_detail
