#include "learning/api/share.hpp"

#include <cmath>

#include "learning/training/noisy_total.hpp"

namespace sotto {

NoiseShare::NoiseShare(const Model& model, const Clipping& clipping, double scale)
    : layers_(model.layers()), exponents_(model.exponents(clipping)), noise_(learning_detail::noise_on_sums(scale, exponents_)) {}

std::vector<std::int64_t> NoiseShare::noisy(std::span<const std::int64_t> sum) const {
  std::vector<double> numbers(sum.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    learning_detail::noisy_totals(sum.subspan(layers_[l].start, layers_[l].size), exponents_[l], noise_,
                                  std::span<double>(numbers).subspan(layers_[l].start, layers_[l].size));
  }
  std::vector<std::int64_t> steps(sum.size());
  for (std::size_t j = 0; j < sum.size(); ++j) steps[j] = static_cast<std::int64_t>(std::ldexp(numbers[j], -noise_.grid()));
  return steps;
}

}  // namespace sotto
