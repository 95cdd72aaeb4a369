// The released answers of a study: noisy numbers with intervals. All of it may be published.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/api/design.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// One noisy number with its interval: with the study's confidence the exact number, under the
/// study's bounds, lies in [low, high]. The interval is cut to the possible range (a count is not
/// negative); the value is not, so that sums of values stay unbiased, and may lie outside of the
/// interval.
struct Estimate {
  std::vector<std::string> keys;   ///< key of the group, in the order of the query's key columns
  std::optional<double> from, to;  ///< edges of the bin, for a histogram
  std::optional<double> quantile;  ///< which quantile, for quantiles
  double value;
  double low, high;
};

/// The answer to one query.
struct QueryAnswer {
  std::string name;
  Aggregation ask;
  std::string of;
  std::vector<std::string> by;
  std::string where;
  std::string event;  ///< the leaf of the plan that measured it
  std::vector<Estimate> estimates;
  std::vector<std::string> cuts =
      {};  ///< effects of bounding, in words: "at most 20 rows of each host"
  std::optional<UnitLimit> limit =
      std::nullopt;  ///< the limit of a unit; absent in answers of earlier versions
};

/// The parties of a federated answer.
struct Federation {
  std::vector<std::string> members;
  std::vector<std::string> missing = {};  ///< members whose data are missing from some sums
  std::int64_t colluding = 0, threshold = 0, honest = 0;
  friend bool operator==(const Federation&, const Federation&) = default;
};

/// All that a run of a study releases.
struct Release {
  std::string request;  ///< id of the request in the ledger
  std::string time;     ///< time of the release, UTC
  std::string title;
  std::string data_name, data_version;
  std::string ledger;  ///< id of the ledger
  std::string unit, relation;
  double confidence;
  std::string plan;
  Charge cost;
  std::optional<double> at;  ///< δ of the charge
  double epsilon, delta;     ///< the tight (ε, δ) of the plan
  std::string study;         ///< text of the study
  std::vector<QueryAnswer> answers;
  std::vector<TrainedModel> models = {};
  std::optional<Federation> federation = std::nullopt;
  bool shares_delta = false;  ///< the study named no δ and used its share of the ledger's
};

/// Writes a release as JSON.
std::string to_json(const Release& release);
/// Reads that JSON. Throws LedgerError if it is malformed.
Release read_release(const std::string& json);

/// Returns how many numbers a measurement has per group.
std::size_t numbers_of_group(const Measurement& measurement);
/// Returns the numbers of all groups before noise, group after group.
std::vector<double> coordinates(const Measurement& measurement, const GroupTotals& gathered);

/// Computes the answer to a query from the released numbers of a measurement. `groups` are the keys
/// of each group. With `exact` the numbers have no noise, and intervals have zero width. Throws
/// InvalidValue unless there are numbers_of_group() numbers for every group.
QueryAnswer answer(const Study& study, const Query& query, const Measurement& measurement,
                   const std::vector<std::vector<Value>>& groups,
                   const std::vector<double>& numbers, bool exact = false);

}  // namespace sotto
