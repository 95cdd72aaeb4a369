// Bisection over the ordered bit patterns of doubles, and golden sections.
#include "numerics/api/search.hpp"

#include <bit>
#include <cmath>

namespace sotto {
namespace {

// Maps doubles to whole numbers in the same order, so that bisection takes at most 64 steps.
std::int64_t rank(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits >= 0 ? bits : static_cast<std::int64_t>(0x8000000000000000ULL) - bits;
}

double from_rank(std::int64_t r) {
  return std::bit_cast<double>(r >= 0 ? r : static_cast<std::int64_t>(0x8000000000000000ULL) - r);
}

std::int64_t middle(std::int64_t a, std::int64_t b) { return (a >> 1) + (b >> 1) + (a & b & 1); }

}  // namespace

double first_true(double low, double high, const std::function<bool(double)>& condition) {
  return from_rank(first_true_count(rank(low), rank(high),
                                    [&](std::int64_t r) { return condition(from_rank(r)); }));
}

std::int64_t first_true_count(std::int64_t low, std::int64_t high,
                              const std::function<bool(std::int64_t)>& condition) {
  while (low < high) {
    const std::int64_t mid = middle(low, high);
    if (condition(mid)) {
      high = mid;
    } else {
      low = mid + 1;
    }
  }
  return high;
}

double least_point(double low, double high, const std::function<double(double)>& f) {
  const auto value = [&f](double x) {
    const double y = f(x);
    return std::isnan(y) ? INFINITY : y;
  };
  constexpr double golden = 0.6180339887498949;
  double a = low;
  double b = high;
  double x1 = b - golden * (b - a);
  double x2 = a + golden * (b - a);
  double f1 = value(x1);
  double f2 = value(x2);
  for (int i = 0; i < 60 && b - a > 1e-9 * (std::fabs(a) + std::fabs(b)); ++i) {
    if (f1 <= f2) {  // also for equal infinities: the finite values lie to the left
      b = x2;
      x2 = x1;
      f2 = f1;
      x1 = b - golden * (b - a);
      f1 = value(x1);
    } else {
      a = x1;
      x1 = x2;
      f1 = f2;
      x2 = a + golden * (b - a);
      f2 = value(x2);
    }
  }
  return f1 < f2 ? x1 : x2;
}

}  // namespace sotto
