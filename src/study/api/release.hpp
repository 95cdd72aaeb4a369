// What a study releases: numbers with noise, each with its interval. All of it may be published.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/api/design.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// One number. With the study's confidence the bounded quantity lies from low to high. Where it cannot be negative (or positive), neither can low and
/// high; the value can, and then lies outside: it is left as the noise made it, so that values may be added up.
struct Estimate {
  std::vector<std::string> keys;   ///< the group's, in the order of the query's key columns
  std::optional<double> from, to;  ///< the bin's
  std::optional<double> quantile;  ///< which
  double value;
  double low, high;
};

struct QueryAnswer {
  std::string name;
  Aggregation ask;
  std::string of;
  std::vector<std::string> by;
  std::string where;
  std::string event;  ///< the plan leaf that it was measured with
  std::vector<Estimate> estimates;
  std::vector<std::string> cuts = {};             ///< what bounding leaves out, in words: "at most 20 rows of each host"
  std::optional<UnitLimit> limit = std::nullopt;  ///< how much of a unit counts; answers of earlier versions do not say it apart
};

/// Who answered together, where several parties did.
struct Federation {
  std::vector<std::string> members;
  std::vector<std::string> missing = {};  ///< whose data are not in every sum
  std::int64_t colluding = 0, threshold = 0, honest = 0;
  friend bool operator==(const Federation&, const Federation&) = default;
};

struct Release {
  std::string request;  ///< its id in the ledger
  std::string time;     ///< UTC
  std::string title;
  std::string data_name, data_version;
  std::string ledger;  ///< its id
  std::string unit, relation;
  double confidence;
  std::string plan;
  Charge cost;
  std::optional<double> at;  ///< the δ it was charged at
  double epsilon, delta;     ///< the plan's own (ε, δ)
  std::string study;         ///< its text
  std::vector<QueryAnswer> answers;
  std::vector<TrainedModel> models = {};
  std::optional<Federation> federation = std::nullopt;
  bool shares_delta = false;  ///< the study named no δ, and had its share of the ledger's
};

/// As JSON, and back. LedgerError for a text that is none.
std::string to_json(const Release& release);
Release read_release(const std::string& json);

/// How many numbers a group has in a measurement.
std::size_t numbers_of_group(const Measurement& measurement);
/// A group's numbers before noise, all groups one after the other.
std::vector<double> coordinates(const Measurement& measurement, const GroupTotals& gathered);

/// What a query reads from a measurement's released numbers. `groups` are the keys of each group. With `exact` the numbers have no noise, and
/// the intervals no width. InvalidValue unless there are numbers_of_group() numbers for every group.
QueryAnswer answer(const Study& study, const Query& query, const Measurement& measurement, const std::vector<std::vector<Value>>& groups,
                   const std::vector<double>& numbers, bool exact = false);

}  // namespace sotto
