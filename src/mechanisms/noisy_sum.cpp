// Gaussian noise on exact sums.
#include "mechanisms/api/noisy_sum.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// The grid's distance from a layer's own grid, at least.
constexpr int least_finer = 10;

int grid_of(double scale, std::span<const int> exponents) {
  int grid = RoundedNoise::grid_for(scale);
  for (const int exponent : exponents) grid = std::max(grid, exponent + least_finer);
  return grid;
}

// Returns by how many powers of two a layer is finer than the grid. Both parts of a total, below
// the grid and on it, are doubles then.
int finer_by(int grid, int exponent) {
  const int finer = grid - exponent;
  if (finer < least_finer || finer > 53)
    throw InvalidValue("the noise is too small or too large for the sum's grid");
  return finer;
}

}  // namespace

NoisySum::NoisySum(const GaussianNoise& noise, std::vector<int> exponents)
    : NoisySum(noise.event(), noise.scale(), std::move(exponents)) {}
NoisySum::NoisySum(const PartyNoise& share, std::vector<int> exponents)
    : NoisySum(share.event(), share.scale(), std::move(exponents)) {}
NoisySum::NoisySum(const Plan& event, double scale, std::vector<int> exponents)
    : event_(event),
      exponents_(std::move(exponents)),
      noise_(NoiseKind::gaussian, scale, grid_of(scale, exponents_)) {}

// The part of the total on the grid is added after the noise: both are multiples of the grid.
double NoisySum::release(std::size_t layer, std::int64_t total) const {
  const int exponent = exponents_.at(layer);
  const std::int64_t below = total & ((std::int64_t{1} << finer_by(grid(), exponent)) - 1);
  return std::ldexp(static_cast<double>(total - below), exponent) +
         noise_.add(std::ldexp(static_cast<double>(below), exponent));
}

void NoisySum::release(std::size_t layer, std::span<const std::int64_t> totals,
                       std::span<double> noisy) const {
  const int exponent = exponents_.at(layer);
  const std::int64_t mask = (std::int64_t{1} << finer_by(grid(), exponent)) - 1;
  const double step = std::ldexp(1.0, exponent);
  for (std::size_t j = 0; j < totals.size(); ++j)
    noisy[j] = static_cast<double>(totals[j] & mask) * step;
  noise_.add(noisy);
  for (std::size_t j = 0; j < totals.size(); ++j)
    noisy[j] += static_cast<double>(totals[j] - (totals[j] & mask)) * step;
}

NoisyShare::NoisyShare(const PartyNoise& share, int grid)
    : event_(share.event()), noise_(NoiseKind::gaussian, share.scale(), grid) {}

std::vector<std::int64_t> NoisyShare::release(std::vector<double> numbers) const {
  noise_.add(numbers);
  return in_grid_steps(numbers, grid());
}

std::vector<std::int64_t> in_grid_steps(std::span<const double> numbers, int grid) {
  std::vector<std::int64_t> steps;
  steps.reserve(numbers.size());
  for (const double number : numbers)
    steps.push_back(static_cast<std::int64_t>(std::ldexp(number, -grid)));
  return steps;
}

}  // namespace sotto
