// Limits on the rows and groups of a unit: which ones a study must choose, and how an answer states
// them.
#include "study/api/limit.hpp"

#include <algorithm>

#include "study/api/design.hpp"

namespace sotto {
namespace {

std::string counted(std::int64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string word_for_unit(const Study& study) {
  return study.unit_label.empty() ? study.unit : study.unit_label;
}

// Whether rows of a unit count, rather than the unit once or its total.
bool counts_rows(const Query& query) {
  return query.ask != Aggregation::distinct && !query.clamp_total;
}

struct Missing {
  bool rows = false, groups = false;
  std::vector<std::string> names;  // queries and models that need a limit
  int line = 0;                    // line of the first of them
};

Missing missing_in(const Study& study) {
  Missing missing;
  const auto add = [&missing](const std::string& name, int line, bool rows, bool groups) {
    if (!rows && !groups) return;
    missing.rows |= rows;
    missing.groups |= groups;
    missing.names.push_back("\"" + name + "\"");
    if (missing.line == 0) missing.line = line;
  };
  for (const Query& query : study.queries) {
    add(query.name, query.line, counts_rows(query) && !query.chose_rows,
        !query.by.empty() && !query.chose_groups);
  }
  for (const TrainingRequest& ask : study.trainings)
    add(ask.name, ask.line, !ask.chose_rows, false);
  return missing;
}

std::string listed_few(const std::vector<std::string>& names) {
  constexpr std::size_t few = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(few, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > few ? text + " and " + std::to_string(names.size() - few) + " more" : text;
}

}  // namespace

void require_limits(const Study& study) {
  if (study.unit == "row") return;
  const Missing missing = missing_in(study);
  if (missing.names.empty()) return;
  const std::string unit = word_for_unit(study);
  std::string what =
      "each " + unit +
      " may have several rows, and the study does not say how many of them count in " +
      listed_few(missing.names) +
      ". Rows above the limit are left out, and a higher limit needs more noise. Choose it from "
      "public knowledge, and write above "
      "the first section of the study, or below a [[query]]:\n";
  if (missing.rows)
    what += "\nrows = 1      # at most so many rows of each " + unit + " count" +
            (missing.groups ? " in each group" : "");
  if (missing.groups)
    what += "\ngroups = 1    # each " + unit + " counts in at most so many groups";
  throw LimitNotChosen(what + "\n", missing.line, missing.rows, missing.groups);
}

std::optional<UnitLimit> limit_of(const Study& study, const Query& query, const Measurement& m) {
  const Aggregate& a = m.aggregate;
  if (!a.unit) return std::nullopt;
  const std::string unit = word_for_unit(study);
  const bool has_groups = !query.by.empty();
  const bool chooses_groups =
      has_groups && (m.search || a.groups_a_unit < static_cast<std::int64_t>(a.groups.size()));
  UnitLimit limit;
  if (has_groups) limit.groups = a.groups_a_unit;
  if (counts_rows(query)) {
    const bool is_count = query.ask == Aggregation::count || query.ask == Aggregation::histogram;
    limit.rows = a.rows_a_group;
    limit.words = "at most " +
                  (is_count ? std::to_string(a.rows_a_group) : counted(a.rows_a_group, "row")) +
                  " per " + unit;
    if (chooses_groups) {
      limit.words += a.groups_a_unit == 1
                         ? ", in 1 group"
                         : " in each of at most " + std::to_string(a.groups_a_unit) + " groups";
    } else if (has_groups) {
      limit.words += " in each group";
    }
  } else if (chooses_groups) {
    limit.words = "each " + unit + " in at most " + counted(a.groups_a_unit, "group");
  }
  return limit.words.empty() ? std::nullopt : std::optional(std::move(limit));
}

std::optional<UnitLimit> limit_of(const Study& study, const TrainingRequest& ask) {
  if (study.unit == "row") return std::nullopt;
  return UnitLimit{ask.rows, std::nullopt,
                   "at most " + counted(ask.rows, "row") + " per " + word_for_unit(study)};
}

}  // namespace sotto
