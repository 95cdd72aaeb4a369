// Double-double arithmetic with an error bound for each operation; round-to-nearest is assumed.
#include "sotto/numerics/real.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
// The relative error of each double-double operation below is at most 16 * 2^-106 [Joldes2017]; the
// division, which rounds its correction three times, has the largest. 2^-100 leaves a factor of
// four.
constexpr double operation_error = 0x1p-100;
// Below this magnitude the low parts of products may underflow, for which an absolute error of a
// few subnormals is added.
constexpr double underflow_threshold = 0x1p-900;
constexpr double underflow_error = 8 * smallest;

struct Pair {
  double high;
  double low;
};

// Returns a + b exactly, as the rounded sum and its error.
Pair two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// Returns a + b exactly, for |a| >= |b|.
Pair fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// Returns a * b exactly, if nothing underflows.
Pair two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

// Returns an upper bound on a sum of non-negative numbers, given its value x after a few operations
// in round-to-nearest.
double above(double x) { return x == 0 ? 0 : x * (1 + 0x1p-48) + smallest; }

}  // namespace

double next_up(double x) { return std::nextafter(x, infinity); }
double next_down(double x) { return std::nextafter(x, -infinity); }

Real Real::unknown() {
  Real r;
  r.radius_ = infinity;
  return r;
}

Real Real::ball(double high, double low, double radius) {
  // the comparison is false if a part is infinite or a NaN
  if (!(std::fabs(high) + std::fabs(low) + radius < infinity)) return unknown();
  Real r;
  r.high_ = high;
  r.low_ = low;
  r.radius_ = radius;
  return r;
}

Real Real::widened(double r) const { return ball(high_, low_, above(radius_ + r)); }

Real Real::hull(const Real& a, const Real& b) {
  const double low = std::min(a.lower(), b.lower());
  const double high = std::max(a.upper(), b.upper());
  if (!std::isfinite(low) || !std::isfinite(high)) return unknown();
  if (low == high) return {low};
  const double middle = low / 2 + high / 2;
  return ball(middle, 0, above(std::max(high - middle, middle - low)));
}

Real Real::reading(double x) {
  if (x == std::floor(x) && std::fabs(x) < 0x1p53) return {x};
  const double gap = std::max(next_up(x) - x, x - next_down(x));
  return ball(x, 0, std::max(gap / 2, smallest));
}

double Real::upper() const {
  if (radius_ == infinity) return infinity;
  const Pair tail = two_sum(low_, radius_);
  const double t = tail.low > 0 ? next_up(tail.high) : tail.high;
  const Pair sum = two_sum(high_, t);
  return sum.low > 0 ? next_up(sum.high) : sum.high;
}

double Real::lower() const {
  if (radius_ == infinity) return -infinity;
  return -(-*this).upper();
}

Real operator+(const Real& a, const Real& b) {
  const Pair s = two_sum(a.high_, b.high_);
  if (a.low_ == 0 && b.low_ == 0) return Real::ball(s.high, s.low, above(a.radius_ + b.radius_));
  const Pair t = two_sum(a.low_, b.low_);
  Pair v = fast_two_sum(s.high, s.low + t.high);
  v = fast_two_sum(v.high, t.low + v.low);
  return Real::ball(v.high, v.low,
                    above(a.radius_ + b.radius_ + operation_error * std::fabs(v.high)));
}

Real operator*(const Real& a, const Real& b) {
  const auto is_zero = [](const Real& x) { return x.high_ == 0 && x.low_ == 0 && x.radius_ == 0; };
  if ((is_zero(a) && b.radius_ < infinity) || (is_zero(b) && a.radius_ < infinity)) return {0.0};
  const Pair p = two_product(a.high_, b.high_);
  double error = 0;
  Pair v = p;
  if (a.low_ != 0 || b.low_ != 0) {
    const double cross = std::fma(a.high_, b.low_, a.low_ * b.high_);
    v = fast_two_sum(p.high, p.low + cross);
    error = operation_error * std::fabs(v.high);
  }
  if (std::fabs(p.high) < underflow_threshold && a.high_ != 0 && b.high_ != 0)
    error += underflow_error;
  if (a.radius_ != 0 || b.radius_ != 0) {
    const double ma = std::fabs(a.high_) + std::fabs(a.low_);
    const double mb = std::fabs(b.high_) + std::fabs(b.low_);
    error += ma * b.radius_ + mb * a.radius_ + a.radius_ * b.radius_ + 4 * smallest;
  }
  return Real::ball(v.high, v.low, above(error));
}

Real operator/(const Real& a, const Real& b) {
  // a lower bound on |b|, up to rounding
  const double least = std::fabs(b.high_) - std::fabs(b.low_) - b.radius_;
  if (!(least > 0x1p-10 * std::fabs(b.high_))) return Real::unknown();
  if (a.high_ == 0 && a.low_ == 0 && a.radius_ == 0) return {0.0};
  const double q = a.high_ / b.high_;
  if (!std::isfinite(q)) return Real::unknown();
  const bool whole = a.low_ == 0 && b.low_ == 0;
  const double remainder = std::fma(-q, b.high_, a.high_);
  double correction = 0;
  if (!whole || remainder != 0) {
    const double r = (remainder + a.low_) - q * b.low_;
    correction = r / b.high_;
  }
  const Pair v = fast_two_sum(q, correction);
  double error = whole && remainder == 0 ? 0 : operation_error * std::fabs(v.high);
  if (std::fabs(q) < underflow_threshold || std::fabs(a.high_) < underflow_threshold)
    error += underflow_error / std::min(1.0, least) + underflow_error;
  if (a.radius_ != 0 || b.radius_ != 0) {
    error +=
        (a.radius_ + (std::fabs(v.high) + std::fabs(v.low)) * b.radius_) / (least * (1 - 0x1p-40)) +
        4 * smallest;
  }
  return Real::ball(v.high, v.low, above(error));
}

bool certainly_less(const Real& a, const Real& b) {
  return a.upper() < b.lower() || (b - a).lower() > 0;
}
bool certainly_at_most(const Real& a, const Real& b) {
  return a.upper() <= b.lower() || (b - a).lower() >= 0;
}

Real min(const Real& a, const Real& b) {
  if (certainly_at_most(a, b)) return a;
  if (certainly_at_most(b, a)) return b;
  const Real joint = Real::hull(a, b);
  const double top = std::min(a.upper(), b.upper());
  if (!std::isfinite(joint.lower()) || !std::isfinite(top)) return Real::unknown();
  return Real::hull(Real(joint.lower()), Real(top));
}

Real max(const Real& a, const Real& b) { return -min(-a, -b); }

Real scale(const Real& x, int exponent) {
  const double high = std::ldexp(x.high(), exponent);
  const double low = std::ldexp(x.low(), exponent);
  const double radius = std::ldexp(x.radius(), exponent);
  const bool exact = std::ldexp(high, -exponent) == x.high() &&
                     std::ldexp(low, -exponent) == x.low() &&
                     (x.radius() == 0 || radius > underflow_threshold);
  return Real::ball(high, low, exact ? radius : above(radius + underflow_error));
}

}  // namespace sotto
