// Noise of any scale on any grid, added to any value: InvalidValue, or a multiple of the grid
// within its range.
#include "sotto/random/noise.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numbers.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace {

using namespace sotto;

void demand_on_grid(double released, double grid, double limit) {
  require_that(std::isfinite(released));
  require_that(std::abs(released) <= limit);
  const double steps = released / grid;
  require_that(steps == std::floor(steps));
}

void try_noise(const RoundedNoise& noise, Numbers& numbers) {
  const double grid = std::ldexp(1.0, noise.grid());
  std::vector<double> values;
  while (!numbers.is_empty() && values.size() < 24) values.push_back(numbers.any());
  for (const double value : values) {
    try {
      demand_on_grid(noise.add(value), grid, noise.limit());
      require_that(std::isfinite(value));
    } catch (const InvalidValue&) {
      require_that(!std::isfinite(value));
    }
  }
  try {
    noise.add(values);
  } catch (const InvalidValue&) {
    return;
  }
  for (const double released : values) demand_on_grid(released, grid, noise.limit());
}

void try_additive(const Plan& leaf, std::optional<int> grid, Numbers& numbers) {
  const Additive mechanism(leaf, grid);
  const double margin = mechanism.margin(0.95);
  require_that(margin > 0);
  std::vector<double> values;
  while (!numbers.is_empty() && values.size() < 12) values.push_back(numbers.any());
  for (const double released : mechanism.release_each(values))
    demand_on_grid(released, mechanism.grid(), mechanism.limit());
}

void try_calibrations(double epsilon, double sensitivity, Numbers& numbers) {
  try {
    require_that(laplace_for(Epsilon(epsilon), sensitivity).margin(0.5) > 0);
  } catch (const InvalidValue&) {
  }
  const Delta delta(numbers.any());
  require_that(
      gaussian_for(Epsilon(epsilon), delta, sensitivity, GaussianRule::classical).margin(0.5) > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  const std::uint8_t kind = numbers.byte();
  const double scale = numbers.any();
  const double other = numbers.any();
  const int grid = static_cast<int>(numbers.byte()) * 16 + numbers.byte() - 2048;
  const NoiseKind noise_kind = kind % 2 == 0 ? NoiseKind::gaussian : NoiseKind::laplace;
  try {
    switch (kind / 2 % 7) {
      case 0: try_noise(RoundedNoise(noise_kind, scale), numbers); break;
      case 1: try_noise(RoundedNoise(noise_kind, scale, grid), numbers); break;
      case 2:
        try_noise(RoundedNoise::arsinh(scale, other,
                                       kind % 2 == 0 ? RoundedNoise::grid_for(scale) : grid),
                  numbers);
        break;
      case 3: {
        const DiscreteNoise noise(noise_kind, scale);
        for (int i = 0; i < 20; ++i)
          require_that(std::abs(static_cast<double>(noise.draw())) < 0x1p50);
        break;
      }
      case 4:
        try_additive(kind % 2 == 0 ? gaussian(scale, other) : laplace(scale, other),
                     kind < 128 ? std::nullopt : std::optional(grid), numbers);
        break;
      case 5: try_calibrations(scale, other, numbers); break;
      default:
        try_additive(arsinh(scale, other, numbers.any()),
                     kind < 128 ? std::nullopt : std::optional(grid), numbers);
        break;
    }
  } catch (const InvalidValue&) {
  } catch (const OutsideConditions&) {
  }
  return 0;
}
