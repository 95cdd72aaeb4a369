// The order of a unit's groups, and of its rows in a group, in SQL.
#include "data/sql/unit_order.hpp"

#include <utility>

#include "data/sql/base_rows.hpp"

namespace sotto::data_detail {
namespace {

/// 2^31 - 1. Products of two residues fit a BIGINT on every engine.
constexpr std::int64_t prime = 2147483647;
/// Up to so many groups, h is a number below 61, and sets of groups fit the bits of a BIGINT.
constexpr std::int64_t small_prime = 61;

SqlExpression column(const std::string& name) { return identifier(name); }

/// Returns 2^h. A unit's set of groups is a BIGINT with one bit for each rank.
SqlExpression bit_of_rank(const SqlDialect& sql) {
  return cast(sql, integer(1), Type::integer) << trusted_sql("CAST(h AS INTEGER)");
}

}  // namespace

UnitOrder::UnitOrder(Dialect dialect, const Aggregate& aggregate, const BoundingKey& key)
    : dialect_(dialect), sql_(sql_dialect(dialect)), aggregate_(aggregate), key_(key) {}

// Draws a residue from 1 to prime - 1. The order that follows from it has to be fair, not secret:
// the release is private for any order.
std::int64_t UnitOrder::draw(std::uint64_t stream, std::uint64_t index) const {
  std::uint64_t z =
      key_.seed[stream & 3U] + (stream / 4 + 1) * 0x9e3779b97f4a7c15U + index * 0xd1342543de82ef95U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>((z ^ (z >> 31U)) % (prime - 1) + 1);
}

bool UnitOrder::limits_groups() const {
  return !aggregate_.keys.empty() &&
         static_cast<std::size_t>(aggregate_.groups_a_unit) < aggregate_.groups.size();
}

bool UnitOrder::has_few_groups() const {
  return aggregate_.groups.size() <= static_cast<std::size_t>(small_prime);
}

// A number that is (nearly) different for each unit, below 2^31 in magnitude.
SqlExpression UnitOrder::unit_number() const {
  if (aggregate_.unit->type() == Type::integer) return column("u") % integer(prime);
  return trusted_sql(sql_.number_of(cast(sql_, column("u"), Type::text).text()));
}

// The listed groups with their keys, their numbers g, and the constants c that their ranks use.
// With few groups, c is a random permutation of the groups' numbers.
Relation UnitOrder::listed_groups() const {
  std::vector<std::int64_t> shuffled;
  for (std::size_t g = 0; g < aggregate_.groups.size(); ++g) {
    shuffled.push_back(static_cast<std::int64_t>(g));
  }
  for (std::size_t g = shuffled.size(); g > 1; --g) {
    const auto other = static_cast<std::size_t>(draw(0, g)) % g;
    std::swap(shuffled[g - 1], shuffled[other]);
  }

  ValuesList groups{.rows = {}, .name = "pick", .columns = {}};
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) groups.columns.push_back(key_name(k));
  groups.columns.insert(groups.columns.end(), {"g", "c"});
  for (std::size_t g = 0; g < aggregate_.groups.size(); ++g) {
    std::vector<SqlExpression> row;
    for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
      const Type type = aggregate_.keys[k].value.type();
      row.push_back(trusted_sql(literal(aggregate_.groups[g][k], type, dialect_)));
    }
    row.push_back(integer(static_cast<std::int64_t>(g)));
    row.push_back(integer(has_few_groups() ? shuffled[g] : draw(1, g)));
    groups.rows.push_back(std::move(row));
  }
  return groups;
}

// The rank h of a group in its unit's order. The unit's number w picks a residue t, and t a line
// c -> slope · c + intercept modulo a prime. Modulo 61 with few groups, so that all ranks of a unit
// differ and fit the bits of a BIGINT.
SqlExpression UnitOrder::group_rank(bool has_few_groups) const {
  const SqlExpression p = integer(prime);
  const SqlExpression residue = integer(draw(2, 2)) * column("w") + integer(draw(2, 3));
  const SqlExpression t = residue % p + p;
  if (!has_few_groups) return column("c") * (t % p) % p;
  const SqlExpression slope = t % integer(small_prime - 1) + integer(1);
  const SqlExpression intercept = t % integer(small_prime);
  return (column("c") * slope + intercept) % integer(small_prime);
}

// The rank of a row among its unit's rows in a group: a fair order by the unit's own values.
SqlExpression UnitOrder::row_rank() const {
  const SqlExpression code = cast(sql_, column("x"), Type::integer) + integer(1);
  const SqlExpression residue = integer(draw(2, 0)) * column("w") + integer(draw(2, 1));
  return code * (residue % integer(prime)) % integer(prime);
}

// The pairs (u, group, h, …) in which the unit counts: the first by h. If the last of them share an
// h with further pairs, all of these are dropped, so that the order of the table never decides.
Select UnitOrder::counted_pairs() const {
  const std::int64_t most = aggregate_.groups_a_unit;
  const NamedRelation all_pairs{"pairs"};
  if (dialect_ == Dialect::duckdb && most < 1000) {
    const SqlExpression next = integer(most + 1);
    const SqlExpression first_ranks = call("min", {column("h"), next});
    const Select reach{
        .columns = {column("u"), alias(call("list_extract", {first_ranks, next}), "beyond")},
        .from = all_pairs,
        .group_by = {column("u")}};
    return {.columns = {all_columns("pairs")},
            .from = all_pairs,
            .joins = {{subquery(reach, "reach"),
                       {equal(identifier("pairs", "u"), identifier("reach", "u"))}}},
            .where = {is_null(column("beyond")) || column("h") < column("beyond")}};
  }
  const SqlExpression place = over(count_rows(), {column("u")}, {column("h")});
  const Select placed{.columns = {all_columns("pairs"), alias(place, "place")}, .from = all_pairs};
  return {.columns = {all_columns()},
          .from = subquery(placed, "placed"),
          .where = {column("place") <= integer(most)}};
}

// For each unit, the bit of the last rank at which it counts, or 0 if it has no more groups than it
// may: y holds the bits of the unit's ranks, and y & (y - 1) removes the lowest. This is
// counted_pairs() for an engine that aggregates faster than it sorts.
Select UnitOrder::last_rank_bits(const std::string& relation) const {
  const SqlExpression u = column("u");
  const SqlExpression y = column("y");
  Select bits{.columns = {u, alias(call("bit_or", {bit_of_rank(sql_)}), "y")},
              .from = NamedRelation{relation},
              .group_by = {u}};
  for (std::int64_t i = 1; i < aggregate_.groups_a_unit; ++i) {
    bits = {.columns = {u, alias(y & (y - integer(1)), "y")}, .from = subquery(bits, "less")};
  }
  return {.columns = {u, alias(y & -y, "last")}, .from = subquery(bits, "least")};
}

SqlExpression UnitOrder::counts_by_bits() const {
  return equal(column("last"), integer(0)) || bit_of_rank(sql_) <= column("last");
}

SqlExpression UnitOrder::group_constant(const std::vector<SqlExpression>& keys) const {
  std::vector<SqlExpression> parts{text_constant("")};
  for (const SqlExpression& text : keys) {
    parts.insert(parts.end(),
                 {call("length", {text}), text_constant(":"), text, text_constant("")});
  }
  const SqlExpression hash = trusted_sql(sql_.number_of(concatenation(parts).text()));
  return (hash + integer(draw(3, 0))) % integer(prime);
}

}  // namespace sotto::data_detail
