// How much of a unit counts, where a unit may have several rows: somebody chose it, and each answer says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "study/api/data_file.hpp"

namespace sotto {

/// What was applied to an answer.
struct UnitLimit {
  std::optional<std::int64_t> rows;    ///< at most so many rows of a unit count, in each group
  std::optional<std::int64_t> groups;  ///< a unit counts in at most so many groups
  std::string words;                   ///< "at most 3 per person in each of at most 2 groups"
};

/// "visits, at most 1 per person".
inline std::string with_limit(const std::string& name, const std::optional<UnitLimit>& limit) { return limit ? name + ", " + limit->words : name; }

/// The study chooses no limit where it needs one. The message has the lines to add.
class LimitNotChosen : public StudyError {
 public:
  LimitNotChosen(const std::string& what, int line, bool rows, bool groups) : StudyError(what, line), rows_(rows), groups_(groups) {}
  [[nodiscard]] bool rows() const { return rows_; }
  [[nodiscard]] bool groups() const { return groups_; }

 private:
  bool rows_, groups_;
};

struct Study;
struct Query;
struct Measurement;
struct TrainingRequest;

/// How much of a unit counts in an answer, for its headline; nothing where each row is a unit, and where nothing of a unit is left out.
std::optional<UnitLimit> limit_of(const Study& study, const Query& query, const Measurement& measurement);
std::optional<UnitLimit> limit_of(const Study& study, const TrainingRequest& ask);

/// What a study must choose: `rows` where rows of a unit count, `groups` where there are groups. LimitNotChosen if it does not.
void require_limits(const Study& study);

}  // namespace sotto
