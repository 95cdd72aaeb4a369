// The noise of the public interface: one word decides most draws here, rounding.hpp finishes the
// others.
#include "sotto/random/noise.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "random/batch.hpp"
#include "random/rounding.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace random_detail {

const Table& real_table(Curve curve) {
  static const Table gaussian(Curve::gaussian, 256, true, real_fraction);
  static const Table laplace(Curve::laplace, 64, true, real_fraction);
  return curve == Curve::gaussian ? gaussian : laplace;
}

}  // namespace random_detail

using random_detail::Curve;
using random_detail::Rounding;
using random_detail::Shape;
using random_detail::Table;

namespace {

Curve curve_of(NoiseKind kind) {
  return kind == NoiseKind::gaussian ? Curve::gaussian : Curve::laplace;
}

void require_scale(double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw InvalidValue("scale = " + shortest(scale) +
                       " is not allowed: the scale of noise must be a number in (0, inf)");
}

// The value comes from the data, so the message does not hold it.
void require_finite(double value) {
  if (!std::isfinite(value))
    throw InvalidValue("noise is added to finite numbers only, and this one is infinite or NaN");
}

}  // namespace

int RoundedNoise::grid_for(double scale) {
  require_scale(scale);
  return std::clamp(std::ilogb(scale) - 10, -1022, 970);
}

RoundedNoise::RoundedNoise(NoiseKind kind, double scale, int grid)
    : kind_(kind),
      scale_(scale),
      grid_(grid),
      table_(&random_detail::real_table(curve_of(kind))),
      step_(std::ldexp(1.0, grid)),
      per_step_(std::ldexp(1.0, -grid)) {
  require_scale(scale);
  if (grid < -1022 || grid > 970)
    throw InvalidValue(
        "grid = " + std::to_string(grid) +
        " is not allowed: it must be from -1022 to 970, so that 2^53 steps of 2^grid are doubles");
  half_unit_ = random_detail::half_unit_of(rounding(0));
  sure_distance_ = random_detail::sure_distance_of(half_unit_);
}

RoundedNoise RoundedNoise::arsinh(double sigma, double a, int grid) {
  RoundedNoise noise(NoiseKind::gaussian, sigma, grid);
  require_scale(a);
  noise.bend_ = a;
  noise.half_unit_ = random_detail::half_unit_of(noise.rounding(0));
  noise.sure_distance_ = random_detail::sure_distance_of(noise.half_unit_);
  return noise;
}

double RoundedNoise::limit() const { return random_detail::most_steps * step_; }

Rounding RoundedNoise::rounding(double value) const {
  return {value,  grid_, bend_ > 0 ? Shape::arsinh : Shape::linear,
          scale_, bend_, random_detail::unit_of(curve_of(kind_))};
}

double RoundedNoise::add(double value, Random& random) const {
  const std::uint64_t word = random.word();
  const double steps = value * per_step_;  // exact, or infinite, or a subnormal too small to matter
  const random_detail::Attempt attempt =
      random_detail::try_word(*table_, word, steps, half_unit_, sure_distance_);
  if (attempt.sure) [[likely]] {
    return attempt.whole * step_;
  }
  return finish(value, word, random);
}

double RoundedNoise::finish(double value, std::uint64_t word, Random& random) const {
  require_finite(value);  // checked only here: try_word() is never sure of an infinity or a NaN
  return random_detail::finish_rounded(random, *table_, rounding(value), value * per_step_,
                                       half_unit_, word) *
         step_;
}

void RoundedNoise::add(std::span<double> values, Random& random) const {
  std::for_each(values.begin(), values.end(), require_finite);
  random_detail::add_rounded(random, {*table_, rounding(0), step_, half_unit_}, values);
}

struct DiscreteNoise::Sampler {
  Table table;
};

DiscreteNoise::DiscreteNoise(NoiseKind kind, double scale) : scale_(scale) {
  require_scale(scale);
  if (scale > 0x1p40)
    throw InvalidValue("scale = " + shortest(scale) +
                       " is not allowed: the scale of discrete noise must be at most 2^40");
  // a column holds 2^b whole numbers, so that the scale is below 256 (Gaussian) or 128 (Laplace)
  // columns, and at least half of that if b > 0
  const int columns_a_scale = kind == NoiseKind::gaussian ? 8 : 7;
  const int b = std::max(0, std::ilogb(scale) + 1 - columns_a_scale);
  sampler_ = std::make_shared<const Sampler>(
      Sampler{Table(curve_of(kind), std::ldexp(scale, -b), false, b)});
}

std::int64_t DiscreteNoise::draw(Random& random) const {
  return random_detail::draw_whole(random, sampler_->table);
}

}  // namespace sotto
