// Gauss-Legendre quadrature of analytic functions, with a bound on its error.
#pragma once

#include <array>
#include <cmath>

namespace sotto {

inline constexpr int gauss_points = 24;

/// The nodes and weights of the rule on [-1, 1].
struct GaussLegendre {
  std::array<double, gauss_points> node;    // in (-1, 1)
  std::array<double, gauss_points> weight;  // with the sum 2
};
/// Returns the rule. Its numbers have errors of a few units in the last place.
const GaussLegendre& gauss_legendre();

/// A Bernstein ellipse around an interval [centre - half, centre + half]. The error bound needs an
/// integrand that is analytic within the ellipse.
struct Ellipse {
  double rho;     ///< the parameter ρ > 1: the sum of the semi-axes over `half`
  double reach;   ///< the semi-axis along the real line
  double height;  ///< the semi-axis along the imaginary line
};
/// Returns the ellipse of parameter `rho` around an interval of half length `half`.
inline Ellipse ellipse(double half, double rho) {
  return {rho, half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2};
}

/// Returns an upper bound on the logarithm of the rule's error on an interval of half length
/// `half`, for an integrand of modulus at most e^log_size within the ellipse of parameter `rho`
/// [Trefethen2013, Thm 19.3].
inline double log_gauss_error(double half, double rho, double log_size) {
  return std::log(half * 64 / 15 / (1 - 1 / (rho * rho))) + log_size -
         2 * (gauss_points - 1) * std::log(rho) + 1e-9;
}

}  // namespace sotto
