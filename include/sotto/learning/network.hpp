// Neural networks: a multilayer perceptron, a small convolutional net.
//
// A network is a model like any other (learning/model.hpp), with the same guarantee: each unit changes the sum of gradients by a vector of norm at
// most clipping.norm, exactly. docs/theory/learning.md says how. There is no batch norm, which would make a row's gradient depend on other rows.
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

/// What a row is: `width` numbers, or an image, channel by channel and line by line.
struct ImageShape {
  std::size_t channels = 1, height = 1, width = 1;
  [[nodiscard]] std::size_t size() const { return channels * height * width; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Wa + b of all that comes in. What comes in is rounded to 16 bits: in [-1, 1], as rows and tanh are, to a whole number of 2^-14; all else to one of
/// 2^-12, and saturates at ±8.
struct Dense {
  std::size_t outputs;
  friend bool operator==(const Dense&, const Dense&) = default;
};
/// Square filters over all channels.
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
/// The channels in so many groups; in each, and for each row by itself, mean 0 and variance 1, then a scale and a shift a channel [Wu2018].
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

/// "dense 32", "conv 16 size 8 stride 2 padding 3", "max-pool 2 stride 1", "average-pool 2 stride 2", "group-norm 4", "tanh", "relu".
std::string print(const NetworkLayer& layer);
/// Left out: stride 1 and padding 0 of a convolution; the stride of a pool is its size. InvalidValue for any other text.
NetworkLayer parse_layer(const std::string& text);

struct Network {
  ImageShape input;
  std::vector<NetworkLayer> layers;  ///< the last gives the outputs that the loss needs
  LossFunction loss = {.kind = LossKind::softmax};
  std::size_t classes = 2;
  friend bool operator==(const Network&, const Network&) = default;
};

/// What comes out of each layer. InvalidValue for layers that do not fit, or if a row has more than 2^22 numbers in all layers together.
std::vector<ImageShape> shapes_of(const Network& network);
/// The model. InvalidValue for a network whose layers do not fit together, that has more than 2^24 parameters, or whose outputs are not the loss's.
///
/// Gradients are of the sum of a unit's losses. Dense layers' norms are those of outer products, so no gradient of a single row is made
/// [Goodfellow2015], and none a second time [Bu2023b]; a convolution's gradients are made one tile of rows after the other, where that is cheaper
/// [Bu2022]. Start: uniform weights, √(6/inputs) before ReLU [He2015], else √(6/(inputs + outputs)) [Glorot2010]; biases are 0.
std::unique_ptr<Model> make_model(const Network& network);

/// What the model's description() says, and the network of such a text. InvalidValue for any other.
std::string print(const Network& network);
Network parse_network(const std::string& text);

/// width → hidden … → outputs, with an activation after each hidden layer.
Network multilayer_perceptron(std::size_t width, const std::vector<std::size_t>& hidden, const NetworkLayer& activation, const LossFunction& loss,
                              std::size_t classes);
/// Two convolutions with tanh and max pooling, one hidden layer of 32: for 28 x 28 images, 26,010 parameters for 10 classes [Papernot2021].
Network tanh_convolutional_net(const ImageShape& image, std::size_t classes);

}  // namespace sotto
