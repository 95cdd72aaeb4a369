// Gauss-Legendre quadrature of analytic functions, with a bound on its error.
#pragma once

#include <array>
#include <cmath>

namespace sotto {

inline constexpr int gauss_points = 24;

struct GaussLegendre {
  std::array<double, gauss_points> node;    // in (-1, 1)
  std::array<double, gauss_points> weight;  // they sum to 2
};
/// The rule, its numbers right to a few units in the last place.
const GaussLegendre& gauss_legendre();

/// The region to which an integrand on [centre - half, centre + half] must extend: within the ellipse of parameter ρ, whose
/// real parts are within `reach` of the centre and whose imaginary parts are within `height` of 0.
struct Ellipse {
  double rho;
  double reach;
  double height;
};
inline Ellipse ellipse(double half, double rho) { return {rho, half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2}; }

/// log of the error of the rule on an interval of that half length, for an integrand below e^log_size on the ellipse
/// [Trefethen2013, Thm 19.3].
inline double log_gauss_error(double half, double rho, double log_size) {
  return std::log(half * 64 / 15 / (1 - 1 / (rho * rho))) + log_size - 2 * (gauss_points - 1) * std::log(rho) + 1e-9;
}

}  // namespace sotto
