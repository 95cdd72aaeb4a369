// Complex functions from real ones, with series where real ones would cancel.
#include "numerics/api/complex.hpp"

namespace sotto {

Complex exp(Complex z) {
  const double size = std::exp(z.re);
  return {size * std::cos(z.im), size * std::sin(z.im)};
}

namespace {

// 1/n! for n = 16 down to 2. The series stops at n = 16: for |z| < 0.5 the last term is below 2^-53
// times the first.
constexpr double inverse_factorials[] = {1.0 / 20922789888000,
                                         1.0 / 1307674368000,
                                         1.0 / 87178291200,
                                         1.0 / 6227020800,
                                         1.0 / 479001600,
                                         1.0 / 39916800,
                                         1.0 / 3628800,
                                         1.0 / 362880,
                                         1.0 / 40320,
                                         1.0 / 5040,
                                         1.0 / 720,
                                         1.0 / 120,
                                         1.0 / 24,
                                         1.0 / 6,
                                         1.0 / 2};

}  // namespace

Complex exp_excess(Complex z) {
  if (z.re * z.re + z.im * z.im < 0.25) {
    Complex sum{0, 0};
    for (const double factor : inverse_factorials) sum = z * sum + Complex{factor, 0};
    return z * z * sum;
  }
  return exp(z) - Complex{1 + z.re, z.im};
}

double exp_excess(double x) {
  if (std::abs(x) >= 0.5) return std::exp(x) - 1 - x;
  double sum = 0;
  for (const double factor : inverse_factorials) sum = x * sum + factor;
  return x * x * sum;
}

Complex sinh(Complex z) {
  return {std::sinh(z.re) * std::cos(z.im), std::cosh(z.re) * std::sin(z.im)};
}

Complex log1p(Complex z) {
  // |1 + z|² - 1 = 2 re + re² + im²
  const double excess = z.re * (2 + z.re) + z.im * z.im;
  const double re = excess > -0.75 && excess < 1e300 ? std::log1p(excess) / 2
                                                     : std::log(std::hypot(1 + z.re, z.im));
  return {re, std::atan2(z.im, 1 + z.re)};
}

}  // namespace sotto
