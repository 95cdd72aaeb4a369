// The stages of a network: what a tile of rows passes through, forward and backward. A layer is one stage, or two: what enters a dense layer is
// rounded to a grid, what enters a convolution gets a margin of zeros.
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

class Stage {
 public:
  Stage(std::size_t inputs, std::size_t outputs) : inputs_(inputs), outputs_(outputs) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  virtual void forward(const float* x, float* y) const = 0;
  /// The slope by x from that by y. scratch: so many floats as scratch() says.
  virtual void backward(const float* x, const float* y, const float* dy, float* dx, float* scratch) const = 0;
  [[nodiscard]] virtual std::size_t scratch() const { return 0; }

 private:
  std::size_t inputs_, outputs_;
};

/// A stage that learns. Its gradient is an outer product of its slopes and its inputs, which are codes of a grid (a dense layer); or it is made for
/// each row (a convolution, a group norm).
struct Learned {
  std::string name;
  std::size_t stage;  ///< its place among the stages
  std::size_t start;  ///< of its parameters: weights [output][input], then a bias an output
  std::size_t size;
  bool outer;
  int bits = 0;             ///< of an outer product: inputs are whole numbers of 2^-bits
  bool reads_rows = false;  ///< and they are the examples' own codes
};

/// A stage whose gradient is made for each row.
class DirectStage : public Stage {
 public:
  using Stage::Stage;
  /// gradient[parameter][row]; with `more` it is added.
  virtual void gradient(const float* x, const float* dy, float* gradient, bool more) const = 0;
};

struct Stages {
  std::size_t rows;  ///< of a tile
  std::vector<std::unique_ptr<const Stage>> stages;
  std::vector<Learned> learned;
  std::size_t parameters = 0;
};
/// With these parameters; none: all are 0. The layers fit.
Stages stages_of(const Network& network, std::span<const double> parameters);

}  // namespace sotto::learning_detail
