// A model: outputs of rows, and the exact sum of the units' clipped gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sotto/data/examples.hpp"
#include "sotto/learning/clipping.hpp"
#include "sotto/learning/loss.hpp"

namespace sotto {

/// A sum of gradients in whole numbers: coordinate j is worth total(j) · 2^exponent of its layer. Doubles are exact up to 2^53, so what is added is
/// folded into whole numbers before it gets there; the result is the same whatever the order.
class ExactSum {
 public:
  explicit ExactSum(std::size_t size) : part_(size), whole_(size) {}
  void clear();
  /// Where terms are added. Each call says how large the terms of this addition are together, at most, in one coordinate.
  std::span<double> room_for(double size);
  /// Another one's, added to this.
  void add(const ExactSum& other);
  /// All of it as whole numbers.
  [[nodiscard]] std::span<const std::int64_t> totals();

  std::int64_t units = 0;    ///< how many were added
  std::int64_t clipped = 0;  ///< how many of them were longer than the norm

 private:
  void fold();
  std::vector<double> part_;
  std::vector<std::int64_t> whole_;
  double reached_ = 0;
};

struct Layer {
  std::string name;
  std::size_t start;  ///< its first parameter
  std::size_t size;
};

/// What is learned: parameters are doubles in one vector. Immutable; threads share it.
///
/// The guarantee behind every released number: `add` changes the sum by a vector of norm at most clipping.norm for each unit, exactly, which depends
/// on the unit's rows and the parameters alone; neither on the other units, nor on where in a batch or a tile its rows are.
class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual const LossFunction& loss() const = 0;
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  [[nodiscard]] virtual std::vector<Layer> layers() const = 0;
  [[nodiscard]] std::size_t parameters() const;
  /// Where learning starts, from public knowledge and a public seed alone.
  [[nodiscard]] virtual std::vector<double> start(std::uint64_t seed) const = 0;
  /// A word or two that say what it is, and all that is needed to make it again: model_of (learning/model_file.hpp) reads it.
  [[nodiscard]] virtual std::string description() const = 0;

  /// The sum's exponents under this clipping, one a layer.
  [[nodiscard]] virtual std::vector<int> exponents(const Clipping& clipping) const = 0;
  /// What a thread needs to compute with these parameters: made once a step, shared by the threads.
  class Prepared {
   public:
    virtual ~Prepared() = default;
    /// Adds each unit's clipped gradient.
    virtual void add(const Examples& examples, std::span<const std::uint32_t> units, const Clipping& clipping, ExactSum& sum) const = 0;
    /// The norm of each unit's gradient before clipping, from above.
    virtual void norms(const Examples& examples, std::span<const std::uint32_t> units, std::span<double> norms) const = 0;
    /// The outputs of rows first … first + outputs.size()/outputs() - 1, row by row.
    virtual void outputs(const Examples& examples, std::size_t first, std::span<double> outputs) const = 0;
  };
  [[nodiscard]] virtual std::unique_ptr<Prepared> prepare(std::span<const double> parameters) const = 0;
};

/// z = Wx + b: logistic, linear and softmax regression, support vector machines. Reads each row once and makes no gradient of a single row.
/// Parameters: for each output `width` weights, then, with an intercept, the biases of all outputs.
struct LinearModel {
  std::size_t width;
  LossFunction loss;
  std::size_t classes = 2;
  bool intercept = true;
};
std::unique_ptr<Model> make_model(const LinearModel& model);

}  // namespace sotto
