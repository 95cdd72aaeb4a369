// Small symmetric matrices: Cholesky factors, linear systems and eigenvalues.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto::learning_detail {

/// A symmetric matrix, stored in full, row by row.
struct Symmetric {
  std::size_t size;
  std::vector<double> cells;
  explicit Symmetric(std::size_t n) : size(n), cells(n * n) {}
  double& at(std::size_t i, std::size_t j) { return cells[i * size + j]; }
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return cells[i * size + j]; }
};

/// The Cholesky factors of matrix + shift · identity.
class Factors {
 public:
  Factors(const Symmetric& matrix, double shift);
  /// Whether all pivots are above 0; solve() needs it.
  [[nodiscard]] bool positive() const { return positive_; }
  /// Replaces b by the solution of (matrix + shift · identity) x = b.
  void solve(std::span<double> b) const;

 private:
  std::size_t size_;
  std::vector<double> lower_;
  bool positive_ = true;
};

/// Eigenvalues and, as columns, eigenvectors by Jacobi rotations, accurate to about 10^-12 of the
/// largest eigenvalue.
struct Spectrum {
  std::vector<double> values;
  Symmetric vectors;  ///< at(i, k): coordinate i of vector k; not symmetric itself
};
Spectrum spectrum_of(Symmetric matrix);

}  // namespace sotto::learning_detail
