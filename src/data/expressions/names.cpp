// Looks up the names of columns, and suggests replacements for unknown names and for SQL that the
// language does not have.
#include "data/expressions/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "core/api/suggestion.hpp"

namespace sotto::expression {
namespace {

constexpr std::array<std::string_view, 14> words{"and",     "or",   "not",  "in",   "is",
                                                 "between", "case", "when", "then", "else",
                                                 "end",     "null", "true", "false"};
constexpr std::array<std::string_view, 2> separators{"as", "from"};

constexpr const char* one_row =
    "an expression reads one row: SELECT and other tables are not allowed";
constexpr const char* no_window = "an expression reads one row: window functions are not allowed";
constexpr const char* no_pattern =
    "patterns are not supported: list the texts that match, as in sex IN ('Male', 'Female')";
constexpr const char* no_interval =
    "intervals are not supported; the difference of two dates is a number of days";
// Words of SQL that the language does not have. They are reserved, so that none of them is reported
// as an unknown column.
constexpr std::array<std::pair<std::string_view, const char*>, 28> foreign{
    {{"select", one_row},
     {"with", one_row},
     {"exists", one_row},
     {"union", one_row},
     {"where", one_row},
     {"any", one_row},
     {"all", one_row},
     {"some", one_row},
     {"values", one_row},
     {"table", one_row},
     {"over", no_window},
     {"filter", no_window},
     {"window", no_window},
     {"like", no_pattern},
     {"ilike", no_pattern},
     {"similar", no_pattern},
     {"glob", no_pattern},
     {"regexp", no_pattern},
     {"interval", no_interval},
     {"collate", "collations are not supported: texts compare by their bytes"},
     {"distinct", "DISTINCT is not supported: compare with =, and test for NULL with IS NULL"},
     {"mod", "there is no remainder operator: write a - b * floor(a / b)"},
     {"div", "write floor(a / b)"},
     {"xor", "write a <> b"},
     {"lambda", "lambda functions are not supported"},
     {"≥", "write >= for ≥"},
     {"≤", "write <= for ≤"},
     {"≠", "write <> for ≠"}}};

constexpr std::array<std::string_view, 33> aggregates{"count",
                                                      "sum",
                                                      "avg",
                                                      "mean",
                                                      "min",
                                                      "max",
                                                      "median",
                                                      "mode",
                                                      "stddev",
                                                      "stddev_pop",
                                                      "stddev_samp",
                                                      "variance",
                                                      "var_pop",
                                                      "var_samp",
                                                      "quantile",
                                                      "histogram",
                                                      "array_agg",
                                                      "list",
                                                      "string_agg",
                                                      "bool_and",
                                                      "bool_or",
                                                      "every",
                                                      "any_value",
                                                      "first",
                                                      "last",
                                                      "arg_min",
                                                      "arg_max",
                                                      "corr",
                                                      "covar_pop",
                                                      "percentile_cont",
                                                      "percentile_disc",
                                                      "json_agg",
                                                      "approx_count_distinct"};
constexpr std::array<std::string_view, 9> windows{"row_number",  "rank",       "dense_rank",
                                                  "lag",         "lead",       "ntile",
                                                  "first_value", "last_value", "nth_value"};
constexpr std::array<std::string_view, 9> changing{"now",          "random",  "current_timestamp",
                                                   "current_date", "today",   "gen_random_uuid",
                                                   "uuid",         "nextval", "clock_timestamp"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> instead{
    {{"cast", "write TRY_CAST(x AS integer): a cast that fails is NULL"},
     {"ceil", "write -floor(-x)"},
     {"ceiling", "write -floor(-x)"},
     {"round", "write floor(x + 0.5)"},
     {"trunc", "write floor(x), or -floor(-x) below 0"},
     {"if", "write CASE WHEN … THEN … ELSE … END"},
     {"iff", "write CASE WHEN … THEN … ELSE … END"},
     {"ifnull", "write COALESCE(x, 0)"},
     {"nullif", "write CASE WHEN x <> 0 THEN x END"},
     {"date_part", "write EXTRACT(year FROM x)"},
     {"year", "write EXTRACT(year FROM x)"},
     {"month", "write EXTRACT(month FROM x)"},
     {"power", "write x * x"},
     {"pow", "write x * x"}}};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::size_t longest = 200;    // bytes of a name that is compared with the columns
constexpr std::size_t most_shown = 12;  // columns in a message

bool continues_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Returns the column that the text at `at` spells with other separators (`Hours-per-week` for
// hours_per_week) and the length of the spelling; nullptr if there is none.
std::pair<const Column*, std::size_t> spelt_otherwise(std::string_view text, std::size_t at,
                                                      const std::vector<Column>& columns) {
  std::pair<const Column*, std::size_t> longest_match{nullptr, 0};
  for (std::size_t end = at; end < text.size() && end - at < longest; ++end) {
    const bool is_end =
        continues_a_name(text[end]) && (end + 1 == text.size() || !continues_a_name(text[end + 1]));
    if (!continues_a_name(text[end]) && text[end] != '-' && text[end] != ' ' && text[end] != '.')
      break;
    if (!is_end) continue;
    const std::string_view part = text.substr(at, end + 1 - at);
    const auto same = std::find_if(columns.begin(), columns.end(),
                                   [&](const Column& c) { return same_folded(part, c.name); });
    if (same != columns.end()) longest_match = {&*same, part.size()};
  }
  return longest_match;
}

std::string written(const Column& column) { return print(*column_node(column)); }

std::string listed(const std::vector<Column>& columns) {
  std::string all;
  for (std::size_t i = 0; i < std::min(columns.size(), most_shown); ++i)
    all += (i == 0 ? "" : ", ") + written(columns[i]);
  return all + (columns.size() > most_shown ? ", …" : "");
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> mathematical{
    {{"≥", ">="}, {"≤", "<="}, {"≠", "<>"}}};

enum class Quotes { none, twofold };

[[noreturn]] void fail_unknown(const Source& source, std::size_t at, std::string name,
                               const std::vector<Column>& columns, Quotes quotes) {
  const Column* meant = nullptr;
  if (quotes == Quotes::none) {
    for (const auto& [sign, ascii] : mathematical) {
      if (name.find(sign) != std::string::npos)
        source.fail(at, "write " + std::string(ascii) + " for " + std::string(sign));
    }
    const auto [column, size] = spelt_otherwise(source.text(), at, columns);
    meant = column;
    if (meant != nullptr) name = source.text().substr(at, size);
  }
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  if (const std::string near = closest(name, names); meant == nullptr && !near.empty()) {
    meant = &*std::find_if(columns.begin(), columns.end(),
                           [&](const Column& column) { return column.name == near; });
  }
  const bool is_short = name.size() <= longest;
  std::string what = "no column \"" + (is_short ? name : "…") + "\"";
  if (meant != nullptr) what += "; did you mean " + written(*meant) + "?";
  const bool may_be_text = quotes == Quotes::twofold && is_short &&
                           (meant == nullptr || !same_folded(name, meant->name));
  if (may_be_text)
    what += (meant == nullptr ? "; write" : " Write") + std::string(" a text in single quotes, '") +
            name + "'";
  if (meant == nullptr && !columns.empty()) what += "; there are: " + listed(columns);
  source.fail(at, what);
}

std::optional<std::size_t> index_of(const std::string& name, const std::vector<Column>& columns) {
  const auto it = std::find_if(columns.begin(), columns.end(),
                               [&](const Column& column) { return column.name == name; });
  if (it == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(it - columns.begin());
}

}  // namespace

bool is_reserved(std::string_view word) {
  return contains(words, word) || contains(separators, word) ||
         std::any_of(foreign.begin(), foreign.end(),
                     [&](const auto& known) { return known.first == word; });
}

std::size_t find_exactly(const Source& source, std::size_t at, const std::string& name,
                         const std::vector<Column>& columns) {
  if (const auto place = index_of(name, columns)) return *place;
  fail_unknown(source, at, name, columns, Quotes::twofold);
}

std::size_t find_column(const Source& source, std::size_t at, const std::string& name,
                        const std::vector<Column>& columns) {
  if (const auto place = index_of(name, columns)) return *place;
  std::optional<std::size_t> alike;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (lower(columns[i].name) != lower(name)) continue;
    if (alike)
      source.fail(at,
                  "several columns differ from this name in upper and lower case only: write the "
                  "exact name in double quotes");
    alike = i;
  }
  if (alike) return *alike;
  fail_unknown(source, at, name, columns, Quotes::none);
}

bool is_foreign(const std::string& word) { return !advice_on(word).empty(); }

std::string advice_on(const std::string& word) {
  for (const auto& [name, advice] : foreign) {
    if (name == word) return advice;
  }
  return "";
}

std::string advice_on_call(const std::string& name) {
  const std::string word = lower(name);
  if (std::string advice = advice_on(word); !advice.empty()) return advice;
  for (const auto& [known, advice] : instead) {
    if (known == word) return "no function \"" + name + "\": " + std::string(advice);
  }
  if (contains(aggregates, word)) {
    return word +
           " is an aggregate, and an expression reads one row: write the aggregate in the query's "
           "`ask`";
  }
  if (contains(windows, word)) return no_window;
  if (contains(changing, word))
    return "no function \"" + name + "\": an expression must give the same value each time";
  return "no function \"" + name +
         "\"; there are: floor, abs, COALESCE, LEAST, GREATEST, EXTRACT, TRY_CAST";
}

}  // namespace sotto::expression
