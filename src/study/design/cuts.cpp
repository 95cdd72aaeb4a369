// Describes in words how bounding changes a query's number.
#include "study/design/cuts.hpp"

#include "sotto/core/decimal.hpp"

namespace sotto::study_detail {
namespace {

std::string number(std::int64_t n, const std::string& what) {
  return readable(static_cast<double>(n)) + " " + what + (n == 1 ? "" : "s");
}

// Returns which rows a key leaves out: "rows with another region than those listed, or with none,
// are left out".
std::string left_out(const StudyColumn& key, bool is_private) {
  const bool lists_all = is_private || (key.type == Type::boolean && key.values.size() > 1);
  const std::string other = lists_all ? "" : "another " + key.name + " than those listed";
  const std::string none =
      key.if_null ? "" : (other.empty() ? "no " + key.name : ", or with none,");
  if (other.empty() && none.empty()) return "";
  return "rows with " + other + none + " are left out";
}

std::string nearest(double width) {
  return "to the nearest " + readable(read_number(rounded(width, 2, Side::upper)));
}

}  // namespace

std::vector<std::string> cuts_of(const Study& study, const Query& query, const Measurement& m) {
  const Aggregate& a = m.aggregate;
  const std::string each = "each " + (study.unit_label.empty() ? study.unit : study.unit_label);
  std::vector<std::string> all;
  const bool counts_units = query.ask == Aggregation::distinct || a.gather == Gather::totals;
  if (a.unit && !counts_units)
    all.push_back("at most " + number(a.rows_a_group, "row") + " of " + each +
                  (query.by.empty() ? "" : " in a group"));
  const bool chooses = m.search || a.groups_a_unit < static_cast<std::int64_t>(a.groups.size());
  if (a.unit && !query.by.empty() && chooses)
    all.push_back(each + " in at most " + number(a.groups_a_unit, "group"));
  for (const std::string& name : query.by) {
    const std::string words = left_out(column_of(study, name, query.line), query.private_keys);
    if (!words.empty()) all.push_back(words);
  }
  if (!query.of.empty()) {
    const StudyColumn& column = column_of(study, query.of, query.line);
    if (!column.if_null) all.push_back("rows without " + column.name + " are left out");
    const std::string lower = readable(*column.lower);
    const std::string upper = readable(*column.upper);
    if (query.ask == Aggregation::histogram) {
      all.push_back("values below " + lower + " count in the first range, from " +
                    readable(a.bins.lower + static_cast<double>(a.bins.count) * a.bins.width) +
                    " on in the last");
    } else if (a.gather == Gather::totals) {
      all.push_back("a total of " + each + " above " + upper + " counts as " + upper + ", below " +
                    lower + " as " + lower);
    } else {
      all.push_back("values above " + upper + " count as " + upper + ", below " + lower + " as " +
                    lower);
    }
    if (query.ask == Aggregation::quantiles) {
      all.push_back(nearest(a.bins.width));
    } else if (query.ask != Aggregation::histogram &&
               (column.type == Type::real || a.steps.exponent > 0)) {
      all.push_back(nearest(a.steps.unit()));
    }
  }
  if (m.search) {
    const std::string few =
        readable(read_number(rounded(m.search->selection.threshold(), 3, Side::upper)));
    all.push_back("rare keys are missing, those of fewer than about " + few +
                  (a.unit ? " units (" + each + " is one)" : " rows"));
  }
  return all;
}

}  // namespace sotto::study_detail
