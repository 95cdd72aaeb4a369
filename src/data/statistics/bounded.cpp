// Runs the statements of bounded statistics and adds up their answers.
#include "sotto/data/bounded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "core/api/memory.hpp"
#include "data/expressions/tree.hpp"
#include "data/sql/statement.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::AggregateQuery;

// Doubles add integers exactly while the sum is below 2^53. A group with more rows than this is
// added in integers.
constexpr std::int64_t rows_of_doubles = std::int64_t{1} << 32U;

constexpr const char* real_key =
    "a key cannot be a real number: count rows in bins, or derive an integer, as in "
    "TRY_CAST(x AS integer)";

// Returns a key as engines write it.
std::string text_of(const Value& value, Type type) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return type == Type::timestamp ? expression::canonical_timestamp(*text) : *text;
  }
  throw InvalidValue(real_key);
}

// Returns an integer of an answer; NULL, the sum of no rows, is 0.
std::int64_t number(const Cell& cell) {
  const auto* integer = std::get_if<std::int64_t>(&cell);
  return integer == nullptr ? 0 : *integer;
}

void require_sound(const Aggregate& aggregate) {
  for (const Field& key : aggregate.keys) {
    if (key.value.type() == Type::real) throw InvalidValue(key.value.text() + ": " + real_key);
  }
  if (aggregate.groups_a_unit < 1 || aggregate.rows_a_group < 1) {
    throw InvalidValue("a unit needs at least 1 group and 1 row a group: groups_a_unit = " +
                       std::to_string(aggregate.groups_a_unit) +
                       ", rows_a_group = " + std::to_string(aggregate.rows_a_group));
  }
  const bool needs_field = aggregate.gather != Gather::rows && aggregate.gather != Gather::units;
  if (needs_field == aggregate.of.has_value()) return;
  throw InvalidValue(needs_field
                         ? "the aggregate needs `of`, the column that it adds"
                         : "a count of rows or units does not read a column: leave `of` empty");
}

void require_groups(const Aggregate& aggregate) {
  for (const auto& group : aggregate.groups) {
    if (group.size() == aggregate.keys.size()) continue;
    throw InvalidValue("a group needs one value for each of the " +
                       std::to_string(aggregate.keys.size()) + " keys, and one has " +
                       std::to_string(group.size()));
  }
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  if (!__builtin_add_overflow(a, b, &c)) return c;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

// Adds a non-negative integer, in decimal digits, to high · 2^62 + low.
void add_wide(const std::string& digits, std::int64_t& high, std::int64_t& low) {
  __extension__ using Wide = unsigned __int128;
  Wide value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9')
      throw std::logic_error("a sum of squares is not a non-negative integer");
    value = 10 * value + static_cast<unsigned>(c - '0');
  }
  value += static_cast<Wide>(low);
  high += static_cast<std::int64_t>(value >> 62U);
  low = static_cast<std::int64_t>(value & ((Wide{1} << 62U) - 1));
}

// How the statements of an aggregate run. Only their time and memory depend on it.
struct QueryPlan {
  AggregateQuery::Form form = AggregateQuery::Form::groups_first;
  std::int64_t parts = 1;
};

// Whether the statement fits the memory even if each row is a unit of its own.
bool fits_memory(Engine& engine, const AggregateQuery& query, double memory) {
  if (memory <= 0) return true;
  const Rows counted = engine.query("SELECT COUNT(*) FROM " + engine.table(), {});
  const auto rows = static_cast<double>(number(counted.at(0, 0)));
  return query.bytes_for(AggregateQuery::Form::pairs_first, rows, rows, rows) <= memory;
}

// Chooses a plan by the size of the data. A source that is expensive to scan is scanned once,
// without a look at its size.
QueryPlan plan_for(Engine& engine, const AggregateQuery& query, bool has_unit) {
  const bool is_expensive = engine.scan_is_expensive();
  QueryPlan plan;
  if (is_expensive && query.has_forms()) plan.form = AggregateQuery::Form::pairs_first;
  if (is_expensive || !has_unit || !query.has_parts()) return plan;

  const double memory = 0.65 * static_cast<double>(engine.memory());
  const bool fits = fits_memory(engine, query, memory);
  if (fits && !query.has_forms()) return plan;

  const Rows sample = engine.query(query.sample(), {});
  const auto sampled = [&](std::size_t i) { return number(sample.at(0, i)); };
  if (query.has_forms()) plan.form = query.form_for(sampled(0), sampled(1));
  if (fits) return plan;

  const auto estimate = [&](std::size_t i) {
    return static_cast<double>(sampled(i) * AggregateQuery::sampled);
  };
  const double bytes = query.bytes_for(plan.form, estimate(0), estimate(1), estimate(2));
  plan.parts = static_cast<std::int64_t>(std::clamp(std::ceil(bytes / memory), 1.0, 1e4));
  return plan;
}

// Calls `run_part` for one part of the units after the other. If a part does not fit the memory,
// all parts that remain are divided by four.
template <typename RunPart>
void run_in_parts(const AggregateQuery& query, const QueryPlan& plan, const Progress& progress,
                  const RunPart& run_part) {
  constexpr std::int64_t most_parts = std::int64_t{1} << 20U;
  std::vector<AggregateQuery::Part> remaining;
  for (std::int64_t i = plan.parts; i > 0; --i) remaining.push_back({i - 1, plan.parts});
  double done = 0;
  double reported = 0;
  while (!remaining.empty()) {
    const AggregateQuery::Part part = remaining.back();
    const double share = 1 / static_cast<double>(part.count);
    const Progress report = [&](double share_of_part) {
      reported = std::max(reported, std::min(1.0, done + share * share_of_part));
      return progress(reported);
    };
    try {
      run_part(part, progress ? report : Progress{});
    } catch (const OutOfMemory&) {
      if (!query.has_parts() || 4 * part.count > most_parts) throw;
      std::vector<AggregateQuery::Part> finer;
      for (const auto& one : remaining) {
        for (std::int64_t i = 0; i < 4; ++i)
          finer.push_back({one.index + i * one.count, 4 * one.count});
      }
      remaining = std::move(finer);
      continue;
    }
    done += share;
    remaining.pop_back();
  }
}

// Finds the group of a row in an answer to AggregateQuery::totals().
class GroupFinder {
 public:
  explicit GroupFinder(const Aggregate& aggregate)
      : has_unit_(aggregate.unit.has_value()), keys_(aggregate.keys.size()) {
    for (std::size_t g = 0; g < aggregate.groups.size(); ++g) {
      std::vector<std::string> texts;
      for (std::size_t k = 0; k < aggregate.groups[g].size(); ++k) {
        texts.push_back(text_of(aggregate.groups[g][k], aggregate.keys[k].value.type()));
      }
      groups_.emplace(std::move(texts), g);
    }
  }

  // Returns the number of columns that name the group.
  [[nodiscard]] std::size_t width() const { return has_unit_ ? 1 : keys_; }

  // Returns the group's index; empty if it is not listed, or a key is NULL.
  [[nodiscard]] std::optional<std::size_t> group_of(const Rows& rows, std::size_t row) const {
    if (has_unit_) return static_cast<std::size_t>(number(rows.at(row, 0)));
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < keys_; ++k) {
      const auto* text = std::get_if<std::string>(&rows.at(row, k));
      if (text == nullptr) return std::nullopt;
      texts.push_back(*text);
    }
    const auto it = groups_.find(texts);
    if (it == groups_.end()) return std::nullopt;
    return it->second;
  }

 private:
  bool has_unit_;
  std::size_t keys_;
  std::map<std::vector<std::string>, std::size_t> groups_;
};

// Adds the rows of answers to the totals of their groups.
class TotalsAdder {
 public:
  explicit TotalsAdder(const Aggregate& aggregate)
      : finder_(aggregate),
        has_bins_(aggregate.gather == Gather::bins),
        has_squares_(aggregate.gather == Gather::squares),
        has_sums_(has_squares_ || aggregate.gather == Gather::values ||
                  aggregate.gather == Gather::totals),
        bins_(has_bins_ ? static_cast<std::size_t>(aggregate.bins.count) : 1) {
    const std::size_t cells = aggregate.groups.size() * bins_;
    totals.counts.resize(cells);
    totals.sums.resize(has_sums_ ? cells : 0);
    totals.squares.resize(has_squares_ ? cells : 0);
    totals.carries.resize(has_squares_ ? cells : 0);
  }

  // Whether a group has so many rows that a sum of doubles may not be exact.
  [[nodiscard]] bool needs_integers(const Rows& rows) const {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (number(rows.at(row, count_column())) > rows_of_doubles) return true;
    }
    return false;
  }

  void add(const Rows& rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto group = finder_.group_of(rows, row);
      if (!group) continue;
      std::size_t cell = *group;
      if (has_bins_) {
        const Cell& bin = rows.at(row, finder_.width());
        if (std::holds_alternative<std::monostate>(bin)) continue;
        cell = *group * bins_ + static_cast<std::size_t>(number(bin));
      }
      const std::size_t at = count_column();
      totals.counts.at(cell) = saturating_sum(totals.counts.at(cell), number(rows.at(row, at)));
      if (has_sums_) {
        totals.sums.at(cell) = saturating_sum(totals.sums.at(cell), number(rows.at(row, at + 1)));
      }
      if (has_squares_) {
        const auto& digits = std::get<std::string>(rows.at(row, at + 2));
        add_wide(digits, totals.carries.at(cell), totals.squares.at(cell));
      }
    }
  }

  GroupTotals totals;

 private:
  [[nodiscard]] std::size_t count_column() const { return finder_.width() + (has_bins_ ? 1 : 0); }

  GroupFinder finder_;
  bool has_bins_;
  bool has_squares_;
  bool has_sums_;
  std::size_t bins_;
};

// Adds the groups of one part's answer. Without a unit, two parts may have the same group.
class PresentGroupsAdder {
 public:
  explicit PresentGroupsAdder(const Aggregate& aggregate) : aggregate_(aggregate) {}

  void add(const Rows& rows, bool is_part) {
    const std::size_t width = aggregate_.keys.size();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::int64_t units = number(rows.at(row, width));
      if (is_part) {
        const auto [it, is_new] = places_.emplace(name_of_group(rows, row), groups.groups.size());
        if (!is_new) {
          groups.units[it->second] += units;
          continue;
        }
      }
      std::vector<Value> keys;
      keys.reserve(width);
      for (std::size_t k = 0; k < width; ++k) {
        const auto& text = std::get<std::string>(rows.at(row, k));
        keys.push_back(parse_key(text, aggregate_.keys[k].value.type()));
      }
      groups.groups.push_back(std::move(keys));
      groups.units.push_back(units);
    }
  }

  PresentGroups groups;

 private:
  // Returns the texts of the keys, each after its length.
  [[nodiscard]] std::string name_of_group(const Rows& rows, std::size_t row) const {
    std::string name;
    for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
      const auto& text = std::get<std::string>(rows.at(row, k));
      name += std::to_string(text.size()) + ":" + text;
    }
    return name;
  }

  const Aggregate& aggregate_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

Steps Steps::between(double lower, double upper, Type type, std::int64_t most) {
  if (!(upper - lower >= 1e-150) || !(std::abs(lower) < 1e150) || !(std::abs(upper) < 1e150)) {
    throw InvalidValue("the bounds " + shortest(lower) + " and " + shortest(upper) +
                       " are not allowed: the upper must exceed the lower by at least 1e-150, and "
                       "both must lie between -1e150 and 1e150");
  }
  int exponent =
      static_cast<int>(std::ceil(std::log2((upper - lower) / static_cast<double>(most))));
  if (type == Type::integer) exponent = std::max(exponent, 0);
  for (;; ++exponent) {
    const double low = std::floor(std::ldexp(lower, -exponent));
    const double high = std::ceil(std::ldexp(upper, -exponent));
    const bool is_exact = std::abs(low) < 0x1p51 && std::abs(high) < 0x1p51;
    if (!is_exact || high - low > static_cast<double>(most)) continue;
    return {exponent, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
  }
}

double Steps::unit() const { return std::ldexp(1.0, exponent); }

std::string statement(Dialect dialect, const std::string& table, const std::vector<Column>& columns,
                      const Aggregate& aggregate, const BoundingKey& key) {
  require_sound(aggregate);
  require_groups(aggregate);
  const AggregateQuery query(dialect, table, columns, aggregate, key);
  return query.totals(false, AggregateQuery::Form::groups_first, {});
}

void require_plannable(Engine& engine, const std::vector<Column>& columns,
                       const Aggregate& aggregate, bool finds_groups) {
  require_sound(aggregate);
  const BoundingKey any_key{{1, 2, 3, 4}};
  const AggregateQuery query(engine.dialect(), engine.table(), columns, aggregate, any_key);
  engine.require_plannable(finds_groups
                               ? query.present_groups({})
                               : query.totals(false, AggregateQuery::Form::groups_first, {}));
}

GroupTotals gather(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate,
                   const BoundingKey& key, const Progress& progress) {
  require_sound(aggregate);
  require_groups(aggregate);
  const AggregateQuery query(engine.dialect(), engine.table(), columns, aggregate, key);
  const QueryPlan plan = plan_for(engine, query, aggregate.unit.has_value());
  TotalsAdder adder(aggregate);
  run_in_parts(query, plan, progress, [&](AggregateQuery::Part part, const Progress& report) {
    Rows rows = engine.query(query.totals(false, plan.form, part), report);
    if (adder.needs_integers(rows))
      rows = engine.query(query.totals(true, plan.form, part), report);
    adder.add(rows);
  });
  return std::move(adder.totals);
}

PresentGroups present_groups(Engine& engine, const std::vector<Column>& columns,
                             const Aggregate& aggregate, const BoundingKey& key,
                             const Progress& progress) {
  require_sound(aggregate);
  const AggregateQuery query(engine.dialect(), engine.table(), columns, aggregate, key);
  const QueryPlan plan = plan_for(engine, query, aggregate.unit.has_value());
  PresentGroupsAdder adder(aggregate);
  run_in_parts(query, plan, progress, [&](AggregateQuery::Part part, const Progress& report) {
    adder.add(engine.query(query.present_groups(part), report), part.count > 1);
  });
  return std::move(adder.groups);
}

std::int64_t bytes_needed(const Aggregate& aggregate) {
  const auto groups = static_cast<double>(aggregate.groups.size());
  const bool has_bins = aggregate.gather == Gather::bins;
  const double bins = has_bins ? static_cast<double>(aggregate.bins.count) : 1;
  const auto keys = static_cast<double>(aggregate.keys.size());
  // a group in the statement and in the answer; a cell in the engine's table, in its answer and in
  // the numbers that are released
  const double bytes = groups * (1000 + 300 * keys) + groups * bins * 400;
  return static_cast<std::int64_t>(std::min(bytes, 0x1p62));
}

void require_memory(const Aggregate& aggregate, std::int64_t memory) {
  if (memory <= 0) memory = machine_memory() / 5 * 4;
  const std::int64_t needed = bytes_needed(aggregate);
  if (needed <= memory) return;
  const auto megabytes = [](std::int64_t bytes) {
    return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
  };
  std::string groups = std::to_string(aggregate.groups.size()) + " groups";
  if (aggregate.gather == Gather::bins) {
    groups += " of " + std::to_string(aggregate.bins.count) + " bins each";
  }
  throw InvalidValue(groups + " need about " + megabytes(needed) + " of memory, and " +
                         megabytes(memory) +
                         " are allowed: ask for fewer or coarser groups, or allow more memory",
                     Remedy::memory);
}

}  // namespace sotto
