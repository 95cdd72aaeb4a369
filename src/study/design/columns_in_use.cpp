// Lists the columns that a study uses: a report describes only these.
#include <algorithm>
#include <set>

#include "study/api/study.hpp"
#include "study/design/measure.hpp"

namespace sotto {
namespace {

void add_names(const Study& study, const std::string& text, std::set<std::string>& names) {
  if (text.empty()) return;
  for (const std::string& name :
       study_detail::expression(study, text, "in an expression", 0).columns())
    names.insert(name);
}

// A model without `features` reads every column that can be encoded.
bool is_feature(const Study& study, const TrainingRequest& ask, const StudyColumn& column) {
  if (!ask.features.empty())
    return std::find(ask.features.begin(), ask.features.end(), column.name) != ask.features.end();
  return column.name != study.unit &&
         (column.type == Type::boolean || !column.values.empty() || column.lower);
}

}  // namespace

std::vector<std::string> columns_in_use(const Study& study) {
  std::set<std::string> names{study.unit};
  for (const Query& query : study.queries) {
    names.insert(query.of);
    names.insert(query.by.begin(), query.by.end());
    add_names(study, query.where, names);
  }
  for (const TrainingRequest& ask : study.trainings) {
    names.insert(ask.target);
    add_names(study, ask.where, names);
    for (const StudyColumn& column : study.columns) {
      if (is_feature(study, ask, column)) names.insert(column.name);
    }
  }
  for (const StudyColumn& column : study.columns) {
    if (names.contains(column.name)) add_names(study, column.derive, names);
  }
  std::vector<std::string> used;
  for (const StudyColumn& column : study.columns) {
    if (names.contains(column.name)) used.push_back(column.name);
  }
  return used;
}

}  // namespace sotto
