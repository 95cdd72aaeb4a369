// Radix-2 transforms without reordering: decimation in frequency forwards, in time backwards.
#include "numerics/api/fft.hpp"

#include <bit>
#include <cmath>

#include "core/api/work.hpp"

namespace sotto {
namespace {

constexpr double pi = 3.141592653589793;
constexpr double unit = 0x1p-53;  // the unit roundoff

}  // namespace

Fft::Fft(std::size_t size) : roots_(size / 2) {
  spend(20 * static_cast<double>(size));
  for (std::size_t j = 0; j < roots_.size(); ++j) {
    const double angle = 2 * pi * (static_cast<double>(j) / static_cast<double>(size));
    roots_[j] = {std::cos(angle), -std::sin(angle)};
  }
}

double Fft::error() const { return 8 * unit * static_cast<double>(std::bit_width(roots_.size())); }

void Fft::forward(std::vector<Complex>& values) const {
  const std::size_t size = values.size();
  spend(4 * static_cast<double>(size) * std::log2(static_cast<double>(size)));
  for (std::size_t half = size / 2, stride = 1; half > 0; half /= 2, stride *= 2) {
    for (std::size_t block = 0; block < size; block += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        const Complex a = values[block + j];
        const Complex b = values[block + j + half];
        values[block + j] = a + b;
        values[block + j + half] = (a - b) * roots_[j * stride];
      }
    }
  }
}

void Fft::inverse(std::vector<Complex>& values) const {
  const std::size_t size = values.size();
  spend(4 * static_cast<double>(size) * std::log2(static_cast<double>(size)));
  for (std::size_t half = 1, stride = size / 2; half < size; half *= 2, stride /= 2) {
    for (std::size_t block = 0; block < size; block += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        const Complex root = roots_[j * stride];
        const Complex a = values[block + j];
        const Complex b = values[block + j + half] * Complex{root.re, -root.im};
        values[block + j] = a + b;
        values[block + j + half] = a - b;
      }
    }
  }
  const double share = 1 / static_cast<double>(size);
  for (Complex& value : values) value = share * value;
}

}  // namespace sotto
