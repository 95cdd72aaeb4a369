// Plans at the ends of the doubles: every leaf of the plan language with each parameter over its
// whole range, under every operator.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "plan/fields.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::testing {

/// A plan on a ladder: the rungs differ in one parameter, from most noise to least where `ordered`.
struct Rung {
  Plan plan;
  bool ordered;
};

/// What may stand around a leaf, which is `%`.
inline const std::vector<std::string>& operators() {
  static const std::vector<std::string> all{"%",
                                            "7 * %",
                                            "1000000000 * %",
                                            "group(3, %)",
                                            "group(1000000, %)",
                                            "poisson(0.01, %)",
                                            "30 * poisson(0.01, %)",
                                            "% + laplace(2)",
                                            "% + gaussian(3)",
                                            "5 * parallel(%, gaussian(3))",
                                            "5 * parallel(%, laplace(3))",
                                            "3 * (% + pure(0.3))",
                                            "3 * without_replacement(1, 100, %)",
                                            "2 * poisson(0.1, % + laplace(1))",
                                            "without_replacement(10, 100, % + gaussian(3))",
                                            "parallel(poisson(0.01, %), gaussian(3))",
                                            "group(2, poisson(0.1, %))",
                                            "parallel(7 * %, 3 * zcdp(0.1))",
                                            "poisson(1e-300, %)",
                                            "3 * parallel(% + %, % + pure(1))",
                                            "2 * poisson(0.1, 3 * % + gaussian(2))",
                                            "poisson(0.1, % + pure(1))",
                                            "poisson(0.999999, 2 * %)",
                                            "2 * without_replacement(1, 1000000000, %)",
                                            "2 * (% + shuffle(1, 100))",
                                            "% + exponential(0.5)"};
  return all;
}

namespace extreme_detail {

using plan_detail::Field;
using plan_detail::Range;

/// Values of a parameter in rising order, dense where formulas change: at e^±37, e^±700 and at
/// roots and squares of the largest doubles.
inline std::vector<double> magnitudes(Range range) {
  std::vector<double> positive{5e-324, 1e-310, 1e-300, 1e-200, 1e-160, 1e-100, 1e-50, 1e-17,  1e-8,
                               1e-3,   0.1,    1,      3,      20,     36,     50,    150,    300,
                               599,    601,    700,    710,    745,    1500,   1e4,   1e5,    1e8,
                               1e12,   1e17,   1e50,   1e100,  1e155,  1e200,  1e300, 1.7e308};
  std::vector<double> unit{5e-324, 1e-310, 1e-300, 1e-100, 1e-30,    1e-17,     1e-8,
                           1e-3,   0.1,    0.5,    0.9,    0.999999, 1 - 1e-12, 1 - 0x1p-53};
  const std::vector<double> counts{1, 2, 3, 10, 99, 1000, 1e6, 1e9, 1e12, 9e15};
  switch (range) {
    case Range::positive: return positive;
    case Range::non_negative: positive.insert(positive.begin(), 0); return positive;
    case Range::rate: unit.push_back(1); return unit;
    case Range::open_unit: return unit;
    case Range::probability_below_one: unit.insert(unit.begin(), 0); return unit;
    case Range::above_one:
      return {1 + 0x1p-52, 1 + 1e-9, 1.1, 1.25, 2, 8, 33.3, 1e3, 1e6, 1e12, 1e100, 1e300, 1.7e308};
    case Range::count: return counts;
    case Range::count_from_two: return {counts.begin() + 1, counts.end()};
  }
  return {};
}

/// Ordinary parameters of leaves; one parameter at a time is replaced. A leaf that is not listed
/// has parameters 1, if that is allowed.
inline std::vector<std::vector<double>> ordinary(const std::string& leaf,
                                                 const std::vector<Field>& fields) {
  static const std::map<std::string, std::vector<std::vector<double>>> known{
      {"discrete_gaussian", {{1, 1}, {3, 5}}},
      {"discrete_laplace", {{1, 1}, {3, 5}}},
      {"randomized_response", {{0.75, 2}, {0.75, 5}}},
      {"arsinh", {{0.1, 20, 1}}},
      {"catastrophe", {{1, 0}, {1, 1e-7}}},
      {"aggregated_gaussian", {{1, 10, 1}}},
      {"gopa_complete", {{1, 3, 100, 1}}},
      {"gopa_connected", {{1, 3, 100, 1}}},
      {"gopa_random", {{1, 3, 10000, 9000, 1000, 1e-7, 1}}},
      {"shuffle", {{1, 1000}, {5, 20}}},
      {"ring_histogram", {{0.3, 10, 1000}, {0.3, 10, 5}}},
      {"walk_sum", {{1, 20, 1, 1}, {1, 1000, 999, 1}}},
      {"walk_sgd", {{1, 20, 1, 1}, {1, 1000, 900, 1}, {1, 1000, 999, 1}}},
      {"approx", {{1, 1e-7}}},
      {"rdp", {{8, 1}}},
      {"tcdp", {{0.5, 20}}}};
  if (const auto entry = known.find(leaf); entry != known.end()) return entry->second;
  std::vector<double> ones;
  for (const Field& field : fields)
    ones.push_back(field.range == Range::count_from_two || field.range == Range::above_one ? 2
                   : field.range == Range::positive || field.range == Range::non_negative ||
                           field.range == Range::count
                       ? 1
                       : 0.5);
  return {ones};
}

inline std::string leaf_text(const std::string& leaf, const std::vector<double>& values) {
  std::string text = leaf;
  for (std::size_t i = 0; i < values.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%.17g", values[i]);
    text += (i == 0 ? "(" : ", ") + std::string(number);
  }
  return text + ")";
}

inline std::string around(const std::string& frame, const std::string& leaf) {
  std::string text;
  for (const char c : frame) text += c == '%' ? leaf : std::string(1, c);
  return text;
}

struct LeafKind {
  std::string name;
  std::vector<Field> fields;
};

inline const std::vector<LeafKind>& leaf_kinds() {
  static const auto all = [] {
    std::vector<LeafKind> kinds;
    plan_detail::any_kind_of_leaf(
        [&]<class T>(const T& /*node*/) {
          LeafKind kind{std::string(plan_detail::name_of<T>), {}};
          T node{};
          plan_detail::each_field(node, [&](const auto& /*parameter*/, const Field& field) {
            kind.fields.push_back(field);
          });
          kinds.push_back(std::move(kind));
          return false;
        },
        static_cast<const Node*>(nullptr));
    return kinds;
  }();
  return all;
}

}  // namespace extreme_detail

/// A ladder for each parameter of each leaf, under that operator.
inline std::vector<std::vector<Rung>> ladders(std::size_t around) {
  using namespace extreme_detail;
  std::vector<std::vector<Rung>> all;
  for (const LeafKind& kind : leaf_kinds()) {
    for (const std::vector<double>& base : ordinary(kind.name, kind.fields)) {
      for (std::size_t i = 0; i < kind.fields.size(); ++i) {
        std::vector<double> values = magnitudes(kind.fields[i].range);
        const Effect effect = kind.fields[i].effect;
        if (effect == Effect::cheaper) values = {values.rbegin(), values.rend()};
        std::vector<Rung> ladder;
        for (const double value : values) {
          std::vector<double> parameters = base;
          parameters[i] = value;
          try {
            ladder.push_back({parse(extreme_detail::around(operators()[around],
                                                           leaf_text(kind.name, parameters))),
                              effect != Effect::unclear});
          } catch (const std::invalid_argument&) {  // parameters that do not go together
          }
        }
        all.push_back(std::move(ladder));
      }
    }
  }
  return all;
}

/// Any leaf with parameters of any magnitude, all at once, under any operator.
inline Plan any_extreme_plan() {
  using namespace extreme_detail;
  for (;;) {
    const LeafKind& kind = *rc::gen::elementOf(leaf_kinds());
    std::vector<double> values;
    for (const Field& field : kind.fields) {
      const std::vector<double> known = magnitudes(field.range);
      const double value = *rc::gen::elementOf(known);
      const bool free = field.range == Range::positive || field.range == Range::non_negative;
      values.push_back(free && *rc::gen::inRange(0, 2) == 0
                           ? std::pow(10.0, *rc::gen::inRange(-3230, 3082) / 10.0)
                           : value);
    }
    try {
      return parse(around(*rc::gen::elementOf(operators()), leaf_text(kind.name, values)));
    } catch (const std::invalid_argument&) {  // parameters that do not go together
    }
  }
}

}  // namespace sotto::testing
