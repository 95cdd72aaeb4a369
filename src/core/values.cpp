// One message for all intervals: the parameter, its value, and the interval.
#include "sotto/core/values.hpp"

#include <cmath>
#include <string>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

double require(bool good, double value, const char* name, const char* range) {
  if (!good)
    throw InvalidValue(std::string(name) + " = " + shortest(value) +
                       " is not allowed: it must be " + range);
  return value;
}

}  // namespace

double require_positive(double value, const char* name) {
  return require(std::isfinite(value) && value > 0, value, name, "a number in (0, inf)");
}

double require_non_negative(double value, const char* name) {
  return require(std::isfinite(value) && value >= 0, value, name, "a number in [0, inf)");
}

double require_rate(double value, const char* name) {
  return require(value > 0 && value <= 1, value, name, "a number in (0, 1]");
}

double require_open_unit(double value, const char* name) {
  return require(value > 0 && value < 1, value, name, "a number in (0, 1)");
}

double require_probability_below_one(double value, const char* name) {
  return require(value >= 0 && value < 1, value, name, "a number in [0, 1)");
}

double require_above_one(double value, const char* name) {
  return require(std::isfinite(value) && value > 1, value, name, "a number in (1, inf)");
}

std::int64_t require_count(std::int64_t value, std::int64_t least, const char* name) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (value < least || value > most) {
    throw InvalidValue(std::string(name) + " = " + std::to_string(value) +
                       " is not allowed: it must be a whole number from " + std::to_string(least) +
                       " to 2^53");
  }
  return value;
}

Order::Order(double value) : value_(require(value >= 1, value, "order", "a number in [1, inf]")) {}

}  // namespace sotto
