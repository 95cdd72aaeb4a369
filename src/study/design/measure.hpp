// What is measured for a study's queries, before its noise is chosen.
#pragma once

#include <vector>

#include "mechanisms/api/combined.hpp"
#include "study/api/design.hpp"

namespace sotto::study_detail {

/// A measurement whose noise is still open.
struct OpenMeasurement {
  Aggregate aggregate;
  Form form;
  std::vector<std::size_t> queries;
  double l1, l2;
  double share;             // of all its queries
  bool has_target = false;  // some query asks for an error…
  double target_scale[2];   // … and by kind the largest scale that keeps every such error
  std::optional<Aggregate> search;
  double search_l1 = 0, search_l2 = 0;
};

/// The fewest measurements that answer all queries: what one release can serve is measured once.
std::vector<OpenMeasurement> open_measurements(const Study& study, Relation relation);

/// The row expression of a query or a model, with the line of what is wrong. StudyError.
Expression expression(const Study& study, const std::string& text, const std::string& where, int line);

/// A model whose noise is still open: the plan of its training, and of its test.
struct OpenTraining {
  TrainDesign design;
  double factor;       // of the training's noise: what fills the study's hole is multiplied by it
  double test_factor;  // the same of the test's
  double units = 0;    // for which a strength is chosen when the noise is known; 0: it is fixed
};
/// mu: what the whole study may spend, about, as that of one Gaussian release.
std::vector<OpenTraining> open_trainings(const Study& study, Relation relation, double mu);
/// Sets the noise, of six digits, rounded up.
void set_noise(OpenTraining& draft, double value);
/// The plan's parts with holes.
std::vector<Plan> open_events(const OpenTraining& draft);

/// The weights of the noises in a query's number, where they are known in advance (counts and sums).
std::vector<Weight> weights_of(Form form, const Steps& steps, const Query& query);

/// By how many bits the sums of squares are rounded down, so that 2^32 rows stay below 2^53.
int square_shift(const Steps& steps);

}  // namespace sotto::study_detail
