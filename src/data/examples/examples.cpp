// Builds training examples, in memory or in a temporary file, and codes their features.
#include "sotto/data/examples.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/api/memory.hpp"
#include "data/examples/codes.hpp"
#include "data/records/scratch.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::Scratch;

constexpr std::size_t codes_a_line = 16;  // rows start at multiples of 32 bytes
constexpr std::size_t most_width = std::size_t{1} << 24U;

int steps_of(const Scaled& scale) { return scale.from_zero ? feature_one : 2 * feature_one; }
int first_of(const Scaled& scale) { return scale.from_zero ? 0 : -feature_one; }

std::string text_of(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return shortest(*real);
  return std::get<std::string>(value);
}

// The targets and the number of rows may be secret: errors do not show them.
std::int16_t class_of(double target) {
  if (!(target >= 0 && target <= 32767) || target != std::floor(target))
    throw InvalidValue("a target is not a class: classes are integers from 0 to 32767");
  return static_cast<std::int16_t>(target);
}

}  // namespace

void require_sound(const Scaled& scale) {
  if (!(scale.upper - scale.lower >= 1e-150) || !(std::abs(scale.lower) < 1e150) ||
      !(std::abs(scale.upper) < 1e150)) {
    throw InvalidValue("the bounds " + shortest(scale.lower) + " and " + shortest(scale.upper) +
                       " are not allowed: the upper must exceed the lower by at least 1e-150, and "
                       "both must lie between -1e150 and 1e150");
  }
}

std::int16_t code_of(double value, const Scaled& scale) {
  if (!(value > scale.lower)) return static_cast<std::int16_t>(first_of(scale));
  if (value >= scale.upper) return feature_one;
  return data_detail::Coder(scale).code(value);
}

double value_of(std::int16_t code, const Scaled& scale) {
  const int steps = steps_of(scale);
  const int step = std::clamp(code - first_of(scale), 0, steps);
  if (step == steps) return scale.upper;
  return scale.lower + step * ((scale.upper - scale.lower) / steps);
}

std::size_t width_of(const std::vector<Feature>& features) {
  std::size_t width = 0;
  for (const Feature& feature : features) {
    const auto* category = std::get_if<OneOf>(&feature.encoding);
    width += category == nullptr ? 1 : category->values.size();
  }
  return width;
}

std::size_t width_of(const ExampleQuery& query) {
  return query.image ? query.image->height * query.image->width : width_of(query.features);
}

std::vector<std::string> names_of(const std::vector<Feature>& features) {
  std::vector<std::string> names;
  for (const Feature& feature : features) {
    const auto* category = std::get_if<OneOf>(&feature.encoding);
    if (category == nullptr) {
      names.push_back(feature.name);
      continue;
    }
    for (const Value& value : category->values)
      names.push_back(feature.name + "=" + text_of(value));
  }
  return names;
}

struct Examples::Builder::State {
  struct Buffers {
    Scratch codes;
    Scratch targets;
  };
  std::size_t width;
  std::size_t stride;
  std::size_t rows = 0;
  std::size_t capacity = 0;  // in rows
  bool has_units = false;
  bool keeps_units = false;
  std::vector<std::size_t> starts{};
  std::shared_ptr<Buffers> buffers{};
};

Examples::Builder::Builder(std::size_t width, std::int64_t memory, std::filesystem::path scratch) {
  if (width == 0 || width > most_width)
    throw InvalidValue("examples of " + std::to_string(width) +
                       " features are not allowed: from 1 to " + std::to_string(most_width));
  if (memory < 0)
    throw InvalidValue("memory = " + std::to_string(memory) +
                       " is negative: write 0 for the default, or a number of bytes");
  if (memory == 0) memory = machine_memory() / 2;
  state_ = std::make_unique<State>();
  state_->width = width;
  state_->stride = (width + codes_a_line - 1) / codes_a_line * codes_a_line;
  // divided so that both move to the disk at about the same number of rows
  const auto most = static_cast<std::size_t>(memory);
  const std::size_t for_targets = most / (state_->stride + 1);
  state_->buffers.reset(new State::Buffers{{most - for_targets, scratch}, {for_targets, scratch}});
}

Examples::Builder::Builder(Builder&&) noexcept = default;
Examples::Builder& Examples::Builder::operator=(Builder&&) noexcept = default;
Examples::Builder::~Builder() = default;

std::span<std::int16_t> Examples::Builder::add(std::int16_t target) {
  State& state = *state_;
  if (state.rows == state.capacity) {
    const std::size_t capacity = std::max<std::size_t>(state.capacity + state.capacity / 8,
                                                       (std::size_t{1} << 20U) / state.stride + 1);
    state.buffers->codes.reserve(capacity * state.stride * sizeof(std::int16_t));
    state.buffers->targets.reserve(capacity * sizeof(std::int16_t));
    state.capacity = capacity;
  }
  reinterpret_cast<std::int16_t*>(state.buffers->targets.data())[state.rows] = target;
  std::int16_t* row =
      reinterpret_cast<std::int16_t*>(state.buffers->codes.data()) + state.rows * state.stride;
  ++state.rows;
  return {row, state.width};
}

void Examples::Builder::next_unit() {
  State& state = *state_;
  if (!state.has_units && state.rows > 0) state.starts.push_back(0);
  state.has_units = true;
  if (state.starts.empty() || state.starts.back() != state.rows) state.starts.push_back(state.rows);
}

void Examples::Builder::keep_units() { state_->keeps_units = true; }

std::size_t Examples::Builder::rows() const { return state_->rows; }

Examples Examples::part(std::size_t first, std::size_t end) const {
  if (first > end || end > units())
    throw InvalidValue("the examples have no units from " + std::to_string(first) + " to before " +
                       std::to_string(end));
  Examples some = *this;
  const std::size_t from = this->first(first);
  some.rows_ = this->first(end) - from;
  some.codes_ += from * stride_;
  some.targets_ += from;
  if (!one_row_a_unit()) {  // also if these units have one row each: they are treated as in the
                            // whole
    some.starts_.assign(starts_.begin() + static_cast<std::ptrdiff_t>(first),
                        starts_.begin() + static_cast<std::ptrdiff_t>(end) + 1);
    for (std::size_t& start : some.starts_) start -= from;
  }
  return some;
}

Examples Examples::Builder::build() && {
  State& state = *state_;
  Examples examples;
  examples.width_ = state.width;
  examples.stride_ = state.stride;
  examples.rows_ = state.rows;
  examples.codes_ = reinterpret_cast<const std::int16_t*>(state.buffers->codes.data());
  examples.targets_ = reinterpret_cast<const std::int16_t*>(state.buffers->targets.data());
  if (state.has_units) {
    next_unit();  // marks the end of the last unit
    if (state.keeps_units || state.starts.size() != state.rows + 1)
      examples.starts_ = std::move(state.starts);
  }
  examples.keeper_ = std::move(state.buffers);
  return examples;
}

Examples examples_of(const Matrix& matrix) {
  if (matrix.width == 0 || matrix.values.size() % matrix.width != 0)
    throw InvalidValue("the size of the matrix is not a multiple of its width, " +
                       std::to_string(matrix.width));
  if (matrix.scales.size() != matrix.width)
    throw InvalidValue("the matrix has " + std::to_string(matrix.width) + " columns and " +
                       std::to_string(matrix.scales.size()) + " scales: give one for each column");
  const std::size_t rows = matrix.values.size() / matrix.width;
  if (!matrix.targets.empty() && matrix.targets.size() != rows)
    throw InvalidValue(
        "the matrix does not have as many targets as rows: give one for each row, or none");
  if (!matrix.units.empty() && matrix.units.size() != rows)
    throw InvalidValue(
        "the matrix does not have as many units as rows: give one for each row, or none");
  for (const Scaled& scale : matrix.scales) require_sound(scale);
  if (matrix.target_scale) require_sound(*matrix.target_scale);

  Examples::Builder builder(matrix.width);
  const auto add = [&](std::size_t i) {
    std::int16_t target = 0;
    if (!matrix.targets.empty())
      target = matrix.target_scale ? code_of(matrix.targets[i], *matrix.target_scale)
                                   : class_of(matrix.targets[i]);
    const auto row = builder.add(target);
    for (std::size_t j = 0; j < matrix.width; ++j)
      row[j] = code_of(matrix.values[i * matrix.width + j], matrix.scales[j]);
  };
  if (matrix.units.empty()) {
    for (std::size_t i = 0; i < rows; ++i) add(i);
    return std::move(builder).build();
  }
  // units in the order of their first rows
  std::unordered_map<std::int64_t, std::size_t> numbers;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // unit, row
  for (std::size_t i = 0; i < rows; ++i)
    order.emplace_back(numbers.emplace(matrix.units[i], numbers.size()).first->second, i);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < rows; ++i) {
    if (i == 0 || order[i].first != order[i - 1].first) builder.next_unit();
    add(order[i].second);
  }
  return std::move(builder).build();
}

}  // namespace sotto
