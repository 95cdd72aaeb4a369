// Linear models. One row's gradient is slope · (x, 1): the norm is known from two numbers, so a row is read once, and no gradient of a row is made.
//
// Exactness: x is a whole number of 2^-14; each slope, clipped, is rounded toward zero to a whole number A of 2^e with |A| <= 2^18, so the sum of A x
// is a sum of whole numbers below 2^33 a row. Rounding toward zero makes no norm larger; docs/theory/learning.md has the proof.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {
namespace {

using learning_detail::Products;

constexpr double largest_coefficient = 0x1p18;
constexpr double a_step = 1.0 / feature_one;
constexpr std::size_t ahead = 8;                                         // rows that are fetched before they are needed
constexpr std::size_t tile = 32;                                         // rows of one output whose slopes are computed together, a multiple of eight
constexpr std::size_t rows_until_folded = std::size_t{1} << 20U;         // 2^20 rows · 2^32 < 2^53
constexpr std::size_t raised_rows_until_folded = std::size_t{1} << 17U;  // 2^17 rows · 2^18 · (2^14 + code_raise) < 2^53

class Linear final : public Model {
 public:
  explicit Linear(const LinearModel& model) : model_(model), outputs_(model.loss.outputs(model.classes)) {
    if (model.width == 0) throw InvalidValue("a model needs at least one feature");
    if (model.loss.is_of_classes() && model.classes < 2) throw InvalidValue("there must be at least two classes");
    if (model.loss.kind != LossKind::softmax && model.loss.is_of_classes() && model.classes != 2) {
      throw InvalidValue(name_of(model.loss.kind) + " is a loss of two classes: for " + std::to_string(model.classes) + " use softmax");
    }
  }

  const LossFunction& loss() const override { return model_.loss; }
  std::size_t outputs() const override { return outputs_; }
  std::vector<Layer> layers() const override { return {{"linear", 0, outputs_ * (model_.width + (model_.intercept ? 1 : 0))}}; }
  std::vector<double> start(std::uint64_t /*seed*/) const override { return std::vector<double>(parameters(), 0.0); }
  std::string description() const override {
    return "linear(width=" + std::to_string(model_.width) + ", loss=" + name_of(model_.loss.kind) +
           (model_.loss.kind == LossKind::huber ? ", bend=" + shortest(model_.loss.bend) : "") +
           (model_.loss.is_of_classes() ? ", classes=" + std::to_string(model_.classes) : "") + (model_.intercept ? "" : ", intercept=no") + ")";
  }
  std::vector<int> exponents(const Clipping& clipping) const override { return {coefficient_exponent(clipping) - feature_bits}; }
  std::unique_ptr<Prepared> prepare(std::span<const double> parameters) const override;

  // Slopes are whole numbers of 2^this. They need not reach further than four norms: an intercept makes every row at least 1 long.
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
        paired_(stride_),
        biases_(count_) {
    if (parameters.size() != model.parameters()) throw InvalidValue("the model has another number of parameters");
    for (std::size_t k = 0; k < count_; ++k) {
      for (std::size_t j = 0; j < width_; ++j) weights_[k * stride_ + j] = static_cast<float>(parameters[k * width_ + j] * a_step);
      biases_[k] = model.model().intercept ? parameters[count_ * width_ + k] : 0;
    }
    learning_detail::pair_up(weights_.data(), stride_, paired_.data());
  }

  void add(const Examples& examples, std::span<const std::uint32_t> units, const Clipping& clipping, ExactSum& sum) const override {
    require_width(examples);
    Work work(*this, clipping, sum);
    if (!examples.one_row_a_unit()) {
      for (const std::uint32_t unit : units) work.add_unit(examples, unit);
      return;
    }
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (i + ahead < units.size()) prefetch(examples.row(units[i + ahead]));
      if (count_ == 1) {
        work.add_row_of_one_output(examples.row(units[i]), examples.target(units[i]));
      } else {
        work.add_row(examples.row(units[i]), examples.target(units[i]));
      }
    }
    work.finish();
  }

  void norms(const Examples& examples, std::span<const std::uint32_t> units, std::span<double> norms) const override {
    require_width(examples);
    ExactSum sum(linear_.parameters());
    const Clipping clipping{};
    Work work(*this, clipping, sum);
    for (std::size_t i = 0; i < units.size(); ++i) norms[i] = work.norm(examples, units[i]);
  }

  void outputs(const Examples& examples, std::size_t first, std::span<double> outputs) const override {
    require_width(examples);
    for (std::size_t i = 0; i < outputs.size() / count_; ++i) outputs_of(examples.row(first + i), outputs.subspan(i * count_, count_));
  }

 private:
  void require_width(const Examples& examples) const {
    if (examples.width() != width_)
      throw InvalidValue("the model has " + std::to_string(width_) + " features, the examples " + std::to_string(examples.width()));
  }
  void prefetch(const std::int16_t* row) const {
    for (std::size_t j = 0; j < stride_; j += 32) __builtin_prefetch(row + j);
  }
  void outputs_of(const std::int16_t* row, std::span<double> z) const {
    std::vector<float> dots(count_);
    learning_detail::dots(row, weights_.data(), count_, stride_, dots.data());
    for (std::size_t k = 0; k < count_; ++k) z[k] = static_cast<double>(dots[k]) + biases_[k];
  }

  // What one thread does with one batch.
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
          packed_(p_.count_ == 1 ? p_.stride_ : 0),
          own_(buffer_.size()),
          waiting_(4 * p_.count_),
          scratch_(p_.count_),
          dots_(p_.count_),
          rounding_{.automatic = clipping.kind == ClippingKind::automatic,
                    .norm = clipping.norm,
                    .stability = clipping.stability,
                    .per_step = per_step_,
                    .largest = largest_coefficient,
                    .square_factor = (1 + square_off()) * a_step * a_step,
                    .intercept = has_intercept() ? 1.0 : 0.0} {}

    // Rows of one output are taken by tiles: the numbers of each row are computed alike in every place of a tile.
    void add_row_of_one_output(const std::int16_t* row, std::int16_t target) {
      const Products products = learning_detail::products(row, p_.paired_.data(), p_.stride_);
      tile_.rows[at_] = row;
      tile_.targets[at_] = target;
      tile_.z[at_] = static_cast<double>(products.dot) + p_.biases_[0];
      tile_.squares[at_] = products.square;
      if (++at_ == tile) add_tile();
    }

    void add_row(const std::int16_t* row, std::int16_t target) {
      const double length = look(row, target);
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

    // A unit with several rows: its gradient is the sum of theirs, clipped once.
    void add_unit(const Examples& examples, std::size_t unit) {
      const double size = own_gradient(examples, unit);
      const double factor = clip(size);
      ++sum_.units;
      for (std::size_t j = 0; j < own_.size(); ++j) {
        if (own_[j] != 0) own_[j] = factor == 1 ? own_[j] : std::trunc(factor * own_[j]);
      }
      // a unit's norm is at most clipping.norm, so no coordinate is larger
      std::swap(own_, buffer_);
      fold(clipping_.norm * per_step_ * feature_one / 0x1p32 + 1);
      std::swap(own_, buffer_);
      std::fill(own_.begin(), own_.end(), 0.0);
    }

    double norm(const Examples& examples, std::size_t unit) {
      if (examples.one_row_a_unit()) {
        const double length = look(examples.row(unit), examples.target(unit));
        return norm_of_slope() * length;
      }
      const double size = own_gradient(examples, unit);
      std::fill(own_.begin(), own_.end(), 0.0);
      return size;
    }

    void finish() {
      if (p_.count_ == 1) {
        if (at_ > 0) add_tile();
        unpack();
        return;
      }
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
    // The outputs' slopes at a row; its length, with the intercept's 1, from above.
    double look(const std::int16_t* row, std::int16_t target) {
      const Products first = learning_detail::products(row, p_.paired_.data(), p_.stride_);
      z_[0] = static_cast<double>(first.dot) + p_.biases_[0];
      if (p_.count_ > 1) {
        learning_detail::dots(row, p_.weights_.data() + p_.stride_, p_.count_ - 1, p_.stride_, dots_.data());
        for (std::size_t k = 1; k < p_.count_; ++k) z_[k] = static_cast<double>(dots_[k - 1]) + p_.biases_[k];
      }
      p_.linear_.loss().slope(z_, target, slope_);
      return std::sqrt((static_cast<double>(first.square) * (1 + square_off()) * a_step * a_step + (has_intercept() ? 1 : 0)) * (1 + 0x1p-40));
    }
    [[nodiscard]] double square_off() const { return static_cast<double>(p_.stride_ / 16 + 16) * 0x1p-23; }
    [[nodiscard]] bool has_intercept() const { return p_.linear_.model().intercept; }
    [[nodiscard]] double norm_of_slope() const {
      double square = 0;
      for (const double s : slope_) square += s * s;
      return std::sqrt(square) * (1 + 0x1p-40);
    }
    // What a gradient of this norm is multiplied by; less than it may be by a part of 2^-36.
    double clip(double size) {
      if (clipping_.kind == ClippingKind::automatic) {
        if (size > clipping_.norm) ++sum_.clipped;
        return clipping_.norm / (size + clipping_.stability) * (1 - 0x1p-36);
      }
      if (size <= clipping_.norm * (1 - 0x1p-36)) return 1;
      if (size > clipping_.norm) ++sum_.clipped;
      return clipping_.norm / size * (1 - 0x1p-36);
    }
    // Rounded toward zero; NaN, of parameters that have left the doubles, is 0.
    [[nodiscard]] double coefficient(double slope) const {
      const double whole = std::trunc(slope * per_step_);
      return whole == whole ? std::clamp(whole, -largest_coefficient, largest_coefficient) : 0;
    }
    // The bound itself, on the numbers that are added.
    void require_within(std::span<double> coefficients, double length) const {
      double square = 0;
      for (const double a : coefficients) square += a * a;  // whole numbers below 2^53
      const double most = clipping_.norm * per_step_ / length;
      if (square <= most * most * (1 - 0x1p-40)) return;
      std::fill(coefficients.begin(), coefficients.end(), 0.0);
    }
    std::span<double> bias(std::vector<double>& of) const { return {of.data() + p_.count_ * p_.stride_, p_.count_}; }

    // at_ rows; those that are missing count with a slope of 0.
    void add_tile() {
      std::array<double, tile> slopes{};
      const std::size_t rows = (at_ + 7) / 8 * 8;
      if (p_.linear_.loss().kind == LossKind::logistic) {
        std::array<double, tile> signs{};
        for (std::size_t i = 0; i < rows; ++i) signs[i] = tile_.targets[i] > 0 ? 1 : -1;
        learning_detail::logistic_slopes(tile_.z.data(), signs.data(), rows, slopes.data());
      } else {
        for (std::size_t i = 0; i < at_; ++i) p_.linear_.loss().slope({&tile_.z[i], 1}, tile_.targets[i], {&slopes[i], 1});
      }
      for (std::size_t i = at_; i < rows; ++i) {
        tile_.rows[i] = tile_.rows[0];
        slopes[i] = 0;
      }
      std::array<double, tile> coefficients{};
      sum_.clipped += learning_detail::coefficients(slopes.data(), tile_.squares.data(), rows, rounding_, coefficients.data());
      for (std::size_t i = 0; i < rows; i += 8) {
        learning_detail::add_eight_rows(tile_.rows.data() + i, coefficients.data() + i, packed_.data(), p_.stride_);
      }
      for (const double a : coefficients) of_packed_ += a;
      sum_.units += static_cast<std::int64_t>(at_);
      added_ += at_;
      at_ = 0;
      if (added_ + tile > raised_rows_until_folded) unpack();
    }

    // What the tiles have added, without what the codes were raised by.
    void unpack() {
      for (std::size_t j = 0; j < p_.width_; ++j) {
        buffer_[j] = packed_[learning_detail::packed_place(j, p_.stride_)] - of_packed_ * learning_detail::code_raise;
      }
      bias(buffer_)[0] = of_packed_ * feature_one;
      std::fill(packed_.begin(), packed_.end(), 0.0);
      of_packed_ = 0;
      fold(static_cast<double>(added_));
    }

    void add_waiting() {
      learning_detail::add_four_rows(rows_.data(), waiting_.data(), p_.count_, buffer_.data(), p_.stride_);
      at_ = 0;
    }

    // The unit's gradient into own_, whole numbers; its norm, from above.
    double own_gradient(const Examples& examples, std::size_t unit) {
      for (std::size_t i = examples.first(unit); i < examples.first(unit + 1); ++i) {
        (void)look(examples.row(i), examples.target(i));
        const std::array<const std::int16_t*, 4> rows{examples.row(i), examples.row(i), examples.row(i), examples.row(i)};
        std::fill(waiting_.begin(), waiting_.end(), 0.0);
        for (std::size_t k = 0; k < p_.count_; ++k) {
          waiting_[4 * k] = coefficient(slope_[k]);
          if (has_intercept()) bias(own_)[k] += waiting_[4 * k] * feature_one;
        }
        learning_detail::add_four_rows(rows.data(), waiting_.data(), p_.count_, own_.data(), p_.stride_);
      }
      double square = 0;
      for (const double g : own_) square += g * g;
      return std::sqrt(square) * (1 + static_cast<double>(own_.size() + 8) * 0x1p-52) / (per_step_ * feature_one);
    }

    void fold(double rows) {
      const std::span<double> to = sum_.room_for(rows * 0x1p32);
      for (std::size_t k = 0; k < p_.count_; ++k) {
        for (std::size_t j = 0; j < p_.width_; ++j) to[k * p_.width_ + j] += buffer_[k * p_.stride_ + j];
      }
      if (has_intercept()) {
        for (std::size_t k = 0; k < p_.count_; ++k) to[p_.count_ * p_.width_ + k] += bias(buffer_)[k];
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
    std::vector<double> buffer_;  // for each output `stride` numbers; then the biases
    std::vector<double> packed_;  // of one output: what tiles have added, as add_eight_rows leaves it
    std::vector<double> own_;     // a unit's, as in buffer_
    double of_packed_ = 0;        // the sum of the coefficients in packed_
    std::vector<double> waiting_, scratch_;
    std::vector<float> dots_;
    learning_detail::Rounding rounding_;
    struct {
      std::array<const std::int16_t*, tile> rows;
      std::array<std::int16_t, tile> targets;
      std::array<double, tile> z;
      std::array<float, tile> squares;
    } tile_{};
    std::array<const std::int16_t*, 4> rows_{};
    std::size_t at_ = 0, added_ = 0;
  };

  const Linear& linear_;
  std::size_t count_, width_, stride_;
  std::vector<float> weights_;
  std::vector<float> paired_;  // the first output's, as products takes them
  std::vector<double> biases_;
};

std::unique_ptr<Model::Prepared> Linear::prepare(std::span<const double> parameters) const {
  return std::make_unique<PreparedLinear>(*this, parameters);
}

}  // namespace

std::unique_ptr<Model> make_model(const LinearModel& model) { return std::make_unique<Linear>(model); }

}  // namespace sotto
