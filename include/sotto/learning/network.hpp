// Neural networks: multilayer perceptrons and small convolutional networks.
//
// A network implements Model (learning/model.hpp) with its guarantee: each unit changes the
// gradient sum by a vector of norm at most clipping.norm, exactly (docs/theory/learning.md). Batch
// norm is not offered: it would make the gradient of a row depend on other rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sotto/learning/loss.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// The shape of a row: `width` numbers, or an image stored channel by channel and line by line.
struct ImageShape {
  std::size_t channels = 1, height = 1, width = 1;
  [[nodiscard]] std::size_t size() const { return channels * height * width; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// A fully connected layer, Wa + b. Its inputs a are rounded to 16 bits: inputs known to lie in
/// [-1, 1] (rows, tanh) to multiples of 2^-14, any other to multiples of 2^-12, saturating at ±8.
struct Dense {
  std::size_t outputs;
  friend bool operator==(const Dense&, const Dense&) = default;
};
/// A convolution with square filters over all channels.
struct Convolution {
  std::size_t filters;
  std::size_t size;
  std::size_t stride = 1;
  std::size_t padding = 0;  ///< zeros on each side
  friend bool operator==(const Convolution&, const Convolution&) = default;
};
struct MaxPool {
  std::size_t size;
  std::size_t stride;
  friend bool operator==(const MaxPool&, const MaxPool&) = default;
};
struct AveragePool {
  std::size_t size;
  std::size_t stride;
  friend bool operator==(const AveragePool&, const AveragePool&) = default;
};
/// Group normalisation [Wu2018]: the channels form `groups` groups; for each row and group the
/// values are shifted and scaled to mean 0 and variance 1, then each channel has a learned scale
/// and shift.
struct GroupNorm {
  std::size_t groups;
  friend bool operator==(const GroupNorm&, const GroupNorm&) = default;
};
struct Tanh {
  friend bool operator==(const Tanh&, const Tanh&) = default;
};
struct Relu {
  friend bool operator==(const Relu&, const Relu&) = default;
};
using NetworkLayer = std::variant<Dense, Convolution, MaxPool, AveragePool, GroupNorm, Tanh, Relu>;

/// Returns the text that parse_layer reads: "dense 32", "conv 16 size 8 stride 2 padding 3",
/// "max-pool 2 stride 1", "average-pool 2 stride 2", "group-norm 4", "tanh", "relu".
std::string print(const NetworkLayer& layer);
/// Reads a layer. Defaults: stride 1 and padding 0 for a convolution; the stride of a pool is its
/// size. Throws InvalidValue for any other text.
NetworkLayer parse_layer(const std::string& text);

/// A feed-forward network: a sequence of layers from an input to the loss.
struct Network {
  ImageShape input;
  std::vector<NetworkLayer> layers;  ///< the last layer has as many outputs as the loss needs
  LossFunction loss = {.kind = LossKind::softmax};
  std::size_t classes = 2;
  friend bool operator==(const Network&, const Network&) = default;
};

/// Returns the output shape of each layer. Throws InvalidValue if layers do not fit together, or if
/// a row takes more than 2^22 numbers in all layers together.
std::vector<ImageShape> shapes_of(const Network& network);
/// Returns the model of a network. Throws InvalidValue if its layers do not fit together, if it has
/// more than 2^24 parameters, or if it does not end in as many outputs as the loss needs.
///
/// A gradient is that of the sum of a unit's losses. The norm in a dense layer comes from outer
/// products, so gradients of single rows are never materialised [Goodfellow2015] nor computed twice
/// [Bu2023b]. The gradients of a convolution are materialised for one tile of rows at a time where
/// that is cheaper [Bu2022]. Initial weights are uniform in ±√(6/inputs) before ReLU [He2015] and
/// in ±√(6/(inputs + outputs)) elsewhere [Glorot2010]; biases are 0.
std::unique_ptr<Model> make_model(const Network& network);

/// Returns the text that the model's description() contains.
std::string print(const Network& network);
/// Reads that text. Throws InvalidValue for any other.
Network parse_network(const std::string& text);

/// Returns dense layers width → hidden … → outputs, with the activation after each hidden layer.
Network multilayer_perceptron(std::size_t width, const std::vector<std::size_t>& hidden,
                              const NetworkLayer& activation, const LossFunction& loss,
                              std::size_t classes);
/// Returns two convolutions with tanh and max pooling, then one hidden layer of 32 [Papernot2021].
/// For 28 x 28 images and 10 classes it has 26,010 parameters.
Network tanh_convolutional_net(const ImageShape& image, std::size_t classes);

}  // namespace sotto
