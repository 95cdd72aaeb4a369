// The fast Fourier transform of a power of two in doubles, with a bound on its error.
#pragma once

#include <cstddef>
#include <vector>

#include "numerics/api/complex.hpp"

namespace sotto {

/// Transforms of one length N = 2^n. forward() leaves the frequencies in bit-reversed order, which
/// suits products term by term, and inverse() expects that order.
class Fft {
 public:
  /// `size` is N. Takes time in proportion to N, to tabulate the roots of unity.
  explicit Fft(std::size_t size);
  /// Transforms N values in place.
  void forward(std::vector<Complex>& values) const;
  /// Inverts forward() in place, with the division by N.
  void inverse(std::vector<Complex>& values) const;
  /// Returns a bound on the relative error of either transform in the Euclidean norm: 8 units of
  /// roundoff for each of the n stages [Higham2002, §24.1].
  [[nodiscard]] double error() const;

 private:
  std::vector<Complex> roots_;  // e^(-2πij/N) for j < N/2
};

}  // namespace sotto
