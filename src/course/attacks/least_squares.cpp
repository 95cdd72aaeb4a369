// The Cholesky factor of AᵀA + ridge is computed once and used for every right-hand side.
#include "course/attacks/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace sotto::course_detail {

std::vector<double> BitMatrix::times(std::span<const double> x) const {
  std::vector<double> result(rows_, 0.0);
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::uint8_t* cells = row(i);
    for (std::size_t j = 0; j < columns_; ++j) result[i] += cells[j] * x[j];
  }
  return result;
}

std::vector<double> BitMatrix::transposed_times(std::span<const double> y) const {
  std::vector<double> result(columns_, 0.0);
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::uint8_t* cells = row(i);
    for (std::size_t j = 0; j < columns_; ++j) result[j] += cells[j] * y[i];
  }
  return result;
}

LeastSquares::LeastSquares(const BitMatrix& matrix, double ridge)
    : matrix_(&matrix), size_(matrix.columns()), factor_(size_ * size_, 0.0) {
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    const std::uint8_t* cells = matrix.row(row);
    for (std::size_t i = 0; i < size_; ++i) {
      if (cells[i] == 0) continue;
      for (std::size_t j = 0; j <= i; ++j) factor_[i * size_ + j] += cells[j];
    }
  }
  for (std::size_t i = 0; i < size_; ++i) {
    factor_[i * size_ + i] += ridge;
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = factor_[i * size_ + j];
      for (std::size_t k = 0; k < j; ++k) rest -= factor_[i * size_ + k] * factor_[j * size_ + k];
      factor_[i * size_ + j] =
          i == j ? std::sqrt(std::max(rest, ridge)) : rest / factor_[j * size_ + j];
    }
  }
}

std::vector<double> LeastSquares::solve(std::span<const double> y) const {
  std::vector<double> x = matrix_->transposed_times(y);
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= factor_[i * size_ + k] * x[k];
    x[i] /= factor_[i * size_ + i];
  }
  for (std::size_t i = size_; i-- > 0;) {
    x[i] /= factor_[i * size_ + i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= factor_[i * size_ + k] * x[i];
  }
  return x;
}

}  // namespace sotto::course_detail
