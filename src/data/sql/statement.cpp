// The SQL of an aggregate, in layers from the inside:
//
//   base      the rows that count: unit u, keys k0, k1, …, clamped code x (base_rows.hpp)
//   numbered  base with the group's number g and constant c, the unit's number w, and h, the rank
//             of the group in the unit's own order of groups (unit_order.hpp)
//   pairs     one row for each pair of unit and group: its rows n, their sum s and squares q
//   kept      the pairs in which the unit counts: its first `groups_a_unit` by h
//   ranked    rows of pairs that have more than `rows_a_group` rows, in the unit's own order
//   stay      the rows that are added
#include "data/sql/statement.hpp"

#include <algorithm>

#include "data/sql/clamp.hpp"

namespace sotto::data_detail {
namespace {

/// A rank below 2^31 times this, plus a code below it, fits a BIGINT.
constexpr std::int64_t most_codes = std::int64_t{1} << 31U;

SqlExpression column(const std::string& name) { return identifier(name); }

SqlExpression sum_of(const SqlExpression& x) { return call("SUM", {x}); }

/// Returns a sum of any numeric type as a BIGINT: 0 for NULL, clamped to ±2^62.
SqlExpression as_bigint(const SqlExpression& sum) {
  constexpr std::int64_t most = std::int64_t{1} << 62U;
  const SqlExpression number = call("COALESCE", {sum, integer(0)});
  const SqlExpression at_least = call("GREATEST", {number, integer(-most)});
  return trusted_sql("CAST(" + call("LEAST", {at_least, integer(most)}).text() + " AS BIGINT)");
}

/// Clamps a unit's total to the bounds of the aggregate, and counts it from the lower bound.
SqlExpression clamped_total(const SqlExpression& total, const Steps& steps) {
  const SqlExpression low = integer(steps.low);
  return call("LEAST", {call("GREATEST", {total, low}), integer(steps.high)}) - parenthesised(low);
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
      aggregate_(aggregate),
      base_(dialect, std::move(table), columns, aggregate),
      order_(dialect, aggregate, key) {}

std::vector<SqlExpression> AggregateQuery::keys_as_text() const {
  std::vector<SqlExpression> all;
  for (const SqlExpression& key : key_columns(aggregate_)) {
    all.push_back(cast(sql_, key, Type::text));
  }
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

// The base rows of one part. The constant makes its hash another one than the one that DuckDB uses
// for its own tables.
Select AggregateQuery::base(bool whole_numbers, Part part) const {
  if (part.count <= 1) return base_.select(whole_numbers);
  std::vector<SqlExpression> hashed = key_columns(aggregate_, "n");
  if (aggregate_.unit) hashed = {identifier("n", "u")};
  hashed.push_back(integer(order_.draw(3, 3)));
  const SqlExpression hash = call("hash", hashed);
  return base_.select(whole_numbers, equal(hash % integer(part.count), integer(part.index)));
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
                .group_by = key_columns(aggregate_)};
  if (aggregate_.gather == Gather::bins) {
    select.columns.push_back(column("x"));
    select.group_by.push_back(column("x"));
  }
  select.columns.push_back(aggregate_.of ? call("COUNT", {column("x")}) : count_rows());
  if (aggregate_.gather == Gather::values || aggregate_.gather == Gather::squares) {
    const SqlExpression sum = base_.adds_doubles(whole_numbers)
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
  selected.push_back(alias(order_.unit_number(), "w"));

  Select numbered{.columns = selected, .from = subquery(base(whole_numbers, part), "base")};
  if (is_grouped) numbered.joins.push_back({order_.listed_groups(), same_keys("base", "pick")});
  if (!order_.limits_groups() || pairs_first) return numbered;
  return {.columns = {all_columns(), alias(order_.group_rank(order_.has_few_groups()), "h")},
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

  const SqlExpression row_number = over(call("row_number", {}), {u, g}, {order_.row_rank(), x});
  const Select ranked{.columns = {all_columns(), alias(row_number, "place")},
                      .from = subquery(std::move(numbered), "numbered")};
  Select rows{.columns = {g, x},
              .from = subquery(ranked, "ranked"),
              .where = {place <= integer(aggregate_.rows_a_group)}};

  if (order_.limits_groups()) {
    rows.columns.insert(rows.columns.end(), {u, column("h"), place});
    const SqlExpression is_first = case_when({{equal(place, integer(1)), integer(1)}}, integer(0));
    const SqlExpression reached = over(sum_of(is_first), {u}, {column("h")});
    const Select placed{.columns = {g, x, alias(reached, "reached")},
                        .from = subquery(rows, "few")};
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

// Whether a pair keeps a list of the first rows that count: if these are few, that costs less than
// a window that ranks all rows.
bool AggregateQuery::keeps_lists() const {
  return dialect_ == Dialect::duckdb && aggregate_.of && aggregate_.gather != Gather::totals &&
         aggregate_.rows_a_group <= 16 && last_code(aggregate_) < most_codes;
}

Select AggregateQuery::pairs(bool pairs_first) const {
  const bool has_rank = order_.limits_groups() && !has_forms();
  const bool joins_reach = has_forms() && !pairs_first;
  const SqlExpression g = column("g");
  const SqlExpression u = has_forms() ? identifier("numbered", "u") : column("u");

  Select select{.columns = {u, g}, .from = NamedRelation{"numbered"}};
  if (has_rank) select.columns.push_back(column("h"));
  if (pairs_first) select.columns.insert(select.columns.end(), {column("c"), column("w")});
  if (keeps_lists()) {
    // rank and code are one number, whose smallest values are kept
    const SqlExpression ranked_code =
        order_.row_rank() * integer(most_codes) + cast(sql_, column("x"), Type::integer);
    const SqlExpression firsts = call("min", {ranked_code, integer(aggregate_.rows_a_group)});
    select.columns.push_back(alias(firsts, "firsts"));
  } else {
    select.columns.push_back(alias(count_rows(), "n"));
    if (has_sums()) select.columns.push_back(alias(sum_of_codes(), "s"));
    if (aggregate_.gather == Gather::squares)
      select.columns.push_back(alias(sum_of_squares(), "q"));
  }

  if (joins_reach) {
    select.joins = {{subquery(order_.last_rank_bits("numbered"), "reach"),
                     {equal(identifier("numbered", "u"), identifier("reach", "u"))}}};
    select.where = {order_.counts_by_bits()};
  }
  select.group_by = {joins_reach ? u : column("u"), g};
  if (has_rank) select.group_by.push_back(column("h"));
  if (pairs_first) select.group_by.insert(select.group_by.end(), {column("c"), column("w")});
  return select;
}

// The named queries up to `kept`.
std::vector<NamedQuery> AggregateQuery::pairs_that_count(bool pairs_first) const {
  if (pairs_first) {
    const Select ranked{.columns = {all_columns(), alias(order_.group_rank(true), "h")},
                        .from = subquery(pairs(true), "found")};
    const Select counted{.columns = {trusted_sql("pairs.* EXCLUDE (c, w, h)")},
                         .from = NamedRelation{"pairs"},
                         .joins = {{subquery(order_.last_rank_bits("pairs"), "reach"),
                                    {equal(identifier("pairs", "u"), identifier("reach", "u"))}}},
                         .where = {order_.counts_by_bits()}};
    return {named_query("pairs", ranked, Reuse::store), named_query("kept", counted)};
  }
  if (order_.limits_groups() && !has_forms()) {
    return {named_query("pairs", pairs(false)), named_query("kept", order_.counted_pairs())};
  }
  return {named_query("kept", pairs(false))};
}

// Adds the rows in the lists of the pairs.
Select AggregateQuery::totals_of_first_rows() const {
  const SqlExpression g = column("g");
  const SqlExpression x = column("x");
  const SqlExpression code = call("unnest", {column("firsts")}) & integer(most_codes - 1);
  Select totals{.with = {named_query(
                    "stay", {.columns = {g, alias(code, "x")}, .from = NamedRelation{"kept"}})},
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
           {order_.row_rank(), x});
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
  Select totals{
      .columns = {cast(sql_, g, Type::integer)}, .from = NamedRelation{"kept"}, .group_by = {g}};
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
                  .group_by = key_columns(aggregate_)};
    groups.columns.push_back(count_rows());
    for (const SqlExpression& key : key_columns(aggregate_))
      groups.where.push_back(is_not_null(key));
    return print(groups, sql_);
  }

  const Select names{
      .distinct = true, .columns = key_columns(aggregate_), .from = NamedRelation{"base"}};
  Select known{.columns = key_columns(aggregate_), .from = subquery(names, "names")};
  known.columns.push_back(alias(order_.group_constant(keys_as_text()), "c"));

  Select numbered{.distinct = true,
                  .columns = {column("u"), alias(order_.unit_number(), "w"), column("c")},
                  .from = NamedRelation{"base"},
                  .joins = {{NamedRelation{"known"}, same_keys("base", "known")}}};
  append(numbered.columns, key_columns(aggregate_, "known"));
  Select pairs{.columns = {column("u")}, .from = NamedRelation{"numbered"}};
  append(pairs.columns, key_columns(aggregate_));
  pairs.columns.push_back(alias(order_.group_rank(false), "h"));

  Select groups{.with = {named_query("base", base(true, part), Reuse::compute_again),
                         named_query("known", known), named_query("numbered", numbered),
                         named_query("pairs", pairs), named_query("kept", order_.counted_pairs())},
                .columns = keys_as_text(),
                .from = NamedRelation{"kept"},
                .group_by = key_columns(aggregate_)};
  groups.columns.push_back(count_rows());
  return print(groups, sql_);
}

// --- query plans ---

bool AggregateQuery::has_forms() const {
  return aggregate_.unit && order_.limits_groups() && dialect_ == Dialect::duckdb &&
         order_.has_few_groups() && aggregate_.groups_a_unit <= 16;
}

bool AggregateQuery::has_parts() const {
  return dialect_ == Dialect::duckdb && (aggregate_.unit || !aggregate_.keys.empty());
}

std::string AggregateQuery::sample() const {
  const SqlExpression residue = integer(order_.draw(3, 1) % sampled);
  Select pairs{.columns = {column("u")},
               .from = subquery(base(true, {}), "base"),
               .where = {equal(order_.unit_number() % integer(sampled), residue)},
               .group_by = {column("u")}};
  append(pairs.columns, key_columns(aggregate_));
  append(pairs.group_by, key_columns(aggregate_));
  pairs.columns.push_back(alias(count_rows(), "n"));
  const SqlExpression rows = call("COALESCE", {sum_of(column("n")), integer(0)});
  return print(
      {.columns = {trusted_sql("COUNT(DISTINCT u)"), count_rows(), cast(sql_, rows, Type::integer)},
       .from = subquery(pairs, "pairs")},
      sql_);
}

AggregateQuery::Form AggregateQuery::form_for(std::int64_t units, std::int64_t pairs) const {
  // an empty sample means few rows, for which both forms are fast: each is chosen for half of the
  // keys
  if (units == 0) return order_.draw(3, 2) % 2 == 0 ? Form::pairs_first : Form::groups_first;
  const bool drops_few = 2 * pairs <= 3 * aggregate_.groups_a_unit * units;
  return drops_few ? Form::pairs_first : Form::groups_first;
}

double AggregateQuery::bytes_for(Form form, double units, double pairs, double rows) const {
  if (has_forms() && form == Form::groups_first) {
    pairs = std::min(pairs, units * static_cast<double>(aggregate_.groups_a_unit));
  }
  const double list = keeps_lists() ? 50 + 8 * static_cast<double>(aggregate_.rows_a_group) : 0;
  const bool ranks_rows = aggregate_.of && !keeps_lists() && aggregate_.gather != Gather::totals;
  return 50 * units + (50 + list) * pairs + (ranks_rows ? 50 * rows : 0);
}

}  // namespace sotto::data_detail
