// Complex doubles, with the functions that the moment generating function of a privacy loss needs.
#pragma once

#include <cmath>

namespace sotto {

/// A complex number. It replaces std::complex, whose operators handle infinities at a high cost.
struct Complex {
  double re = 0;
  double im = 0;

  friend constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend constexpr Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
  friend constexpr Complex operator/(Complex a, Complex b) {
    const double square = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
  }
  Complex& operator+=(Complex b) { return *this = *this + b; }
};

inline double abs(Complex z) { return std::sqrt(z.re * z.re + z.im * z.im); }

// The errors below are absolute, with u = 2^-53. They assume that the C library's exp, expm1, log,
// log1p, sin, cos, sinh and cosh have relative errors of at most 4 u, which a test checks against
// certified reals (real.hpp). They count no error of the argument itself.

/// e^z, with an error of at most 16 u |e^z|.
Complex exp(Complex z);
/// e^z - 1 - z, with an error of at most 32 u max(1, e^Re z) min(|z|², 2 + |z|), which for small z
/// is small relative to the result.
Complex exp_excess(Complex z);
/// e^x - 1 - x of a real number, with the error above.
double exp_excess(double x);
/// sinh z, with an error of at most 16 u |z| cosh(Re z).
Complex sinh(Complex z);
/// log(1 + z), with an error of at most 16 u |log(1 + z)| + 16 u |z| / |1 + z|.
Complex log1p(Complex z);

}  // namespace sotto
