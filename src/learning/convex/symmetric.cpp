// Cholesky factors and Jacobi's eigenvalue method for small symmetric matrices.
#include "learning/convex/symmetric.hpp"

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

Spectrum spectrum_of(Symmetric matrix) {
  const std::size_t n = matrix.size;
  Spectrum result{.values = std::vector<double>(n), .vectors = Symmetric(n)};
  for (std::size_t i = 0; i < n; ++i) result.vectors.at(i, i) = 1;
  double whole = 0;
  for (const double x : matrix.cells) whole += x * x;
  for (int sweep = 0; sweep < 40; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) off += matrix.at(p, q) * matrix.at(p, q);
    }
    if (off <= 1e-24 * whole) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (matrix.at(p, q) == 0) continue;
        // the rotation that sets this entry to 0
        const double half = (matrix.at(q, q) - matrix.at(p, p)) / (2 * matrix.at(p, q));
        const double tangent =
            std::copysign(1.0, half) / (std::abs(half) + std::sqrt(half * half + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1);
        const double sine = tangent * cosine;
        for (std::size_t k = 0; k < n; ++k) {
          const double a = matrix.at(k, p);
          const double b = matrix.at(k, q);
          matrix.at(k, p) = cosine * a - sine * b;
          matrix.at(k, q) = sine * a + cosine * b;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double a = matrix.at(p, k);
          const double b = matrix.at(q, k);
          matrix.at(p, k) = cosine * a - sine * b;
          matrix.at(q, k) = sine * a + cosine * b;
          const double u = result.vectors.at(k, p);
          const double v = result.vectors.at(k, q);
          result.vectors.at(k, p) = cosine * u - sine * v;
          result.vectors.at(k, q) = sine * u + cosine * v;
        }
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) result.values[i] = matrix.at(i, i);
  return result;
}

}  // namespace sotto::learning_detail
