// A network in doubles, written from the definitions, as a reference for the fast one.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sotto/learning/network.hpp"

namespace sotto::reference {

inline double at(const std::vector<double>& x, const ImageShape& s, std::size_t c, std::ptrdiff_t i,
                 std::ptrdiff_t j) {
  if (i < 0 || j < 0 || i >= static_cast<std::ptrdiff_t>(s.height) ||
      j >= static_cast<std::ptrdiff_t>(s.width))
    return 0;
  return x[(c * s.height + static_cast<std::size_t>(i)) * s.width + static_cast<std::size_t>(j)];
}

struct Layers {
  const std::vector<double>& parameters;
  std::size_t used = 0;
  ImageShape in{}, out{};
  std::vector<double> x{};

  void operator()(const Dense& layer) {
    std::vector<double> y(layer.outputs);
    for (std::size_t o = 0; o < layer.outputs; ++o) {
      y[o] = parameters[used + layer.outputs * x.size() + o];
      for (std::size_t k = 0; k < x.size(); ++k) y[o] += parameters[used + o * x.size() + k] * x[k];
    }
    used += layer.outputs * (x.size() + 1);
    x = y;
  }
  void operator()(const Convolution& layer) {
    std::vector<double> y(out.size());
    const std::size_t taps = in.channels * layer.size * layer.size;
    for (std::size_t o = 0; o < out.channels; ++o) {
      for (std::size_t i = 0; i < out.height; ++i) {
        for (std::size_t j = 0; j < out.width; ++j) {
          double sum = parameters[used + layer.filters * taps + o];
          for (std::size_t c = 0; c < in.channels; ++c) {
            for (std::size_t a = 0; a < layer.size; ++a) {
              for (std::size_t b = 0; b < layer.size; ++b) {
                sum += parameters[used + o * taps + (c * layer.size + a) * layer.size + b] *
                       at(x, in, c,
                          static_cast<std::ptrdiff_t>(i * layer.stride + a) -
                              static_cast<std::ptrdiff_t>(layer.padding),
                          static_cast<std::ptrdiff_t>(j * layer.stride + b) -
                              static_cast<std::ptrdiff_t>(layer.padding));
              }
            }
          }
          y[(o * out.height + i) * out.width + j] = sum;
        }
      }
    }
    used += layer.filters * (taps + 1);
    x = y;
  }
  void pool(std::size_t size, std::size_t stride, bool largest) {
    std::vector<double> y;
    for (std::size_t c = 0; c < out.channels; ++c) {
      for (std::size_t i = 0; i < out.height; ++i) {
        for (std::size_t j = 0; j < out.width; ++j) {
          double most = -1e300;
          double sum = 0;
          for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < size; ++b) {
              const double v = at(x, in, c, static_cast<std::ptrdiff_t>(i * stride + a),
                                  static_cast<std::ptrdiff_t>(j * stride + b));
              most = std::max(most, v);
              sum += v;
            }
          }
          y.push_back(largest ? most : sum / static_cast<double>(size * size));
        }
      }
    }
    x = y;
  }
  void operator()(const MaxPool& layer) { pool(layer.size, layer.stride, true); }
  void operator()(const AveragePool& layer) { pool(layer.size, layer.stride, false); }
  void operator()(const GroupNorm& layer) {
    const std::size_t count = x.size() / layer.groups;
    const std::size_t positions = in.height * in.width;
    for (std::size_t g = 0; g < layer.groups; ++g) {
      double mean = 0;
      double square = 0;
      for (std::size_t i = 0; i < count; ++i) mean += x[g * count + i] / static_cast<double>(count);
      for (std::size_t i = 0; i < count; ++i)
        square +=
            (x[g * count + i] - mean) * (x[g * count + i] - mean) / static_cast<double>(count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t channel = (g * count + i) / positions;
        x[g * count + i] =
            (x[g * count + i] - mean) / std::sqrt(square + 1e-5) * parameters[used + channel] +
            parameters[used + in.channels + channel];
      }
    }
    used += 2 * in.channels;
  }
  void operator()(const Tanh&) {
    for (double& v : x) v = std::tanh(v);
  }
  void operator()(const Relu&) {
    for (double& v : x) v = std::max(0.0, v);
  }
};

inline std::vector<double> outputs(const Network& network, const std::vector<double>& parameters,
                                   const std::vector<double>& row) {
  const auto shapes = shapes_of(network);
  Layers layers{parameters};
  layers.out = network.input;
  layers.x = row;
  for (std::size_t l = 0; l < shapes.size(); ++l) {
    layers.in = layers.out;
    layers.out = shapes[l];
    std::visit(layers, network.layers[l]);
  }
  return layers.x;
}

/// Returns the gradient by central differences.
inline std::vector<double> gradient(const Network& network, std::vector<double> parameters,
                                    const std::vector<double>& row, std::int16_t target) {
  std::vector<double> slopes;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const double original = parameters[j];
    const double h = 1e-5;
    parameters[j] = original + h;
    const double above = network.loss.value(outputs(network, parameters, row), target);
    parameters[j] = original - h;
    const double below = network.loss.value(outputs(network, parameters, row), target);
    parameters[j] = original;
    slopes.push_back((above - below) / (2 * h));
  }
  return slopes;
}

}  // namespace sotto::reference
