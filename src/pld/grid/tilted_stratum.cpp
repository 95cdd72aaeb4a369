// Tilting and transforming of a stratum's masses, and the product of the transforms' powers. All
// masses and all values of the transform carry bounds on their rounding errors.
#include "pld/grid/tilted_stratum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/work.hpp"

namespace sotto::pld_detail {

PointRange points_of(const DiscretisedStep& step, const Stratum& stratum, double highest) {
  const GridDistribution& grid = step.grid;
  if (step.unstratified) return {grid.last(), grid.last()};
  const auto last_at = [&](double loss) {
    const double place = std::floor((loss - grid.start) / grid.spacing);
    const std::int64_t lowest = grid.bulk ? std::max<std::int64_t>(0, grid.first) : grid.first;
    return std::clamp(static_cast<std::int64_t>(std::clamp(place, -1e15, 1e15)), lowest,
                      grid.last());
  };
  return {stratum.from ? last_at(*stratum.from) : grid.first - 1,
          stratum.to >= highest ? grid.last() : last_at(stratum.to)};
}

TiltedStratum::TiltedStratum(const std::vector<DiscretisedStep>& steps, const Stratum& stratum,
                             double highest, Side side, double start, const Fft& fft,
                             std::size_t size)
    : tilt_(stratum.tilt), has_below_(stratum.from.has_value()), size_(size), start_(start) {
  for (const DiscretisedStep& step : steps) {
    const GridDistribution& grid = step.grid;
    const PointRange points = points_of(step, stratum, highest);
    TiltedStep one;
    if (!tilt_step(step, points, side, one)) return;
    fft.forward(one.below);
    if (!one.within.empty()) fft.forward(one.within);
    scale_ += step.count * one.log_heaviest;
    scale_error_ += step.count * one.log_heaviest_error;
    start_ += step.count * static_cast<double>(one.heaviest) * grid.spacing;
    losses_.upper += step.count * (grid.loss_at(points.last) + grid.spacing);
    losses_.lower += step.count * (std::min(grid.loss_at(grid.first), grid.start) - grid.spacing);
    counts_.push_back(step.count);
    steps_.push_back(std::move(one));
  }
  log_total_ = log_total_mass();
  failed_ = !std::isfinite(log_total_);
}

// Tilts the masses of one step up to the stratum's last grid point, relative to the heaviest one
// and rounded to the safe side. Returns false if they are not finite.
bool TiltedStratum::tilt_step(const DiscretisedStep& step, const PointRange& points, Side side,
                              TiltedStep& tilted) const {
  const GridDistribution& grid = step.grid;
  spend(60 * static_cast<double>(grid.weights.size()) + 5 * static_cast<double>(size_));
  find_heaviest(grid, points, tilted);
  if (!std::isfinite(tilted.log_heaviest)) return false;
  tilted.heaviest_is_below = !has_below_ || tilted.heaviest <= points.last_below;

  tilted.below.assign(size_, Complex{0, 0});
  tilted.within.assign(has_below_ && !step.unstratified ? size_ : 0, Complex{0, 0});
  const auto put = [&](std::int64_t j, double weight, double log) {
    const double error_bound =
        unit * (32 + 8 * tilt_ * std::abs(grid.loss_at(j)) + 4 * std::abs(tilted.log_heaviest));
    const double mass = weight * std::exp(log - tilted.log_heaviest) *
                        (side == Side::upper ? 1 + error_bound : std::max(0.0, 1 - error_bound));
    const bool below = !has_below_ || j <= points.last_below;
    (below ? tilted.below : tilted.within)[index_of(j - tilted.heaviest, size_)].re += mass;
    (below ? tilted.below_sum : tilted.within_sum) += mass;
  };
  for (std::int64_t j = grid.first; j <= points.last; ++j) {
    const double weight = grid.weights[static_cast<std::size_t>(j - grid.first)];
    if (j != tilted.heaviest && weight > 0) put(j, weight, tilt_ * grid.loss_at(j));
  }
  if (grid.bulk && tilted.heaviest != 0) put(0, 1, grid.bulk->log_mass + tilt_ * grid.start);

  for (const Complex& value : tilted.below) tilted.below_norm += value.re * value.re;
  for (const Complex& value : tilted.within) tilted.within_norm += value.re * value.re;
  tilted.below_norm = std::sqrt(tilted.below_norm);
  tilted.within_norm = std::sqrt(tilted.within_norm);
  return std::isfinite(tilted.below_sum + tilted.within_sum);
}

// Finds the grid point with the largest tilted mass; a bulk is preferred unless it is far lighter.
void TiltedStratum::find_heaviest(const GridDistribution& grid, const PointRange& points,
                                  TiltedStep& tilted) const {
  tilted.log_heaviest = -infinity;
  for (std::int64_t j = grid.first; j <= points.last; ++j) {
    const double weight = grid.weights[static_cast<std::size_t>(j - grid.first)];
    const double log = weight > 0 ? std::log(weight) + tilt_ * grid.loss_at(j) : -infinity;
    if (log > tilted.log_heaviest) {
      tilted.log_heaviest = log;
      tilted.heaviest = j;
    }
  }
  tilted.log_heaviest_error = unit * (32 + 8 * std::abs(tilted.log_heaviest) +
                                      8 * tilt_ * std::abs(grid.loss_at(tilted.heaviest)));
  const double bulk = grid.bulk ? grid.bulk->log_mass + tilt_ * grid.start : -infinity;
  if (bulk > tilted.log_heaviest - 30) {
    tilted.log_heaviest = bulk;
    tilted.heaviest = 0;
    tilted.log_heaviest_error = grid.bulk->error_bound + 4 * unit * std::abs(tilted.log_heaviest);
  }
}

// Returns log of Π (A+B)^k - Π A^k with A and B for their sums, or of Π A^k. A may be negligible
// next to B.
double TiltedStratum::log_total_mass() const {
  double log_below = 0;   // log Π A^k
  double log_both = 0;    // log Π (A+B)^k
  double log_within = 0;  // log Π (1 + B/A)^k
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const TiltedStep& step = steps_[i];
    const double k = counts_[i];
    log_below +=
        k * (step.heaviest_is_below ? std::log1p(step.below_sum) : std::log(step.below_sum));
    log_both += k * std::log1p(step.below_sum + step.within_sum);
    log_within += k * std::log1p(step.total_within() / step.total_below());
  }
  return !has_below_             ? log_below
         : std::isinf(log_below) ? log_both
                                 : log_below + log_expm1(log_within);
}

// Of Π (A+B)^k - Π A^k the derivative by B is k(A+B)^(k-1), and that by A is at most k times the
// whole over A.
double TiltedStratum::transform_error(const Fft& fft) const {
  double log_both = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    log_both += counts_[i] * std::log1p(steps_[i].below_sum + steps_[i].within_sum);
  double error = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const TiltedStep& step = steps_[i];
    const double k = counts_[i] * (fft.error() + 8 * unit);
    if (!has_below_ || counts_[i] * static_cast<double>(steps_.size()) > 1)
      error += k * step.below_norm / std::max(step.total_below(), underflow);
    if (has_below_)
      error += k * step.within_norm / (step.total_below() + step.total_within()) *
               std::exp(log_both - log_total_);
  }
  return error;
}

// Masses are real, so frequencies come in conjugate pairs: in each block [n, 2n) of the FFT's order
// the first with the last.
bool TiltedStratum::multiply(std::vector<Complex>& product, double& squared_error) const {
  spend((has_below_ ? 120 : 60) * static_cast<double>(size_) * static_cast<double>(steps_.size()));
  for (std::size_t block = 0; block < size_; block = std::max<std::size_t>(1, 2 * block)) {
    const std::size_t end = std::max<std::size_t>(1, 2 * block);
    for (std::size_t j = block; 2 * j < block + end; ++j) {
      const std::size_t mirror = block + end - 1 - j;
      const auto [value, error] = value_at(j);
      if (std::isnan(value.re) || std::isnan(value.im)) return false;
      product[j] = value;
      if (mirror != j) product[mirror] = {value.re, -value.im};
      squared_error += (mirror != j ? 2 : 1) * error * error;
    }
  }
  return true;
}

// The powers of one frequency, as logarithms.
struct TiltedStratum::Powers {
  Complex log_below;  // log of Π A^k, over e^log_total
  double below_error = 0;
  Complex log_ratio{0, 0};  // log of Π (1 + B/A)^k, if every B/A is small
  double ratio_error = 0;
  bool ratio_is_small = true;
};

TiltedStratum::Value TiltedStratum::value_at(std::size_t j) const {
  const Powers powers = powers_at(j);
  const Complex power = exp(powers.log_below);
  const double power_error = powers.below_error + 64 * unit * (1 + abs(powers.log_below));
  if (!has_below_) return {power, error_of(j, power, power_error, false)};

  // where B is small next to A: A^k (e^w - 1), w = Σ k log(1 + B/A)
  if (powers.ratio_is_small && powers.log_ratio.re < 300 && power_error < 1) {
    const Complex value = power * (exp_excess(powers.log_ratio) + powers.log_ratio);
    const double size = magnitude(power) * std::exp(std::max(0.0, powers.log_ratio.re));
    return {value, error_of(j, value, power_error, false) +
                       size * (powers.ratio_error +
                               64 * unit * std::min(2.0, magnitude(powers.log_ratio)))};
  }

  // elsewhere: (A+B)^k - A^k
  const auto [log_both, both_error] = power_of_both(j);
  const Complex both = exp(log_both);
  return {both - power, error_of(j, both, both_error + 64 * unit * (1 + abs(log_both)), true) +
                            error_of(j, power, power_error, false)};
}

TiltedStratum::Powers TiltedStratum::powers_at(std::size_t j) const {
  Powers powers{Complex{-log_total_, 0}};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const TiltedStep& step = steps_[i];
    const double k = counts_[i];
    const Complex below = step.below[j];
    const Complex a{below.re + (step.heaviest_is_below ? 1 : 0), below.im};
    const Complex log = step.heaviest_is_below
                            ? log1p(below)
                            : Complex{std::log(magnitude(a)), std::atan2(a.im, a.re)};
    powers.log_below = powers.log_below + k * log;
    powers.below_error +=
        k * 16 * unit *
        (abs(log) + (step.heaviest_is_below ? std::min(1.0, abs(below)) / magnitude(a) : 1));
    if (step.within.empty()) continue;
    const Complex b{step.within[j].re + (step.heaviest_is_below ? 0 : 1), step.within[j].im};
    const Complex ratio = b / a;
    powers.ratio_is_small = powers.ratio_is_small && magnitude(ratio) < 0.5;
    const Complex log_ratio = powers.ratio_is_small ? log1p(ratio) : Complex{0, 0};
    powers.log_ratio = powers.log_ratio + k * log_ratio;
    // The error of `a` is at most one rounding unit, relative to 1.
    powers.ratio_error += k * 32 * unit * magnitude(ratio) * std::max(1.0, 1 / magnitude(a));
  }
  return powers;
}

// Returns log of Π (A+B)^k over e^log_total, and a bound on its error.
std::pair<Complex, double> TiltedStratum::power_of_both(std::size_t j) const {
  Complex both{-log_total_, 0};
  double error = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const TiltedStep& step = steps_[i];
    const Complex sum = step.within.empty() ? step.below[j] : step.below[j] + step.within[j];
    const Complex log = log1p(sum);
    both = both + counts_[i] * log;
    error += counts_[i] * 16 * unit *
             (abs(log) + std::min(1.0, abs(sum)) / magnitude(Complex{1 + sum.re, sum.im}));
  }
  return {both, error};
}

// Returns a bound on the error of a power from that of its log. A power that is no larger than its
// rounding error is off by itself, and by the largest value that it may have.
double TiltedStratum::error_of(std::size_t j, Complex power, double log_error,
                               bool with_within) const {
  return (log_error < 1 ? magnitude(power) * std::expm1(log_error)
                        : magnitude(power) + upper_size(j, with_within)) +
         underflow;
}

// Returns an upper bound on |A|^k or |A+B|^k, including the rounding of A and B.
double TiltedStratum::upper_size(std::size_t j, bool with_within) const {
  double log = -log_total_;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const TiltedStep& step = steps_[i];
    const Complex sum =
        with_within && !step.within.empty() ? step.below[j] + step.within[j] : step.below[j];
    const double size =
        magnitude({sum.re + (with_within || step.heaviest_is_below ? 1 : 0), sum.im}) +
        32 * unit * (1 + magnitude(sum));
    log += counts_[i] * (std::log(size) + 8 * unit);
  }
  return std::exp(log + 16 * unit * (1 + std::abs(log) + std::abs(log_total_)));
}

}  // namespace sotto::pld_detail
