// Complex numbers in doubles, with the functions that the transform of a privacy loss needs.
#pragma once

#include <cmath>

namespace sotto {

/// A complex double. (std::complex spends its time on the special cases of infinities.)
struct Complex {
  double re = 0;
  double im = 0;

  friend constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend constexpr Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  friend constexpr Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
  friend constexpr Complex operator/(Complex a, Complex b) {
    const double square = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
  }
  Complex& operator+=(Complex b) { return *this = *this + b; }
};

inline double abs(Complex z) { return std::sqrt(z.re * z.re + z.im * z.im); }

// Errors are stated in units of u = 2^-53 and suppose that the C library's exp, expm1, log, log1p, sin, cos, sinh and
// cosh are right to 4 units (a test checks that against certified reals). They hold for the argument as given.

/// e^z, to 16 u |e^z|.
Complex exp(Complex z);
/// e^z - 1 - z, to 32 u max(1, e^Re z) min(|z|², 2 + |z|): relative to its size wherever z is small.
Complex exp_excess(Complex z);
/// The same of a real number.
double exp_excess(double x);
/// sinh z, to 16 u |z| cosh(Re z).
Complex sinh(Complex z);
/// log(1 + z), to 16 u |log(1 + z)| + 16 u |z| / |1 + z|.
Complex log1p(Complex z);

}  // namespace sotto
