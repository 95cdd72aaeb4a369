// The design of a study: what is measured, with which noise, at which cost. It is fixed before any
// data are read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mechanisms/api/partition_selection.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/random/noise.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// The form of a measurement: the numbers per group to which noise is added. Their sensitivities
/// are in docs/theory/statistics.md.
enum class Form {
  counts,  ///< one count, or one per bin
  sums,    ///< one sum
  halves,  ///< Σ(x - lower) and Σ(upper - x): give count, sum and mean
  thirds,  ///< Σ(upper - x)², 2Σ(x - lower)(upper - x), Σ(x - lower)²: give the variance too
  tree,    ///< counts of the leaves and of the nodes above them
};

/// The search for the keys of a measurement whose keys are private: those keys are shown whose
/// noisy count of units reaches a threshold.
struct KeySearch {
  Aggregate aggregate;  ///< of which the counts of units are taken
  PartitionSelection
      selection;  ///< draws the noise on the counts, and holds the event that the design charges
};

/// A measurement is a vector of numbers over all groups that is released with noise once, as one
/// event.
struct Measurement {
  Aggregate aggregate;
  Form form;
  std::vector<std::size_t> queries;  ///< indices of the queries that it answers
  double l1, l2;                     ///< sensitivities
  NoiseKind kind;
  double scale;
  Plan event;
  std::optional<KeySearch> search;
};

/// All decisions about a run of a study, from public information only.
struct Design {
  Relation relation;
  std::vector<Measurement> measurements;
  std::vector<TrainDesign> trainings;
  Plan plan;                ///< the event of everything that the study releases
  Charge cost;              ///< cost of `plan` in the ledger's currency
  std::optional<Delta> at;  ///< δ of the charge in an (ε, δ) ledger, or the slack in a Gaussian one
  std::optional<Answer> total;       ///< tight ε of the plan at `total_delta`
  std::optional<Delta> total_delta;  ///< the study's δ, else the ledger's
  std::vector<std::string> warnings;
  bool shares_delta = false;  ///< the study names no δ and uses its share of the ledger's
};

/// Number of children of a node in a tree of counts.
inline constexpr std::int64_t tree_branching = 16;
/// Returns the number of levels below the root of a tree with this many leaves.
int tree_levels(std::int64_t leaves);

/// Chooses the cheapest measurements that answer the study, and the noise that meets its budget or
/// its errors. A study that names no δ uses its share of the ledger's (share_of_delta), unless pure
/// Laplace noise serves it better. Throws StudyError if the study cannot be run, and
/// OutsideConditions if the kind of the ledger's budget cannot account for it.
Design make_design(const Study& study, const Terms& terms);
/// Returns the design of a study whose plan, `plan`, was charged before. It makes the design that
/// earlier versions made, which used no δ unless the study named one, if that has this plan.
Design design_as_charged(const Study& study, const Terms& terms, const std::string& plan);

/// The expected error of an answer: with the study's confidence it differs from the number without
/// noise by at most this. The error lies between `least` and `most`, depending on where the number
/// lies between its bounds. If `by_rows`, both must be divided by the number of rows.
struct Expected {
  double least, most;
  bool by_rows;
};
/// Returns an empty optional if the error depends on the data in other ways (variances, quantiles).
std::optional<Expected> expected_error(const Study& study, const Query& query,
                                       const Measurement& measurement);

}  // namespace sotto
