// Small symmetric matrices: Cholesky's factors and what they solve.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto::learning_detail {

/// Row by row, all of it.
struct Symmetric {
  std::size_t size;
  std::vector<double> cells;
  explicit Symmetric(std::size_t n) : size(n), cells(n * n) {}
  double& at(std::size_t i, std::size_t j) { return cells[i * size + j]; }
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return cells[i * size + j]; }
};

/// Cholesky's factors of matrix + shift.
class Factors {
 public:
  Factors(const Symmetric& matrix, double shift);
  /// Whether all pivots were above 0; without it there is nothing to solve.
  [[nodiscard]] bool positive() const { return positive_; }
  void solve(std::span<double> b) const;

 private:
  std::size_t size_;
  std::vector<double> lower_;
  bool positive_ = true;
};

/// Eigenvalues and, as columns, eigenvectors, by Jacobi's rotations; to about a part in 10^12 of the largest.
struct Spectrum {
  std::vector<double> values;
  Symmetric vectors;  ///< at(i, k): coordinate i of vector k; not symmetric itself
};
Spectrum spectrum_of(Symmetric matrix);

}  // namespace sotto::learning_detail
