// The SQL of an aggregate, in layers from the inside:
//
//   base      the rows that count: unit u, keys k0, k1, …, clamped code x (clamp.hpp)
//   numbered  base with the group's number g and constant c, the unit's number w, and h, the rank of
//             the group in the unit's own order of groups
//   pairs     one row for each pair of unit and group: its rows n, their sum s and squares q
//   kept      the pairs in which the unit counts: its first `groups_a_unit` by h
//   ranked    rows of pairs that have more than `rows_a_group` rows, in the unit's own order
//   stay      the rows that are added
#include "data/sql/statement.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

/// 2^31 - 1. Products of two residues fit a BIGINT on every engine.
constexpr std::int64_t prime = 2147483647;
/// Up to so many groups, h is a number below 61, and sets of groups fit the bits of a BIGINT.
constexpr std::int64_t small_prime = 61;
/// A rank modulo `prime` times this, plus a code below it, fits a BIGINT.
constexpr std::int64_t most_codes = std::int64_t{1} << 31U;

/// Whether the expression is a stored column and nothing else.
bool is_bare(const Expression& expression) {
  const auto names = expression.columns();
  return names.size() == 1 && (expression.text() == names.front() ||
                               expression.text() == sotto::quoted(names.front()));
}

SqlExpression column(const std::string& name) { return identifier(name); }

std::string key_name(std::size_t k) { return "k" + std::to_string(k); }

SqlExpression sum_of(const SqlExpression& x) { return call("SUM", {x}); }

/// Returns a sum of any numeric type as a BIGINT: 0 for NULL, clamped to ±2^62.
SqlExpression as_bigint(const SqlExpression& sum) {
  constexpr std::int64_t most = std::int64_t{1} << 62U;
  const SqlExpression at_least = call("GREATEST", {call("COALESCE", {sum, integer(0)}), integer(-most)});
  return trusted_sql("CAST(" + call("LEAST", {at_least, integer(most)}).text() + " AS BIGINT)");
}

/// Clamps a unit's total to the bounds of the aggregate, and counts it from the lower bound.
SqlExpression clamped_total(const SqlExpression& total, const Steps& steps) {
  const SqlExpression low = integer(steps.low);
  return call("LEAST", {call("GREATEST", {total, low}), integer(steps.high)}) - parenthesised(low);
}

/// Returns 2^h. A unit's set of groups is a BIGINT with one bit for each rank.
SqlExpression bit_of_rank(const SqlDialect& sql) {
  return cast(sql, integer(1), Type::integer) << trusted_sql("CAST(h AS INTEGER)");
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

AggregateQuery::AggregateQuery(Dialect dialect, std::string table,
                               const std::vector<Column>& columns, const Aggregate& aggregate,
                               const BoundingKey& key)
    : dialect_(dialect),
      sql_(sql_dialect(dialect)),
      table_(std::move(table)),
      columns_(columns),
      aggregate_(aggregate),
      key_(key) {
  const auto has_this_name = [&](const Column& one) { return one.name == stored_name_; };
  while (std::any_of(columns_.begin(), columns_.end(), has_this_name)) stored_name_ += "=";
}

// Draws a residue from 1 to prime - 1. The order that follows from it has to be fair, not secret:
// the release is private for any order.
std::int64_t AggregateQuery::draw(std::uint64_t stream, std::uint64_t index) const {
  std::uint64_t z = key_.seed[stream & 3U] + (stream / 4 + 1) * 0x9e3779b97f4a7c15U +
                    index * 0xd1342543de82ef95U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>((z ^ (z >> 31U)) % (prime - 1) + 1);
}

// --- keys ---

std::vector<SqlExpression> AggregateQuery::keys() const {
  std::vector<SqlExpression> all;
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) all.push_back(column(key_name(k)));
  return all;
}

std::vector<SqlExpression> AggregateQuery::keys(const std::string& relation) const {
  std::vector<SqlExpression> all;
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    all.push_back(identifier(relation, key_name(k)));
  }
  return all;
}

std::vector<SqlExpression> AggregateQuery::keys_as_text() const {
  std::vector<SqlExpression> all;
  for (const SqlExpression& key : keys()) all.push_back(cast(sql_, key, Type::text));
  return all;
}

std::vector<SqlExpression> AggregateQuery::same_keys(const std::string& one,
                                                     const std::string& other) const {
  std::vector<SqlExpression> conditions;
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    conditions.push_back(equal(identifier(one, key_name(k)), identifier(other, key_name(k))));
  }
  return conditions;
}

// --- base: the rows that count ---

// Whether sums are of doubles. They are exact: gather() adds integers if a group has many rows.
bool AggregateQuery::adds_doubles(bool whole_numbers) const {
  const bool is_fractional = aggregate_.of && (aggregate_.of->value.type() == Type::real ||
                                               aggregate_.steps.exponent != 0);
  return is_fractional && !whole_numbers && dialect_ == Dialect::duckdb &&
         aggregate_.gather == Gather::values;
}

// Without a unit, rows are only added: their sum is divided by the unit of the grid once.
CodeForm AggregateQuery::code_form(bool whole_numbers) const {
  if (!adds_doubles(whole_numbers)) return CodeForm::bigint;
  return aggregate_.unit ? CodeForm::real : CodeForm::on_grid;
}

// DuckDB reads a stored real column without cleaning it, since clamped_code() treats NaN and
// infinities as NULL. PostgreSQL fails on the addition of very large numbers, so that its columns
// are always cleaned.
bool AggregateQuery::reads_stored_number() const {
  const Expression& value = aggregate_.of->value;
  return dialect_ == Dialect::duckdb && value.type() == Type::real && is_bare(value);
}

SqlExpression AggregateQuery::key_value(const Field& key) const {
  const SqlExpression value = trusted_sql(key.value.sql(dialect_));
  if (!key.if_null) return value;
  const std::string constant = literal(*key.if_null, key.value.type(), dialect_);
  return call("COALESCE", {value, trusted_sql(constant)});
}

// The columns that the aggregate reads, cleaned, and the raw number.
Select AggregateQuery::stored_columns() const {
  std::set<std::string> used;
  const auto use = [&](const Expression& expression) {
    for (const std::string& name : expression.columns()) used.insert(name);
  };
  if (aggregate_.unit) use(*aggregate_.unit);
  for (const Field& key : aggregate_.keys) use(key.value);
  if (aggregate_.of) use(aggregate_.of->value);
  if (aggregate_.where) use(*aggregate_.where);

  std::vector<SqlExpression> selected;
  if (aggregate_.of && reads_stored_number()) {
    const std::string name = aggregate_.of->value.columns().front();
    selected.push_back(alias(quoted_identifier(sql_, name), sql_, stored_name_));
  }
  for (const Column& one : columns_) {
    if (!used.contains(one.name)) continue;
    selected.push_back(alias(trusted_sql(cleaned(one, dialect_)), sql_, one.name));
  }
  if (selected.empty()) selected.push_back(alias(integer(1), "one"));
  return {.columns = selected, .from = EngineTable{table_}};
}

// Unit, keys and number of each row for which `where` is true.
Select AggregateQuery::fields() const {
  std::vector<SqlExpression> selected;
  if (aggregate_.unit) selected.push_back(alias(trusted_sql(aggregate_.unit->sql(dialect_)), "u"));
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    selected.push_back(alias(key_value(aggregate_.keys[k]), key_name(k)));
  }
  if (aggregate_.of) {
    const SqlExpression number = reads_stored_number()
                                     ? quoted_identifier(sql_, stored_name_)
                                     : trusted_sql(aggregate_.of->value.sql(dialect_));
    selected.push_back(alias(number, sql_, "number"));
  }
  if (selected.empty()) selected.push_back(alias(integer(1), "one"));

  std::vector<SqlExpression> where;
  if (aggregate_.where) where.push_back(trusted_sql(aggregate_.where->sql(dialect_)));
  return {.columns = selected, .from = subquery(stored_columns(), "c"), .where = where};
}

// With a unit, a row with a NULL does not count and is dropped. Without one it stays: no count or
// sum includes it, and no listed group has it.
std::vector<SqlExpression> AggregateQuery::base_conditions(Part part) const {
  std::vector<SqlExpression> conditions;
  if (aggregate_.unit) {
    conditions.push_back(is_not_null(identifier("n", "u")));
    for (const SqlExpression& key : keys("n")) conditions.push_back(is_not_null(key));
    if (aggregate_.of && !aggregate_.of->if_null) {
      const SqlExpression number = trusted_sql("n." + number_name(sql_));
      const bool is_real = aggregate_.of->value.type() == Type::real;
      conditions.push_back(is_real ? between(number, real(sql_, -largest_real()),
                                             real(sql_, largest_real()))
                                   : is_not_null(number));
    }
  }
  if (part.count > 1) conditions.push_back(is_in_part(part));
  return conditions;
}

// The constant makes this another hash than the one that DuckDB uses for its own tables.
SqlExpression AggregateQuery::is_in_part(Part part) const {
  std::vector<SqlExpression> hashed = keys("n");
  if (aggregate_.unit) hashed = {identifier("n", "u")};
  hashed.push_back(integer(draw(3, 3)));
  return equal(call("hash", hashed) % integer(part.count), integer(part.index));
}

Select AggregateQuery::base(bool whole_numbers, Part part) const {
  std::vector<SqlExpression> selected;
  if (aggregate_.unit) selected.push_back(identifier("n", "u"));
  append(selected, keys("n"));
  if (aggregate_.of) {
    const SqlExpression number = trusted_sql("n." + number_name(sql_));
    const CodeForm form = code_form(whole_numbers);
    selected.push_back(alias(clamped_code(aggregate_, sql_, number, form), "x"));
  }
  if (selected.empty()) selected.push_back(alias(integer(1), "one"));
  return {.columns = selected, .from = subquery(fields(), "n"), .where = base_conditions(part)};
}

// --- the order of a unit's groups and rows ---

bool AggregateQuery::limits_groups() const {
  return !aggregate_.keys.empty() &&
         static_cast<std::size_t>(aggregate_.groups_a_unit) < aggregate_.groups.size();
}

bool AggregateQuery::has_few_groups() const {
  return aggregate_.groups.size() <= static_cast<std::size_t>(small_prime);
}

// A number that is (nearly) different for each unit, below 2^31 in magnitude.
SqlExpression AggregateQuery::unit_number() const {
  if (aggregate_.unit->type() == Type::integer) return column("u") % integer(prime);
  return trusted_sql(sql_.number_of(cast(sql_, column("u"), Type::text).text()));
}

// The listed groups with their keys, their numbers g, and the constants c that their ranks use. With
// few groups, c is a random permutation of the groups' numbers.
Relation AggregateQuery::listed_groups() const {
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
SqlExpression AggregateQuery::group_rank(bool has_few_groups) const {
  const SqlExpression p = integer(prime);
  const SqlExpression residue = integer(draw(2, 2)) * column("w") + integer(draw(2, 3));
  const SqlExpression t = residue % p + p;
  if (!has_few_groups) return column("c") * (t % p) % p;
  const SqlExpression slope = t % integer(small_prime - 1) + integer(1);
  const SqlExpression intercept = t % integer(small_prime);
  return (column("c") * slope + intercept) % integer(small_prime);
}

// The rank of a row among its unit's rows in a group: a fair order by the unit's own values.
SqlExpression AggregateQuery::row_rank() const {
  const SqlExpression code = cast(sql_, column("x"), Type::integer) + integer(1);
  const SqlExpression slope = (integer(draw(2, 0)) * column("w") + integer(draw(2, 1))) % integer(prime);
  return code * slope % integer(prime);
}

// The pairs (u, group, h, …) in which the unit counts: the first by h. If the last of them share an
// h with further pairs, all of these are dropped, so that the order of the table never decides.
Select AggregateQuery::counted_pairs() const {
  const std::int64_t most = aggregate_.groups_a_unit;
  const NamedRelation all_pairs{"pairs"};
  if (dialect_ == Dialect::duckdb && most < 1000) {
    const SqlExpression next = integer(most + 1);
    const SqlExpression first_ranks = call("min", {column("h"), next});
    const Select reach{.columns = {column("u"), alias(call("list_extract", {first_ranks, next}), "beyond")},
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
Select AggregateQuery::last_rank_bits(const std::string& relation) const {
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

// --- sums ---

bool AggregateQuery::has_sums() const {
  return aggregate_.gather == Gather::values || aggregate_.gather == Gather::squares ||
         aggregate_.gather == Gather::totals;
}

SqlExpression AggregateQuery::sum_of_codes() const {
  return trusted_sql(sql_.sum("x", largest_summand(aggregate_)));
}

SqlExpression AggregateQuery::sum_of_squares() const {
  const double largest = largest_summand(aggregate_);
  return trusted_sql(sql_.sum("(x * x)", largest * largest));
}

SqlExpression AggregateQuery::total_of_squares(const SqlExpression& sum) const {
  return cast(sql_, call("COALESCE", {sum, integer(0)}), Type::text);
}

std::vector<SqlExpression> AggregateQuery::final_sums(const SqlExpression& count,
                                                      const SqlExpression& sum,
                                                      const SqlExpression& square) const {
  std::vector<SqlExpression> sums{as_bigint(sum_of(count))};
  if (has_sums()) sums.push_back(as_bigint(sum_of(sum)));
  if (aggregate_.gather == Gather::squares) sums.push_back(total_of_squares(sum_of(square)));
  return sums;
}

// --- totals without a unit ---

Select AggregateQuery::totals_of_rows(bool whole_numbers, Part part) const {
  Select select{.columns = keys_as_text(),
                .from = subquery(base(whole_numbers, part), "base"),
                .group_by = keys()};
  if (aggregate_.gather == Gather::bins) {
    select.columns.push_back(column("x"));
    select.group_by.push_back(column("x"));
  }
  select.columns.push_back(aggregate_.of ? call("COUNT", {column("x")}) : count_rows());
  if (aggregate_.gather == Gather::values || aggregate_.gather == Gather::squares) {
    const SqlExpression sum = adds_doubles(whole_numbers)
                                  ? sum_of(column("x")) * real(sql_, 1 / aggregate_.steps.unit())
                                  : sum_of_codes();
    select.columns.push_back(as_bigint(sum));
  }
  if (aggregate_.gather == Gather::squares) {
    select.columns.push_back(total_of_squares(sum_of_squares()));
  }
  if (aggregate_.gather == Gather::totals) {
    select.columns.push_back(as_bigint(sum_of(clamped_total(column("x"), aggregate_.steps))));
  }
  return select;
}

// --- totals with a unit ---

Select AggregateQuery::numbered_rows(bool whole_numbers, bool pairs_first, Part part) const {
  const bool is_grouped = !aggregate_.keys.empty();
  std::vector<SqlExpression> selected{column("u")};
  if (is_grouped) {
    selected.insert(selected.end(), {column("g"), column("c")});
  } else {
    selected.push_back(alias(integer(0), "g"));
  }
  if (aggregate_.of) selected.push_back(column("x"));
  selected.push_back(alias(unit_number(), "w"));

  Select numbered{.columns = selected, .from = subquery(base(whole_numbers, part), "base")};
  if (is_grouped) numbered.joins.push_back({listed_groups(), same_keys("base", "pick")});
  if (!limits_groups() || pairs_first) return numbered;
  return {.columns = {all_columns(), alias(group_rank(has_few_groups()), "h")},
          .from = subquery(numbered, "found")};
}

// Spark reads the table again wherever a named query is used, and may then see other rows of some
// tables (a view with a limit, a table of another database). A unit's bounds must hold for the rows
// that are counted: the table is therefore read once, its rows are ranked in their group, and the
// groups are limited among these rows. Each group has one first row: counting first rows along h
// counts groups, together with all groups that share an h.
Select AggregateQuery::totals_in_one_scan(Select numbered) const {
  const SqlExpression u = column("u");
  const SqlExpression g = column("g");
  const SqlExpression x = column("x");
  const SqlExpression place = column("place");

  const SqlExpression row_number =
      over(call("row_number", {}), {u, g}, {row_rank(), x});
  const Select ranked{.columns = {all_columns(), alias(row_number, "place")},
                      .from = subquery(std::move(numbered), "numbered")};
  Select rows{.columns = {g, x},
              .from = subquery(ranked, "ranked"),
              .where = {place <= integer(aggregate_.rows_a_group)}};

  if (limits_groups()) {
    rows.columns.insert(rows.columns.end(), {u, column("h"), place});
    const SqlExpression is_first = case_when({{equal(place, integer(1)), integer(1)}}, integer(0));
    const SqlExpression reached = over(sum_of(is_first), {u}, {column("h")});
    const Select placed{.columns = {g, x, alias(reached, "reached")}, .from = subquery(rows, "few")};
    rows = {.columns = {g, x},
            .from = subquery(placed, "placed"),
            .where = {column("reached") <= integer(aggregate_.groups_a_unit)}};
  }

  Select totals{.columns = {cast(sql_, g, Type::integer)}, .from = subquery(rows, "stay")};
  if (aggregate_.gather == Gather::bins) {
    totals.columns.insert(totals.columns.end(), {x, count_rows()});
    totals.group_by = {g, x};
    return totals;
  }
  totals.columns.push_back(as_bigint(count_rows()));
  totals.columns.push_back(as_bigint(sum_of_codes()));
  if (aggregate_.gather == Gather::squares) {
    totals.columns.push_back(total_of_squares(sum_of_squares()));
  }
  totals.group_by = {g};
  return totals;
}

// Whether a pair keeps a list of the first rows that count: if these are few, that costs less than a
// window that ranks all rows.
bool AggregateQuery::keeps_lists() const {
  return dialect_ == Dialect::duckdb && aggregate_.of && aggregate_.gather != Gather::totals &&
         aggregate_.rows_a_group <= 16 && last_code(aggregate_) < most_codes;
}

Select AggregateQuery::pairs(bool pairs_first) const {
  const bool has_rank = limits_groups() && !has_forms();
  const bool joins_reach = has_forms() && !pairs_first;
  const SqlExpression g = column("g");
  const SqlExpression u = has_forms() ? identifier("numbered", "u") : column("u");

  Select select{.columns = {u, g}, .from = NamedRelation{"numbered"}};
  if (has_rank) select.columns.push_back(column("h"));
  if (pairs_first) select.columns.insert(select.columns.end(), {column("c"), column("w")});
  if (keeps_lists()) {
    // rank and code are one number, whose smallest values are kept
    const SqlExpression ranked_code =
        row_rank() * integer(most_codes) + cast(sql_, column("x"), Type::integer);
    const SqlExpression firsts = call("min", {ranked_code, integer(aggregate_.rows_a_group)});
    select.columns.push_back(alias(firsts, "firsts"));
  } else {
    select.columns.push_back(alias(count_rows(), "n"));
    if (has_sums()) select.columns.push_back(alias(sum_of_codes(), "s"));
    if (aggregate_.gather == Gather::squares) select.columns.push_back(alias(sum_of_squares(), "q"));
  }

  if (joins_reach) {
    select.joins = {{subquery(last_rank_bits("numbered"), "reach"),
                     {equal(identifier("numbered", "u"), identifier("reach", "u"))}}};
    select.where = {equal(column("last"), integer(0)) || bit_of_rank(sql_) <= column("last")};
  }
  select.group_by = {joins_reach ? u : column("u"), g};
  if (has_rank) select.group_by.push_back(column("h"));
  if (pairs_first) select.group_by.insert(select.group_by.end(), {column("c"), column("w")});
  return select;
}

// The named queries up to `kept`.
std::vector<NamedQuery> AggregateQuery::pairs_that_count(bool pairs_first) const {
  if (pairs_first) {
    const Select ranked{.columns = {all_columns(), alias(group_rank(true), "h")},
                        .from = subquery(pairs(true), "found")};
    const Select kept{.columns = {trusted_sql("pairs.* EXCLUDE (c, w, h)")},
                      .from = NamedRelation{"pairs"},
                      .joins = {{subquery(last_rank_bits("pairs"), "reach"),
                                 {equal(identifier("pairs", "u"), identifier("reach", "u"))}}},
                      .where = {equal(column("last"), integer(0)) ||
                                bit_of_rank(sql_) <= column("last")}};
    return {named_query("pairs", ranked, Reuse::store), named_query("kept", kept)};
  }
  if (limits_groups() && !has_forms()) {
    return {named_query("pairs", pairs(false)), named_query("kept", counted_pairs())};
  }
  return {named_query("kept", pairs(false))};
}

// Adds the rows in the lists of the pairs.
Select AggregateQuery::totals_of_first_rows() const {
  const SqlExpression g = column("g");
  const SqlExpression x = column("x");
  const SqlExpression code = call("unnest", {column("firsts")}) & integer(most_codes - 1);
  Select totals{.with = {named_query("stay", {.columns = {g, alias(code, "x")}, .from = NamedRelation{"kept"}})},
                .columns = {cast(sql_, g, Type::integer)},
                .from = NamedRelation{"stay"},
                .group_by = {g}};
  if (aggregate_.gather == Gather::bins) {
    totals.columns.insert(totals.columns.end(), {x, count_rows()});
    totals.group_by.push_back(x);
  } else {
    append(totals.columns, final_sums(integer(1), x, x * x));
  }
  return totals;
}

// Adds the sums of the pairs that have few rows, and the first rows of the others.
Select AggregateQuery::totals_of_ranked_rows() const {
  const SqlExpression rows = integer(aggregate_.rows_a_group);
  const SqlExpression g = column("g");
  const SqlExpression x = column("x");
  const SqlExpression row_number =
      over(call("row_number", {}), {identifier("numbered", "u"), identifier("numbered", "g")},
           {row_rank(), x});
  const std::vector<SqlExpression> same_pair{
      equal(identifier("numbered", "u"), identifier("kept", "u")),
      equal(identifier("numbered", "g"), identifier("kept", "g"))};
  const Select ranked{.columns = {identifier("numbered", "g"), identifier("numbered", "x"),
                                  alias(row_number, "place")},
                      .from = NamedRelation{"numbered"},
                      .joins = {{NamedRelation{"kept"}, same_pair}},
                      .where = {identifier("kept", "n") > rows}};
  const SqlExpression is_first = column("place") <= rows;

  Select totals{.with = {named_query("ranked", ranked)},
                .columns = {cast(sql_, g, Type::integer)},
                .from = NamedRelation{"ranked"},
                .group_by = {g}};
  if (aggregate_.gather == Gather::bins) {
    const Select few{.columns = {identifier("numbered", "g"), identifier("numbered", "x")},
                     .from = NamedRelation{"numbered"},
                     .joins = {{NamedRelation{"kept"}, same_pair}},
                     .where = {identifier("kept", "n") <= rows}};
    const Select first{.columns = {g, x}, .from = NamedRelation{"ranked"}, .where = {is_first}};
    totals.columns.insert(totals.columns.end(), {x, count_rows()});
    totals.from = union_all(few, first, "stay");
    totals.group_by.push_back(x);
    return totals;
  }
  Select few{.columns = {g, column("n"), column("s")},
             .from = NamedRelation{"kept"},
             .where = {column("n") <= rows}};
  Select first{.columns = {g, integer(1), x}, .from = NamedRelation{"ranked"}, .where = {is_first}};
  if (aggregate_.gather == Gather::squares) {
    few.columns.push_back(column("q"));
    first.columns.push_back(x * x);
  }
  append(totals.columns, final_sums(column("n"), column("s"), column("q")));
  totals.from = union_all(few, first, "stay");
  return totals;
}

// The totals of each group from the pairs that count.
Select AggregateQuery::totals_of_pairs() const {
  if (keeps_lists()) return totals_of_first_rows();
  const SqlExpression g = column("g");
  Select totals{.columns = {cast(sql_, g, Type::integer)},
                .from = NamedRelation{"kept"},
                .group_by = {g}};
  switch (aggregate_.gather) {
    case Gather::rows: {
      const SqlExpression rows = call("LEAST", {column("n"), integer(aggregate_.rows_a_group)});
      totals.columns.push_back(as_bigint(sum_of(rows)));
      return totals;
    }
    case Gather::units: totals.columns.push_back(count_rows()); return totals;
    case Gather::totals: {
      const SqlExpression total = clamped_total(column("s"), aggregate_.steps);
      totals.columns.insert(totals.columns.end(), {count_rows(), as_bigint(sum_of(total))});
      return totals;
    }
    default: return totals_of_ranked_rows();
  }
}

Select AggregateQuery::totals_of_units(bool whole_numbers, Form form, Part part) const {
  const bool pairs_first = has_forms() && form == Form::pairs_first;
  Select numbered = numbered_rows(whole_numbers, pairs_first, part);
  const bool reads_once = dialect_ == Dialect::spark && aggregate_.of;
  if (reads_once && aggregate_.gather != Gather::totals) {
    return totals_in_one_scan(std::move(numbered));
  }
  std::vector<NamedQuery> with{named_query("numbered", std::move(numbered), Reuse::compute_again)};
  append(with, pairs_that_count(pairs_first));
  Select totals = totals_of_pairs();
  append(with, totals.with);
  totals.with = std::move(with);
  return totals;
}

// --- statements ---

std::string AggregateQuery::totals(bool whole_numbers, Form form, Part part) const {
  return print(aggregate_.unit ? totals_of_units(whole_numbers, form, part)
                               : totals_of_rows(whole_numbers, part),
               sql_);
}

std::string AggregateQuery::present_groups(Part part) const {
  if (!aggregate_.unit) {
    Select groups{.columns = keys_as_text(),
                  .from = subquery(base(true, part), "base"),
                  .group_by = keys()};
    groups.columns.push_back(count_rows());
    for (const SqlExpression& key : keys()) groups.where.push_back(is_not_null(key));
    return print(groups, sql_);
  }

  // A group's constant c comes from the text of its keys alone, so that no other group, present or
  // absent, changes its rank.
  std::vector<SqlExpression> parts{text_constant("")};
  for (const SqlExpression& text : keys_as_text()) {
    append(parts, {call("length", {text}), text_constant(":"), text, text_constant("")});
  }
  const SqlExpression hash = trusted_sql(sql_.number_of(concatenation(parts).text()));
  const SqlExpression constant = (hash + integer(draw(3, 0))) % integer(prime);
  const Select names{.distinct = true, .columns = keys(), .from = NamedRelation{"base"}};
  Select known{.columns = keys(), .from = subquery(names, "names")};
  known.columns.push_back(alias(constant, "c"));

  Select numbered{.distinct = true,
                  .columns = {column("u"), alias(unit_number(), "w"), column("c")},
                  .from = NamedRelation{"base"},
                  .joins = {{NamedRelation{"known"}, same_keys("base", "known")}}};
  append(numbered.columns, keys("known"));
  Select pairs{.columns = {column("u")}, .from = NamedRelation{"numbered"}};
  append(pairs.columns, keys());
  pairs.columns.push_back(alias(group_rank(false), "h"));

  Select groups{.with = {named_query("base", base(true, part), Reuse::compute_again),
                         named_query("known", known), named_query("numbered", numbered),
                         named_query("pairs", pairs), named_query("kept", counted_pairs())},
                .columns = keys_as_text(),
                .from = NamedRelation{"kept"},
                .group_by = keys()};
  groups.columns.push_back(count_rows());
  return print(groups, sql_);
}

// --- query plans ---

bool AggregateQuery::has_forms() const {
  return aggregate_.unit && limits_groups() && dialect_ == Dialect::duckdb && has_few_groups() &&
         aggregate_.groups_a_unit <= 16;
}

bool AggregateQuery::has_parts() const {
  return dialect_ == Dialect::duckdb && (aggregate_.unit || !aggregate_.keys.empty());
}

std::string AggregateQuery::sample() const {
  const SqlExpression residue = integer(draw(3, 1) % sampled);
  Select pairs{.columns = {column("u")},
               .from = subquery(base(true, {}), "base"),
               .where = {equal(unit_number() % integer(sampled), residue)},
               .group_by = {column("u")}};
  append(pairs.columns, keys());
  append(pairs.group_by, keys());
  pairs.columns.push_back(alias(count_rows(), "n"));
  const SqlExpression rows = call("COALESCE", {sum_of(column("n")), integer(0)});
  return print({.columns = {trusted_sql("COUNT(DISTINCT u)"), count_rows(),
                            cast(sql_, rows, Type::integer)},
                .from = subquery(pairs, "pairs")},
               sql_);
}

AggregateQuery::Form AggregateQuery::form_for(std::int64_t units, std::int64_t pairs) const {
  // an empty sample means few rows, for which both forms are fast: each is chosen for half of the keys
  if (units == 0) return draw(3, 2) % 2 == 0 ? Form::pairs_first : Form::groups_first;
  const bool drops_few = 2 * pairs <= 3 * aggregate_.groups_a_unit * units;
  return drops_few ? Form::pairs_first : Form::groups_first;
}

double AggregateQuery::bytes_for(Form form, double units, double pairs, double rows) const {
  if (has_forms() && form == Form::groups_first) {
    pairs = std::min(pairs, units * static_cast<double>(aggregate_.groups_a_unit));
  }
  const double list = keeps_lists() ? 50 + 8 * static_cast<double>(aggregate_.rows_a_group) : 0;
  const bool ranks_rows =
      aggregate_.of && !keeps_lists() && aggregate_.gather != Gather::totals;
  return 50 * units + (50 + list) * pairs + (ranks_rows ? 50 * rows : 0);
}

}  // namespace sotto::data_detail
