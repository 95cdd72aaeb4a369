// The plain gradient of a network, for tests and benchmarks: neither clipped nor private.
#include "learning/models/network_plain.hpp"

namespace sotto::learning_detail {
namespace {

// Multiplies the buffered outer products and adds them to the gradient.
void multiply(const Stages& stages, Workspace& space, const std::vector<Aligned<float>>& slopes) {
  std::array<const std::int16_t*, book_rows> waiting{};
  for (std::size_t l = 0; l < stages.learned.size() && space.booked > 0; ++l) {
    const LearnedLayer& layer = stages.learned[l];
    if (!layer.outer) continue;
    const Stage& stage = *stages.stages[layer.stage];
    const std::size_t stride = code_stride(stage.inputs());
    for (std::size_t row = 0; row < book_rows; ++row)
      waiting.at(row) = space.codes[l].data() + row * stride;
    float* sum = space.plain[l].data();
    add_products({.codes = layer.reads_rows ? space.rows.data() : waiting.data(),
                  .rows = space.booked,
                  .width = stage.inputs(),
                  .outputs = stage.outputs()},
                 slopes[l].data(), sum);
    const float bias = static_cast<float>(1 << layer.bits);
    for (std::size_t o = 0; o < stage.outputs(); ++o) {
      std::array<float, lanes> sums{};
      for (std::size_t row = 0; row < space.booked; ++row)
        sums.at(row % lanes) += slopes[l][o * book_rows + row];
      for (const float s : sums) sum[stage.inputs() * stage.outputs() + o] += s * bias;
    }
  }
  space.booked = 0;
}

}  // namespace

std::vector<double> plain_gradient(const Stages& stages, Workspace& space, const LossFunction& loss,
                                   const Examples& examples, std::span<const std::uint32_t> rows) {
  const bool fresh = space.plain.empty();
  if (fresh) {
    for (const LearnedLayer& layer : stages.learned)
      space.plain.emplace_back(layer.outer ? layer.size : 0);
  } else {
    for (Aligned<float>& sum : space.plain) sum.clear();
  }
  std::vector<Aligned<float>> slopes;
  for (const Aligned<double>& coefficients : space.coefficients)
    slopes.emplace_back(coefficients.size());
  space.booked = 0;
  for (std::size_t i = 0; i < rows.size(); i += stages.rows) {
    const auto tile = rows.subspan(i, std::min(stages.rows, rows.size() - i));
    run_tile(stages, space, loss, examples, tile, i > 0);
    book_inputs(stages, space, examples, tile);
    for (std::size_t l = 0; l < stages.learned.size(); ++l) {
      const LearnedLayer& layer = stages.learned[l];
      if (!layer.outer) continue;
      for (std::size_t o = 0; o < stages.stages[layer.stage]->outputs(); ++o) {
        std::copy_n(space.row_gradients[l].data() + o * stages.rows, stages.rows,
                    slopes[l].data() + o * book_rows + space.booked);
      }
    }
    space.booked += stages.rows;
    if (space.booked == book_rows) multiply(stages, space, slopes);
  }
  multiply(stages, space, slopes);
  std::vector<double> gradient(stages.parameters);
  for (std::size_t l = 0; l < stages.learned.size(); ++l) {
    const LearnedLayer& layer = stages.learned[l];
    const double step = 1.0 / (1 << layer.bits);
    for (std::size_t j = 0; j < layer.size; ++j) {
      if (layer.outer) {
        gradient[layer.start + j] = static_cast<double>(space.plain[l][j]) * step;
      } else {
        for (std::size_t lane = 0; lane < lanes; ++lane)
          gradient[layer.start + j] +=
              static_cast<double>(space.row_gradients[l][j * lanes + lane]);
      }
    }
  }
  return gradient;
}

}  // namespace sotto::learning_detail
