// The discrete Fourier transform of a power of two, in doubles, with a bound on its error.
#pragma once

#include <cstddef>
#include <vector>

#include "numerics/api/complex.hpp"

namespace sotto {

/// Transforms of one length N = 2^n. Their order of frequencies is their own: what `forward` gives is for products, term by term, and `back`.
class Fft {
 public:
  explicit Fft(std::size_t size);
  void forward(std::vector<Complex>& values) const;
  /// Undoes `forward`, and divides by N.
  void back(std::vector<Complex>& values) const;
  /// Either is off by at most this, relative to its result, in the root of the sum of squares: n stages of 8 units each [Higham2002, §24.1].
  [[nodiscard]] double error() const;

 private:
  std::vector<Complex> turns_;  // e^(-2πij/N), j < N/2
};

}  // namespace sotto
