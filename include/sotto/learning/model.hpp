// The interface of a model: outputs of rows, and the exact sum of the units' clipped gradients.
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

/// An ExactSum adds vectors of integers without rounding, so the result does not depend on the
/// order. Coordinate j stands for totals()[j] · 2^e, where e is the exponent of its layer. Terms
/// are added to doubles, which hold integers exactly up to 2^53, and are moved to 64-bit integers
/// before that.
class ExactSum {
 public:
  explicit ExactSum(std::size_t size) : part_(size), whole_(size) {}
  void clear();
  /// Returns the vector to which the caller adds terms. `size` is an upper bound on the sum of the
  /// magnitudes that the caller adds to any coordinate before the next call.
  std::span<double> room_for(double size);
  /// Adds all coordinates and counters of `other`.
  void add(const ExactSum& other);
  /// Returns the sum of every coordinate.
  [[nodiscard]] std::span<const std::int64_t> totals();

  std::int64_t units = 0;  ///< the number of units added
  std::int64_t clipped =
      0;  ///< the number of units whose gradient was longer than the clipping norm

 private:
  void fold();
  std::vector<double> part_;
  std::vector<std::int64_t> whole_;
  double reached_ = 0;
};

/// The parameters of one layer, a contiguous range.
struct Layer {
  std::string name;
  std::size_t start;  ///< index of the first parameter
  std::size_t size;
};

/// A Model maps rows to outputs by a vector of parameters (doubles). Immutable and thread-safe.
///
/// Every privacy guarantee of a training rests on this contract: Prepared::add changes the sum by
/// one vector per unit, of norm at most clipping.norm exactly. The vector depends on the unit's
/// rows and the parameters only: not on other units, nor on the position of its rows in a batch or
/// a tile.
class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual const LossFunction& loss() const = 0;
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  [[nodiscard]] virtual std::vector<Layer> layers() const = 0;
  [[nodiscard]] std::size_t parameters() const;
  /// Returns the initial parameters. They depend on the model and a public seed, never on data.
  [[nodiscard]] virtual std::vector<double> start(std::uint64_t seed) const = 0;
  /// Returns a text from which model_of (learning/api/describe.hpp) makes an equal model.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Returns one exponent per layer: the scale of the ExactSum under this clipping.
  [[nodiscard]] virtual std::vector<int> exponents(const Clipping& clipping) const = 0;
  /// A model with fixed parameters: computed once a step and shared by all threads.
  class Prepared {
   public:
    virtual ~Prepared() = default;
    /// Adds the clipped gradient of each unit to `sum`.
    virtual void add(const Examples& examples, std::span<const std::uint32_t> units,
                     const Clipping& clipping, ExactSum& sum) const = 0;
    /// Writes an upper bound on the norm of each unit's gradient before clipping.
    virtual void norms(const Examples& examples, std::span<const std::uint32_t> units,
                       std::span<double> norms) const = 0;
    /// Writes the outputs of consecutive rows from `first` on, row by row; `outputs` says how many.
    virtual void outputs(const Examples& examples, std::size_t first,
                         std::span<double> outputs) const = 0;
  };
  [[nodiscard]] virtual std::unique_ptr<Prepared> prepare(
      std::span<const double> parameters) const = 0;
};

/// A linear model z = Wx + b: logistic, linear and softmax regression, support vector machines. Its
/// parameters are `width` weights per output, then, with an intercept, the biases of all outputs.
/// The gradient sum reads each row once and never materialises the gradient of a single row.
struct LinearModel {
  std::size_t width;
  LossFunction loss;
  std::size_t classes = 2;
  bool intercept = true;
};
std::unique_ptr<Model> make_model(const LinearModel& model);

}  // namespace sotto
