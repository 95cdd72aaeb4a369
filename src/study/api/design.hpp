// From what a study asks to what is measured, with which noise, and what that costs: all of it before any data are touched.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/ledger/ledger.hpp"
#include "mechanisms/api/partition_selection.hpp"
#include "sotto/random/noise.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// The numbers of a group to which noise is added. docs/theory/statistics.md has their sensitivities.
enum class Form {
  counts,  ///< the count, in each bin if there are bins
  sums,    ///< the sum
  halves,  ///< Σ(x - lower) and Σ(upper - x): count, sum and mean in one
  thirds,  ///< Σ(upper - x)², 2Σ(x - lower)(upper - x), Σ(x - lower)²: the variance too
  tree,    ///< counts of the leaves and of the nodes above them
};

/// The search for the keys of a measurement whose keys are private: those keys are shown whose
/// noisy count of units reaches a threshold.
struct KeySearch {
  Aggregate aggregate;           ///< of which the counts of units are taken
  PartitionSelection selection;  ///< draws the noise on the counts, and holds the event that the design charges
};

/// One release: a vector over all groups, one event.
struct Measurement {
  Aggregate aggregate;
  Form form;
  std::vector<std::size_t> queries;  ///< those that are answered from it
  double l1, l2;                     ///< its sensitivity
  NoiseKind kind;
  double scale;
  Plan event;
  std::optional<KeySearch> search;
};

struct Design {
  Relation relation;
  std::vector<Measurement> measurements;
  std::vector<TrainDesign> trainings;
  Plan plan;                    ///< all of it, fixed before the first answer
  Charge cost;                  ///< in the ledger's currency
  std::optional<Delta> at;      ///< the δ at which an (ε, δ) ledger is charged, or the slack in a Gaussian one
  std::optional<Answer> total;  ///< the plan's own tight ε at the study's δ, or at the ledger's
  std::optional<Delta> total_delta;
  std::vector<std::string> warnings;
  bool shares_delta = false;  ///< the study names no δ, and has its share of the ledger's
};

/// The branching of a tree of counts.
inline constexpr std::int64_t tree_branching = 16;
/// Its levels below the root, for so many leaves.
int tree_levels(std::int64_t leaves);

/// The cheapest measurements that answer the study, and the noise that its budget or its errors ask for. A study that names no δ has its share of the
/// ledger's (share_of_delta), unless Laplace noise alone serves it best. StudyError for a study that cannot be run; OutsideConditions where the
/// ledger's budget cannot account for it.
Design design(const Study& study, const Terms& terms);
/// The same of a study whose plan was charged before, as text: earlier versions gave it no δ unless it named one.
Design design_as_charged(const Study& study, const Terms& terms, const std::string& plan);

/// How far an answer will be from the number without noise, at most, with the study's confidence: from `least` to `most`, by where that number lies
/// between its bounds; divided by the number of rows if `by_rows`.
struct Expected {
  double least, most;
  bool by_rows;
};
/// Empty where it depends on the data in other ways (variances, quantiles).
std::optional<Expected> expected_error(const Study& study, const Query& query, const Measurement& measurement);

}  // namespace sotto
