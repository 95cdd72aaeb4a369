// A party's sum of clipped gradients with its share of the noise.
#include "learning/api/share.hpp"

namespace sotto {

GradientShare::GradientShare(const Model& model, const Clipping& clipping, const PartyNoise& share)
    : layers_(model.layers()), noise_(share, model.exponents(clipping)) {}

std::vector<std::int64_t> GradientShare::noisy(std::span<const std::int64_t> sum) const {
  std::vector<double> numbers(sum.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto part = std::span<double>(numbers).subspan(layers_[l].start, layers_[l].size);
    noise_.release(l, sum.subspan(layers_[l].start, layers_[l].size), part);
  }
  return in_grid_steps(numbers, grid());
}

}  // namespace sotto
