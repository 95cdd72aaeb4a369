// Losses of a model's outputs: their values and derivatives.
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
  softmax,        ///< -log of the share of the true class
};
std::string name_of(LossKind kind);
/// InvalidValue for any other word.
LossKind parse_loss(const std::string& name);

struct LossFunction {
  LossKind kind = LossKind::logistic;
  double bend = 0.1;  ///< of huber, in units of the scaled target

  [[nodiscard]] bool is_of_classes() const { return kind == LossKind::logistic || kind == LossKind::squared_hinge || kind == LossKind::softmax; }
  /// How many outputs a model needs: one, or one a class.
  [[nodiscard]] std::size_t outputs(std::size_t classes) const { return kind == LossKind::softmax ? classes : 1; }
  /// A bound on the norm of the derivative by the outputs, for every target: the loss is Lipschitz; infinite where it is not.
  [[nodiscard]] double lipschitz() const;
  /// A bound on its second derivative by the outputs.
  [[nodiscard]] double smoothness() const;
  /// The loss at these outputs. `target` is a class's index, or the code of a number (a whole number of 2^-14).
  [[nodiscard]] double value(std::span<const double> outputs, std::int16_t target) const;
  /// The derivative by each output, into `slope`.
  void slope(std::span<const double> outputs, std::int16_t target, std::span<double> slope) const;
  friend bool operator==(const LossFunction&, const LossFunction&) = default;
};

}  // namespace sotto
