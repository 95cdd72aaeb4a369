// The clamp of a row's number to the bounds of its column, in SQL and, for constants, in C++.
#include "data/sql/clamp.hpp"

#include <algorithm>
#include <cmath>

#include "data/expressions/tree.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

/// The total of a unit is clamped as a whole. Its rows are clamped to ±2^40 only, so that their sum
/// is exact.
constexpr std::int64_t largest_row_of_total = std::int64_t{1} << 40U;

/// The bounds of a number, the code of a number v within them, and the codes at the two bounds.
struct CodedInterval {
  SqlExpression low;
  SqlExpression high;
  SqlExpression code_inside;
  std::int64_t code_below;
  std::int64_t code_above;
  double scale = 1;  ///< what a code is multiplied by in CodeForm::on_grid
};

CodedInterval interval_of_bins(const Bins& bins, const SqlDialect& sql, const SqlExpression& v) {
  const SqlExpression low = real(sql, bins.lower);
  const double upper = bins.lower + static_cast<double>(bins.count) * bins.width;
  const std::int64_t last = bins.count - 1;
  // rounding may lift a number just below the upper bound into a bin past the last one
  const SqlExpression bin = call("floor", {(v - low) / real(sql, bins.width)});
  return {.low = low,
          .high = real(sql, upper),
          .code_inside = call("LEAST", {bin, real(sql, static_cast<double>(last))}),
          .code_below = 0,
          .code_above = last};
}

CodedInterval interval_of_grid(const Aggregate& aggregate, const SqlDialect& sql,
                               const SqlExpression& v, bool is_fractional, CodeForm form) {
  const Steps& steps = aggregate.steps;
  const bool is_total = aggregate.gather == Gather::totals;
  const std::int64_t from = is_total ? -largest_row_of_total : steps.low;
  const std::int64_t to = is_total ? largest_row_of_total : steps.high;
  const std::int64_t code_below = is_total ? from : 0;
  const std::int64_t code_above = is_total ? to : to - from;
  if (!is_fractional) {
    return {.low = integer(from),
            .high = integer(to),
            .code_inside = from == 0 || is_total ? v : v - integer(from),
            .code_below = code_below,
            .code_above = code_above};
  }
  // A double near 1.5 · 2^52 steps has no bits for fractions of a step: adding that number rounds v
  // to the grid, and subtracting it (and `from`) is exact.
  const double rounder = 0x1.8p52 * steps.unit();
  const double offset = is_total ? rounder : rounder + static_cast<double>(from) * steps.unit();
  const SqlExpression on_grid =
      parenthesised(parenthesised(v + real(sql, rounder)) - real(sql, offset));
  const bool stays_on_grid = form == CodeForm::on_grid;
  return {.low = real(sql, static_cast<double>(from) * steps.unit()),
          .high = real(sql, static_cast<double>(to) * steps.unit()),
          .code_inside = stays_on_grid ? on_grid : on_grid * real(sql, 1 / steps.unit()),
          .code_below = code_below,
          .code_above = code_above,
          .scale = stays_on_grid ? steps.unit() : 1};
}

/// Returns the code of the constant that replaces NULL. It is clamped as clamped_code() clamps the
/// numbers of rows.
std::int64_t code_of_constant(const Aggregate& aggregate, const Value& value) {
  const auto* integer_value = std::get_if<std::int64_t>(&value);
  const auto* real_value = std::get_if<double>(&value);
  const double x = integer_value != nullptr ? static_cast<double>(*integer_value)
                   : real_value != nullptr  ? *real_value
                                            : std::nan("");
  if (!std::isfinite(x)) {
    throw InvalidValue("the value that replaces NULL in " + aggregate.of->value.text() +
                       " must be a number, such as 0");
  }
  if (aggregate.gather == Gather::bins) {
    const Bins& bins = aggregate.bins;
    const double bin = std::floor((x - bins.lower) / bins.width);
    return static_cast<std::int64_t>(std::clamp(bin, 0.0, static_cast<double>(bins.count - 1)));
  }
  const Steps& steps = aggregate.steps;
  const double code = std::nearbyint(x / steps.unit());
  if (aggregate.gather == Gather::totals) {
    const auto most = static_cast<double>(largest_row_of_total);
    return static_cast<std::int64_t>(std::clamp(code, -most, most));
  }
  const auto low = static_cast<double>(steps.low);
  const auto high = static_cast<double>(steps.high);
  return static_cast<std::int64_t>(std::clamp(code, low, high)) - steps.low;
}

void require_number(const Field& field) {
  const Type type = field.value.type();
  if (type == Type::integer || type == Type::real) return;
  throw InvalidValue(field.value.text() + " is of type " + name_of(type) +
                     ": only an integer or real column can be added");
}

}  // namespace

SqlExpression clamped_code(const Aggregate& aggregate, const SqlDialect& sql,
                           const SqlExpression& number, CodeForm form) {
  const Field& of = *aggregate.of;
  require_number(of);
  const bool is_real = of.value.type() == Type::real;
  const bool has_bins = aggregate.gather == Gather::bins;
  const bool is_fractional = is_real || aggregate.steps.exponent != 0 || has_bins;
  const SqlExpression v = is_fractional && !is_real ? cast(sql, number, Type::real) : number;
  const CodedInterval interval = has_bins
                                     ? interval_of_bins(aggregate.bins, sql, v)
                                     : interval_of_grid(aggregate, sql, v, is_fractional, form);
  const auto constant = [&](std::int64_t code) {
    return is_fractional ? real(sql, static_cast<double>(code) * interval.scale)
                         : cast(sql, integer(code), Type::integer);
  };

  // The clamp: a number within the bounds becomes its code, one below them the first code, one
  // above them the last. NULL, NaN, infinities and reals that expressions cannot hold match no
  // branch: they become the code of the constant that replaces NULL, or NULL.
  SqlExpression is_below = v < interval.low;
  SqlExpression is_above = v > interval.high;
  if (is_fractional) {
    is_below = is_below && v >= real(sql, -largest_real());
    is_above = is_above && v <= real(sql, largest_real());
  }
  std::optional<SqlExpression> otherwise;
  if (of.if_null) otherwise = constant(code_of_constant(aggregate, *of.if_null));
  const SqlExpression code =
      case_when({{between(v, interval.low, interval.high), interval.code_inside},
                 {is_below, constant(interval.code_below)},
                 {is_above, constant(interval.code_above)}},
                otherwise);
  return form == CodeForm::bigint ? cast(sql, code, Type::integer) : code;
}

std::int64_t last_code(const Aggregate& aggregate) {
  return aggregate.gather == Gather::bins ? aggregate.bins.count - 1 : aggregate.steps.range();
}

double largest_summand(const Aggregate& aggregate) {
  return static_cast<double>(aggregate.gather == Gather::totals ? largest_row_of_total
                                                                : last_code(aggregate));
}

double largest_real() { return std::nextafter(expression::most_real, 0); }

}  // namespace sotto::data_detail
