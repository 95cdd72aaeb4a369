// Least squares with a matrix of zeros and ones, by the Cholesky factorisation of its normal
// equations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::course_detail {

/// A dense matrix of zeros and ones. In the attack its rows are queries and its columns are people.
class BitMatrix {
 public:
  BitMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), cells_(rows * columns) {}
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] bool at(std::size_t row, std::size_t column) const {
    return cells_[row * columns_ + column] != 0;
  }
  void set(std::size_t row, std::size_t column, bool value) {
    cells_[row * columns_ + column] = value ? 1 : 0;
  }
  /// Returns A x.
  [[nodiscard]] std::vector<double> times(std::span<const double> x) const;
  /// Returns Aᵀ y.
  [[nodiscard]] std::vector<double> transposed_times(std::span<const double> y) const;
  [[nodiscard]] const std::uint8_t* row(std::size_t index) const {
    return cells_.data() + index * columns_;
  }

 private:
  std::size_t rows_, columns_;
  std::vector<std::uint8_t> cells_;
};

/// A solver for the x that minimises |Ax - y|² + ridge |x|². The factorisation is shared by all
/// right-hand sides y; the ridge makes a singular AᵀA invertible. Keeps a reference to the matrix.
class LeastSquares {
 public:
  explicit LeastSquares(const BitMatrix& matrix, double ridge = 1e-6);
  [[nodiscard]] std::vector<double> solve(std::span<const double> y) const;

 private:
  const BitMatrix* matrix_;
  std::size_t size_;
  std::vector<double> factor_;  // lower triangle, row by row
};

}  // namespace sotto::course_detail
