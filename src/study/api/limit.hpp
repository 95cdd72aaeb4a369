// Limits on how many rows and groups of one unit count. A person must choose them, and each answer
// states them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "study/api/data_file.hpp"

namespace sotto {

/// The limit that was applied to an answer.
struct UnitLimit {
  std::optional<std::int64_t> rows;  ///< maximum number of rows of a unit that count in each group
  std::optional<std::int64_t> groups;  ///< maximum number of groups in which a unit counts
  std::string words;                   ///< "at most 3 per person in each of at most 2 groups"
};

/// Returns a name with the limit in words: "visits, at most 1 per person".
inline std::string with_limit(const std::string& name, const std::optional<UnitLimit>& limit) {
  return limit ? name + ", " + limit->words : name;
}

/// Thrown if a study needs a limit and does not choose one. The message contains the lines to add.
class LimitNotChosen : public StudyError {
 public:
  LimitNotChosen(const std::string& what, int line, bool rows, bool groups)
      : StudyError(what, line), rows_(rows), groups_(groups) {}
  [[nodiscard]] bool rows() const { return rows_; }
  [[nodiscard]] bool groups() const { return groups_; }

 private:
  bool rows_, groups_;
};

struct Study;
struct Query;
struct Measurement;
struct TrainingRequest;

/// Returns the limit of an answer, for its headline. Empty if each row is a unit, or if the
/// measurement leaves out nothing of a unit.
std::optional<UnitLimit> limit_of(const Study& study, const Query& query,
                                  const Measurement& measurement);
std::optional<UnitLimit> limit_of(const Study& study, const TrainingRequest& ask);

/// Throws LimitNotChosen unless the study chooses `rows` for each query that counts rows of a unit,
/// and `groups` for each query with groups.
void require_limits(const Study& study);

}  // namespace sotto
