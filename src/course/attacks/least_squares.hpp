// Least squares on a matrix of zeros and ones, by Cholesky's factors of its normal equations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::course_detail {

/// Rows are queries, columns people.
class BitMatrix {
 public:
  BitMatrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), cells_(rows * columns) {}
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] bool at(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column] != 0; }
  void set(std::size_t row, std::size_t column, bool value) { cells_[row * columns_ + column] = value ? 1 : 0; }
  /// A x.
  [[nodiscard]] std::vector<double> times(std::span<const double> x) const;
  /// Aᵀ y.
  [[nodiscard]] std::vector<double> transposed_times(std::span<const double> y) const;
  [[nodiscard]] const std::uint8_t* row(std::size_t index) const { return cells_.data() + index * columns_; }

 private:
  std::size_t rows_, columns_;
  std::vector<std::uint8_t> cells_;
};

/// Finds the x that minimizes |Ax - y|² + ridge |x|², for as many y as one likes; the ridge keeps a singular AᵀA apart from zero.
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
