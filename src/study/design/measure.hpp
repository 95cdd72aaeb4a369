// Chooses the measurements and trainings of a study, before their noise is chosen.
#pragma once

#include <vector>

#include "mechanisms/api/combined.hpp"
#include "study/api/design.hpp"

namespace sotto::study_detail {

/// A measurement whose noise is not chosen yet.
struct OpenMeasurement {
  Aggregate aggregate;
  Form form;
  std::vector<std::size_t> queries;
  double l1, l2;
  double share;             // sum of the budget shares of its queries
  bool has_target = false;  // whether some query sets an error…
  double target_scale[2];   // … and, by NoiseKind, the largest scale that meets all of them
  std::optional<Aggregate> search;  // of units per key, for private keys
  double search_l1 = 0, search_l2 = 0;
};

/// Returns the fewest measurements that answer all queries. Queries that one release can answer
/// share it.
std::vector<OpenMeasurement> open_measurements(const Study& study, Relation relation);

/// Parses the row expression of a query or a model. Throws StudyError with `line`; `where` begins
/// the message.
Expression expression(const Study& study, const std::string& text, const std::string& where,
                      int line);

/// A training whose noise is not chosen yet.
struct OpenTraining {
  TrainDesign design;
  double factor;       // the training's noise is this times the study's open noise parameter
  double test_factor;  // the test's noise is this times the study's open noise parameter
  double units = 0;    // if > 0: choose the regularisation strength for this number of units
};
/// Returns the trainings of a study. `mu` is the approximate budget of the whole study, as the μ of
/// one Gaussian release.
std::vector<OpenTraining> open_trainings(const Study& study, Relation relation, double mu);
/// Sets the noise for this value of the open parameter, rounded up to six digits.
void set_noise(OpenTraining& training, double value);
/// Returns the events of the training and its test, with the noise parameter open.
std::vector<Plan> open_events(const OpenTraining& training);

/// Returns the weights with which noise enters a query's number, if the data do not matter (counts
/// and sums).
std::vector<Weight> weights_of(Form form, const Steps& steps, const Query& query);

/// Returns by how many bits squares are rounded down, so that sums over 2^32 rows stay below 2^53.
int square_shift(const Steps& steps);

}  // namespace sotto::study_detail
