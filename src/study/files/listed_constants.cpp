// Refuses constants in a study that no row can have.
#include "study/files/listed_constants.hpp"

#include <algorithm>

#include "core/api/suggestion.hpp"
#include "study/files/value_text.hpp"

namespace sotto::study_detail {
namespace {

std::string constant_text(const Value& value) {
  return std::holds_alternative<std::string>(value) ? "\"" + std::get<std::string>(value) + "\""
                                                    : text_of(value);
}

// Returns a suggestion: "; did you mean "Male"? There are: Male, Female"
std::string other_values(const Value& wrong, const std::vector<Value>& values) {
  std::vector<std::string> known;
  for (const Value& value : values) known.push_back(text_of(value));
  const std::string words = suggestion(text_of(wrong), known);
  return words.empty() ? "" : "; " + words;
}

}  // namespace

void require_listed_constants(const Expression& expression, const ListedValues& listed,
                              const std::string& where, int line) {
  const auto unlisted = unlisted_constant(expression, listed);
  if (!unlisted) return;
  throw StudyError(
      where + ": " + constant_text(unlisted->constant) + " is not among the values of \"" +
          unlisted->column + "\"" + other_values(unlisted->constant, unlisted->values) +
          ". If it is one of them, add it to values = […] below [columns." + unlisted->column + "]",
      line);
}

void require_reachable_values(const StudyColumn& column, const Expression& derived,
                              const ListedValues& listed) {
  if (column.values.empty() || column.type == Type::boolean) return;
  auto values = values_of(derived, listed);
  if (!values) return;
  if (column.if_null) values->push_back(*column.if_null);
  for (const Value& value : column.values) {
    if (std::find(values->begin(), values->end(), value) != values->end()) continue;
    throw StudyError("columns." + column.name + ": `derive` never gives the value " +
                         constant_text(value) + other_values(value, *values),
                     column.line);
  }
}

}  // namespace sotto::study_detail
