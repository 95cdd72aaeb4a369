// Random well-typed row expressions, each with its result for a row.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "awkward_rows.hpp"

namespace sotto::testing {

struct RandomExpression {
  std::string text;
  Type type;
  std::function<Datum(const Row&)> value;
};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  RandomExpression any(int depth) {
    static constexpr std::array<Type, 6> types{Type::boolean, Type::integer, Type::real,
                                               Type::text,    Type::date,    Type::timestamp};
    return of(random_.pick(types), depth);
  }

  RandomExpression of(Type type, int depth) {
    if (depth <= 0 || random_.one_in(8)) return leaf(type);
    if (random_.one_in(6)) return cases(type, depth);
    if (random_.one_in(10)) return coalesce(type, depth);
    if (type != Type::boolean && random_.one_in(8)) return extreme(type, depth);
    if (random_.one_in(6)) return cast_to(type, depth);
    switch (type) {
      case Type::boolean: return boolean(depth);
      case Type::integer: return integer(depth);
      case Type::real: return number(depth);
      default: return random_.one_in(2) ? leaf(type) : cast_to(type, depth);
    }
  }

 private:
  using E = RandomExpression;

  std::string word(std::string text) {  // in random upper and lower case
    if (random_.one_in(2)) {
      for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return text;
  }
  static std::string in(const E& e) { return "(" + e.text + ")"; }

  E leaf(Type type) {
    if (random_.one_in(3)) return constant(type);
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < row_columns().size(); ++i) {
      if (row_columns()[i].type == type) fitting.push_back(i);
    }
    const std::size_t i = random_.pick(fitting);
    std::string doubled;
    for (const char c : row_columns()[i].name) doubled += c == '"' ? "\"\"" : std::string(1, c);
    return {"\"" + doubled + "\"", type, [i](const Row& row) { return row[i]; }};
  }

  E constant(Type type) {
    const auto fixed = [type](const std::string& text, const Datum& x) {
      return E{text, type, [x](const Row&) { return x; }};
    };
    if (random_.one_in(12)) {
      static const std::array<const char*, 6> names{"boolean", "integer", "real",
                                                    "text",    "date",    "timestamp"};
      return fixed(word("TRY_CAST") + "(NULL AS " + names[static_cast<std::size_t>(type)] + ")",
                   Null{});
    }
    switch (type) {
      case Type::boolean:
        return random_.one_in(2) ? fixed(word("TRUE"), true) : fixed(word("FALSE"), false);
      case Type::integer: {
        const std::int64_t x = random_.integer();
        return fixed(std::to_string(x), x);
      }
      case Type::real: {
        const double x = random_.constant_real();
        char digits[64];
        std::snprintf(digits, sizeof digits, "%.17g", x);
        const std::string text = digits;
        return fixed(text.find_first_of(".e") == std::string::npos ? text + "." : text, x);
      }
      case Type::text: {
        const std::string x = random_.text();
        std::string doubled;
        for (const char c : x) doubled += c == '\'' ? "''" : std::string(1, c);
        return fixed("'" + doubled + "'", x);
      }
      case Type::date: {
        const std::int64_t x = random_.days();
        return fixed(word("DATE") + " '" + date_text(x) + "'", Day{x});
      }
      default: {
        const std::int64_t x = random_.moment();
        return fixed(word("TIMESTAMP") + "'" + moment_text(x) + "'", Moment{x});
      }
    }
  }

  // Returns two or more operands of one type. Integers and reals may mix, and are reals then.
  std::vector<E> alike(Type type, std::size_t count, int depth) {
    std::vector<E> all;
    const bool mixed = type == Type::real && random_.one_in(2);
    for (std::size_t i = 0; i < count; ++i) {
      if (mixed && i > 0 && random_.one_in(2)) {
        E e = of(Type::integer, depth);
        all.push_back(
            {e.text, Type::real, [e](const Row& row) { return cast(e.value(row), Type::real); }});
      } else {
        all.push_back(of(type, depth));
      }
    }
    return all;
  }
  Type any_type() {
    static constexpr std::array<Type, 6> types{Type::boolean, Type::integer, Type::real,
                                               Type::text,    Type::date,    Type::timestamp};
    return random_.pick(types);
  }

  E boolean(int depth) {
    switch (random_.below(7)) {
      case 0: {
        const E a = of(Type::boolean, depth - 1), b = of(Type::boolean, depth - 1),
                c = of(Type::boolean, depth - 1);
        return {
            in(a) + word(" AND ") + in(b) + word(" AND ") + in(c), Type::boolean,
            [=](const Row& row) { return both(both(a.value(row), b.value(row)), c.value(row)); }};
      }
      case 1: {
        const E a = of(Type::boolean, depth - 1), b = of(Type::boolean, depth - 1);
        return {in(a) + word(" OR ") + in(b), Type::boolean,
                [=](const Row& row) { return either(a.value(row), b.value(row)); }};
      }
      case 2: {
        const E a = of(Type::boolean, depth - 1);
        return {word("NOT ") + in(a), Type::boolean,
                [=](const Row& row) { return opposite(a.value(row)); }};
      }
      case 3: {
        const E a = any(depth - 1);
        const bool no = random_.one_in(2);
        return {in(a) + word(no ? " IS NOT NULL" : " IS NULL"), Type::boolean,
                [=](const Row& row) { return is_null(a.value(row)) != no; }};
      }
      case 4: return member(depth);
      case 5: {
        const auto all = alike(any_type(), 3, depth - 1);
        const bool no = random_.one_in(3);
        return {in(all[0]) + word(no ? " NOT BETWEEN " : " BETWEEN ") + in(all[1]) + word(" AND ") +
                    in(all[2]),
                Type::boolean, [=](const Row& row) {
                  const Datum x = all[0].value(row);
                  const Datum inside = both(compare(">=", x, all[1].value(row)),
                                            compare("<=", x, all[2].value(row)));
                  return no ? opposite(inside) : inside;
                }};
      }
      default: {
        static const std::array<std::string, 7> signs{"=", "<>", "!=", "<", "<=", ">", ">="};
        const std::string sign = random_.pick(signs);
        const auto all = alike(any_type(), 2, depth - 1);
        return {in(all[0]) + sign + in(all[1]), Type::boolean, [=](const Row& row) {
                  return compare(sign, all[0].value(row), all[1].value(row));
                }};
      }
    }
  }

  E member(int depth) {
    const bool no = random_.one_in(3);
    const auto all = alike(any_type(), 2 + random_.below(4), depth - 1);
    std::string text = in(all[0]) + word(no ? " NOT IN (" : " IN (");
    for (std::size_t i = 1; i < all.size(); ++i) text += (i == 1 ? "" : ", ") + all[i].text;
    return {text + ")", Type::boolean, [=](const Row& row) {
              Datum match = false;
              const Datum x = all[0].value(row);
              for (std::size_t i = 1; i < all.size(); ++i)
                match = either(match, compare("=", x, all[i].value(row)));
              return no ? opposite(match) : match;
            }};
  }

  E integer(int depth) {
    switch (random_.below(6)) {
      case 0: {
        const E a = of(Type::integer, depth - 1);
        return {"-" + in(a), Type::integer,
                [=](const Row& row) { return compute('-', std::int64_t{0}, a.value(row), false); }};
      }
      case 1: {
        const E a = of(Type::integer, depth - 1);
        return {word("ABS") + in(a), Type::integer, [=](const Row& row) {
                  const Datum x = a.value(row);
                  return !is_null(x) && std::get<std::int64_t>(x) < 0
                             ? compute('-', std::int64_t{0}, x, false)
                             : x;
                }};
      }
      case 2: {
        const E a = of(Type::date, depth - 1), b = of(Type::date, depth - 1);
        return {in(a) + " - " + in(b), Type::integer,
                [=](const Row& row) { return compute('-', a.value(row), b.value(row), false); }};
      }
      case 3: {
        static const std::array<std::string, 12> parts{"year",    "quarter", "month",  "week",
                                                       "day",     "dow",     "isodow", "doy",
                                                       "isoyear", "hour",    "minute", "second"};
        const std::size_t i = random_.below(parts.size());
        const std::string part = parts[i];
        const E a = of(i < 9 && random_.one_in(2) ? Type::date : Type::timestamp, depth - 1);
        return {word("EXTRACT(") + part + word(" FROM ") + a.text + ")", Type::integer,
                [=](const Row& row) { return part_of(part, a.value(row)); }};
      }
      default: {
        const char sign = random_.pick(std::string("+-*"));
        const E a = of(Type::integer, depth - 1), b = of(Type::integer, depth - 1);
        return {in(a) + sign + in(b), Type::integer,
                [=](const Row& row) { return compute(sign, a.value(row), b.value(row), false); }};
      }
    }
  }

  E number(int depth) {
    switch (random_.below(6)) {
      case 0: {
        const E a = of(Type::real, depth - 1);
        const std::size_t which = random_.below(3);
        static const std::array<std::string, 3> names{"FLOOR", "ABS", "-"};
        return {word(names[which]) + in(a), Type::real, [=](const Row& row) -> Datum {
                  const Datum x = a.value(row);
                  if (is_null(x)) return x;
                  const double r = std::get<double>(x);
                  return which == 0 ? std::floor(r) : which == 1 ? std::abs(r) : 0 - r;
                }};
      }
      case 1: {
        const E a = of(Type::integer, depth - 1), b = of(Type::integer, depth - 1);
        return {in(a) + "/" + in(b), Type::real,
                [=](const Row& row) { return compute('/', a.value(row), b.value(row), true); }};
      }
      default: {
        const char sign = random_.pick(std::string("+-*/"));
        const E a = of(Type::real, depth - 1),
                b = of(random_.one_in(3) ? Type::integer : Type::real, depth - 1);
        return {in(a) + sign + in(b), Type::real,
                [=](const Row& row) { return compute(sign, a.value(row), b.value(row), true); }};
      }
    }
  }

  E cases(Type type, int depth) {
    const bool simple = random_.one_in(2);
    const std::size_t count = 1 + random_.below(3);
    auto results = alike(type, count + 1, depth - 1);
    if (random_.one_in(3))
      results.back() = {word("NULL"), type, [](const Row&) -> Datum { return Null{}; }};
    const bool has_else = random_.one_in(2);
    const auto conditions = simple ? alike(any_type(), count + 1, depth - 1)
                                   : alike(Type::boolean, count + 1, depth - 1);
    std::string text = word("CASE");
    if (simple) text += " " + conditions[count].text;
    for (std::size_t i = 0; i < count; ++i)
      text += word(" WHEN ") + conditions[i].text + word(" THEN ") + results[i].text;
    if (has_else) text += word(" ELSE ") + results[count].text;
    return {text + word(" END"), type, [=](const Row& row) -> Datum {
              for (std::size_t i = 0; i < count; ++i) {
                const Datum c = conditions[i].value(row);
                if (is_true(simple ? compare("=", conditions[count].value(row), c) : c))
                  return results[i].value(row);
              }
              return has_else ? results[count].value(row) : Null{};
            }};
  }

  E coalesce(Type type, int depth) {
    const auto all = alike(type, 2 + random_.below(2), depth - 1);
    return {word("COALESCE") + list(all), type, [=](const Row& row) -> Datum {
              for (const E& e : all) {
                if (const Datum x = e.value(row); !is_null(x)) return x;
              }
              return Null{};
            }};
  }

  E extreme(Type type, int depth) {
    const bool least = random_.one_in(2);
    const auto all = alike(type, 2 + random_.below(2), depth - 1);
    return {word(least ? "LEAST" : "GREATEST") + list(all), type, [=](const Row& row) {
              Datum best;
              for (const E& e : all) {
                const Datum x = e.value(row);
                if (is_null(best) || (!is_null(x) && (least ? x < best : x > best))) best = x;
              }
              return best;
            }};
  }

  static std::string list(const std::vector<E>& all) {
    std::string text = "(";
    for (const E& e : all) text += (text.size() == 1 ? "" : ", ") + e.text;
    return text + ")";
  }

  E cast_to(Type type, int depth) {
    static const std::array<std::vector<Type>, 6> from{{{Type::text, Type::integer},
                                                        {Type::text, Type::real, Type::boolean},
                                                        {Type::text, Type::integer},
                                                        {Type::integer, Type::boolean, Type::date},
                                                        {Type::text, Type::timestamp},
                                                        {Type::text, Type::date}}};
    static const std::array<const char*, 6> names{"BOOLEAN", "INTEGER", "REAL",
                                                  "TEXT",    "DATE",    "TIMESTAMP"};
    const std::size_t i = static_cast<std::size_t>(type);
    const E a = of(random_.one_in(12) ? type : random_.pick(from[i]), depth - 1);
    return {word("TRY_CAST(") + a.text + word(std::string(" AS ") + names[i]) + ")", type,
            [=](const Row& row) { return cast(a.value(row), type); }};
  }

  Random& random_;
};

}  // namespace sotto::testing
