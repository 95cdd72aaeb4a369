// The stages of a network: dense, convolution, group norm, padding, pooling, activations, rounding.
#include "learning/models/stages.hpp"

#include <cstring>
#include <limits>

#include "learning/kernels/image_kernels.hpp"
#include "learning/kernels/network_kernels.hpp"

namespace sotto::learning_detail {
namespace {

std::size_t up_to_panel(std::size_t n) { return (n + panel - 1) / panel * panel; }
std::ptrdiff_t step(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

// Returns weights in the layout that correlate() reads; weight(output, tap) gives each.
template <class Weight>
Aligned<float> packed(std::size_t outputs, std::size_t taps, const Weight& weight) {
  Aligned<float> all(up_to_panel(outputs) * taps);
  for (std::size_t from = 0; from < outputs; from += panel) {
    float* to = all.data() + from * taps;
    const std::size_t valid = std::min(panel, outputs - from);
    for (std::size_t o = 0; o < valid; ++o) {
      for (std::size_t tap = 0; tap < taps; ++tap)
        to[tap * panel + o] = static_cast<float>(weight(from + o, tap));
    }
  }
  return all;
}

Aligned<float> packed_bias(std::span<const double> biases) {
  Aligned<float> all(up_to_panel(biases.size()));
  for (std::size_t o = 0; o < biases.size(); ++o) all[o] = static_cast<float>(biases[o]);
  return all;
}

class DenseStage final : public Stage {
 public:
  // an empty span of parameters means all 0
  DenseStage(std::size_t inputs, std::size_t outputs, std::size_t rows,
             std::span<const double> parameters, bool needs_backward)
      : Stage(inputs, outputs),
        rows_(rows),
        taps_(inputs),
        back_taps_(outputs),
        no_bias_(up_to_panel(inputs)) {
    for (std::size_t k = 0; k < inputs; ++k) taps_[k] = step(k * rows);
    for (std::size_t o = 0; o < outputs; ++o) back_taps_[o] = step(o * rows);
    if (parameters.empty()) return;
    bias_ = packed_bias(parameters.subspan(inputs * outputs));
    weights_ = packed(outputs, inputs,
                      [&](std::size_t o, std::size_t k) { return parameters[o * inputs + k]; });
    if (needs_backward)
      back_weights_ = packed(inputs, outputs, [&](std::size_t k, std::size_t o) {
        return parameters[o * inputs + k];
      });
  }
  void forward(const float* x, float* y) const override {
    correlate(shape(taps_, weights_, bias_, outputs()), x, y);
  }
  void backward(const float* /*x*/, const float* /*y*/, const float* dy, float* dx,
                float* /*scratch*/) const override {
    correlate(shape(back_taps_, back_weights_, no_bias_, inputs()), dy, dx);
  }

 private:
  [[nodiscard]] Correlation shape(const std::vector<std::ptrdiff_t>& taps,
                                  const Aligned<float>& weights, const Aligned<float>& bias,
                                  std::size_t outputs) const {
    return {.taps = taps.data(),
            .tap_count = taps.size(),
            .weights = weights.data(),
            .bias = bias.data(),
            .outputs = outputs,
            .rows = 1,
            .columns = rows_ / lanes,
            .in_column = step(lanes),
            .out_column = step(lanes),
            .out_output = step(rows_)};
  }
  std::size_t rows_;
  std::vector<std::ptrdiff_t> taps_, back_taps_;
  Aligned<float> weights_, back_weights_, bias_, no_bias_;
};

// A convolution without padding: a PaddingStage before it adds the margin.
class ConvolutionStage final : public DirectStage {
 public:
  ConvolutionStage(const ImageShape& in, const ImageShape& out, const Convolution& layer,
                   std::span<const double> parameters, bool needs_backward)
      : DirectStage(in.size(), out.size()),
        in_(in),
        out_(out),
        size_(layer.size),
        stride_(layer.stride),
        border_((layer.size - 1) / layer.stride) {
    for (std::size_t c = 0; c < in.channels; ++c) {
      for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t j = 0; j < size_; ++j)
          taps_.push_back(step(((c * in.height + i) * in.width + j) * lanes));
      }
    }
    wide_height_ = border_ + std::max(out.height, (in.height - 1) / stride_ + 1);
    wide_width_ = border_ + std::max(out.width, (in.width - 1) / stride_ + 1);
    no_bias_ = Aligned<float>(up_to_panel(in.channels));
    if (parameters.empty()) return;
    weights_ = packed(out.channels, taps_.size(), [&](std::size_t o, std::size_t tap) {
      return parameters[o * taps_.size() + tap];
    });
    bias_ = packed_bias(parameters.subspan(out.channels * taps_.size()));
    if (needs_backward) prepare_backward(parameters);
  }

  void forward(const float* x, float* y) const override {
    correlate({.taps = taps_.data(),
               .tap_count = taps_.size(),
               .weights = weights_.data(),
               .bias = bias_.data(),
               .outputs = out_.channels,
               .rows = out_.height,
               .columns = out_.width,
               .in_row = step(stride_ * in_.width * lanes),
               .in_column = step(stride_ * lanes),
               .out_row = step(out_.width * lanes),
               .out_column = step(lanes),
               .out_output = step(out_.height * out_.width * lanes)},
              x, y);
  }

  // Correlates the slopes, with a border of zeros, with the weights that meet inputs of one
  // remainder modulo the stride.
  void backward(const float* /*x*/, const float* /*y*/, const float* dy, float* dx,
                float* scratch) const override {
    std::fill(scratch, scratch + this->scratch(), 0.0F);
    for (std::size_t o = 0; o < out_.channels; ++o) {
      for (std::size_t i = 0; i < out_.height; ++i) {
        std::memcpy(scratch + ((o * wide_height_ + border_ + i) * wide_width_ + border_) * lanes,
                    dy + (o * out_.height + i) * out_.width * lanes,
                    out_.width * lanes * sizeof(float));
      }
    }
    for (const Remainder& part : remainders_) {
      correlate({.taps = part.taps.data(),
                 .tap_count = part.taps.size(),
                 .weights = part.weights.data(),
                 .bias = no_bias_.data(),
                 .outputs = in_.channels,
                 .rows = (in_.height - 1 - part.row) / stride_ + 1,
                 .columns = (in_.width - 1 - part.column) / stride_ + 1,
                 .in_row = step(wide_width_ * lanes),
                 .in_column = step(lanes),
                 .out_row = step(stride_ * in_.width * lanes),
                 .out_column = step(stride_ * lanes),
                 .out_output = step(in_.height * in_.width * lanes)},
                scratch, dx + (part.row * in_.width + part.column) * lanes);
    }
  }
  std::size_t scratch() const override {
    return out_.channels * wide_height_ * wide_width_ * lanes;
  }

  void gradient(const float* x, const float* dy, float* gradient, bool more) const override {
    // as many lines at once as keep the slopes of a panel in the first-level cache
    const std::size_t lines =
        std::max<std::size_t>(1, 24576 / (panel * out_.width * lanes * sizeof(float)));
    for (std::size_t from = 0; from < out_.height; from += lines) {
      gradient_of_lanes({.taps = taps_.data(),
                         .tap_count = taps_.size(),
                         .outputs = out_.channels,
                         .rows = std::min(lines, out_.height - from),
                         .columns = out_.width,
                         .in_row = step(stride_ * in_.width * lanes),
                         .in_column = step(stride_ * lanes),
                         .slope_output = out_.height * out_.width * lanes},
                        x + from * stride_ * in_.width * lanes, dy + from * out_.width * lanes,
                        gradient, more || from > 0);
    }
    sum_positions(dy, out_.channels, out_.height * out_.width,
                  gradient + out_.channels * taps_.size() * lanes, more);
  }

 private:
  struct Remainder {
    std::size_t row, column;
    std::vector<std::ptrdiff_t> taps;
    Aligned<float> weights;
  };

  void prepare_backward(std::span<const double> parameters) {
    for (std::size_t row = 0; row < std::min(stride_, in_.height); ++row) {
      for (std::size_t column = 0; column < std::min(stride_, in_.width); ++column) {
        Remainder part{row, column, {}, {}};
        std::vector<std::size_t> places;  // positions in a filter of the first channel
        for (std::size_t o = 0; o < out_.channels; ++o) {
          for (std::size_t i = 0; row + i * stride_ < size_; ++i) {
            for (std::size_t j = 0; column + j * stride_ < size_; ++j) {
              part.taps.push_back(
                  step(((o * wide_height_ + border_ - i) * wide_width_ + border_ - j) * lanes));
              places.push_back(o * taps_.size() + (row + i * stride_) * size_ + column +
                               j * stride_);
            }
          }
        }
        part.weights = packed(in_.channels, part.taps.size(), [&](std::size_t c, std::size_t tap) {
          return parameters[places[tap] + c * size_ * size_];
        });
        remainders_.push_back(std::move(part));
      }
    }
  }

  ImageShape in_, out_;
  std::size_t size_, stride_, border_, wide_height_, wide_width_;
  std::vector<std::ptrdiff_t> taps_;
  Aligned<float> weights_, bias_, no_bias_;
  std::vector<Remainder> remainders_;
};

class GroupNormStage final : public DirectStage {
 public:
  GroupNormStage(const ImageShape& in, const GroupNorm& layer, std::span<const double> parameters)
      : DirectStage(in.size(), in.size()),
        shape_{layer.groups, in.channels / layer.groups, in.height * in.width},
        scale_(in.channels),
        shift_(in.channels) {
    for (std::size_t c = 0; c < in.channels && !parameters.empty(); ++c) {
      scale_[c] = static_cast<float>(parameters[c]);
      shift_[c] = static_cast<float>(parameters[in.channels + c]);
    }
  }
  void forward(const float* x, float* y) const override {
    group_norm(shape_, scale_.data(), shift_.data(), x, y);
  }
  void backward(const float* x, const float* /*y*/, const float* dy, float* dx,
                float* /*scratch*/) const override {
    group_norm_slope(shape_, scale_.data(), x, dy, dx);
  }
  void gradient(const float* x, const float* dy, float* gradient, bool more) const override {
    group_norm_gradient(shape_, x, dy, gradient, more);
  }

 private:
  Grouping shape_;
  Aligned<float> scale_, shift_;
};

class PaddingStage final : public Stage {
 public:
  PaddingStage(const ImageShape& in, std::size_t margin)
      : Stage(in.size(), in.channels * (in.height + 2 * margin) * (in.width + 2 * margin)),
        in_(in),
        margin_(margin) {}
  void forward(const float* x, float* y) const override {
    std::fill(y, y + outputs() * lanes, 0.0F);
    each_line([&](std::size_t from, std::size_t to, std::size_t count) {
      std::memcpy(y + to, x + from, count * sizeof(float));
    });
  }
  void backward(const float* /*x*/, const float* /*y*/, const float* dy, float* dx,
                float* /*scratch*/) const override {
    each_line([&](std::size_t to, std::size_t from, std::size_t count) {
      std::memcpy(dx + to, dy + from, count * sizeof(float));
    });
  }

 private:
  template <class Do>
  void each_line(const Do& what) const {
    for (std::size_t c = 0; c < in_.channels; ++c) {
      for (std::size_t i = 0; i < in_.height; ++i) {
        const std::size_t wide =
            (c * (in_.height + 2 * margin_) + i + margin_) * (in_.width + 2 * margin_) + margin_;
        what((c * in_.height + i) * in_.width * lanes, wide * lanes, in_.width * lanes);
      }
    }
  }
  ImageShape in_;
  std::size_t margin_;
};

class PoolStage final : public Stage {
 public:
  PoolStage(const ImageShape& in, const ImageShape& out, std::size_t size, std::size_t stride,
            bool of_largest)
      : Stage(in.size(), out.size()),
        shape_{in.channels, in.height, in.width, size, stride, out.height, out.width},
        of_largest_(of_largest) {}
  void forward(const float* x, float* y) const override {
    of_largest_ ? max_pool(shape_, x, y) : average_pool(shape_, x, y);
  }
  void backward(const float* x, const float* y, const float* dy, float* dx,
                float* /*scratch*/) const override {
    of_largest_ ? max_pool_slope(shape_, x, y, dy, dx) : average_pool_slope(shape_, dy, dx);
  }

 private:
  Pooling shape_;
  bool of_largest_;
};

class TanhStage final : public Stage {
 public:
  TanhStage(std::size_t size, std::size_t rows) : Stage(size, size), count_(size * rows) {}
  void forward(const float* x, float* y) const override { tanh_of(x, y, count_); }
  void backward(const float* /*x*/, const float* y, const float* dy, float* dx,
                float* /*scratch*/) const override {
    tanh_slope(y, dy, dx, count_);
  }

 private:
  std::size_t count_;
};

class ReluStage final : public Stage {
 public:
  ReluStage(std::size_t size, std::size_t rows) : Stage(size, size), count_(size * rows) {}
  void forward(const float* x, float* y) const override { relu_of(x, y, count_); }
  void backward(const float* /*x*/, const float* y, const float* dy, float* dx,
                float* /*scratch*/) const override {
    relu_slope(y, dy, dx, count_);
  }

 private:
  std::size_t count_;
};

// Rounds to a grid. Its slope is taken as 1, and 0 where it saturates.
class GridStage final : public Stage {
 public:
  GridStage(std::size_t size, std::size_t rows, int bits, bool saturates)
      : Stage(size, size),
        count_(size * rows),
        step_(1.0F / static_cast<float>(1 << bits)),
        limit_(saturates ? 32767.0F : static_cast<float>(1 << bits)),
        bound_(saturates ? limit_ * step_ : std::numeric_limits<float>::infinity()) {}
  void forward(const float* x, float* y) const override {
    round_to_grid(x, y, count_, step_, limit_);
  }
  void backward(const float* /*x*/, const float* y, const float* dy, float* dx,
                float* /*scratch*/) const override {
    round_slope(y, dy, dx, count_, bound_);
  }

 private:
  std::size_t count_;
  float step_, limit_, bound_;
};

class Builder {
 public:
  Builder(const Network& network, std::span<const double> parameters)
      : network_(network), parameters_(parameters) {
    made_.rows = 2 * lanes;
    for (const NetworkLayer& layer : network.layers) {
      if (!std::holds_alternative<Dense>(layer) && !std::holds_alternative<Tanh>(layer) &&
          !std::holds_alternative<Relu>(layer))
        made_.rows = lanes;
    }
  }

  Stages build() && {
    const auto shapes = shapes_of(network_);
    at_ = network_.input;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      number_ = l + 1;
      std::visit([&](const auto& layer) { add(layer, shapes[l]); }, network_.layers[l]);
      at_ = shapes[l];
    }
    return std::move(made_);
  }

 private:
  void add(const Dense& layer, const ImageShape& /*out*/) {
    const int bits = bounded_ ? feature_bits : 12;
    const bool reads_rows = made_.stages.empty();
    if (!reads_rows) put(std::make_unique<GridStage>(at_.size(), made_.rows, bits, !bounded_));
    const bool first = made_.learned.empty();
    const auto own = learns("dense", (at_.size() + 1) * layer.outputs, true);
    made_.learned.back().bits = bits;
    made_.learned.back().reads_rows = reads_rows;
    put(std::make_unique<DenseStage>(at_.size(), layer.outputs, made_.rows, own, !first));
    bounded_ = false;
  }
  void add(const Convolution& layer, const ImageShape& out) {
    ImageShape in = at_;
    if (layer.padding > 0) {
      put(std::make_unique<PaddingStage>(at_, layer.padding));
      in.height += 2 * layer.padding;
      in.width += 2 * layer.padding;
    }
    const bool first = made_.learned.empty();
    const auto own =
        learns("conv", (in.channels * layer.size * layer.size + 1) * layer.filters, false);
    put(std::make_unique<ConvolutionStage>(in, out, layer, own, !first));
    bounded_ = false;
  }
  void add(const GroupNorm& layer, const ImageShape& /*out*/) {
    const auto own = learns("group-norm", 2 * at_.channels, false);
    put(std::make_unique<GroupNormStage>(at_, layer, own));
    bounded_ = false;
  }
  void add(const MaxPool& layer, const ImageShape& out) {
    put(std::make_unique<PoolStage>(at_, out, layer.size, layer.stride, true));
  }
  void add(const AveragePool& layer, const ImageShape& out) {
    put(std::make_unique<PoolStage>(at_, out, layer.size, layer.stride, false));
  }
  void add(const Tanh& /*layer*/, const ImageShape& /*out*/) {
    put(std::make_unique<TanhStage>(at_.size(), made_.rows));
    bounded_ = true;
  }
  void add(const Relu& /*layer*/, const ImageShape& /*out*/) {
    put(std::make_unique<ReluStage>(at_.size(), made_.rows));
  }

  void put(std::unique_ptr<const Stage> stage) { made_.stages.push_back(std::move(stage)); }
  // Assigns the next `size` parameters to the next stage.
  std::span<const double> learns(const std::string& name, std::size_t size, bool outer) {
    made_.learned.push_back({.name = name + " " + std::to_string(number_),
                             .stage = made_.stages.size(),
                             .start = made_.parameters,
                             .size = size,
                             .outer = outer});
    made_.parameters += size;
    return parameters_.empty() ? parameters_ : parameters_.subspan(made_.parameters - size, size);
  }

  const Network& network_;
  std::span<const double> parameters_;
  Stages made_{};
  ImageShape at_{};
  std::size_t number_ = 0;
  bool bounded_ = true;  // whether the inputs of the next layer lie in [-1, 1]
};

}  // namespace

Stages stages_of(const Network& network, std::span<const double> parameters) {
  return Builder(network, parameters).build();
}

}  // namespace sotto::learning_detail
