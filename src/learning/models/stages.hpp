// The stages of a network, through which a tile of rows passes forward and backward. A layer is one
// or two stages: inputs of a dense layer are first rounded to a grid, inputs of a convolution first
// get a margin of zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learning/kernels/aligned.hpp"
#include "sotto/learning/network.hpp"

namespace sotto::learning_detail {

/// A stage maps a tile of inputs to a tile of outputs.
class Stage {
 public:
  Stage(std::size_t inputs, std::size_t outputs) : inputs_(inputs), outputs_(outputs) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  virtual void forward(const float* x, float* y) const = 0;
  /// Computes the slope by x from the slope by y. `scratch` has scratch() floats.
  virtual void backward(const float* x, const float* y, const float* dy, float* dx,
                        float* scratch) const = 0;
  [[nodiscard]] virtual std::size_t scratch() const { return 0; }

 private:
  std::size_t inputs_, outputs_;
};

/// A stage with parameters. The gradient of a dense layer is an outer product of slopes and inputs,
/// which are codes on a grid. The gradients of convolutions and group norms are computed per row.
struct LearnedLayer {
  std::string name;
  std::size_t stage;  ///< index of the stage
  std::size_t start;  ///< first parameter: weights [output][input], then one bias per output
  std::size_t size;
  bool outer;               ///< whether its gradient is an outer product
  int bits = 0;             ///< of an outer product: inputs are multiples of 2^-bits
  bool reads_rows = false;  ///< whether these inputs are the codes of the examples
};

/// A stage whose gradient is computed per row.
class DirectStage : public Stage {
 public:
  using Stage::Stage;
  /// Writes gradient[parameter][row]; with `more` it is added to `gradient`.
  virtual void gradient(const float* x, const float* dy, float* gradient, bool more) const = 0;
};

/// All stages of a network with fixed parameters.
struct Stages {
  std::size_t rows;  ///< rows of a tile
  std::vector<std::unique_ptr<const Stage>> stages;
  std::vector<LearnedLayer> learned;
  std::size_t parameters = 0;
};
/// Returns the stages with these parameters; an empty span means all 0. The layers of the network
/// must fit together.
Stages stages_of(const Network& network, std::span<const double> parameters);

}  // namespace sotto::learning_detail
