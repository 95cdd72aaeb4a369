// Small awkward tables and studies about them: units with several rows, what is missing or no
// number, ties, values out of bounds, keys that nobody asks for, and columns that are called like
// the names inside sotto's own statements.
#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sotto/core/decimal.hpp"
#include "sotto/data/engine.hpp"
#include "study/api/design.hpp"
#include "study/api/study.hpp"

namespace sotto::awkward {

using Dice = std::mt19937_64;

inline std::int64_t below(Dice& dice, std::int64_t n) {
  return static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(n));
}
inline bool one_in(Dice& dice, std::int64_t n) { return below(dice, n) == 0; }
template <class T>
const T& any(Dice& dice, const std::vector<T>& of) {
  return of[static_cast<std::size_t>(below(dice, static_cast<std::int64_t>(of.size())))];
}

struct Row {
  std::optional<std::int64_t> unit;
  std::optional<std::string> region;
  std::optional<std::int64_t> age;
  std::optional<double> real;  // may be no number
  std::optional<std::int64_t> whole;
};
using Table = std::vector<Row>;

/// What the columns are called.
struct Names {
  std::string table, person, alias, region, age, real, whole;
};
inline const std::vector<Names> namings{{"tab", "person", "alias", "region", "age", "v", "w"},
                                        {"n", "k0", "g", "u", "x", "number", "="},
                                        {"kept", "h", "u", "c", "k1", "=", "base"},
                                        {"place", "U", "pick", "K0", "y", "s", "NUMBER"}};

inline std::string alias_of(std::int64_t unit) {
  static const std::vector<std::string> odd{"", " ", "o'b", "ä\\", "NULL"};
  return unit >= 0 && unit < 5 ? odd[static_cast<std::size_t>(unit)] + "p"
                               : "p" + std::to_string(unit);
}

inline Row random_row(Dice& dice, std::optional<std::int64_t> unit, bool many_keys) {
  Row row{unit, {}, {}, {}, {}};
  if (!one_in(dice, 12)) row.region = "r" + std::to_string(below(dice, many_keys ? 75 : 5));
  if (!one_in(dice, 12)) row.age = below(dice, 6);
  static const std::vector<double> ties{
      0,    10,    -5,     5,     0.1,    0.30001, 2.5,      3,         1000.5, 1000, 1001,
      -1e6, 1e149, -1e149, 1e200, -1e200, 1e-200,  INFINITY, -INFINITY, NAN,    4.5,  9.9999999};
  if (!one_in(dice, 8))
    row.real = one_in(dice, 2) ? any(dice, ties)
                               : std::ldexp(static_cast<double>(below(dice, 1 << 20)), -15) - 12;
  static const std::vector<std::int64_t> wholes{
      0, 5, -3, 4, 7, -100'000'000'000, 5'000'000'000'000, INT64_MAX, INT64_MIN, 1, 2, 3};
  if (!one_in(dice, 8)) row.whole = any(dice, wholes);
  return row;
}

inline Table rows_of_unit(Dice& dice, std::optional<std::int64_t> unit, std::int64_t rows,
                          bool many_keys) {
  Table table;
  const Row pattern = random_row(dice, unit, many_keys);
  const bool alike =
      one_in(dice, 3);  // a unit that says the same again and again moves a sum the furthest
  for (std::int64_t i = 0; i < rows; ++i) {
    Row row = random_row(dice, unit, many_keys);
    if (alike) {
      row.real = pattern.real;
      row.whole = pattern.whole;
    }
    if (alike && one_in(dice, 2)) row.region = pattern.region;
    table.push_back(row);
  }
  return table;
}

/// A table, the same without one unit, with that unit's rows replaced, and that unit alone.
struct Neighbours {
  Table all, without, replaced, alone, instead;
};
inline Neighbours neighbours(Dice& dice, bool one_row_a_unit, bool many_keys) {
  Neighbours found;
  const std::int64_t units = 3 + below(dice, 8);
  const auto size = [&] { return one_row_a_unit ? 1 : 1 + below(dice, one_in(dice, 3) ? 12 : 4); };
  const std::int64_t chosen = below(dice, units);
  for (std::int64_t unit = 0; unit < units; ++unit) {
    const std::int64_t id = unit < 5 ? unit : unit * 1'000'000'007 - 40'000'000'000;
    const Table rows = rows_of_unit(dice, id, size(), many_keys);
    found.all.insert(found.all.end(), rows.begin(), rows.end());
    if (unit == chosen) {
      found.alone = rows;
      found.instead = rows_of_unit(dice, id, size(), many_keys);
    } else {
      found.without.insert(found.without.end(), rows.begin(), rows.end());
    }
  }
  if (!one_row_a_unit) {
    for (Table* table : {&found.all, &found.without}) {
      Dice same(units);
      const Table nobody = rows_of_unit(same, std::nullopt, 3, many_keys);
      table->insert(table->end(), nobody.begin(), nobody.end());
    }
  }
  found.replaced = found.without;
  found.replaced.insert(found.replaced.begin(), found.instead.begin(), found.instead.end());
  return found;
}

inline std::vector<Column> columns_of(const Names& n) {
  return {{n.table, Type::integer}, {n.person, Type::integer}, {n.alias, Type::text},
          {n.region, Type::text},   {n.age, Type::integer},    {n.real, Type::real},
          {n.whole, Type::integer}};
}

inline void write_csv(const std::string& path, const Names& n, const std::vector<Table>& tables) {
  std::ofstream out(path, std::ios::binary);
  out << n.table << "," << n.person << "," << n.alias << "," << n.region << "," << n.age << ","
      << n.real << "," << n.whole << "\n";
  for (std::size_t t = 0; t < tables.size(); ++t) {
    for (const Row& row : tables[t]) {
      out << t << ",";
      if (row.unit)
        out << *row.unit << ",\"" << alias_of(*row.unit) << "\",";
      else
        out << ",,";
      out << row.region.value_or("") << "," << (row.age ? std::to_string(*row.age) : "") << ",";
      if (row.real)
        out << (std::isnan(*row.real)   ? "nan"
                : std::isinf(*row.real) ? (*row.real > 0 ? "inf" : "-inf")
                                        : shortest(*row.real));
      out << "," << (row.whole ? std::to_string(*row.whole) : "") << "\n";
    }
  }
}

/// How a study bounds and asks, so that a test can do the same by itself.
struct Asked {
  std::string text;
  bool by_row = false, by_alias = false;
  int condition = 0;
};

inline std::string toml(const std::string& text) {
  std::string all = "\"";
  for (const char c : text)
    all += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return all + "\"";
}

/// The conditions that studies have, as text and as a function of the row; what is missing makes
/// them not true.
inline std::string condition_text(const Names& n, int condition) {
  const auto q = [](const std::string& name) { return quoted(name); };
  switch (condition) {
    case 1: return q(n.whole) + " > 0";
    case 2: return q(n.real) + " >= 1 OR " + q(n.whole) + " IS NULL";
    case 3: return q(n.region) + " <> 'r1' AND " + q(n.age) + " < 5";
    default: return "";
  }
}
inline bool is_number(const std::optional<double>& x) { return x && std::abs(*x) < 1e150; }
inline bool holds(const Row& row, int condition) {
  switch (condition) {
    case 1: return row.whole && *row.whole > 0;
    case 2: return (is_number(row.real) && *row.real >= 1) || !row.whole;
    case 3: return row.region && *row.region != "r1" && row.age && *row.age < 5;
    default: return true;
  }
}

inline Asked random_study(Dice& dice, const Names& n, bool one_row_a_unit, bool many_keys,
                          bool private_keys) {
  Asked asked;
  asked.by_row = one_row_a_unit;
  asked.by_alias = !one_row_a_unit && one_in(dice, 3);
  const std::vector<std::int64_t> groups{1, 1, 2, 3, 5, 20, 1200};
  const std::vector<std::int64_t> rows{1, 1, 2, 3, 100};
  const std::vector<std::string> real_bounds{"[0, 10]",      "[-5, 5]",        "[-10, -2]",
                                             "[3, 1003.7]",  "[0.1, 0.30001]", "[-1e6, 2.5]",
                                             "[1000, 1001]", "[-1e80, 1e90]"};
  const std::vector<std::string> whole_bounds{"[0, 5]", "[-3, 4]", "[-100000000000, 5000000000000]",
                                              "[2, 7]", "[-9, -1]"};
  std::string& text = asked.text;
  text = "[data]\nname = \"people\"\nversion = \"1\"\nsource = \"people.csv\"\n";
  if (!asked.by_row) text += "unit = " + toml(asked.by_alias ? n.alias : n.person) + "\n";
  text += "groups = " + std::to_string(any(dice, groups)) +
          "\nrows = " + std::to_string(any(dice, rows)) + "\n";
  const auto column = [&](const std::string& name, const std::string& type, const std::string& null,
                          const std::string& more) {
    text += "[columns." + toml(name) + "]\ntype = \"" + type + "\"\nnull = " + null + "\n" + more;
  };
  column(n.table, "integer", "\"drop\"", "");
  column(n.person, "integer", "\"drop\"", "");
  column(n.alias, "text", "\"drop\"", "");
  std::string regions;
  for (int i = 0; i < (many_keys ? 70 : 4); ++i)
    regions += (i == 0 ? "\"r" : ", \"r") + std::to_string(i) + "\"";
  column(n.region, "text", one_in(dice, 3) ? "{ value = \"r2\" }" : "\"drop\"",
         "values = [" + regions + "]\n");
  column(n.age, "integer", one_in(dice, 3) ? "{ value = 3 }" : "\"drop\"",
         "values = [0, 1, 2, 3, 9]\n");
  column(n.real, "real",
         one_in(dice, 2)
             ? "{ value = " + any(dice, std::vector<std::string>{"1.0", "-7.5", "1e20", "4"}) + " }"
             : "\"drop\"",
         "bounds = " + any(dice, real_bounds) + "\n");
  column(n.whole, "integer",
         one_in(dice, 2) ? "{ value = " + any(dice, std::vector<std::string>{"0", "-7", "4"}) + " }"
                         : "\"drop\"",
         "bounds = " + any(dice, whole_bounds) + "\n");
  text += "[budget]\nrho = 1\ndelta = 1e-6\n";
  asked.condition = static_cast<int>(below(dice, 4));
  const std::vector<std::string> asks{"count",    "distinct",  "sum",       "mean",
                                      "variance", "deviation", "histogram", "quantiles"};
  std::string by;
  if (private_keys || many_keys || !one_in(dice, 3)) {
    const bool second = one_in(dice, 3);
    const bool first = many_keys || !second || one_in(dice, 2);
    by = "by = [" + (first ? toml(n.region) : "") + (first && second ? ", " : "") +
         (second ? toml(n.age) : "") + "]\n";
    if (private_keys) by += "keys = \"private\"\n";
  }
  const std::int64_t queries = 1 + below(dice, 3);
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::string ask = any(dice, asks);
    text += "[[query]]\nname = \"" + std::to_string(i) + "\"\nask = \"" + ask + "\"\n" + by;
    if (asked.condition != 0) text += "where = " + toml(condition_text(n, asked.condition)) + "\n";
    if (ask == "count" || ask == "distinct") continue;
    text += "of = " + toml(one_in(dice, 2) ? n.real : n.whole) + "\n";
    if ((ask == "sum" || ask == "mean") && !asked.by_row && one_in(dice, 3))
      text += "clamp = \"total\"\n";
    if (ask == "histogram" && one_in(dice, 2)) text += "step = 1e13\n";
  }
  return asked;
}

inline Terms terms_of(Relation relation) {
  return {"people", "person", relation, ZcdpBudget{100, 1e-3}};
}

/// Rows of one of the tables in the file.
inline Aggregate of_table(const Aggregate& aggregate, const Names& n, std::size_t table) {
  Aggregate part = aggregate;
  std::string where = quoted(n.table) + " = " + std::to_string(table);
  if (aggregate.where) where += " AND (" + aggregate.where->text() + ")";
  part.where = Expression::parse(where, columns_of(n));
  return part;
}

}  // namespace sotto::awkward
