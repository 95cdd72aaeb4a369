// Random plans for property tests.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/plan/plan.hpp"

namespace sotto::testing {

/// A double between 10^low and 10^high, of any number of digits.
inline rc::Gen<double> magnitude(int low, int high) {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(low * 1000, high * 1000), rc::gen::inRange(0, 18)),
      [](const std::tuple<int, int>& t) {
        const double x = std::pow(10.0, std::get<0>(t) / 1000.0);
        const double digits = std::pow(10.0, std::get<1>(t) - std::floor(std::log10(x)));
        const double rounded = std::round(x * digits) / digits;
        return rounded > 0 && std::isfinite(rounded) ? rounded : x;
      });
}

inline rc::Gen<double> unit() {
  return rc::gen::map(rc::gen::inRange(1, 1000000), [](int n) { return n / 1e6; });
}
inline rc::Gen<double> count(int most) {
  return rc::gen::map(rc::gen::inRange(1, most + 1), [](int n) { return static_cast<double>(n); });
}

/// A leaf or an operator around one, with holes with and without factors.
inline Plan any_holed_leaf(int range) {
  const auto any_hole = [range] {
    return *rc::gen::inRange(0, 3) == 0 ? hole : *magnitude(-range, range) * hole;
  };
  const auto whole_hole = [] { return *count(5) * hole; };
  switch (*rc::gen::inRange(0, 8)) {
    case 0: return gaussian(any_hole(), any_hole());
    case 1: return laplace(1, any_hole());
    case 2: return discrete_laplace(any_hole(), whole_hole());
    case 3: return randomized_response(any_hole(), whole_hole());
    case 4: return Repeat{.steps = whole_hole(), .plan = zcdp(any_hole())};
    case 5: return poisson(any_hole(), tcdp(1, any_hole()));
    case 6: return without_replacement(whole_hole(), whole_hole(), gdp(any_hole()));
    default: return group(whole_hole(), approx(any_hole(), any_hole()));
  }
}

/// Any leaf, its parameters over many magnitudes; `range` powers of ten to either side of 1.
inline Plan any_leaf(int range) {
  const double x = *magnitude(-range, range);
  const double y = *magnitude(-range, range);
  switch (*rc::gen::inRange(0, 14)) {
    case 0: return gaussian(x, y);
    case 1: return laplace(x, y);
    case 2: return discrete_gaussian(x, *count(5));
    case 3: return discrete_laplace(x, *count(5));
    case 4: return randomized_response(*unit() * 0.999998 + 1e-6, 1 + *count(5));
    case 5: return arsinh(x, y);
    case 6: return exponential(x);
    case 7: return catastrophe(x, *unit() * 0.5);
    case 8: return pure(x);
    case 9: return approx(x, *unit() * 0.5);
    case 10: return rdp(1 + std::max(x, 1e-6), y);
    case 11: return zcdp(x);
    case 12: return tcdp(x, 1 + std::max(y, 1e-6));
    default: return gdp(x);
  }
}

/// Any plan of at most that depth.
inline Plan any_plan(int depth, int range) {
  if (depth == 0 || *rc::gen::inRange(0, 3) == 0) return any_leaf(range);
  switch (*rc::gen::inRange(0, 6)) {
    case 0: return *count(100000) * any_plan(depth - 1, range);
    case 1: return any_plan(depth - 1, range) + any_plan(depth - 1, range);
    case 2: return parallel({any_plan(depth - 1, range), any_plan(depth - 1, range)});
    case 3: return poisson(*unit(), any_plan(depth - 1, range));
    case 4: {
      const double population = *count(100000);
      return without_replacement(std::ceil(population * *unit()), population,
                                 any_leaf(range));  // nested samples must fit each other
    }
    default: return group(*count(4), any_plan(depth - 1, range));
  }
}

}  // namespace sotto::testing
