// FFT composition: each stratum is tilted, transformed, multiplied and transformed back
// (TiltedStratum); outcomes outside the window are bounded; and tails are read off.
#include "pld/grid/fft_compose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/api/work.hpp"
#include "pld/grid/fit_spacing.hpp"
#include "pld/grid/grid_index.hpp"
#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double max_spacing = 16;           // e^spacing has to be a double
constexpr std::size_t max_values = 1 << 16;  // tails around ε that are stored

}  // namespace

FftComposition::FftComposition(const std::vector<DistributedStep>& steps, const GridChoice& choice,
                               Side side, std::size_t size)
    : choice_(choice),
      side_(side),
      size_(size),
      spacing_(choice.length() / static_cast<double>(size - 4)) {
  if (choice.failed()) return;
  spacing_ = fit_spacing(steps, choice, spacing_);
  if (!(spacing_ < max_spacing)) return;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!add_step(steps[i], i)) return;
  }
  failed_ = false;
  for (const Stratum& stratum : choice.strata()) {
    if (!stratum.only_bounded) {
      failed_ = failed_ || !compose(stratum);
    } else if (side == Side::upper) {
      bounded_.push_back(
          {stratum.tilt, log_moment(stratum, stratum.tilt) + chernoff_factor(stratum.tilt)});
    }
  }
  for (DiscretisedStep& step : steps_) step.grid.weights = {};
}

// Discretises one step, and counts its errors and truncated outcomes. Returns false if no grid
// suits it.
bool FftComposition::add_step(const DistributedStep& step, std::size_t index) {
  const GridChoice::Truncation& truncation = choice_.truncation(index);
  const LossDistribution& distribution = *step.distribution;
  const double count = step.step.count;

  // the range of losses, in which a bulk has grid points below it
  double low = std::max(distribution.min_loss(), choice_.low(index));
  if (distribution.bulk())
    low = std::max(distribution.min_loss(), std::min(low, *distribution.bulk() - 16 * spacing_));
  const double high = std::min(distribution.max_loss(), truncation.loss);
  if (!(high > low) ||
      !((high - low) / spacing_ < std::min(16 * static_cast<double>(size_), bytes_allowed() / 16)))
    return false;

  const GridRange range{low, high, spacing_, choice_.tilt()};
  steps_.push_back(
      {count,
       side_ == Side::upper ? pessimistic(distribution, range) : optimistic(distribution, range),
       choice_.unstratified(index)});
  const GridDistribution& grid = steps_.back().grid;
  if (!std::all_of(grid.weights.begin(), grid.weights.end(),
                   [](double weight) { return weight < infinity; }))
    return false;
  constexpr double max_loss_error = 1e-7;  // relative to ε
  if (!(count * grid.loss_error < max_loss_error * choice_.epsilon())) return false;
  loss_error_ += count * grid.loss_error;
  start_ += count * grid.start;

  negligible_tail_p_ += count * distribution.truncated_mass();
  if (distribution.max_loss() > grid.end) {
    if (truncation.negligible) {
      const LossDistribution::Mass p =
          distribution.mass_p(distribution.edge(grid.end), distribution.edge(infinity));
      negligible_tail_p_ += count * (p.as_double() * (1 + p.error_bound + 16 * unit) + underflow);
      return true;
    }
    add_truncated_outcomes(distribution, count, grid.end);
  }
  return std::isfinite(log_no_tail_p_.lower);
}

// Counts the outcomes with a loss of this step above the grid's end, under P and Q, and their leak.
void FftComposition::add_truncated_outcomes(const LossDistribution& distribution, double count,
                                            double end) {
  const LossDistribution::Edge from = distribution.edge(end);
  const LossDistribution::Edge to = distribution.edge(infinity);
  const LossDistribution::Mass p = distribution.mass_p(from, to);
  log_no_tail_p_.lower +=
      count * std::log1p(-p.as_double() * (1 + p.error_bound + 16 * unit) - underflow);
  log_no_tail_p_.upper +=
      count * std::log1p(-p.as_double() * std::max(0.0, 1 - p.error_bound - 16 * unit));
  const LossDistribution::Mass q = distribution.mass_q(from, to);
  const double error_bound = q.error_bound + unit * (32 + 4 * std::abs(q.log));
  const double log = std::log(count * q.value) + q.log;
  log_tail_q_ = {log_sum(log_tail_q_.lower, log - 1.01 * error_bound) - 4 * unit,
                 log_sum(log_tail_q_.upper, log + error_bound) + 4 * unit};
  log_no_tail_q_.lower += count * std::log1p(-q.as_double() * (1 + error_bound));
  log_no_tail_q_.upper += count * std::log1p(-q.as_double() * std::max(0.0, 1 - error_bound));
  log_leak_ = log_sum(
      log_leak_, choice_.log_leak(end - distribution.loss_error(end)) + log + error_bound + 1e-9);
}

// Returns an upper bound on log E[e^(cL)] over the grid masses of a stratum, c the abscissa.
double FftComposition::log_moment(const Stratum& stratum, double abscissa) const {
  double base = 0;
  double ratio = 0;
  for (const DiscretisedStep& step : steps_) {
    const GridDistribution& grid = step.grid;
    const PointRange points = points_of(step, stratum, highest_boundary());
    spend(8 * static_cast<double>(grid.weights.size()));
    const auto log_between = [&](std::int64_t low,
                                 std::int64_t high) {  // of the grid points from low + 1 to high
      const auto weight = [&](std::int64_t j) {
        return grid.weights[static_cast<std::size_t>(j - grid.first)];
      };
      while (high > low && !(weight(high) > 0)) --high;
      double sum = 0;
      for (std::int64_t j = low + 1; j <= high; ++j)
        sum += weight(j) * std::exp(abscissa * (grid.loss_at(j) - grid.loss_at(high)));
      return std::log(sum) + abscissa * grid.loss_at(high);
    };
    const double bulk = grid.bulk
                            ? grid.bulk->log_mass + grid.bulk->error_bound + abscissa * grid.start
                            : -infinity;
    const double log_below =
        stratum.from ? log_sum(bulk, log_between(grid.first - 1, points.last_below)) : 0;
    const double log_within =
        log_between(stratum.from ? points.last_below : grid.first - 1, points.last);
    if (!stratum.from) {
      base += step.count * log_sum(bulk, log_within);
    } else {
      base += step.count * log_below;
      ratio += step.count * std::log1p(std::exp(log_within - log_below));
    }
  }
  const double log = stratum.from ? base + log_expm1(ratio) : base;
  if (std::isnan(log)) return infinity;
  return std::isinf(log) ? log : log + 1e-9 * (1 + std::abs(log));
}

bool FftComposition::compose(const Stratum& stratum) {
  const Fft fft(size_);
  const double c = stratum.tilt;

  // 1. tilt every step's masses, and transform them
  const TiltedStratum tilted(steps_, stratum, highest_boundary(), side_, start_, fft, size_);
  if (tilted.failed()) return false;
  const double error = tilted.transform_error(fft);

  // 2. the composition's transform, frequency by frequency, and back
  std::vector<Complex> product(size_);
  double squared_error = 0;
  if (!tilted.multiply(product, squared_error)) return false;
  fft.inverse(product);
  double norm = 0;
  for (const Complex& value : product) norm += value.re * value.re;

  // 3. the error of δ: an error of Euclidean norm e of the masses changes δ by at most e ‖g‖, where
  // g(x) = e^-cx (1 - e^-x) and ‖g‖² over grid points is at most ∫ g²/spacing plus the largest g²
  const double mass_error = 1.05 *
                            (error + std::sqrt(squared_error / static_cast<double>(size_)) +
                             fft.error() * std::sqrt(norm)) *
                            (1 + error);
  const double factor = chernoff_factor(c);
  const double largest = std::exp(factor);
  StratumSum sum{c,
                 tilted.scale() + tilted.log_total(),
                 0,
                 {},
                 -infinity,
                 0,
                 -infinity,
                 0,
                 1.01 * mass_error *
                     std::sqrt(1 / (2 * c * (2 * c + 1) * (c + 1) * spacing_) + largest * largest)};

  // 4. outcomes outside the window
  const double bottom =
      tilted.start() + std::floor((stratum.window_bottom - tilted.start()) / spacing_) * spacing_;
  const double top = bottom + spacing_ * static_cast<double>(size_ - 1);
  const double rounding = 8 * unit * (std::abs(tilted.start()) + std::abs(bottom) + std::abs(top));
  bound_outside_window(stratum, tilted, {bottom, top}, rounding, sum);
  sum.fft_error += underflow * static_cast<double>(size_);
  sum.fft_error *= std::exp(tilted.scale_error());
  if (!std::isfinite(sum.fft_error) || std::isnan(sum.log_above) || std::isnan(sum.log_below))
    return false;

  // 5. P(L >= x) and δ(x) at grid points x around ε
  read_tails(tilted, product, bottom, sum);
  rounding_ = std::max(rounding_, rounding);
  sums_.push_back(std::move(sum));
  return true;
}

// Bounds the change of δ by outcomes outside the window of length W, by Chernoff's bound at another
// abscissa. An outcome n windows above appears in the window e^(ncW) times, one n windows below
// e^(-ncW) times: aliasing, which the lower side subtracts. On the upper side aliasing only adds,
// but a loss above the window may count too little.
void FftComposition::bound_outside_window(const Stratum& stratum, const TiltedStratum& tilted,
                                          Bound window, double rounding, StratumSum& sum) const {
  const double c = stratum.tilt;
  const double length = static_cast<double>(size_) * spacing_ * (1 - 8 * unit);
  if (!(tilted.losses().upper < window.upper)) {
    const double log = log_moment(stratum, stratum.abscissa_above) + 1e-6;
    if (side_ == Side::upper) {
      sum.log_above = log - stratum.abscissa_above * (window.upper - rounding);
    } else {
      sum.log_above = log + chernoff_factor(stratum.abscissa_above) -
                      log_expm1((stratum.abscissa_above - c) * length);
      sum.abscissa_above = stratum.abscissa_above;
    }
  }
  if (side_ == Side::lower && !(tilted.losses().lower > window.lower)) {
    const double log = stratum.abscissa_below > 0
                           ? log_moment(stratum, stratum.abscissa_below) + 1e-6 +
                                 chernoff_factor(stratum.abscissa_below)
                           : std::min(0.0, log_moment(stratum, 0));
    sum.log_below = log - log_expm1((c - stratum.abscissa_below) * length);
    sum.abscissa_below = stratum.abscissa_below;
  }
}

// Reads off P(L >= x) and δ(x) = e^(-h) δ(x+h) + (1 - e^(-h)) P(L >= x+h) from the top down, h the
// spacing: sums without cancellation. All are tilted like the masses. Values around ε are stored.
void FftComposition::read_tails(const TiltedStratum& tilted, const std::vector<Complex>& product,
                                double bottom, StratumSum& sum) const {
  const double c = tilted.tilt();
  const auto first = grid_index(std::round((bottom - tilted.start()) / spacing_));
  const double tilt_down = std::exp(-c * spacing_);
  const double delta_down = std::exp(-(c + 1) * spacing_);
  const double tail_share = -std::expm1(-spacing_) * tilt_down;

  const double place =
      std::clamp((choice_.epsilon() - bottom) / spacing_, 0.0, static_cast<double>(size_ - 1));
  constexpr std::size_t half = max_values / 2;
  const std::size_t from =
      place > static_cast<double>(half) ? static_cast<std::size_t>(place) - half : 0;
  const std::size_t count = std::min(max_values, size_ - from);
  sum.bottom = bottom + static_cast<double>(from) * spacing_;
  sum.values.assign(count, TailSum{});

  TailSum here{};
  for (std::size_t n = size_; n-- > from;) {
    here.delta = delta_down * here.delta + tail_share * here.tail;
    here.delta_error = delta_down * here.delta_error + tail_share * here.tail_error +
                       8 * unit * std::abs(here.delta);
    here.tail =
        product[index_of(first + static_cast<std::int64_t>(n), size_)].re + tilt_down * here.tail;
    here.tail_error = tilt_down * here.tail_error + 8 * unit * std::abs(here.tail);
    if (n - from < count) sum.values[n - from] = here;
  }

  // the error of the heaviest grid points, by which all masses are scaled
  for (TailSum& one : sum.values) {
    one.tail_error += std::abs(one.tail) * 1.01 * tilted.scale_error();
    one.delta_error += std::abs(one.delta) * 1.01 * tilted.scale_error();
  }
}

// Returns a bound, from this side, on the contribution to δ(ε) of all outcomes with a truncated
// loss: P - e^ε Q of them, and on the upper side their leak below ε, and the P-mass of negligible
// truncations.
double FftComposition::truncated_delta(double epsilon) const {
  const bool above = side_ == Side::upper;
  const double negligible = above ? negligible_tail_p_ * (1 + 64 * unit) : 0;
  if (std::isinf(log_tail_q_.upper)) return negligible;
  const double p = -std::expm1(above ? log_no_tail_p_.lower : log_no_tail_p_.upper);
  // where Q nearly underflows: Σ x - (Σ x)²/2 <= 1 - Π(1 - x) <= Σ x
  const double log_sum = above ? log_tail_q_.lower - 1e-18 : log_tail_q_.upper;
  const double log_q =
      log_tail_q_.upper < -45
          ? log_sum
          : std::log(-std::expm1(above ? log_no_tail_q_.upper : log_no_tail_q_.lower));
  const double q = std::exp(epsilon + log_q);
  const double rounding = unit * (64 * (p + q) + 4 * q * (epsilon + std::abs(log_q)));
  if (!above) return std::max(0.0, p - q - rounding);
  return negligible + std::max(0.0, p - q + rounding) +
         std::exp(log_leak_ + choice_.leak_growth() * epsilon + 1e-9);
}

Bound FftComposition::window() const {
  const double shift = (side_ == Side::upper ? 1 : -1) * (loss_error_ + rounding_);
  Bound window{-infinity, infinity};
  for (const StratumSum& sum : sums_) {
    window.lower = std::max(window.lower, sum.bottom + spacing_ + shift);
    window.upper = std::min(
        window.upper, sum.bottom + spacing_ * (static_cast<double>(sum.values.size()) - 3) + shift);
  }
  return window;
}

double FftComposition::delta(double epsilon) const {
  const bool above = side_ == Side::upper;
  const double trivial = above ? 1 : 0;
  if (failed()) return trivial;
  // composed losses may be off by `shift`
  const double shift = loss_error_ + rounding_;
  const double shifted = above ? epsilon - shift : epsilon + shift;

  double all = truncated_delta(epsilon);
  for (const StratumSum& sum : sums_) {
    const double place = (shifted - sum.bottom) / spacing_;
    if (!(place >= 0) || !(place < static_cast<double>(sum.values.size()) - 2)) return trivial;
    // from the next grid point down to ε
    const auto next = static_cast<std::size_t>(place) + 1;
    const double point = sum.bottom + static_cast<double>(next) * spacing_;
    const double left = std::min(0.0, shifted - point);
    const double share = std::exp(left);
    const TailSum& here = sum.values[next];
    const double scale = std::exp(sum.scale - sum.tilt * point);
    const double value = (share * here.delta - std::expm1(left) * here.tail) * scale;
    // its errors: rounding of the tails, the FFT, and the scale
    const double rounding =
        (share * here.delta_error + (1 - share + 4 * unit) * here.tail_error) * scale;
    const double error_bound =
        16 * unit * (4 + std::abs(sum.scale) + sum.tilt * std::abs(point)) + 2 * shift;
    const double error =
        1.01 * rounding + std::abs(value) * error_bound +
        sum.fft_error * std::exp(sum.scale - sum.tilt * shifted) * (1 + error_bound);
    const double outside = std::exp(sum.log_above - sum.abscissa_above * shifted * (1 - 8 * unit)) +
                           std::exp(sum.log_below - sum.abscissa_below * shifted * (1 - 8 * unit));
    all += above ? value + error + outside : value - error - outside;
  }
  for (const ChernoffBound& one : bounded_)
    all += std::exp(one.log_factor - one.abscissa * shifted * (1 - 8 * unit) + 1e-9);
  return above ? std::min(1.0, all * (1 + 8 * unit)) : std::max(0.0, all * (1 - 8 * unit));
}

}  // namespace sotto::pld_detail
