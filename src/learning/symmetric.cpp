#include "symmetric.hpp"

#include <algorithm>
#include <cmath>

namespace sotto::learning_detail {

Factors::Factors(const Symmetric& matrix, double shift) : size_(matrix.size), lower_(matrix.cells) {
  for (std::size_t i = 0; i < size_; ++i) {
    double* row = lower_.data() + i * size_;
    row[i] += shift;
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = lower_.data() + j * size_;
      double rest = row[j];
      for (std::size_t k = 0; k < j; ++k) rest -= row[k] * other[k];
      if (j < i) {
        row[j] = rest / other[j];
      } else if (rest > 0) {
        row[i] = std::sqrt(rest);
      } else {
        positive_ = false;
        return;
      }
    }
  }
}

void Factors::solve(std::span<double> b) const {
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= lower_[i * size_ + k] * b[k];
    b[i] /= lower_[i * size_ + i];
  }
  for (std::size_t i = size_; i-- > 0;) {
    b[i] /= lower_[i * size_ + i];
    for (std::size_t k = 0; k < i; ++k) b[k] -= lower_[i * size_ + k] * b[i];
  }
}

double smallest_eigenvalue(const Symmetric& matrix) {
  double most = 0;  // of the eigenvalues' sizes [Gershgorin's circles]
  for (std::size_t i = 0; i < matrix.size; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < matrix.size; ++j) sum += std::abs(matrix.at(i, j));
    most = std::max(most, sum);
  }
  double low = -most;  // matrix - low is positive definite
  double high = most;
  while (high - low > 1e-6 * most) {
    const double middle = low + (high - low) / 2;
    (Factors(matrix, -middle).positive() ? low : high) = middle;
  }
  return low;
}

}  // namespace sotto::learning_detail
