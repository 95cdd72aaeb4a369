// Checks of parameters, and types for ε, δ and α that cannot be swapped or be out of range.
#pragma once

#include <cstdint>

namespace sotto {

// Each function returns `value`, and throws InvalidValue unless it is a number in the interval.
// `name` is the parameter's name in the message.
double require_positive(double value, const char* name);               // (0, inf)
double require_non_negative(double value, const char* name);           // [0, inf)
double require_rate(double value, const char* name);                   // (0, 1]
double require_open_unit(double value, const char* name);              // (0, 1)
double require_probability_below_one(double value, const char* name);  // [0, 1)
double require_above_one(double value, const char* name);              // (1, inf)
/// Returns `value`, and throws InvalidValue unless it is from `least` to 2^53, up to which doubles
/// hold every whole number.
std::int64_t require_count(std::int64_t value, std::int64_t least, const char* name);

/// The ε of a definition, in [0, inf).
class Epsilon {
 public:
  explicit Epsilon(double value) : value_(require_non_negative(value, "epsilon")) {}
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_;
};

/// The δ of a definition, in [0, 1).
class Delta {
 public:
  explicit Delta(double value) : value_(require_probability_below_one(value, "delta")) {}
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_;
};

/// The order α of a Rényi divergence, in [1, inf]; 1 is Kullback-Leibler, inf is max divergence.
class Order {
 public:
  explicit Order(double value);
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_;
};

}  // namespace sotto
