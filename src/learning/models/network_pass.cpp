// Forward and backward passes of one tile of rows through the stages of a network.
#include "learning/models/network_pass.hpp"

#include "sotto/core/errors.hpp"

namespace sotto::learning_detail {
namespace {

std::size_t outputs_up_to_panel(const Stage& stage) {
  return (stage.outputs() + panel - 1) / panel * panel;
}

// Returns an upper bound on the exact sum of squares, from the result of squares_of_rows for
// `count` numbers.
double upper(float sum, std::size_t count) {
  const auto n = static_cast<double>(count);
  return (static_cast<double>(sum) + n * 0x1p-125) * (1 + (160 + n / 256) * 0x1p-23);
}

}  // namespace

std::size_t code_stride(std::size_t inputs) { return (inputs + 15) / 16 * 16; }

Workspace::Workspace(const Stages& shape) {
  std::size_t largest = 0;
  std::size_t most_scratch = 0;
  values.emplace_back(shape.stages.front()->inputs() * shape.rows);
  for (const auto& stage : shape.stages) {
    values.emplace_back(stage->outputs() * shape.rows);
    largest = std::max({largest, stage->inputs(), stage->outputs()});
    most_scratch = std::max(most_scratch, stage->scratch());
  }
  for (Aligned<float>& slope : slopes) slope = Aligned<float>(largest * shape.rows);
  scratch = Aligned<float>(most_scratch);
  for (const LearnedLayer& layer : shape.learned) {
    const Stage& stage = *shape.stages[layer.stage];
    row_gradients.emplace_back((layer.outer ? stage.outputs() : layer.size) * shape.rows);
    coefficients.emplace_back(layer.outer ? outputs_up_to_panel(stage) * book_rows : 0);
    codes.emplace_back(layer.outer && !layer.reads_rows ? code_stride(stage.inputs()) * book_rows
                                                        : 0);
    sums.emplace_back(layer.outer ? 0 : layer.size * lanes);
    squares.emplace_back(shape.rows);
  }
  outputs.resize(shape.stages.back()->outputs());
  output_slopes.resize(outputs.size());
  nothing.resize(code_stride(shape.stages.front()->inputs()));
}

void load_tile(const Stages& stages, Workspace& space, const Examples& examples,
               std::span<const std::uint32_t> rows) {
  std::array<const std::int16_t*, 2 * lanes> codes{};
  for (std::size_t t = 0; t < stages.rows; ++t)
    codes.at(t) = t < rows.size() ? examples.row(rows[t]) : space.nothing.data();
  spread(codes.data(), stages.stages.front()->inputs(), stages.rows, 1.0F / feature_one,
         space.values.front().data());
}

void forward_tile(const Stages& stages, Workspace& space) {
  for (std::size_t i = 0; i < stages.stages.size(); ++i)
    stages.stages[i]->forward(space.values[i].data(), space.values[i + 1].data());
}

void outputs_of_tile(const Stages& stages, const Workspace& space, std::size_t row,
                     std::span<double> outputs) {
  const float* from = space.values.back().data() + row;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    outputs[o] = static_cast<double>(from[o * stages.rows]);
}

void run_tile(const Stages& stages, Workspace& space, const LossFunction& loss,
              const Examples& examples, std::span<const std::uint32_t> rows, bool more) {
  load_tile(stages, space, examples, rows);
  forward_tile(stages, space);
  float* slope = space.slopes[0].data();
  float* next = space.slopes[1].data();
  std::fill(slope, slope + space.outputs.size() * stages.rows, 0.0F);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    outputs_of_tile(stages, space, t, space.outputs);
    const std::int16_t target = examples.target(rows[t]);
    if (loss.kind == LossKind::softmax &&
        (target < 0 || static_cast<std::size_t>(target) >= space.outputs.size())) {
      throw InvalidValue(
          "the examples have a class that the model does not have: its number of classes is too "
          "small");
    }
    loss.slope(space.outputs, target, space.output_slopes);
    for (std::size_t o = 0; o < space.outputs.size(); ++o)
      slope[o * stages.rows + t] = static_cast<float>(space.output_slopes[o]);
  }
  const std::size_t first = stages.learned.front().stage;
  std::size_t layer = stages.learned.size();
  for (std::size_t i = stages.stages.size(); i-- > first;) {
    const Stage& stage = *stages.stages[i];
    if (layer > 0 && stages.learned[layer - 1].stage == i) {
      --layer;
      if (stages.learned[layer].outer) {
        std::copy(slope, slope + stage.outputs() * stages.rows, space.row_gradients[layer].data());
      } else {
        static_cast<const DirectStage&>(stage).gradient(space.values[i].data(), slope,
                                                        space.row_gradients[layer].data(), more);
      }
    }
    if (i == first) break;
    stage.backward(space.values[i].data(), space.values[i + 1].data(), slope, next,
                   space.scratch.data());
    std::swap(slope, next);
  }
}

void measure_tile(const Stages& stages, Workspace& space) {
  std::array<float, 2 * lanes> own{};
  std::array<float, 2 * lanes> inputs{};
  for (std::size_t l = 0; l < stages.learned.size(); ++l) {
    const LearnedLayer& layer = stages.learned[l];
    const Stage& stage = *stages.stages[layer.stage];
    const std::size_t count = layer.outer ? stage.outputs() : layer.size;
    squares_of_rows(space.row_gradients[l].data(), count, stages.rows, own.data());
    if (layer.outer)
      squares_of_rows(space.values[layer.stage].data(), stage.inputs(), stages.rows, inputs.data());
    for (std::size_t t = 0; t < stages.rows; ++t) {
      // the squared norm of an outer product: |slopes|² (|inputs|² + 1), with 1 for the bias
      space.squares[l][t] = upper(own.at(t), count) *
                            (layer.outer ? upper(inputs.at(t), stage.inputs()) + 1 : 1) *
                            (1 + 0x1p-50);
    }
  }
}

void book_inputs(const Stages& stages, Workspace& space, const Examples& examples,
                 std::span<const std::uint32_t> rows) {
  for (std::size_t t = 0; t < stages.rows; ++t)
    space.rows.at(space.booked + t) =
        t < rows.size() ? examples.row(rows[t]) : space.nothing.data();
  for (std::size_t l = 0; l < stages.learned.size(); ++l) {
    const LearnedLayer& layer = stages.learned[l];
    if (!layer.outer || layer.reads_rows) continue;
    const std::size_t inputs = stages.stages[layer.stage]->inputs();
    const std::size_t stride = code_stride(inputs);
    gather_codes(space.values[layer.stage].data(), inputs, stages.rows,
                 static_cast<float>(1 << layer.bits), space.codes[l].data() + space.booked * stride,
                 stride);
  }
}

}  // namespace sotto::learning_detail
