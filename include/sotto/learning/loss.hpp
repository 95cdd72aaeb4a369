// Loss functions of a model's outputs: values, derivatives and Lipschitz constants.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sotto {

enum class LossKind {
  logistic,       ///< log(1 + e^(-yz)), y = ±1 for the classes 1 and 0
  squared,        ///< (z - y)²/2
  huber,          ///< (z - y)²/2 up to |z - y| = bend, then a line
  squared_hinge,  ///< max(0, 1 - yz)²/2: a support vector machine
  softmax,        ///< -log of the softmax probability of the true class
};
std::string name_of(LossKind kind);
/// Throws InvalidValue for any other name.
LossKind parse_loss(const std::string& name);

/// A loss of the outputs z of a model at a target y.
struct LossFunction {
  LossKind kind = LossKind::logistic;
  double bend =
      0.1;  ///< where huber becomes linear, in units of the scaled target; read by huber only

  [[nodiscard]] bool is_of_classes() const {
    return kind == LossKind::logistic || kind == LossKind::squared_hinge ||
           kind == LossKind::softmax;
  }
  /// Returns how many outputs a model needs: one per class for softmax, else one.
  [[nodiscard]] std::size_t outputs(std::size_t classes) const {
    return kind == LossKind::softmax ? classes : 1;
  }
  /// Returns a Lipschitz constant: an upper bound on the norm of the derivative by the outputs, for
  /// every target. Infinite if the loss is not Lipschitz.
  [[nodiscard]] double lipschitz() const;
  /// Returns an upper bound on the second derivative by the outputs.
  [[nodiscard]] double smoothness() const;
  /// Returns the loss at these outputs. `target` is the index of a class, or the code of a number,
  /// an integer in units of 2^-14.
  [[nodiscard]] double value(std::span<const double> outputs, std::int16_t target) const;
  /// Writes the derivative by each output to `slope`.
  void slope(std::span<const double> outputs, std::int16_t target, std::span<double> slope) const;
  friend bool operator==(const LossFunction&, const LossFunction&) = default;
};

}  // namespace sotto
