#include "sotto/data/bounded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "expression_node.hpp"
#include "sotto/core/errors.hpp"
#include "statement.hpp"

namespace sotto {
namespace {

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
  return data_detail::Statement(dialect, table, columns, aggregate, key).gathered(false, data_detail::Statement::Form::groups_first);
}

Gathered gather(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key, const Progress& progress) {
  require_sound(aggregate);
  require_groups(aggregate);
  const data_detail::Statement statement(engine.dialect(), engine.table(), columns, aggregate, key);
  auto form = data_detail::Statement::Form::groups_first;
  // only the time that it takes depends on this
  if (statement.has_forms() && engine.is_dear_to_read()) {
    form = data_detail::Statement::Form::pairs_first;  // one look
  } else if (statement.has_forms()) {
    const Rows some = engine.query(statement.sample(), {});
    form = statement.form_for(number(some.at(0, 0)), number(some.at(0, 1)));
  }
  Rows rows = engine.query(statement.gathered(false, form), progress);
  const bool by_name = !aggregate.unit.has_value();
  const std::size_t width = by_name ? aggregate.keys.size() : 1;
  const std::size_t bins = aggregate.gather == Gather::bins ? static_cast<std::size_t>(aggregate.bins.count) : 1;
  const std::size_t at_count = width + (aggregate.gather == Gather::bins ? 1 : 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (number(rows.at(row, at_count)) > rows_of_doubles) {
      rows = engine.query(statement.gathered(true, form), progress);
      break;
    }
  }
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t g = 0; g < aggregate.groups.size(); ++g) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < aggregate.groups[g].size(); ++k) names.push_back(text_of(aggregate.groups[g][k], aggregate.keys[k].value.type()));
    places.emplace(std::move(names), g);
  }
  const auto group_of = [&](std::size_t row) -> std::optional<std::size_t> {
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
  Gathered found{std::vector<std::int64_t>(cells), std::vector<std::int64_t>(sums ? cells : 0),
                 std::vector<std::int64_t>(aggregate.gather == Gather::squares ? cells : 0)};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto group = group_of(row);
    if (!group || (aggregate.gather == Gather::bins && std::holds_alternative<std::monostate>(rows.at(row, width)))) continue;
    const std::size_t cell =
        bins == 1 && aggregate.gather != Gather::bins ? *group : *group * bins + static_cast<std::size_t>(number(rows.at(row, width)));
    found.counts.at(cell) = number(rows.at(row, at_count));
    if (sums) found.sums.at(cell) = number(rows.at(row, at_count + 1));
    if (aggregate.gather == Gather::squares) found.squares.at(cell) = number(rows.at(row, at_count + 2));
  }
  return found;
}

Present present(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key, const Progress& progress) {
  require_sound(aggregate);
  const data_detail::Statement statement(engine.dialect(), engine.table(), columns, aggregate, key);
  const Rows rows = engine.query(statement.present(), progress);
  Present found;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<Value> names;
    for (std::size_t k = 0; k < aggregate.keys.size(); ++k) {
      names.push_back(key_named(std::get<std::string>(rows.at(row, k)), aggregate.keys[k].value.type()));
    }
    found.groups.push_back(std::move(names));
    found.units.push_back(number(rows.at(row, aggregate.keys.size())));
  }
  return found;
}

}  // namespace sotto
