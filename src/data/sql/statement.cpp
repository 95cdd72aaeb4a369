#include "data/sql/statement.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/expressions/tree.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/join.hpp"

// The layers, from the inside: the stored columns cleaned; unit, keys and code of every row that counts (`base`); with a unit, how many rows
// it has in each group (`pairs`), the groups in which it counts (`kept`), and for those with too many rows the rows that stay (`ranked`).
// Which groups are kept may be known before the pairs are made, or after.
// Nothing here depends on the data, and no operation can fail on any row.
namespace sotto::data_detail {
namespace {

constexpr std::uint64_t small_prime = 61;
const double largest_real = std::nextafter(expression::most_real, 0);
constexpr std::int64_t most_codes = std::int64_t{1} << 31U;  // a place modulo the prime and a code fit a BIGINT
constexpr std::uint64_t prime = 2147483647;                  // 2^31 - 1: products of two residues fit a BIGINT on every engine

bool is_bare(const Expression& expression) {
  const auto names = expression.columns();
  return names.size() == 1 && (expression.text() == names.front() || expression.text() == sotto::quoted(names.front()));
}

// The code of a constant, as the statement codes a value.
std::int64_t code_of(const Aggregate& aggregate, const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* broken = std::get_if<double>(&value);
  if (whole == nullptr && broken == nullptr) throw InvalidValue("what stands for NULL must be a number here");
  const double x = whole != nullptr ? static_cast<double>(*whole) : *broken;
  if (!std::isfinite(x)) throw InvalidValue("what stands for NULL must be a number here");
  if (aggregate.gather == Gather::bins) {
    const Bins& bins = aggregate.bins;
    return static_cast<std::int64_t>(std::clamp(std::floor((x - bins.lower) / bins.width), 0.0, static_cast<double>(bins.count - 1)));
  }
  const Steps& steps = aggregate.steps;
  const double code = std::nearbyint(x / steps.unit());
  if (aggregate.gather == Gather::totals) return static_cast<std::int64_t>(std::clamp(code, -0x1p40, 0x1p40));
  return static_cast<std::int64_t>(std::clamp(code, static_cast<double>(steps.low), static_cast<double>(steps.high))) - steps.low;
}

// A whole number from a fine sum, never outside what a BIGINT holds.
std::string as_bigint(const std::string& sum) {
  return "CAST(LEAST(GREATEST(COALESCE(" + sum + ", 0), -4611686018427387904), 4611686018427387904) AS BIGINT)";
}

}  // namespace

Statement::Statement(Dialect dialect, std::string table, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key)
    : dialect_(dialect), sql_(sql_dialect(dialect)), table_(std::move(table)), columns_(columns), aggregate_(aggregate), key_(key) {
  const auto is_taken = [&](const Column& column) { return column.name == stored_; };
  while (std::any_of(columns_.begin(), columns_.end(), is_taken)) stored_ += "=";
}

std::uint64_t Statement::draw(std::uint64_t stream, std::uint64_t index) const {
  // the order needs to be fair, not secret: what is released is private for any order
  std::uint64_t z = key_.seed[stream & 3U] + (stream / 4 + 1) * 0x9e3779b97f4a7c15U + index * 0xd1342543de82ef95U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return (z ^ (z >> 31U)) % (prime - 1) + 1;
}

std::string Statement::field(const Field& field) const {
  std::string sql = field.value.sql(dialect_);
  if (!field.if_null) return sql;
  return "COALESCE(" + sql + ", " + literal(*field.if_null, field.value.type(), dialect_) + ")";
}

// The number that is coded. DuckDB reads a stored real column as it is stored, and code() treats what is not a number as NULL; PostgreSQL fails on
// a number too small to be divided, so that it reads cleaned ones.
std::string Statement::number() const {
  const Field& of = *aggregate_.of;
  if (dialect_ == Dialect::duckdb && of.value.type() == Type::real && is_bare(of.value)) return sql_.name(stored_);
  return of.value.sql(dialect_);
}

// The sums are of doubles, and exact: gather() has looked after that.
bool Statement::adds_doubles(bool whole_numbers) const {
  const bool fractional = aggregate_.of && (aggregate_.of->value.type() == Type::real || aggregate_.steps.exponent != 0);
  return fractional && !whole_numbers && dialect_ == Dialect::duckdb && aggregate_.gather == Gather::values;
}

// The code of a row's number. Where rows are only added, as doubles, it stays a number on the grid: its sum is brought to codes.
std::string Statement::code(bool whole_numbers) const {
  const Field& of = *aggregate_.of;
  const Type type = of.value.type();
  if (type != Type::integer && type != Type::real) throw InvalidValue("only a column of whole or real numbers can be summed");
  const std::string x = "n." + sql_.name("number");
  const bool fractional = type == Type::real || aggregate_.steps.exponent != 0 || aggregate_.gather == Gather::bins;
  const std::string v = fractional && type == Type::integer ? sql_.cast(x, Type::real) : x;
  const bool on_grid = adds_doubles(whole_numbers) && !aggregate_.unit;
  std::string low;
  std::string high;
  std::string inside;
  std::int64_t last = 0;
  double scale = 1;
  if (aggregate_.gather == Gather::bins) {
    const Bins& bins = aggregate_.bins;
    last = bins.count - 1;
    low = sql_.real(bins.lower);
    high = sql_.real(bins.lower + static_cast<double>(bins.count) * bins.width);
    // the last bin may be reached by rounding from below
    inside = "LEAST(floor((" + v + " - " + low + ") / " + sql_.real(bins.width) + "), " + sql_.real(static_cast<double>(last)) + ")";
  } else {
    // a total is clamped as a whole: its rows only so far that sums stay exact
    const Steps& steps = aggregate_.steps;
    const bool is_total = aggregate_.gather == Gather::totals;
    const std::int64_t from = is_total ? -(std::int64_t{1} << 40U) : steps.low;
    const std::int64_t to = is_total ? std::int64_t{1} << 40U : steps.high;
    last = is_total ? to : to - from;
    if (!fractional) {
      low = std::to_string(from);
      high = std::to_string(to);
      inside = from == 0 || is_total ? v : v + " - " + (from < 0 ? "(" + low + ")" : low);
    } else {
      low = sql_.real(static_cast<double>(from) * steps.unit());
      high = sql_.real(static_cast<double>(to) * steps.unit());
      // beside 1.5·2^52 steps a double has no room for parts of one: the sum is rounded to the grid, and the difference is exact
      const double far = 0x1.8p52 * steps.unit();
      inside = "((" + v + " + " + sql_.real(far) + ") - " + sql_.real(is_total ? far : far + static_cast<double>(from) * steps.unit()) + ")";
      if (on_grid) {
        scale = steps.unit();
      } else {
        inside += " * " + sql_.real(1 / steps.unit());
      }
    }
  }
  const std::int64_t first = aggregate_.gather == Gather::totals ? -last : 0;
  const auto end = [&](std::int64_t n) {
    return fractional ? sql_.real(static_cast<double>(n) * scale) : "CAST(" + std::to_string(n) + " AS BIGINT)";
  };
  std::string sql = "CASE WHEN " + v + " BETWEEN " + low + " AND " + high + " THEN " + inside + " WHEN " + v + " < " + low;
  if (fractional) sql += " AND " + v + " >= " + sql_.real(-largest_real);
  sql += " THEN " + end(first) + " WHEN " + v + " > " + high;
  if (fractional) sql += " AND " + v + " <= " + sql_.real(largest_real);
  sql += " THEN " + end(last);
  if (of.if_null) sql += " ELSE " + end(code_of(aggregate_, *of.if_null));
  sql += " END";
  return adds_doubles(whole_numbers) ? sql : "CAST(" + sql + " AS BIGINT)";
}

std::string Statement::named_keys() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) names.push_back("k" + std::to_string(k));
  return join(names);
}

// u, k0, k1, …, x of every row. Rows that do not count are left out where a unit's part is bounded; without a unit they have a NULL there, which
// no count or sum sees and no group is asked for by.
std::string Statement::base(bool whole_numbers, Part part) const {
  std::set<std::string> used;
  const auto use = [&](const Expression& e) {
    for (const std::string& name : e.columns()) used.insert(name);
  };
  std::vector<std::string> selected;
  std::vector<std::string> conditions;
  if (aggregate_.unit) {
    use(*aggregate_.unit);
    selected.push_back(aggregate_.unit->sql(dialect_) + " AS u");
    conditions.emplace_back("n.u IS NOT NULL");
  }
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    use(aggregate_.keys[k].value);
    const std::string name = "k" + std::to_string(k);
    selected.push_back(field(aggregate_.keys[k]) + " AS " + name);
    conditions.push_back("n." + name + " IS NOT NULL");
  }
  std::vector<std::string> inner;
  if (aggregate_.of) {
    use(aggregate_.of->value);
    const std::string value = number();
    if (value == sql_.name(stored_)) inner.push_back(sql_.name(aggregate_.of->value.columns().front()) + " AS " + value);
    const std::string number = sql_.name("number");
    selected.push_back(value + " AS " + number);
    const bool is_real = aggregate_.of->value.type() == Type::real;
    if (!aggregate_.of->if_null) {
      conditions.push_back(is_real ? "n." + number + " BETWEEN " + sql_.real(-largest_real) + " AND " + sql_.real(largest_real)
                                   : "n." + number + " IS NOT NULL");
    }
  }
  if (aggregate_.where) use(*aggregate_.where);
  for (const Column& column : columns_) {
    if (used.contains(column.name)) inner.push_back(cleaned(column, dialect_) + " AS " + sql_.name(column.name));
  }
  if (inner.empty()) inner.emplace_back("1 AS one");
  if (selected.empty()) selected.emplace_back("1 AS one");
  std::string numbered = "SELECT " + join(selected) + " FROM (SELECT " + join(inner) + " FROM " + table_ + ") AS c";
  if (aggregate_.where) numbered += " WHERE " + aggregate_.where->sql(dialect_);

  std::vector<std::string> names;
  if (aggregate_.unit) names.emplace_back("n.u");
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) names.push_back("n.k" + std::to_string(k));
  if (aggregate_.of) {
    names.push_back(code(whole_numbers) + " AS x");
    if (names.empty()) names.emplace_back("1 AS one");
  }
  if (names.empty()) names.emplace_back("1 AS one");
  std::string sql = "SELECT " + join(names) + " FROM (" + numbered + ") AS n";
  if (!aggregate_.unit) conditions.clear();
  if (part.count > 1) conditions.push_back(in_part(part));
  if (!conditions.empty()) sql += " WHERE " + join(conditions, " AND ");
  return sql;
}

bool Statement::has_parts() const { return dialect_ == Dialect::duckdb && (aggregate_.unit || !aggregate_.keys.empty()); }

// The number beside the names makes it another hash than the one by which DuckDB keeps its own tables.
std::string Statement::in_part(Part part) const {
  std::vector<std::string> names;
  if (aggregate_.unit) {
    names.emplace_back("n.u");
  } else {
    for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) names.push_back("n.k" + std::to_string(k));
  }
  return "hash(" + join(names) + ", " + std::to_string(draw(3, 3)) + ") % " + std::to_string(part.count) + " = " + std::to_string(part.index);
}

// A whole number that differs from unit to unit, below 2^31 in size.
std::string Statement::unit_number() const {
  if (aggregate_.unit->type() == Type::integer) return "u % " + std::to_string(prime);
  return sql_.number_of(sql_.cast("u", Type::text));
}

// The groups by number, each with what its place in a unit's order comes from.
std::string Statement::pick() const {
  std::vector<std::uint64_t> shuffled;
  for (std::uint64_t g = 0; g < aggregate_.groups.size(); ++g) shuffled.push_back(g);
  for (std::size_t g = shuffled.size(); g > 1; --g) std::swap(shuffled[g - 1], shuffled[draw(0, g) % g]);
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < aggregate_.groups.size(); ++g) {
    std::string values;
    for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
      values += literal(aggregate_.groups[g][k], aggregate_.keys[k].value.type(), dialect_) + ", ";
    }
    const std::uint64_t c = is_small() ? shuffled[g] : draw(1, g);
    lines.push_back("(" + values + std::to_string(g) + ", " + std::to_string(c) + ")");
  }
  return "(VALUES " + join(lines) + ") AS pick(" + named_keys() + ", g, c)";
}

// So few groups that x -> c·s + o modulo 61 puts them in an order for each unit, all different, and the places fit the bits of a number.
bool Statement::is_small() const { return aggregate_.groups.size() <= small_prime; }

// A unit's order of its groups, from its number w: a random line modulo a prime.
std::string Statement::place(bool small) const {
  const std::string p = std::to_string(prime);
  const std::string t = "((" + std::to_string(draw(2, 2)) + " * w + " + std::to_string(draw(2, 3)) + ") % " + p + " + " + p + ")";
  if (!small) return "c * (" + t + " % " + p + ") % " + p;
  return "(c * (" + t + " % 60 + 1) + " + t + " % 61) % " + std::to_string(small_prime);
}

// The numbers that are added are at most this in size.
double Statement::largest_number() const { return aggregate_.gather == Gather::totals ? 0x1p40 : static_cast<double>(largest_code()); }

// Codes go from 0 to this; a total's go below.
std::int64_t Statement::largest_code() const { return aggregate_.gather == Gather::bins ? aggregate_.bins.count - 1 : aggregate_.steps.range(); }

// Of `pairs` (u, the group's identity, h, …) those in which the unit counts: the first by h, and where the last of them share an h none of
// those, so that the rows' order in the data never decides.
std::string Statement::kept() const {
  const std::string most = std::to_string(aggregate_.groups_a_unit);
  if (dialect_ == Dialect::duckdb && aggregate_.groups_a_unit < 1000) {
    const std::string next = std::to_string(aggregate_.groups_a_unit + 1);
    return "SELECT pairs.* FROM pairs JOIN (SELECT u, list_extract(min(h, " + next + "), " + next +
           ") AS beyond FROM pairs GROUP BY u) AS reach ON pairs.u = reach.u WHERE beyond IS NULL OR h < beyond";
  }
  return "SELECT * FROM (SELECT pairs.*, COUNT(*) OVER (PARTITION BY u ORDER BY h) AS place FROM pairs) AS placed WHERE place <= " + most;
}

// For each unit the last place at which it counts, as a bit: the places of its groups are the bits of one number, and all but the first few
// are beyond. 0: it has no more groups than it may. This is kept() for an engine that aggregates faster than it sorts.
std::string Statement::reach(const std::string& of) const {
  std::string sql = "SELECT u, bit_or(CAST(1 AS BIGINT) << CAST(h AS INTEGER)) AS y FROM " + of + " GROUP BY u";
  for (std::int64_t i = 1; i < aggregate_.groups_a_unit; ++i) sql = "SELECT u, y & (y - 1) AS y FROM (" + sql + ") AS less";
  return "SELECT u, y & (-y) AS last FROM (" + sql + ") AS least";
}

std::string Statement::final_sums(const std::string& count, const std::string& sum, const std::string& square) const {
  std::string sql = as_bigint("SUM(" + count + ")");
  if (aggregate_.gather == Gather::values || aggregate_.gather == Gather::squares || aggregate_.gather == Gather::totals) {
    sql += ", " + as_bigint("SUM(" + sum + ")");
  }
  if (aggregate_.gather == Gather::squares) sql += ", " + sql_.cast("COALESCE(SUM(" + square + "), 0)", Type::text);
  return sql;
}

std::string Statement::of_rows(bool whole_numbers, Part part) const {
  std::vector<std::string> names;
  std::vector<std::string> groups;
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    const std::string name = "k" + std::to_string(k);
    names.push_back(sql_.cast(name, Type::text));
    groups.push_back(name);
  }
  if (aggregate_.gather == Gather::bins) {
    names.emplace_back("x");
    groups.emplace_back("x");
  }
  std::string totals = aggregate_.of ? "COUNT(x)" : "COUNT(*)";
  const std::string shifted = std::to_string(aggregate_.steps.low);
  if (aggregate_.gather == Gather::values || aggregate_.gather == Gather::squares) {
    totals += ", " + as_bigint(adds_doubles(whole_numbers) ? "SUM(x) * " + sql_.real(1 / aggregate_.steps.unit()) : sql_.sum("x", largest_number()));
  }
  if (aggregate_.gather == Gather::squares)
    totals += ", " + sql_.cast("COALESCE(" + sql_.sum("(x * x)", largest_number() * largest_number()) + ", 0)", Type::text);
  if (aggregate_.gather == Gather::totals) {
    totals += ", " + as_bigint("SUM(LEAST(GREATEST(x, " + shifted + "), " + std::to_string(aggregate_.steps.high) + ") - (" + shifted + "))");
  }
  names.push_back(totals);
  std::string sql = "SELECT " + join(names) + " FROM (" + base(whole_numbers, part) + ") AS base";
  if (!groups.empty()) sql += " GROUP BY " + join(groups);
  return sql;
}

bool Statement::chooses() const { return !aggregate_.keys.empty() && static_cast<std::size_t>(aggregate_.groups_a_unit) < aggregate_.groups.size(); }

bool Statement::has_forms() const {
  return aggregate_.unit && chooses() && dialect_ == Dialect::duckdb && is_small() && aggregate_.groups_a_unit <= 16;
}

std::string Statement::sample() const {
  const std::string keys = aggregate_.keys.empty() ? "" : ", " + named_keys();
  return "SELECT COUNT(DISTINCT u), COUNT(*), CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (SELECT u" + keys + ", COUNT(*) AS n FROM (" + base(true, {}) +
         ") AS base WHERE " + unit_number() + " % " + std::to_string(sampled) + " = " +
         std::to_string(draw(3, 1) % static_cast<std::uint64_t>(sampled)) + " GROUP BY u" + keys + ") AS pairs";
}

Statement::Form Statement::form_for(std::int64_t units, std::int64_t pairs) const {
  if (units == 0) return draw(3, 2) % 2 == 0 ? Form::pairs_first : Form::groups_first;  // few rows: either will do
  return 2 * pairs <= 3 * aggregate_.groups_a_unit * units ? Form::pairs_first : Form::groups_first;
}

// Few rows stay of a pair: an aggregate that keeps the first of a pair costs less than a window that ranks all.
bool Statement::by_lists() const {
  return dialect_ == Dialect::duckdb && aggregate_.of && aggregate_.gather != Gather::totals && aggregate_.rows_a_group <= 16 &&
         largest_code() < most_codes;
}

double Statement::bytes_for(Form form, double units, double pairs, double rows) const {
  if (has_forms() && form == Form::groups_first) pairs = std::min(pairs, units * static_cast<double>(aggregate_.groups_a_unit));
  const double lists = by_lists() ? 50 + 8 * static_cast<double>(aggregate_.rows_a_group) : 0;
  const double ranks = aggregate_.of && !by_lists() && aggregate_.gather != Gather::totals ? 50 * rows : 0;
  return 50 * units + (50 + lists) * pairs + ranks;
}

// Of a unit's rows in a group some stay: the first by this, a fair order of the unit's own values.
std::string Statement::order() const {
  const std::string mixed = "((" + std::to_string(draw(2, 0)) + " * w + " + std::to_string(draw(2, 1)) + ") % " + std::to_string(prime) + ")";
  return "(CAST(x AS BIGINT) + 1) * " + mixed + " % " + std::to_string(prime);
}

// Spark reads the table anew wherever a named query is used, and of some tables (a view with a limit, another database's) then sees other rows. What
// bounds a unit must hold for the rows that are counted: so they are read once, ranked in their group, and those groups are chosen. A group has one
// first row: counting these along h counts groups, with all that share an h.
std::string Statement::in_one_look(const std::string& numbered) const {
  std::string rows = "SELECT g, x" + std::string(chooses() ? ", u, h, place" : "") +
                     " FROM (SELECT *, row_number() OVER (PARTITION BY u, g ORDER BY " + order() + ", x) AS place FROM (" + numbered +
                     ") AS numbered) AS ranked WHERE place <= " + std::to_string(aggregate_.rows_a_group);
  if (chooses()) {
    rows = "SELECT g, x FROM (SELECT g, x, SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY u ORDER BY h) AS reached FROM (" + rows +
           ") AS few) AS placed WHERE reached <= " + std::to_string(aggregate_.groups_a_unit);
  }
  if (aggregate_.gather == Gather::bins) return "SELECT CAST(g AS BIGINT), x, COUNT(*) FROM (" + rows + ") AS stay GROUP BY g, x";
  std::string totals = as_bigint("COUNT(*)") + ", " + as_bigint(sql_.sum("x", largest_number()));
  if (aggregate_.gather == Gather::squares) {
    totals += ", " + sql_.cast("COALESCE(" + sql_.sum("(x * x)", largest_number() * largest_number()) + ", 0)", Type::text);
  }
  return "SELECT CAST(g AS BIGINT), " + totals + " FROM (" + rows + ") AS stay GROUP BY g";
}

std::string Statement::of_units(bool whole_numbers, Form form, Part part) const {
  const bool grouped = !aggregate_.keys.empty();
  const bool chooses = this->chooses();
  std::string numbered = "SELECT u, " + std::string(grouped ? "g, c" : "0 AS g") + (aggregate_.of ? ", x" : "") + ", " + unit_number() +
                         " AS w FROM (" + base(whole_numbers, part) + ") AS base";
  if (grouped) {
    std::vector<std::string> same;
    for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
      const std::string name = "k" + std::to_string(k);
      same.push_back("base." + name + " = pick." + name);
    }
    numbered += " JOIN " + pick() + " ON " + join(same, " AND ");
  }
  const bool by_bits = has_forms();
  const bool pairs_first = by_bits && form == Form::pairs_first;
  if (chooses && !pairs_first) numbered = "SELECT *, " + place(is_small()) + " AS h FROM (" + numbered + ") AS found";
  const bool sums = aggregate_.gather == Gather::values || aggregate_.gather == Gather::squares || aggregate_.gather == Gather::totals;
  if (dialect_ == Dialect::spark && aggregate_.of && aggregate_.gather != Gather::totals) return in_one_look(numbered);
  std::string pairs = by_bits ? "SELECT numbered.u, g" : "SELECT u, g";
  if (chooses && !by_bits) pairs += ", h";
  if (pairs_first) pairs += ", c, w";
  const std::string order = this->order();
  const std::string rows = std::to_string(aggregate_.rows_a_group);
  if (by_lists()) {  // place and code are one number
    pairs += ", min(" + order + " * " + std::to_string(most_codes) + " + CAST(x AS BIGINT), " + rows + ") AS firsts";
  } else {
    pairs += ", COUNT(*) AS n";
    if (sums) pairs += ", " + sql_.sum("x", largest_number()) + " AS s";
    if (aggregate_.gather == Gather::squares) pairs += ", " + sql_.sum("(x * x)", largest_number() * largest_number()) + " AS q";
  }
  pairs += " FROM numbered";
  const std::string within = " WHERE last = 0 OR (CAST(1 AS BIGINT) << CAST(h AS INTEGER)) <= last";
  if (pairs_first) {
    pairs += " GROUP BY u, g, c, w";
  } else if (by_bits) {
    pairs += " JOIN (" + reach("numbered") + ") AS reach ON numbered.u = reach.u" + within + " GROUP BY numbered.u, g";
  } else {
    pairs += std::string(" GROUP BY u, g") + (chooses ? ", h" : "");
  }
  std::string sql = "WITH " + sql_.named_query("numbered", numbered, false) + ", ";
  if (pairs_first) {
    sql += sql_.named_query("pairs", "SELECT *, " + place(true) + " AS h FROM (" + pairs + ") AS found", true) +
           ", kept AS (SELECT pairs.* EXCLUDE (c, w, h) FROM pairs JOIN (" + reach("pairs") + ") AS reach ON pairs.u = reach.u" + within + ")";
  } else {
    sql += chooses && !by_bits ? "pairs AS (" + pairs + "), kept AS (" + kept() + ")" : "kept AS (" + pairs + ")";
  }

  if (by_lists()) {
    sql += ", stay AS (SELECT g, unnest(firsts) & " + std::to_string(most_codes - 1) + " AS x FROM kept) SELECT CAST(g AS BIGINT), ";
    if (aggregate_.gather == Gather::bins) return sql + "x, COUNT(*) FROM stay GROUP BY g, x";
    return sql + final_sums("1", "x", "x * x") + " FROM stay GROUP BY g";
  }
  switch (aggregate_.gather) {
    case Gather::rows: return sql + " SELECT CAST(g AS BIGINT), " + as_bigint("SUM(LEAST(n, " + rows + "))") + " FROM kept GROUP BY g";
    case Gather::units: return sql + " SELECT CAST(g AS BIGINT), COUNT(*) FROM kept GROUP BY g";
    case Gather::totals: {
      const std::string low = std::to_string(aggregate_.steps.low);
      const std::string total = "LEAST(GREATEST(s, " + low + "), " + std::to_string(aggregate_.steps.high) + ") - (" + low + ")";
      return sql + " SELECT CAST(g AS BIGINT), COUNT(*), " + as_bigint("SUM(" + total + ")") + " FROM kept GROUP BY g";
    }
    default: break;
  }
  sql += ", ranked AS (SELECT numbered.g, numbered.x, row_number() OVER (PARTITION BY numbered.u, numbered.g ORDER BY " + order +
         ", x) AS place FROM numbered JOIN kept ON numbered.u = kept.u AND numbered.g = kept.g WHERE kept.n > " + rows + ")";
  if (aggregate_.gather == Gather::bins) {
    return sql +
           " SELECT CAST(g AS BIGINT), x, COUNT(*) FROM (SELECT numbered.g, numbered.x FROM numbered JOIN kept ON numbered.u = kept.u AND numbered.g "
           "= kept.g "
           "WHERE kept.n <= " +
           rows + " UNION ALL SELECT g, x FROM ranked WHERE place <= " + rows + ") AS stay GROUP BY g, x";
  }
  const bool squares = aggregate_.gather == Gather::squares;
  const std::string q = squares ? ", q" : "";
  const std::string xx = squares ? ", x * x" : "";
  return sql + " SELECT CAST(g AS BIGINT), " + final_sums("n", "s", "q") + " FROM (SELECT g, n, s" + q + " FROM kept WHERE n <= " + rows +
         " UNION ALL SELECT g, 1, x" + xx + " FROM ranked WHERE place <= " + rows + ") AS stay GROUP BY g";
}

std::string Statement::gathered(bool whole_numbers, Form form, Part part) const {
  return aggregate_.unit ? of_units(whole_numbers, form, part) : of_rows(whole_numbers, part);
}

std::string Statement::present(Part part) const {
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    names.push_back("k" + std::to_string(k));
    texts.push_back(sql_.cast(names.back(), Type::text));
  }
  if (!aggregate_.unit) {
    std::vector<std::string> known;
    for (const std::string& name : names) known.push_back(name + " IS NOT NULL");
    return "SELECT " + join(texts) + ", COUNT(*) FROM (" + base(true, part) + ") AS base WHERE " + join(known, " AND ") + " GROUP BY " +
           join(names);
  }
  // a group's number comes from its own text, so that no other group, there or not, changes its place
  std::string all = "'";
  for (const std::string& text : texts) all += "' || length(" + text + ") || ':' || " + text + " || '";
  const std::string keys = join(names);
  std::vector<std::string> same;
  for (const std::string& name : names) same.push_back("base." + name + " = known." + name);
  const std::string number = "(" + sql_.number_of(all + "'") + " + " + std::to_string(draw(3, 0)) + ") % " + std::to_string(prime);
  const std::string sql = "WITH " + sql_.named_query("base", base(true, part), false) + ", known AS (SELECT " + keys + ", " + number +
                          " AS c FROM (SELECT DISTINCT " + keys + " FROM base) AS names), numbered AS (SELECT DISTINCT u, " + unit_number() +
                          " AS w, c, " + join(names, ", ", [](const std::string& name) { return "known." + name; }) + " FROM base JOIN known ON " + join(same, " AND ") +
                          "), pairs AS (SELECT u, " + keys + ", " + place(false) + " AS h FROM numbered), kept AS (" + kept() + ")";
  return sql + " SELECT " + join(texts) + ", COUNT(*) FROM kept GROUP BY " + keys;
}

}  // namespace sotto::data_detail
