// Networks as models. The gradient of a row has one part per layer: an outer product of slopes and
// inputs (dense layers), or numbers computed per row (convolutions, group norms). The norms of all
// parts are computed before anything is added.
//
// Exactness: clipped slopes, and clipped gradients of the other layers, are rounded toward zero to
// integers of at most 2^20 in units of 2^e, so no norm grows. Inputs of dense layers are integers
// of at most 2^15 on their grid, and sums of products are integers below 2^53. The integers of a
// unit are at most 2^32, since its norm is, so 2^31 units fit into 64 bits.
#include <cmath>
#include <limits>
#include <mutex>

#include "learning/models/network_pass.hpp"
#include "learning/models/network_plain.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/network.hpp"

namespace sotto {
namespace {

using learning_detail::book_rows;
using learning_detail::lanes;
using learning_detail::LearnedLayer;
using learning_detail::Stages;
using learning_detail::Workspace;

constexpr int most_bits = 20;  // bits of a coefficient: a norm is at most 2^bits steps

// The grid of an outer product is the product of the grids of slopes and inputs: together 2^32
// steps per norm.
int coefficient_bits(const LearnedLayer& layer) {
  return layer.outer ? 32 - layer.bits : most_bits;
}
constexpr std::size_t tiles_until_summed = 512;  // · 2 vectors · 2^most_bits < 2^31
constexpr std::size_t most_parameters = std::size_t{1} << 24U;

// Returns the least e with norm <= 2^e.
int exponent_above(double norm) {
  int exponent = 0;
  return std::frexp(norm, &exponent) == 0.5 ? exponent - 1 : exponent;
}

// Returns the next number of the deterministic generator SplitMix64 [Steele2014]. Initial
// parameters are public.
double next_uniform(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

class NetworkModel final : public Model {
 public:
  explicit NetworkModel(const Network& network) : network_(network) {
    require_sound();
    shape_ = learning_detail::stages_of(network, {});
  }
  const LossFunction& loss() const override { return network_.loss; }
  std::size_t outputs() const override { return shape_.stages.back()->outputs(); }
  std::vector<Layer> layers() const override {
    std::vector<Layer> all;
    for (const LearnedLayer& layer : shape_.learned)
      all.push_back({layer.name, layer.start, layer.size});
    return all;
  }
  std::vector<double> start(std::uint64_t seed) const override;
  std::string description() const override { return print(network_); }
  std::vector<int> exponents(const Clipping& clipping) const override {
    std::vector<int> all;
    for (const LearnedLayer& layer : shape_.learned)
      all.push_back(exponent_above(clipping.norm) - coefficient_bits(layer) - layer.bits);
    return all;
  }
  std::unique_ptr<Prepared> prepare(std::span<const double> parameters) const override;

  const Network& network() const { return network_; }
  const Stages& shape() const { return shape_; }
  // Workspaces are reused: making one takes longer than a step.
  std::unique_ptr<Workspace> borrow() const {
    const std::lock_guard lock(mutex_);
    if (spaces_.empty()) return std::make_unique<Workspace>(shape_);
    auto space = std::move(spaces_.back());
    spaces_.pop_back();
    return space;
  }
  void give_back(std::unique_ptr<Workspace> space) const {
    const std::lock_guard lock(mutex_);
    spaces_.push_back(std::move(space));
  }

 private:
  void require_sound() const {
    const Network& n = network_;
    if (n.loss.is_of_classes() && n.classes < 2)
      throw InvalidValue("there must be at least two classes");
    if (n.loss.is_of_classes() && n.loss.kind != LossKind::softmax && n.classes != 2) {
      throw InvalidValue(name_of(n.loss.kind) + " is a loss of two classes: for " +
                         std::to_string(n.classes) + " use softmax");
    }
    if (n.loss.kind == LossKind::huber && !(n.loss.bend > 0 && n.loss.bend <= 1e150))
      throw InvalidValue("`bend` must be above 0 and at most 1e150");
    const auto shapes = shapes_of(n);
    double parameters = 0;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      const ImageShape& in = l == 0 ? n.input : shapes[l - 1];
      if (const auto* dense = std::get_if<Dense>(&n.layers[l])) {
        parameters += static_cast<double>(in.size() + 1) * static_cast<double>(dense->outputs);
      } else if (const auto* conv = std::get_if<Convolution>(&n.layers[l])) {
        const auto size = static_cast<double>(conv->size);
        parameters += (static_cast<double>(in.channels) * size * size + 1) *
                      static_cast<double>(conv->filters);
      } else if (std::holds_alternative<GroupNorm>(n.layers[l])) {
        parameters += 2 * static_cast<double>(in.channels);
      }
    }
    if (parameters == 0)
      throw InvalidValue(
          "a network needs at least one layer with parameters: dense, conv or group-norm");
    if (parameters > static_cast<double>(most_parameters))
      throw InvalidValue("a network has at most 2^24 parameters");
    const std::size_t needed = n.loss.outputs(n.classes);
    if (shapes.back().size() != needed) {
      throw InvalidValue("the last layer gives " + std::to_string(shapes.back().size()) +
                         " outputs, the loss needs " + std::to_string(needed) +
                         ": end with dense " + std::to_string(needed));
    }
  }

  Network network_;
  Stages shape_{};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> spaces_;
};

std::vector<double> NetworkModel::start(std::uint64_t seed) const {
  std::vector<double> parameters(shape_.parameters, 0.0);
  std::uint64_t state = seed;
  const auto shapes = shapes_of(network_);
  std::size_t at = 0;
  for (std::size_t l = 0; l < network_.layers.size(); ++l) {
    const ImageShape& in = l == 0 ? network_.input : shapes[l - 1];
    std::size_t inputs = 0;
    std::size_t outputs = 0;  // number of outputs that an input of a weight affects
    std::size_t units = 0;
    if (const auto* dense = std::get_if<Dense>(&network_.layers[l])) {
      inputs = in.size();
      outputs = units = dense->outputs;
    } else if (const auto* conv = std::get_if<Convolution>(&network_.layers[l])) {
      inputs = in.channels * conv->size * conv->size;
      outputs = conv->filters * conv->size * conv->size;
      units = conv->filters;
    } else if (std::holds_alternative<GroupNorm>(network_.layers[l])) {
      std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(at), in.channels, 1.0);
      at += 2 * in.channels;
      continue;
    } else {
      continue;
    }
    bool before_relu = false;
    for (std::size_t next = l + 1; next < network_.layers.size(); ++next) {
      if (std::holds_alternative<Dense>(network_.layers[next]) ||
          std::holds_alternative<Convolution>(network_.layers[next]))
        break;
      before_relu = before_relu || std::holds_alternative<Relu>(network_.layers[next]);
    }
    const double reach =
        std::sqrt(6 / static_cast<double>(before_relu ? inputs : inputs + outputs));
    for (std::size_t j = 0; j < inputs * units; ++j)
      parameters[at + j] = reach * (2 * next_uniform(state) - 1);
    at += (inputs + 1) * units;
  }
  return parameters;
}

class PreparedNetwork final : public Model::Prepared {
 public:
  PreparedNetwork(const NetworkModel& model, std::span<const double> parameters) : model_(model) {
    if (parameters.size() != model.shape().parameters)
      throw InvalidValue("the model has " + std::to_string(model.shape().parameters) +
                         " parameters, not " + std::to_string(parameters.size()));
    stages_ = learning_detail::stages_of(model.network(), parameters);
  }

  void add(const Examples& examples, std::span<const std::uint32_t> units, const Clipping& clipping,
           ExactSum& sum) const override {
    require_width(examples);
    Work work(*this, examples, clipping, sum);
    if (!examples.one_row_a_unit()) {
      for (const std::uint32_t unit : units) work.add_unit(unit);
      return;
    }
    for (std::size_t i = 0; i < units.size(); i += stages_.rows)
      work.add_tile(units.subspan(i, std::min(stages_.rows, units.size() - i)));
    work.finish();
  }

  void norms(const Examples& examples, std::span<const std::uint32_t> units,
             std::span<double> norms) const override {
    require_width(examples);
    ExactSum sum(0);
    const Clipping clipping{};
    Work work(*this, examples, clipping, sum);
    if (!examples.one_row_a_unit()) {
      for (std::size_t i = 0; i < units.size(); ++i) norms[i] = work.norm_of_unit(units[i]);
      return;
    }
    for (std::size_t i = 0; i < units.size(); i += stages_.rows) {
      const std::size_t count = std::min(stages_.rows, units.size() - i);
      work.norms_of_tile(units.subspan(i, count), norms.subspan(i, count));
    }
  }

  void outputs(const Examples& examples, std::size_t first,
               std::span<double> outputs) const override {
    require_width(examples);
    const std::size_t each = model_.outputs();
    const std::size_t rows = outputs.size() / each;
    const BorrowedWorkspace space(model_);
    std::vector<std::uint32_t> tile;
    for (std::size_t i = 0; i < rows; i += stages_.rows) {
      tile.clear();
      for (std::size_t t = i; t < std::min(rows, i + stages_.rows); ++t)
        tile.push_back(static_cast<std::uint32_t>(first + t));
      learning_detail::load_tile(stages_, *space, examples, tile);
      learning_detail::forward_tile(stages_, *space);
      for (std::size_t t = 0; t < tile.size(); ++t) {
        learning_detail::outputs_of_tile(stages_, *space, t, outputs.subspan((i + t) * each, each));
      }
    }
  }

  std::vector<double> plain_gradient(const Examples& examples,
                                     std::span<const std::uint32_t> rows) const {
    require_width(examples);
    const BorrowedWorkspace space(model_);
    return learning_detail::plain_gradient(stages_, *space, model_.loss(), examples, rows);
  }

 private:
  void require_width(const Examples& examples) const {
    const std::size_t width = model_.network().input.size();
    if (examples.width() != width)
      throw InvalidValue("the model has " + std::to_string(width) + " features, the examples " +
                         std::to_string(examples.width()));
  }

  // RAII: borrows a workspace from the model, and returns it.
  class BorrowedWorkspace {
   public:
    explicit BorrowedWorkspace(const NetworkModel& model) : model_(model), space_(model.borrow()) {}
    BorrowedWorkspace(const BorrowedWorkspace&) = delete;
    BorrowedWorkspace& operator=(const BorrowedWorkspace&) = delete;
    ~BorrowedWorkspace() { model_.give_back(std::move(space_)); }
    Workspace& operator*() const { return *space_; }

   private:
    const NetworkModel& model_;
    std::unique_ptr<Workspace> space_;
  };

  // The work of one thread on one batch.
  class Work {
   public:
    Work(const PreparedNetwork& prepared, const Examples& examples, const Clipping& clipping,
         ExactSum& sum)
        : p_(prepared),
          stages_(prepared.stages_),
          examples_(examples),
          clipping_(clipping),
          sum_(sum),
          workspace_(prepared.model_),
          space_(*workspace_),
          layer_norm_(clipping.norm / std::sqrt(static_cast<double>(stages_.learned.size())) *
                      (1 - 0x1p-40)),
          factors_(stages_.learned.size()) {
      for (const LearnedLayer& layer : stages_.learned) {
        const int bits = coefficient_bits(layer);
        per_step_.push_back(std::ldexp(1.0, bits - exponent_above(clipping.norm)));
        limits_.push_back(std::ldexp(1.0F, bits) + 1);
      }
      space_.booked = space_.summed = 0;
      for (auto& sums : space_.sums) sums.clear();
    }

    void add_tile(std::span<const std::uint32_t> units) {
      learning_detail::run_tile(stages_, space_, p_.model_.loss(), examples_, units);
      learning_detail::measure_tile(stages_, space_);
      learning_detail::book_inputs(stages_, space_, examples_, units);
      std::vector<std::vector<float>>& all = tile_factors();
      for (std::size_t t = 0; t < units.size(); ++t) {
        clip([&](std::size_t l) { return space_.squares[l][t]; });
        for (std::size_t l = 0; l < all.size(); ++l)
          all[l][t] = static_cast<float>(factors_[l] * per_step_[l]);
      }
      for (std::size_t l = 0; l < all.size(); ++l) {
        std::fill(all[l].begin() + static_cast<std::ptrdiff_t>(units.size()), all[l].end(), 0.0F);
        const LearnedLayer& layer = stages_.learned[l];
        if (layer.outer) {
          learning_detail::round_rows(
              space_.row_gradients[l].data(), stages_.stages[layer.stage]->outputs(), stages_.rows,
              all[l].data(), limits_[l], space_.coefficients[l].data() + space_.booked, book_rows);
        } else {
          learning_detail::add_rounded(space_.row_gradients[l].data(), layer.size, stages_.rows,
                                       all[l].data(), limits_[l], space_.sums[l].data());
        }
      }
      sum_.units += static_cast<std::int64_t>(units.size());
      space_.booked += stages_.rows;
      if (space_.booked == book_rows) multiply_book();
      if (++space_.summed == tiles_until_summed) add_up();
    }

    void finish() {
      multiply_book();
      add_up();
    }

    // Adds a unit with several rows: its gradient is the sum over its rows, clipped once.
    void add_unit(std::size_t unit) {
      const std::vector<double> squares = own_gradient(unit);
      clip([&](std::size_t l) { return squares[l]; });
      ++sum_.units;
      const std::span<double> to = sum_.room_for(0x1p32);
      for (std::size_t l = 0; l < stages_.learned.size(); ++l) {
        const LearnedLayer& layer = stages_.learned[l];
        if (factors_[l] == 0) continue;
        const double factor = factors_[l] * std::ldexp(per_step_[l], layer.bits);
        for (std::size_t j = layer.start; j < layer.start + layer.size; ++j)
          to[j] += std::trunc(space_.own[j] * factor);
      }
    }

    double norm_of_unit(std::size_t unit) {
      double square = 0;
      for (const double s : own_gradient(unit)) square += s;
      return std::sqrt(square) * (1 + 0x1p-40);
    }
    void norms_of_tile(std::span<const std::uint32_t> units, std::span<double> norms) {
      learning_detail::run_tile(stages_, space_, p_.model_.loss(), examples_, units);
      learning_detail::measure_tile(stages_, space_);
      for (std::size_t t = 0; t < units.size(); ++t) {
        double square = 0;
        for (const auto& layer : space_.squares) square += layer[t];
        norms[t] = std::sqrt(square) * (1 + 0x1p-40);
      }
    }

   private:
    // Writes the clipping factor of each layer to factors_, from the squared norms. A gradient that
    // is not finite gets factor 0.
    template <class Square>
    void clip(const Square& square_of) {
      bool longer = false;
      double total = 0;
      for (std::size_t l = 0; l < factors_.size(); ++l) total += square_of(l);
      if (!(total < std::numeric_limits<double>::infinity())) {
        std::fill(factors_.begin(), factors_.end(), 0.0);
        longer = true;
      } else if (clipping_.kind == ClippingKind::per_layer) {
        for (std::size_t l = 0; l < factors_.size(); ++l) {
          const double size = std::sqrt(square_of(l)) * (1 + 0x1p-40);
          factors_[l] = shortened(size, layer_norm_);
          longer = longer || size > layer_norm_;
        }
      } else {
        const double size = std::sqrt(total) * (1 + 0x1p-40);
        std::fill(factors_.begin(), factors_.end(),
                  clipping_.kind == ClippingKind::automatic
                      ? clipping_.norm / (size + clipping_.stability) * (1 - 0x1p-20)
                      : shortened(size, clipping_.norm));
        longer = size > clipping_.norm;
      }
      if (longer) ++sum_.clipped;
    }
    // Reduced by a relative 2^-20, which is more than the rounding error of floats.
    static double shortened(double size, double norm) {
      return size <= norm * (1 - 0x1p-36) ? 1 : norm / size * (1 - 0x1p-20);
    }

    std::vector<std::vector<float>>& tile_factors() {
      if (all_factors_.empty())
        all_factors_.assign(factors_.size(), std::vector<float>(stages_.rows));
      return all_factors_;
    }

    // Adds the buffered rows of layer l.
    [[nodiscard]] std::span<const std::int16_t* const> book_of(std::size_t l) {
      if (stages_.learned[l].reads_rows) return space_.rows;
      const std::size_t stride =
          learning_detail::code_stride(stages_.stages[stages_.learned[l].stage]->inputs());
      for (std::size_t row = 0; row < book_rows; ++row)
        waiting_.at(row) = space_.codes[l].data() + row * stride;
      return waiting_;
    }
    void multiply(std::size_t l, std::size_t rows, double bias, std::span<double> to) {
      const LearnedLayer& layer = stages_.learned[l];
      const auto& stage = *stages_.stages[layer.stage];
      double* sum = to.data() + layer.start;
      learning_detail::add_products({.codes = book_of(l).data(),
                                     .rows = rows,
                                     .width = stage.inputs(),
                                     .outputs = stage.outputs()},
                                    space_.coefficients[l].data(), sum);
      learning_detail::add_coefficients(space_.coefficients[l].data(), rows, stage.outputs(), bias,
                                        sum + stage.inputs() * stage.outputs());
    }
    void multiply_book() {
      if (space_.booked == 0) return;
      const std::span<double> to = sum_.room_for(static_cast<double>(space_.booked) * 0x1p35);
      for (std::size_t l = 0; l < stages_.learned.size(); ++l) {
        if (stages_.learned[l].outer)
          multiply(l, space_.booked, std::ldexp(1.0, stages_.learned[l].bits), to);
      }
      space_.booked = 0;
    }
    void add_up() {
      if (space_.summed == 0) return;
      const std::span<double> to =
          sum_.room_for(static_cast<double>(space_.summed * stages_.rows) * 0x1p20);
      for (std::size_t l = 0; l < stages_.learned.size(); ++l) {
        const LearnedLayer& layer = stages_.learned[l];
        if (layer.outer) continue;
        for (std::size_t j = 0; j < layer.size; ++j) {
          std::int64_t total = 0;
          for (std::size_t lane = 0; lane < lanes; ++lane)
            total += space_.sums[l][j * lanes + lane];
          to[layer.start + j] += static_cast<double>(total);
        }
        space_.sums[l].clear();
      }
      space_.summed = 0;
    }

    // Computes the gradient of a unit into space_.own, row by row, and upper bounds on the squared
    // norms of its layers.
    std::vector<double> own_gradient(std::size_t unit) {
      space_.own.assign(stages_.parameters, 0.0);
      const std::size_t end = examples_.first(unit + 1);
      std::vector<std::uint32_t> rows;
      for (std::size_t from = examples_.first(unit); from < end; from += stages_.rows) {
        rows.clear();
        for (std::size_t i = from; i < std::min(end, from + stages_.rows); ++i)
          rows.push_back(static_cast<std::uint32_t>(i));
        learning_detail::run_tile(stages_, space_, p_.model_.loss(), examples_, rows);
        learning_detail::book_inputs(stages_, space_, examples_, rows);
        for (std::size_t l = 0; l < stages_.learned.size(); ++l) {
          const LearnedLayer& layer = stages_.learned[l];
          if (layer.outer) {
            learning_detail::widen_rows(space_.row_gradients[l].data(),
                                        stages_.stages[layer.stage]->outputs(), stages_.rows,
                                        std::ldexp(1.0, -layer.bits), space_.coefficients[l].data(),
                                        book_rows);
            multiply(l, rows.size(), std::ldexp(1.0, layer.bits), space_.own);
          } else {
            for (std::size_t j = 0; j < layer.size; ++j) {
              for (std::size_t t = 0; t < rows.size(); ++t)
                space_.own[layer.start + j] +=
                    static_cast<double>(space_.row_gradients[l][j * stages_.rows + t]);
            }
          }
        }
      }
      std::vector<double> squares;
      for (const LearnedLayer& layer : stages_.learned) {
        double square = 0;
        for (std::size_t j = layer.start; j < layer.start + layer.size; ++j)
          square += space_.own[j] * space_.own[j];
        const auto count = static_cast<double>(layer.size);
        squares.push_back((square + count * 0x1p-1000) * (1 + (count + 8) * 0x1p-51));
      }
      return squares;
    }

    const PreparedNetwork& p_;
    const Stages& stages_;
    const Examples& examples_;
    const Clipping& clipping_;
    ExactSum& sum_;
    BorrowedWorkspace workspace_;
    Workspace& space_;
    std::vector<double> per_step_;  // one per layer
    std::vector<float> limits_;     // exclusive upper bounds on coefficients
    double layer_norm_;
    std::vector<double> factors_;
    std::vector<std::vector<float>> all_factors_;
    std::array<const std::int16_t*, book_rows> waiting_{};
  };

  const NetworkModel& model_;
  Stages stages_{};
};

std::unique_ptr<Model::Prepared> NetworkModel::prepare(std::span<const double> parameters) const {
  return std::make_unique<PreparedNetwork>(*this, parameters);
}

}  // namespace

std::unique_ptr<Model> make_model(const Network& network) {
  return std::make_unique<NetworkModel>(network);
}

std::vector<double> learning_detail::plain_gradient(const Model::Prepared& prepared,
                                                    const Examples& examples,
                                                    std::span<const std::uint32_t> rows) {
  return dynamic_cast<const PreparedNetwork&>(prepared).plain_gradient(examples, rows);
}

}  // namespace sotto
