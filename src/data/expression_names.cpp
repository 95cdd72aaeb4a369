#include "expression_names.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace sotto::expression {
namespace {

constexpr std::array<std::string_view, 14> words{"and",  "or",   "not",  "in",  "is",   "between", "case",
                                                 "when", "then", "else", "end", "null", "true",    "false"};
constexpr std::array<std::string_view, 2> separators{"as", "from"};

constexpr const char* one_row = "an expression looks at one row: no SELECT, no other table";
constexpr const char* no_window = "an expression looks at one row: no window";
constexpr const char* no_pattern = "no patterns; compare with = or IN";
constexpr const char* no_interval = "no intervals; two dates can be subtracted, which gives days";
// Reserved, so that none of them is taken for a column that is not there.
constexpr std::array<std::pair<std::string_view, const char*>, 25> foreign{
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
     {"collate", "texts compare by their bytes, without a collation"},
     {"distinct", "no DISTINCT; for two values of which some may be NULL write IS NULL"},
     {"mod", "no remainder; write a - b * floor(a / b)"},
     {"div", "write floor(a / b)"},
     {"xor", "write a <> b"},
     {"lambda", "no lambda in an expression"}}};

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
constexpr std::array<std::string_view, 9> windows{"row_number", "rank",        "dense_rank", "lag",      "lead",
                                                  "ntile",      "first_value", "last_value", "nth_value"};
constexpr std::array<std::string_view, 9> changing{"now",  "random",  "current_timestamp", "current_date", "today", "gen_random_uuid",
                                                   "uuid", "nextval", "clock_timestamp"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> instead{{{"cast", "write TRY_CAST(x AS integer): a cast that fails is NULL"},
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

// The number of letters to change, add, drop or swap with the next, at most.
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t changed = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void fail_unknown(const Source& source, std::size_t at, const std::string& name, const std::vector<Column>& columns, const char* hint) {
  constexpr std::size_t longest = 200;  // of a name that is worth comparing
  const Column* nearest = nullptr;
  std::size_t least = 1 + std::min<std::size_t>(name.size(), longest) / 3;
  for (const Column& column : columns) {
    if (name.size() > longest || column.name.size() > longest) continue;
    const std::size_t away = distance(lower(name), lower(column.name));
    if (away <= least && (nearest == nullptr || away < least)) {
      nearest = &column;
      least = away;
    }
  }
  std::string what = "no column \"" + (name.size() > longest ? "…" : name) + "\"";
  if (nearest != nullptr) {
    what += "; did you mean " + print(*column_node(*nearest)) + "?";
  } else {
    what += hint;
    for (std::size_t i = 0; i < std::min<std::size_t>(columns.size(), 12); ++i)
      what += (i == 0 ? "; there are: " : ", ") + print(*column_node(columns[i]));
    if (columns.size() > 12) what += ", …";
  }
  source.fail(at, what);
}

std::optional<std::size_t> exactly(const std::string& name, const std::vector<Column>& columns) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

bool is_reserved(std::string_view word) {
  return contains(words, word) || contains(separators, word) ||
         std::any_of(foreign.begin(), foreign.end(), [&](const auto& known) { return known.first == word; });
}

std::size_t find_exactly(const Source& source, std::size_t at, const std::string& name, const std::vector<Column>& columns) {
  if (const auto found = exactly(name, columns)) return *found;
  fail_unknown(source, at, name, columns, "; a text stands in single quotes");
}

std::size_t find_column(const Source& source, std::size_t at, const std::string& name, const std::vector<Column>& columns) {
  if (const auto found = exactly(name, columns)) return *found;
  std::optional<std::size_t> alike;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (lower(columns[i].name) != lower(name)) continue;
    if (alike) source.fail(at, "more than one column is called so but for its case: put the name in double quotes");
    alike = i;
  }
  if (alike) return *alike;
  fail_unknown(source, at, name, columns, "");
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
  if (contains(aggregates, word)) return "no aggregate here, such as " + word + ": an expression looks at one row; ask for it in the query's `ask`";
  if (contains(windows, word)) return no_window;
  if (contains(changing, word)) return "no function \"" + name + "\": an expression gives the same whenever it is asked";
  return "no function \"" + name + "\"; there are: floor, abs, COALESCE, LEAST, GREATEST, EXTRACT, TRY_CAST";
}

}  // namespace sotto::expression
