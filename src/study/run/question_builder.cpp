// Builds a question step by step. A condition that could undo another one is refused.
#include "core/api/text.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/study/table.hpp"
#include "study/files/value_text.hpp"
#include "study/run/question_settings.hpp"

namespace sotto {
namespace {

using study_detail::grouped_by;
using study_detail::setting_of;

// Returns the text "sum spent by region".
std::string default_name(const std::string& what, const std::string& column,
                         const TableQuestion& question) {
  std::string words = what + (column.empty() ? "" : " " + column);
  const std::vector<Value> columns = grouped_by(question);
  if (!columns.empty()) words += " by";
  for (const Value& name : columns) words += " " + std::get<std::string>(name);
  return words;
}

// A condition is put into parentheses and joined to others by "and". One that closed a parenthesis
// it did not open could undo what it is joined to: "(a) and (b) or (true)".
void require_balanced(const std::string& condition) {
  int open = 0;
  char quote = '\0';
  for (const char c : condition) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';  // a doubled quote opens again at once
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (open < 0) break;
  }
  if (open != 0 || quote != '\0') {
    throw InvalidValue(
        "where(\"" + escaped_for_terminal(condition) +
        "\"): a parenthesis or a quote has no partner: close what is opened, and nothing else");
  }
}

}  // namespace

QuestionBuilder QuestionBuilder::with(const std::string& key,
                                      TableQuestion::Setting setting) const {
  QuestionBuilder next = *this;
  for (auto& [name, value] : next.question_.settings) {
    if (name == key) {
      value = std::move(setting);
      return next;
    }
  }
  next.question_.settings.emplace_back(key, std::move(setting));
  return next;
}

QuestionBuilder QuestionBuilder::where(const std::string& expression) const {
  if (expression.empty())
    throw InvalidValue("where(\"\"): the condition is empty: leave where() out to keep all rows");
  require_balanced(expression);
  const auto* first = setting_of<std::string>(question_, "where");
  return with("where", first == nullptr ? expression : "(" + *first + ") and (" + expression + ")");
}

QuestionBuilder QuestionBuilder::group_by(const std::string& column) const {
  std::vector<Value> columns = grouped_by(question_);
  columns.emplace_back(column);
  return with("by", std::move(columns));
}

QuestionBuilder QuestionBuilder::group_by(const std::string& column,
                                          std::vector<Value> values) const {
  QuestionBuilder next = group_by(column);
  for (auto& [name, listed] : next.question_.listed) {
    if (name == column) {
      listed = std::move(values);
      return next;
    }
  }
  next.question_.listed.emplace_back(column, std::move(values));
  return next;
}

QuestionBuilder QuestionBuilder::private_keys() const {
  return with("keys", std::string("private"));
}
QuestionBuilder QuestionBuilder::limit_rows(std::int64_t rows) const { return with("rows", rows); }
QuestionBuilder QuestionBuilder::limit_groups(std::int64_t groups) const {
  return with("groups", groups);
}

TableQuestion QuestionBuilder::ask(const std::string& what, const std::string& column,
                                   const QuestionOptions& options,
                                   std::optional<TableQuestion::Setting> quantiles) const {
  TableQuestion question{{}, question_.listed};
  auto& settings = question.settings;
  settings.emplace_back(
      "name", options.name.empty() ? default_name(what, column, question_) : options.name);
  settings.emplace_back("ask", what);
  if (!column.empty()) settings.emplace_back("of", column);
  settings.insert(settings.end(), question_.settings.begin(), question_.settings.end());
  if (quantiles) settings.emplace_back("quantiles", std::move(*quantiles));
  if (options.step) settings.emplace_back("step", *options.step);
  if (options.error) settings.emplace_back("error", *options.error);
  if (options.share) settings.emplace_back("share", *options.share);
  if (!options.noise.empty()) settings.emplace_back("noise", options.noise);
  if (!options.clamp.empty()) settings.emplace_back("clamp", options.clamp);
  return question;
}

TableQuestion QuestionBuilder::count(const QuestionOptions& options) const {
  return ask("count", "", options);
}
TableQuestion QuestionBuilder::count_distinct(const QuestionOptions& options) const {
  return ask("distinct", "", options);
}
TableQuestion QuestionBuilder::sum(const std::string& column,
                                   const QuestionOptions& options) const {
  return ask("sum", column, options);
}
TableQuestion QuestionBuilder::mean(const std::string& column,
                                    const QuestionOptions& options) const {
  return ask("mean", column, options);
}
TableQuestion QuestionBuilder::variance(const std::string& column,
                                        const QuestionOptions& options) const {
  return ask("variance", column, options);
}
TableQuestion QuestionBuilder::deviation(const std::string& column,
                                         const QuestionOptions& options) const {
  return ask("deviation", column, options);
}
TableQuestion QuestionBuilder::histogram(const std::string& column,
                                         const QuestionOptions& options) const {
  return ask("histogram", column, options);
}
TableQuestion QuestionBuilder::median(const std::string& column,
                                      const QuestionOptions& options) const {
  return ask("median", column, options);
}
TableQuestion QuestionBuilder::quantiles(const std::string& column,
                                         const std::vector<double>& quantiles,
                                         const QuestionOptions& options) const {
  return ask("quantiles", column, options, std::vector<Value>(quantiles.begin(), quantiles.end()));
}

}  // namespace sotto
