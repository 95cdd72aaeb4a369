// Interval arithmetic by hand: each quantity is computed once rounded down and once rounded up, and
// a decision holds if both agree. Monotonicity in the unknown bits makes their two extremes
// sufficient.
#include "random/exact.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::random_detail {
namespace {

// An MPFR number, freed by its destructor.
class Number {
 public:
  explicit Number(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }           // NOLINT(google-explicit-constructor)
  operator mpfr_srcptr() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  mpfr_t value_;
};

// Returns a precision that holds a head of 64 bits and the words exactly, with room for the
// arithmetic.
mpfr_prec_t precision_for(std::size_t words) { return static_cast<mpfr_prec_t>(64 * words + 256); }

// Sets the number to the bits of `head` and `words` in units of 2^-fraction, plus one unit of the
// last bit if `upper_end` is set. Exact, since the precision holds every bit.
void set_digits(Number& to, std::uint64_t head, const std::vector<std::uint64_t>& words,
                int fraction, bool upper_end) {
  mpfr_set_uj(to, head, MPFR_RNDN);
  for (const std::uint64_t word : words) {
    mpfr_mul_2ui(to, to, 64, MPFR_RNDN);
    mpfr_add_ui(to, to, word, MPFR_RNDN);
  }
  if (upper_end) mpfr_add_ui(to, to, 1, MPFR_RNDN);
  mpfr_div_2si(to, to, static_cast<long>(fraction) + 64 * static_cast<long>(words.size()),
               MPFR_RNDN);
}

// Sets the number to the curve at y, rounded up or down.
void set_curve(Number& to, Curve curve, double tau, const Number& y, bool up) {
  // the exponent is negated, so it is rounded to the other side
  const mpfr_rnd_t other = up ? MPFR_RNDD : MPFR_RNDU;
  if (curve == Curve::gaussian) {
    mpfr_div_d(to, y, tau, other);
    mpfr_sqr(to, to, other);
    mpfr_div_2ui(to, to, 1, other);
  } else {
    mpfr_div_d(to, y, tau, other);
  }
  mpfr_neg(to, to, MPFR_RNDN);
  mpfr_exp(to, to, up ? MPFR_RNDU : MPFR_RNDD);
}

}  // namespace

std::optional<bool> below(const Ordinate& ordinate, double scale, Curve curve, double tau,
                          const Position& y) {
  const mpfr_prec_t precision =
      precision_for(std::max(ordinate.words.size(), y.lower_words.size()));
  Number at(precision);
  Number level(precision);
  Number value(precision);
  // the curve falls, so it is highest at the lower end of y and lowest at the upper end
  const auto is_below = [&](bool curve_up, bool ordinate_up) {
    set_digits(at, y.head, y.lower_words, y.fraction, y.real && !curve_up);
    set_curve(value, curve, tau, at, curve_up);
    mpfr_mul_d(value, value, scale, curve_up ? MPFR_RNDU : MPFR_RNDD);
    const mpfr_rnd_t side = ordinate_up ? MPFR_RNDU : MPFR_RNDD;
    set_digits(level, 0, ordinate.words, 0, ordinate_up);
    mpfr_mul_d(level, level, ordinate.gap, side);
    mpfr_add_d(level, level, ordinate.floor, side);
    mpfr_div_2si(level, level, ordinate.power, side);
    return mpfr_cmp(level, value) < 0;
  };
  if (is_below(false, true)) return true;    // the highest ordinate is below the lowest curve
  if (!is_below(true, false)) return false;  // the lowest ordinate is not below the highest curve
  return std::nullopt;
}

std::optional<double> rounded(const Rounding& rounding, bool negative, const Position& y) {
  const mpfr_prec_t precision = precision_for(y.lower_words.size());
  Number at(precision);
  // the sum in grid steps, rounded to a whole number, at the end of y that makes it largest or
  // smallest
  const auto steps = [&](bool up) {
    const mpfr_rnd_t side = up ? MPFR_RNDU : MPFR_RNDD;
    set_digits(at, y.head, y.lower_words, y.fraction, y.real && up != negative);
    mpfr_mul_2si(at, at, rounding.unit, MPFR_RNDN);
    if (negative) mpfr_neg(at, at, MPFR_RNDN);
    mpfr_mul_d(at, at, rounding.factor, side);
    if (rounding.shape == Shape::arsinh) {
      mpfr_div_d(at, at, rounding.bend, side);
      mpfr_asinh(at, at, side);
      mpfr_mul_d(at, at, rounding.bend, side);
    }
    mpfr_add_d(at, at, rounding.value, side);
    mpfr_div_2si(at, at, rounding.grid, MPFR_RNDN);
    mpfr_add_d(at, at, 0.5, side);
    mpfr_floor(at, at);
    return std::clamp(mpfr_get_d(at, MPFR_RNDN), -most_steps, most_steps);
  };
  const double low = steps(false);
  const double high = steps(true);
  if (low != high) return std::nullopt;
  return low + 0.0;  // turns -0 into 0
}

std::optional<bool> above(const Quotient& quotient, double tau, const Position& y) {
  const mpfr_prec_t precision = precision_for(y.lower_words.size());
  Number at(precision);
  Number level(precision);
  // whether one end of y/τ is above the quotient, which is rounded to `side`
  const auto is_above = [&](bool upper_end, mpfr_rnd_t side) {
    const mpfr_rnd_t other = side == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    set_digits(at, y.head, y.lower_words, y.fraction, upper_end);
    mpfr_div_d(at, at, tau, other);
    mpfr_set_d(level, quotient.high, MPFR_RNDN);
    mpfr_sub_d(level, level, quotient.low, side);
    mpfr_mul_d(level, level, quotient.rate, side);
    mpfr_div_d(level, level, quotient.unit, side);
    return mpfr_cmp(at, level) >= 0;
  };
  if (is_above(false, MPFR_RNDU)) return true;
  if (!is_above(true, MPFR_RNDD)) return false;
  return std::nullopt;
}

std::optional<std::uint64_t> failures(double q, double tau, const Position& y) {
  const mpfr_prec_t precision = precision_for(y.lower_words.size());
  Number at(precision);
  Number rate(precision);
  const auto count = [&](bool up) {
    const mpfr_rnd_t side = up ? MPFR_RNDU : MPFR_RNDD;
    mpfr_set_d(rate, -q, MPFR_RNDN);
    mpfr_log1p(rate, rate, up ? MPFR_RNDU : MPFR_RNDD);  // -rate is a lower bound for `up`
    mpfr_neg(rate, rate, MPFR_RNDN);
    mpfr_mul_d(rate, rate, tau, up ? MPFR_RNDD : MPFR_RNDU);
    set_digits(at, y.head, y.lower_words, y.fraction, up);
    mpfr_div(at, at, rate, side);
    mpfr_floor(at, at);
    if (mpfr_cmp_d(at, 0x1p63) >= 0) return std::uint64_t{1} << 63U;
    return static_cast<std::uint64_t>(mpfr_get_uj(at, MPFR_RNDN));
  };
  const std::uint64_t low = count(false);
  return low == count(true) ? std::optional(low) : std::nullopt;
}

}  // namespace sotto::random_detail
