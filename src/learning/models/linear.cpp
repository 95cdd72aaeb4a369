// Linear models. The gradient of a row is slope · (x, 1), so its norm follows from two numbers:
// each row is read once, and gradients of single rows are never materialised.
//
// Exactness: x is an integer in units of 2^-14, and each clipped slope is rounded toward zero to an
// integer A in units of 2^e with |A| <= 2^18, so the sum of A x adds integers below 2^33 per row.
// Rounding toward zero increases no norm; the proof is in docs/theory/learning.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "learning/kernels/kernels.hpp"
#include "learning/kernels/tiles.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {
namespace {

using learning_detail::Prefetcher;
using learning_detail::Products;
using learning_detail::rows_a_tile;
using learning_detail::TileLoops;
using learning_detail::WholeWeights;

constexpr double largest_coefficient = 0x1p18;
constexpr double a_step = 1.0 / feature_one;
constexpr std::size_t ahead = 8;  // how many rows ahead are prefetched
constexpr std::size_t rows_until_folded = std::size_t{1} << 20U;  // 2^20 rows · 2^32 < 2^53

class Linear final : public Model {
 public:
  explicit Linear(const LinearModel& model)
      : model_(model), outputs_(model.loss.outputs(model.classes)) {
    if (model.width == 0) throw InvalidValue("`width` is 0: a model needs at least one feature");
    if (model.loss.is_of_classes() && model.classes < 2)
      throw InvalidValue("`classes` must be at least 2");
    if (model.loss.kind != LossKind::softmax && model.loss.is_of_classes() && model.classes != 2) {
      throw InvalidValue(name_of(model.loss.kind) + " is a loss of two classes: for " +
                         std::to_string(model.classes) + " use softmax");
    }
    if (model.loss.kind == LossKind::huber && !(model.loss.bend > 0 && model.loss.bend <= 1e150))
      throw InvalidValue("`bend` must be above 0 and at most 1e150");
  }

  const LossFunction& loss() const override { return model_.loss; }
  std::size_t outputs() const override { return outputs_; }
  std::vector<Layer> layers() const override {
    return {{"linear", 0, outputs_ * (model_.width + (model_.intercept ? 1 : 0))}};
  }
  std::vector<double> start(std::uint64_t /*seed*/) const override {
    return std::vector<double>(parameters(), 0.0);
  }
  std::string description() const override {
    return "linear(width=" + std::to_string(model_.width) + ", loss=" + name_of(model_.loss.kind) +
           (model_.loss.kind == LossKind::huber ? ", bend=" + shortest(model_.loss.bend) : "") +
           (model_.loss.is_of_classes() ? ", classes=" + std::to_string(model_.classes) : "") +
           (model_.intercept ? "" : ", intercept=no") + ")";
  }
  std::vector<int> exponents(const Clipping& clipping) const override {
    return {coefficient_exponent(clipping) - feature_bits};
  }
  std::unique_ptr<Prepared> prepare(std::span<const double> parameters) const override;

  // Slopes are integers in units of 2^e for this e. Their range is four norms, since with an
  // intercept every row is at least 1 long.
  int coefficient_exponent(const Clipping& clipping) const {
    const double reach = std::min(model_.loss.lipschitz(), 4 * clipping.norm);
    return static_cast<int>(std::ceil(std::log2(reach))) - 18;
  }
  const LinearModel& model() const { return model_; }

 private:
  LinearModel model_;
  std::size_t outputs_;
};

class PreparedLinear final : public Model::Prepared {
 public:
  PreparedLinear(const Linear& model, std::span<const double> parameters)
      : linear_(model),
        count_(model.outputs()),
        width_(model.model().width),
        stride_((width_ + 15) / 16 * 16),
        weights_(count_ * stride_),
        whole_(parameters.first(std::min(width_, parameters.size())), stride_),
        loops_(learning_detail::tile_loops().front()),
        biases_(count_) {
    if (parameters.size() != model.parameters())
      throw InvalidValue("the model has " + std::to_string(model.parameters()) +
                         " parameters, not " + std::to_string(parameters.size()));
    for (std::size_t k = 0; k < count_; ++k) {
      for (std::size_t j = 0; j < width_; ++j)
        weights_[k * stride_ + j] = static_cast<float>(parameters[k * width_ + j] * a_step);
      biases_[k] = model.model().intercept ? parameters[count_ * width_ + k] : 0;
    }
  }

  void add(const Examples& examples, std::span<const std::uint32_t> units, const Clipping& clipping,
           ExactSum& sum) const override {
    require_width(examples);
    Work work(*this, clipping, sum);
    if (!examples.one_row_a_unit()) {
      for (const std::uint32_t unit : units) work.add_unit(examples, unit);
      return;
    }
    if (count_ == 1) {
      work.add_rows_of_one_output(examples, units);
      return;
    }
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (i + ahead < units.size()) prefetch(examples.row(units[i + ahead]));
      work.add_row(examples.row(units[i]), examples.target(units[i]));
    }
    work.finish();
  }

  void norms(const Examples& examples, std::span<const std::uint32_t> units,
             std::span<double> norms) const override {
    require_width(examples);
    ExactSum sum(linear_.parameters());
    const Clipping clipping{};
    Work work(*this, clipping, sum);
    for (std::size_t i = 0; i < units.size(); ++i) norms[i] = work.norm(examples, units[i]);
  }

  void outputs(const Examples& examples, std::size_t first,
               std::span<double> outputs) const override {
    require_width(examples);
    for (std::size_t i = 0; i < outputs.size() / count_; ++i)
      outputs_of(examples.row(first + i), outputs.subspan(i * count_, count_));
  }

 private:
  void require_width(const Examples& examples) const {
    if (examples.width() != width_)
      throw InvalidValue("the model has " + std::to_string(width_) + " features, the examples " +
                         std::to_string(examples.width()));
  }
  void prefetch(const std::int16_t* row) const {
    for (std::size_t j = 0; j < stride_; j += 32) __builtin_prefetch(row + j);
  }
  // Returns the value of one step of a product with whole_.
  [[nodiscard]] double step() const { return whole_.step * a_step; }
  void outputs_of(const std::int16_t* row, std::span<double> z) const {
    std::vector<float> dots(count_);
    learning_detail::dots(row, weights_.data(), count_, stride_, dots.data());
    for (std::size_t k = 0; k < count_; ++k) z[k] = static_cast<double>(dots[k]) + biases_[k];
  }

  // The work of one thread on one batch.
  class Work {
   public:
    Work(const PreparedLinear& prepared, const Clipping& clipping, ExactSum& sum)
        : p_(prepared),
          clipping_(clipping),
          sum_(sum),
          exponent_(prepared.linear_.coefficient_exponent(clipping)),
          per_step_(std::ldexp(1.0, -exponent_)),
          z_(p_.count_),
          slope_(p_.count_),
          buffer_(p_.count_ * p_.stride_ + p_.count_),
          sums_(p_.count_ == 1 ? learning_detail::sums_of(p_.stride_) : 0),
          own_(buffer_.size()),
          waiting_(4 * p_.count_),
          scratch_(p_.count_),
          dots_(p_.count_),
          rounding_{.automatic = clipping.kind == ClippingKind::automatic,
                    .norm = clipping.norm,
                    .stability = clipping.stability,
                    .per_step = per_step_,
                    .largest = largest_coefficient,
                    .square_factor = a_step * a_step,
                    .intercept = has_intercept() ? 1.0 : 0.0} {}

    // With one output, rows are processed in tiles: while one is computed, the next is prefetched.
    void add_rows_of_one_output(const Examples& examples, std::span<const std::uint32_t> units) {
      std::array<const std::int16_t*, 2 * rows_a_tile> rows{};
      const auto look_up = [&](std::size_t from, std::size_t place) {
        const std::size_t count =
            std::min(rows_a_tile, units.size() - std::min(from, units.size()));
        for (std::size_t i = 0; i < count; ++i) rows[place + i] = examples.row(units[from + i]);
        return count;
      };
      std::size_t count = look_up(0, 0);
      for (std::size_t from = 0, place = 0; count > 0;
           from += rows_a_tile, place = rows_a_tile - place) {
        const std::size_t prefetcher = look_up(from + rows_a_tile, rows_a_tile - place);
        for (std::size_t i = 0; i < count; ++i) targets_[i] = examples.target(units[from + i]);
        add_tile(rows.data() + place, count,
                 {rows.data() + (rows_a_tile - place), prefetcher, p_.stride_});
        count = prefetcher;
      }
      empty();
      fold(static_cast<double>(added_));
    }

    void add_row(const std::int16_t* row, std::int16_t target) {
      const double length = slope_and_length(row, target);
      const double size = norm_of_slope() * length;
      const double factor = clip(size);
      const std::span<double> coefficients(scratch_);
      for (std::size_t k = 0; k < p_.count_; ++k) coefficients[k] = coefficient(factor * slope_[k]);
      require_within(coefficients, length);
      rows_[at_] = row;
      for (std::size_t k = 0; k < p_.count_; ++k) {
        waiting_[4 * k + at_] = coefficients[k];
        bias(buffer_)[k] += coefficients[k] * feature_one;
      }
      if (++at_ == 4) add_waiting();
      ++sum_.units;
      if (++added_ == rows_until_folded) fold(static_cast<double>(added_));
    }

    // Adds a unit with several rows: its gradient is the sum over its rows, clipped once.
    void add_unit(const Examples& examples, std::size_t unit) {
      const double size = own_gradient(examples, unit);
      const double factor = clip(size);
      ++sum_.units;
      for (std::size_t j = 0; j < own_.size(); ++j) {
        if (own_[j] != 0) own_[j] = factor == 1 ? own_[j] : std::trunc(factor * own_[j]);
      }
      // the norm of a unit is at most clipping.norm, which bounds every coordinate
      std::swap(own_, buffer_);
      fold(clipping_.norm * per_step_ * feature_one / 0x1p32 + 1);
      std::swap(own_, buffer_);
      std::fill(own_.begin(), own_.end(), 0.0);
    }

    double norm(const Examples& examples, std::size_t unit) {
      if (examples.one_row_a_unit()) {
        const double length = slope_and_length(examples.row(unit), examples.target(unit));
        return norm_of_slope() * length;
      }
      const double size = own_gradient(examples, unit);
      std::fill(own_.begin(), own_.end(), 0.0);
      return size;
    }

    void finish() {
      if (at_ > 0) {
        for (; at_ < 4; ++at_) {
          rows_[at_] = rows_[0];
          for (std::size_t k = 0; k < p_.count_; ++k) waiting_[4 * k + at_] = 0;
        }
        add_waiting();
      }
      fold(static_cast<double>(added_));
    }

   private:
    using Tile = std::array<double, rows_a_tile>;
    // Computes the slopes of the outputs at a row. Returns an upper bound on the norm of (x, 1), or
    // of x without intercept.
    double slope_and_length(const std::int16_t* row, std::int16_t target) {
      Products products{};
      Prefetcher nothing_next;
      p_.loops_.products(&row, 1, p_.whole_, p_.stride_, nothing_next, &products);
      if (p_.count_ == 1) {
        z_[0] = static_cast<double>(products.dot) * p_.step() + p_.biases_[0];
      } else {
        learning_detail::dots(row, p_.weights_.data(), p_.count_, p_.stride_, dots_.data());
        for (std::size_t k = 0; k < p_.count_; ++k)
          z_[k] = static_cast<double>(dots_[k]) + p_.biases_[k];
      }
      p_.linear_.loss().slope(z_, target, slope_);
      return std::sqrt(
          (static_cast<double>(products.square) * a_step * a_step + (has_intercept() ? 1 : 0)) *
          (1 + 0x1p-40));
    }
    [[nodiscard]] bool has_intercept() const { return p_.linear_.model().intercept; }
    [[nodiscard]] double norm_of_slope() const {
      double square = 0;
      for (const double s : slope_) square += s * s;
      return std::sqrt(square) * (1 + 0x1p-40);
    }
    // Returns the clipping factor for a gradient of this norm, reduced by a relative 2^-36 to cover
    // rounding.
    double clip(double size) {
      if (clipping_.kind == ClippingKind::automatic) {
        if (size > clipping_.norm) ++sum_.clipped;
        return clipping_.norm / (size + clipping_.stability) * (1 - 0x1p-36);
      }
      if (size <= clipping_.norm * (1 - 0x1p-36)) return 1;
      if (size > clipping_.norm) ++sum_.clipped;
      return clipping_.norm / size * (1 - 0x1p-36);
    }
    // Rounds toward zero. NaN, from parameters that overflowed, becomes 0.
    [[nodiscard]] double coefficient(double slope) const {
      const double whole = std::trunc(slope * per_step_);
      return whole == whole ? std::clamp(whole, -largest_coefficient, largest_coefficient) : 0;
    }
    // Enforces the sensitivity bound on the integers that are added: sets them to 0 if they exceed
    // it.
    void require_within(std::span<double> coefficients, double length) const {
      double square = 0;
      for (const double a : coefficients) square += a * a;  // integers below 2^53
      const double most = clipping_.norm * per_step_ / length;
      if (square <= most * most * (1 - 0x1p-40)) return;
      std::fill(coefficients.begin(), coefficients.end(), 0.0);
    }
    std::span<double> bias(std::vector<double>& of) const {
      return {of.data() + p_.count_ * p_.stride_, p_.count_};
    }

    void add_tile(const std::int16_t** rows, std::size_t count, Prefetcher prefetcher) {
      std::array<Products, rows_a_tile> products{};
      p_.loops_.products(rows, count, p_.whole_, p_.stride_, prefetcher, products.data());
      // Pad to a multiple of eight with rows of slope 0.
      const std::size_t padded = (count + 7) / 8 * 8;
      Tile z;
      Tile squares;
      learning_detail::outputs(products.data(), padded, p_.step(), p_.biases_[0], z.data(),
                               squares.data());
      Tile slopes{};
      slopes_of(z, count, padded, slopes);
      for (std::size_t i = count; i < padded; ++i) {
        rows[i] = rows[0];
        slopes[i] = 0;
      }
      std::array<std::int32_t, rows_a_tile> coefficients;
      sum_.clipped += learning_detail::coefficients(slopes.data(), squares.data(), padded,
                                                    rounding_, coefficients.data());
      std::array<std::int16_t, rows_a_tile> high;
      std::array<std::int16_t, rows_a_tile> low;
      learning_detail::in_two_parts(coefficients.data(), padded, high.data(), low.data());
      p_.loops_.add(rows, padded, high.data(), low.data(), p_.stride_, prefetcher, sums_.data());
      const std::int32_t total = std::accumulate(
          coefficients.begin(), coefficients.begin() + static_cast<std::ptrdiff_t>(padded), 0);
      bias(buffer_)[0] += static_cast<double>(total) * feature_one;
      sum_.units += static_cast<std::int64_t>(count);
      added_ += count;
      in_sums_ += count;
      if (in_sums_ + rows_a_tile > learning_detail::rows_until_emptied) empty();
      if (added_ + rows_a_tile > rows_until_folded) {
        empty();
        fold(static_cast<double>(added_));
      }
    }
    void slopes_of(const Tile& z, std::size_t count, std::size_t padded, Tile& slopes) {
      if (p_.linear_.loss().kind != LossKind::logistic) {
        for (std::size_t i = 0; i < count; ++i)
          p_.linear_.loss().slope({&z[i], 1}, targets_[i], {&slopes[i], 1});
        return;
      }
      Tile signs;
      for (std::size_t i = 0; i < padded; ++i) signs[i] = targets_[i] > 0 ? 1 : -1;
      learning_detail::logistic_slopes(z.data(), signs.data(), padded, slopes.data());
    }
    void empty() {
      p_.loops_.empty(sums_.data(), p_.stride_, buffer_.data());
      in_sums_ = 0;
    }

    void add_waiting() {
      learning_detail::add_four_rows(rows_.data(), waiting_.data(), p_.count_, buffer_.data(),
                                     p_.stride_);
      at_ = 0;
    }

    // Computes the gradient of a unit into own_, in integers. Returns an upper bound on its norm.
    double own_gradient(const Examples& examples, std::size_t unit) {
      for (std::size_t i = examples.first(unit); i < examples.first(unit + 1); ++i) {
        (void)slope_and_length(examples.row(i), examples.target(i));
        const std::array<const std::int16_t*, 4> rows{examples.row(i), examples.row(i),
                                                      examples.row(i), examples.row(i)};
        std::fill(waiting_.begin(), waiting_.end(), 0.0);
        for (std::size_t k = 0; k < p_.count_; ++k) {
          waiting_[4 * k] = coefficient(slope_[k]);
          if (has_intercept()) bias(own_)[k] += waiting_[4 * k] * feature_one;
        }
        learning_detail::add_four_rows(rows.data(), waiting_.data(), p_.count_, own_.data(),
                                       p_.stride_);
      }
      double square = 0;
      for (const double g : own_) square += g * g;
      return std::sqrt(square) * (1 + static_cast<double>(own_.size() + 8) * 0x1p-52) /
             (per_step_ * feature_one);
    }

    void fold(double rows) {
      const std::span<double> to = sum_.room_for(rows * 0x1p32);
      for (std::size_t k = 0; k < p_.count_; ++k) {
        for (std::size_t j = 0; j < p_.width_; ++j)
          to[k * p_.width_ + j] += buffer_[k * p_.stride_ + j];
      }
      if (has_intercept()) {
        for (std::size_t k = 0; k < p_.count_; ++k)
          to[p_.count_ * p_.width_ + k] += bias(buffer_)[k];
      }
      std::fill(buffer_.begin(), buffer_.end(), 0.0);
      added_ = 0;
    }

    const PreparedLinear& p_;
    const Clipping& clipping_;
    ExactSum& sum_;
    int exponent_;
    double per_step_;
    std::vector<double> z_, slope_;
    std::vector<double> buffer_;      // `stride` numbers per output, then the biases
    std::vector<std::int32_t> sums_;  // sums of tiles for one output, in the layout of TileLoops
    std::vector<double> own_;         // gradient of a unit, in the layout of buffer_
    std::vector<double> waiting_, scratch_;
    std::vector<float> dots_;
    learning_detail::Rounding rounding_;
    std::array<std::int16_t, rows_a_tile> targets_{};
    std::array<const std::int16_t*, 4> rows_{};
    std::size_t at_ = 0, added_ = 0, in_sums_ = 0;
  };

  const Linear& linear_;
  std::size_t count_, width_, stride_;
  std::vector<float> weights_;
  WholeWeights whole_;  // weights of the first output
  const TileLoops& loops_;
  std::vector<double> biases_;
};

std::unique_ptr<Model::Prepared> Linear::prepare(std::span<const double> parameters) const {
  return std::make_unique<PreparedLinear>(*this, parameters);
}

}  // namespace

std::unique_ptr<Model> make_model(const LinearModel& model) {
  return std::make_unique<Linear>(model);
}

}  // namespace sotto
