// Assignments of a kind of noise to each measurement of a study, as a plan with one unknown.
#pragma once

#include <vector>

#include "study/design/measure.hpp"

namespace sotto::study_detail {

/// Returns the plan leaf of noise of this kind.
Plan noise_leaf(NoiseKind kind, const Parameter& scale, double l1, double l2);

/// Returns the scale of the noise of a leaf that noise_leaf made.
double scale_of(const Plan& leaf);

/// An assignment of a kind of noise to each measurement, together with all trainings. One unknown
/// scales all noise that no `error` of a query fixes.
class NoiseAssignment {
 public:
  /// `search_delta` is the δ of each search for private keys. The trainings must outlive the
  /// assignment.
  NoiseAssignment(const std::vector<OpenMeasurement>& measurements,
                  const std::vector<NoiseKind>& kinds, double search_delta,
                  const std::vector<OpenTraining>& trainings);

  /// Whether the plan has the unknown.
  [[nodiscard]] bool is_open() const;
  /// Returns the plan of everything, with the unknown.
  [[nodiscard]] Plan plan() const;
  /// Returns the plan's parts for this value of the unknown. Noise is rounded up to six digits: the
  /// plan stays readable and costs no more.
  [[nodiscard]] std::vector<Plan> filled(double value) const;
  /// Returns the sum of these events.
  static Plan joined(const std::vector<Plan>& leaves);

 private:
  std::vector<Plan> leaves_;  // one per measurement; with private keys two more, for the noise and
                              // the δ of its search
  std::vector<Plan> events_;  // of trainings and their tests
  const std::vector<OpenTraining>& trainings_;
};

/// Returns the least value of the unknown with which the plan costs at most ρ; the searches may
/// cost δ. Throws OutsideConditions if there is none.
double fill_for_rho(const NoiseAssignment& assignment, double rho, double delta);

}  // namespace sotto::study_detail
