#include "sotto/data/bounded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "data/expressions/tree.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/memory.hpp"
#include "data/sql/statement.hpp"

namespace sotto {
namespace {

using data_detail::Statement;

// Doubles add whole numbers exactly while the sum is below 2^53: more rows than this in one group are summed in whole numbers.
constexpr std::int64_t rows_of_doubles = std::int64_t{1} << 32U;

// A key as the engine spells it.
std::string text_of(const Value& value, Type type) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* text = std::get_if<std::string>(&value)) return type == Type::timestamp ? expression::canonical_timestamp(*text) : *text;
  throw InvalidValue("a key cannot be a real number: ask for bins, or derive a whole number");
}

std::int64_t number(const Cell& cell) {
  const auto* whole = std::get_if<std::int64_t>(&cell);
  return whole == nullptr ? 0 : *whole;
}

void require_sound(const Aggregate& aggregate) {
  for (const Field& key : aggregate.keys) {
    if (key.value.type() == Type::real) throw InvalidValue("a key cannot be a real number: ask for bins, or derive a whole number");
  }
  if (aggregate.groups_a_unit < 1 || aggregate.rows_a_group < 1) throw InvalidValue("a unit's groups and rows must be at least 1");
  const bool needs_field = aggregate.gather != Gather::rows && aggregate.gather != Gather::units;
  if (needs_field != aggregate.of.has_value()) throw InvalidValue(needs_field ? "there is no column to read" : "a count reads no column");
}

void require_groups(const Aggregate& aggregate) {
  for (const auto& group : aggregate.groups) {
    if (group.size() != aggregate.keys.size()) throw InvalidValue("a group has one value for each key");
  }
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  if (!__builtin_add_overflow(a, b, &c)) return c;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

// Adds a whole number that is not negative to high·2^62 + low.
void add_wide(const std::string& digits, std::int64_t& high, std::int64_t& low) {
  __extension__ using Wide = unsigned __int128;
  Wide value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') throw std::logic_error("a sum of squares is a whole number");
    value = 10 * value + static_cast<unsigned>(c - '0');
  }
  value += static_cast<Wide>(low);
  high += static_cast<std::int64_t>(value >> 62U);
  low = static_cast<std::int64_t>(value & ((Wide{1} << 62U) - 1));
}

// How a statement is run: only the time and memory that it takes depend on this.
struct Course {
  Statement::Form form = Statement::Form::groups_first;
  std::int64_t parts = 1;
};

Course course_of(Engine& engine, const Statement& statement, bool has_unit) {
  const bool dear = engine.is_dear_to_read();
  Course course;
  if (dear && statement.has_forms()) course.form = Statement::Form::pairs_first;  // one look
  if (dear || !has_unit || !statement.has_parts()) return course;
  const double memory = 0.65 * static_cast<double>(engine.memory());
  const bool all_fit = memory <= 0 || [&] {
    const auto rows = static_cast<double>(number(engine.query("SELECT COUNT(*) FROM " + engine.table(), {}).at(0, 0)));
    return statement.bytes_for(Statement::Form::pairs_first, rows, rows, rows) <= memory;
  }();
  if (all_fit && !statement.has_forms()) return course;
  const Rows some = engine.query(statement.sample(), {});
  const auto found = [&](std::size_t i) { return number(some.at(0, i)); };
  if (statement.has_forms()) course.form = statement.form_for(found(0), found(1));
  if (all_fit) return course;
  const auto all = [&](std::size_t i) { return static_cast<double>(found(i) * Statement::sampled); };
  course.parts = static_cast<std::int64_t>(std::clamp(std::ceil(statement.bytes_for(course.form, all(0), all(1), all(2)) / memory), 1.0, 1e4));
  return course;
}

// Runs a statement for one part of the units after the other. A part that does not fit is asked for in four.
template <typename Ask>
void in_parts(const Statement& statement, const Course& course, const Progress& progress, const Ask& ask) {
  constexpr std::int64_t most_parts = std::int64_t{1} << 20U;
  std::vector<Statement::Part> left;
  for (std::int64_t i = course.parts; i > 0; --i) left.push_back({i - 1, course.parts});
  double done = 0;
  double told = 0;
  while (!left.empty()) {
    const Statement::Part part = left.back();
    const double share = 1 / static_cast<double>(part.count);
    const Progress tell = [&](double of_part) {
      told = std::max(told, std::min(1.0, done + share * of_part));
      return progress(told);
    };
    try {
      ask(part, progress ? tell : Progress{});
    } catch (const OutOfMemory&) {
      if (!statement.has_parts() || 4 * part.count > most_parts) throw;
      std::vector<Statement::Part> finer;
      for (const auto& one : left) {
        for (std::int64_t i = 0; i < 4; ++i) finer.push_back({one.index + i * one.count, 4 * one.count});
      }
      left = std::move(finer);
      continue;
    }
    done += share;
    left.pop_back();
  }
}

}  // namespace

Steps Steps::between(double lower, double upper, Type type, std::int64_t most) {
  if (!(upper - lower >= 1e-150) || !(std::abs(lower) < 1e150) || !(std::abs(upper) < 1e150)) {
    throw InvalidValue("bounds must be two numbers below 1e150, the lower one first and 1e-150 apart");
  }
  int exponent = static_cast<int>(std::ceil(std::log2((upper - lower) / static_cast<double>(most))));
  if (type == Type::integer) exponent = std::max(exponent, 0);
  for (;; ++exponent) {
    const double low = std::floor(std::ldexp(lower, -exponent));
    const double high = std::ceil(std::ldexp(upper, -exponent));
    if (!(std::abs(low) < 0x1p51) || !(std::abs(high) < 0x1p51) || high - low > static_cast<double>(most)) continue;
    return {exponent, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
  }
}

double Steps::unit() const { return std::ldexp(1.0, exponent); }

std::string statement(Dialect dialect, const std::string& table, const std::vector<Column>& columns, const Aggregate& aggregate,
                      const BoundingKey& key) {
  require_sound(aggregate);
  require_groups(aggregate);
  return Statement(dialect, table, columns, aggregate, key).gathered(false, Statement::Form::groups_first, {});
}

void require_plannable(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, bool finds_groups) {
  require_sound(aggregate);
  const BoundingKey any{{1, 2, 3, 4}};
  const Statement statement(engine.dialect(), engine.table(), columns, aggregate, any);
  engine.require_plannable(finds_groups ? statement.present({}) : statement.gathered(false, Statement::Form::groups_first, {}));
}

Gathered gather(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key, const Progress& progress) {
  require_sound(aggregate);
  require_groups(aggregate);
  const Statement statement(engine.dialect(), engine.table(), columns, aggregate, key);
  const Course course = course_of(engine, statement, aggregate.unit.has_value());
  const bool by_name = !aggregate.unit.has_value();
  const std::size_t width = by_name ? aggregate.keys.size() : 1;
  const bool binned = aggregate.gather == Gather::bins;
  const std::size_t bins = binned ? static_cast<std::size_t>(aggregate.bins.count) : 1;
  const std::size_t at_count = width + (binned ? 1 : 0);
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t g = 0; g < aggregate.groups.size(); ++g) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < aggregate.groups[g].size(); ++k) names.push_back(text_of(aggregate.groups[g][k], aggregate.keys[k].value.type()));
    places.emplace(std::move(names), g);
  }
  const auto group_of = [&](const Rows& rows, std::size_t row) -> std::optional<std::size_t> {
    if (!by_name) return static_cast<std::size_t>(number(rows.at(row, 0)));
    std::vector<std::string> names;
    for (std::size_t k = 0; k < width; ++k) {
      const auto* name = std::get_if<std::string>(&rows.at(row, k));
      if (name == nullptr) return std::nullopt;  // NULL is no key
      names.push_back(*name);
    }
    const auto found = places.find(names);
    if (found == places.end()) return std::nullopt;  // it was not asked for
    return found->second;
  };
  const std::size_t cells = aggregate.groups.size() * bins;
  const bool sums = aggregate.gather == Gather::values || aggregate.gather == Gather::squares || aggregate.gather == Gather::totals;
  const bool squares = aggregate.gather == Gather::squares;
  Gathered found{std::vector<std::int64_t>(cells), std::vector<std::int64_t>(sums ? cells : 0), std::vector<std::int64_t>(squares ? cells : 0),
                 std::vector<std::int64_t>(squares ? cells : 0)};
  in_parts(statement, course, progress, [&](Statement::Part part, const Progress& told) {
    Rows rows = engine.query(statement.gathered(false, course.form, part), told);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (number(rows.at(row, at_count)) > rows_of_doubles) {
        rows = engine.query(statement.gathered(true, course.form, part), told);
        break;
      }
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto group = group_of(rows, row);
      if (!group || (binned && std::holds_alternative<std::monostate>(rows.at(row, width)))) continue;
      const std::size_t cell = binned ? *group * bins + static_cast<std::size_t>(number(rows.at(row, width))) : *group;
      found.counts.at(cell) = sum(found.counts.at(cell), number(rows.at(row, at_count)));
      if (sums) found.sums.at(cell) = sum(found.sums.at(cell), number(rows.at(row, at_count + 1)));
      if (squares) add_wide(std::get<std::string>(rows.at(row, at_count + 2)), found.carries.at(cell), found.squares.at(cell));
    }
  });
  return found;
}

Present present(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key, const Progress& progress) {
  require_sound(aggregate);
  const Statement statement(engine.dialect(), engine.table(), columns, aggregate, key);
  const Course course = course_of(engine, statement, aggregate.unit.has_value());
  const std::size_t width = aggregate.keys.size();
  Present found;
  std::unordered_map<std::string, std::size_t> places;  // of the groups that some part has
  in_parts(statement, course, progress, [&](Statement::Part part, const Progress& told) {
    Rows rows = engine.query(statement.present(part), told);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (part.count > 1) {
        std::string name;
        for (std::size_t k = 0; k < width; ++k) {
          const auto& text = std::get<std::string>(rows.at(row, k));
          name += std::to_string(text.size()) + ":" + text;
        }
        const auto [place, is_new] = places.emplace(std::move(name), found.groups.size());
        if (!is_new) {
          found.units[place->second] += number(rows.at(row, width));
          continue;
        }
      }
      std::vector<Value> names;
      names.reserve(width);
      for (std::size_t k = 0; k < width; ++k) {
        names.push_back(key_named(std::get<std::string>(rows.at(row, k)), aggregate.keys[k].value.type()));
      }
      found.groups.push_back(std::move(names));
      found.units.push_back(number(rows.at(row, width)));
    }
  });
  return found;
}

std::int64_t bytes_needed(const Aggregate& aggregate) {
  const auto groups = static_cast<double>(aggregate.groups.size());
  const double bins = aggregate.gather == Gather::bins ? static_cast<double>(aggregate.bins.count) : 1;
  const auto keys = static_cast<double>(aggregate.keys.size());
  // a group in the statement and in the answer; a cell in the engine's table, in its answer and in the numbers that are released
  const double bytes = groups * (1000 + 300 * keys) + groups * bins * 400;
  return static_cast<std::int64_t>(std::min(bytes, 0x1p62));
}

void require_memory(const Aggregate& aggregate, std::int64_t memory) {
  if (memory <= 0) memory = machine_memory() / 5 * 4;
  const std::int64_t needed = bytes_needed(aggregate);
  if (needed <= memory) return;
  const auto megabytes = [](std::int64_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; };
  std::string what = std::to_string(aggregate.groups.size()) + " groups";
  if (aggregate.gather == Gather::bins) what += " of " + std::to_string(aggregate.bins.count) + " bins each";
  throw InvalidValue(what + " need about " + megabytes(needed) + " of memory, and " + megabytes(memory) +
                         " are allowed: ask for fewer or coarser groups, or allow more memory",
                     Remedy::memory);
}

}  // namespace sotto
