// FFT composition, stratum by stratum: tilt and transform each step's masses, multiply the powers
// of the transforms frequency by frequency, transform back, bound what is outside the window, and
// read off tails.
//
// Notation of docs/theory/pld/discretisation.md: A are a step's tilted masses below the stratum, B
// those in it, and a stratum has the transform Π (A+B)^k - Π A^k. The lowest stratum has no A, and
// the transform Π A^k with its own masses as A.
#include "grid/fft_compose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "grid/grid_index.hpp"
#include "saddle_point/inversion_integral.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double min_spacings_apart = 3;      // atoms that are closer together do not both get a grid point
constexpr double max_spacing = 16;            // e^spacing has to be a double
constexpr std::size_t max_fitted_atoms = 64;  // a step with more atoms, on no lattice, does not choose the spacing
constexpr double max_spacings_tried = 16384;
constexpr std::size_t max_values = 1 << 16;  // tails around ε that are stored

// Returns the place of a grid point in a transform of `size` points, modulo size.
std::size_t index_of(std::int64_t point, std::size_t size) { return static_cast<std::size_t>(point) & (size - 1); }

// The distance between two atoms, which should be a whole number of spacings, and their tilted
// mass.
struct Gap {
  double apart;
  double weight;
};

// Returns the gaps of one step's atoms: the lattice spacing if they are on a lattice, and otherwise
// the distance of each atom from the heaviest one; none if there are too many.
std::vector<Gap> gaps_of(const DistributedStep& step, double tilt, double scale) {
  std::vector<Gap> gaps;
  auto atoms = step.distribution->atoms();
  if (atoms.size() < 2) return gaps;
  std::sort(atoms.begin(), atoms.end(), [](const LossDistribution::PointMass& a, const LossDistribution::PointMass& b) { return a.loss < b.loss; });
  const auto weight = [&](const LossDistribution::PointMass& atom) {
    return step.step.count * atom.mass * std::exp(atom.log + (1 + tilt) * atom.loss - scale);
  };
  double sum = 0;
  double apart = infinity;
  std::size_t heaviest = 0;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    sum += weight(atoms[i]);
    if (i > 0) apart = std::min(apart, atoms[i].loss - atoms[i - 1].loss);
    if (weight(atoms[i]) > weight(atoms[heaviest])) heaviest = i;
  }

  // the spacing of a lattice from its whole range, since a single distance is rounded more
  const double range = atoms.back().loss - atoms.front().loss;
  const double even = range / std::round(range / apart);
  const bool lattice = std::all_of(atoms.begin(), atoms.end(), [&](const LossDistribution::PointMass& atom) {
    const double place = (atom.loss - atoms.front().loss) / even;
    return std::abs(place - std::round(place)) < 1e-9;
  });
  if (lattice) return {{even, sum}};
  if (atoms.size() > max_fitted_atoms) return gaps;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    if (i != heaviest) gaps.push_back({std::abs(atoms[i].loss - atoms[heaviest].loss), weight(atoms[i])});
  }
  return gaps;
}

// Returns a spacing that is at most about 15 % larger, so that atoms lie on grid points where
// possible: one that fits the heaviest gap, or the longest, and leaves the least tilted mass off
// the grid points.
double fit_spacing(const std::vector<DistributedStep>& steps, const GridChoice& choice, double spacing) {
  std::vector<Gap> all;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::vector<Gap> gaps = gaps_of(steps[step], choice.tilt(), choice.scale(step));
    all.insert(all.end(), gaps.begin(), gaps.end());
  }
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Gap& gap) { return !(gap.apart / spacing >= min_spacings_apart); }), all.end());
  if (all.empty()) return spacing;
  const auto largest_by = [&](double Gap::*member) {
    return *std::max_element(all.begin(), all.end(), [member](const Gap& a, const Gap& b) { return a.*member < b.*member; });
  };
  double best = spacing;
  double least = infinity;
  for (const Gap& by : {largest_by(&Gap::weight), largest_by(&Gap::apart)}) {
    const double closest = std::floor(by.apart / spacing);
    for (double count = closest; count >= min_spacings_apart && count > 0.85 * closest && count > closest - max_spacings_tried; --count) {
      const double tried = by.apart / count;
      spend(10 + 3 * static_cast<double>(all.size()));
      double off_grid = 0;
      for (const Gap& one : all) off_grid += one.weight * std::abs(one.apart / tried - std::round(one.apart / tried));
      if (!(off_grid < least)) continue;
      least = off_grid;
      best = tried;
    }
  }
  return best;
}

}  // namespace

FftComposition::FftComposition(const std::vector<DistributedStep>& steps, const GridChoice& choice, Side side, std::size_t size)
    : choice_(choice), side_(side), size_(size), spacing_(choice.length() / static_cast<double>(size - 4)) {
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
      bounded_.push_back({stratum.tilt, log_moment(stratum, stratum.tilt) + chernoff_factor(stratum.tilt)});
    }
  }
  for (Step& step : steps_) step.grid.weights = {};
}

// Discretises one step, and counts its errors and truncated outcomes. Returns false if no grid
// suits it.
bool FftComposition::add_step(const DistributedStep& step, std::size_t index) {
  const GridChoice::Truncation& truncation = choice_.truncation(index);
  const LossDistribution& distribution = *step.distribution;
  const double count = step.step.count;

  // the range of losses, in which a bulk has grid points below it
  double low = std::max(distribution.min_loss(), choice_.low(index));
  if (distribution.bulk()) low = std::max(distribution.min_loss(), std::min(low, *distribution.bulk() - 16 * spacing_));
  const double high = std::min(distribution.max_loss(), truncation.loss);
  if (!(high > low) || !((high - low) / spacing_ < std::min(16 * static_cast<double>(size_), bytes_allowed() / 16))) return false;

  const GridRange range{low, high, spacing_, choice_.tilt()};
  steps_.push_back({count, side_ == Side::upper ? pessimistic(distribution, range) : optimistic(distribution, range), choice_.unstratified(index)});
  const GridDistribution& grid = steps_.back().grid;
  if (!std::all_of(grid.weights.begin(), grid.weights.end(), [](double weight) { return weight < infinity; })) return false;
  constexpr double max_loss_error = 1e-7;  // relative to ε
  if (!(count * grid.loss_error < max_loss_error * choice_.epsilon())) return false;
  loss_error_ += count * grid.loss_error;
  start_ += count * grid.start;

  negligible_tail_p_ += count * distribution.truncated_mass();
  if (distribution.max_loss() > grid.end) {
    if (truncation.negligible) {
      const LossDistribution::Mass p = distribution.mass_p(distribution.edge(grid.end), distribution.edge(infinity));
      negligible_tail_p_ += count * (p.as_double() * (1 + p.error_bound + 16 * unit) + underflow);
      return true;
    }
    add_truncated_outcomes(distribution, count, grid.end);
  }
  return std::isfinite(log_no_tail_p_.lower);
}

// Counts the outcomes with a loss of this step above the grid's end, under P and Q, and their leak.
void FftComposition::add_truncated_outcomes(const LossDistribution& distribution, double count, double end) {
  const LossDistribution::Edge from = distribution.edge(end);
  const LossDistribution::Edge to = distribution.edge(infinity);
  const LossDistribution::Mass p = distribution.mass_p(from, to);
  log_no_tail_p_.lower += count * std::log1p(-p.as_double() * (1 + p.error_bound + 16 * unit) - underflow);
  log_no_tail_p_.upper += count * std::log1p(-p.as_double() * std::max(0.0, 1 - p.error_bound - 16 * unit));
  const LossDistribution::Mass q = distribution.mass_q(from, to);
  const double error_bound = q.error_bound + unit * (32 + 4 * std::abs(q.log));
  const double log = std::log(count * q.value) + q.log;
  log_tail_q_ = {log_sum(log_tail_q_.lower, log - 1.01 * error_bound) - 4 * unit, log_sum(log_tail_q_.upper, log + error_bound) + 4 * unit};
  log_no_tail_q_.lower += count * std::log1p(-q.as_double() * (1 + error_bound));
  log_no_tail_q_.upper += count * std::log1p(-q.as_double() * std::max(0.0, 1 - error_bound));
  log_leak_ = log_sum(log_leak_, choice_.log_leak(end - distribution.loss_error(end)) + log + error_bound + 1e-9);
}

// An unstratified step is below every stratum as a whole. A bulk is below all strata but the
// lowest.
FftComposition::PointRange FftComposition::points_of(const Step& step, const Stratum& stratum) const {
  const GridDistribution& grid = step.grid;
  if (step.unstratified) return {grid.last(), grid.last()};
  const auto last_at = [&](double loss) {
    const double place = std::floor((loss - grid.start) / spacing_);
    const std::int64_t lowest = grid.bulk ? std::max<std::int64_t>(0, grid.first) : grid.first;
    return std::clamp(static_cast<std::int64_t>(std::clamp(place, -1e15, 1e15)), lowest, grid.last());
  };
  return {stratum.from ? last_at(*stratum.from) : grid.first - 1, stratum.to >= choice_.strata().back().to ? grid.last() : last_at(stratum.to)};
}

// Returns an upper bound on log E[e^(cL)] over the grid masses of a stratum, c the abscissa.
double FftComposition::log_moment(const Stratum& stratum, double abscissa) const {
  double base = 0;
  double ratio = 0;
  for (const Step& step : steps_) {
    const GridDistribution& grid = step.grid;
    const PointRange points = points_of(step, stratum);
    spend(8 * static_cast<double>(grid.weights.size()));
    const auto log_between = [&](std::int64_t low, std::int64_t high) {  // of the grid points from low + 1 to high
      const auto weight = [&](std::int64_t j) { return grid.weights[static_cast<std::size_t>(j - grid.first)]; };
      while (high > low && !(weight(high) > 0)) --high;
      double sum = 0;
      for (std::int64_t j = low + 1; j <= high; ++j) sum += weight(j) * std::exp(abscissa * (grid.loss_at(j) - grid.loss_at(high)));
      return std::log(sum) + abscissa * grid.loss_at(high);
    };
    const double bulk = grid.bulk ? grid.bulk->log_mass + grid.bulk->error_bound + abscissa * grid.start : -infinity;
    const double log_below = stratum.from ? log_sum(bulk, log_between(grid.first - 1, points.last_below)) : 0;
    const double log_within = log_between(stratum.from ? points.last_below : grid.first - 1, points.last);
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

// The tilted masses of one step over those of its heaviest grid point, which is grid index 0 and is
// left out of the vectors: first as masses, then transformed.
struct FftComposition::TiltedStep {
  std::int64_t heaviest = 0;               // its grid point
  double log_heaviest = 0;                 // log of its tilted mass
  double log_heaviest_error = 0;           // of that
  bool heaviest_is_below = true;           // it belongs to A
  std::vector<Complex> below, within;      // A and B; B is empty if the step has none
  double below_sum = 0, within_sum = 0;    // of the masses
  double below_norm = 0, within_norm = 0;  // Euclidean, of the masses
  [[nodiscard]] double total_below() const { return below_sum + (heaviest_is_below ? 1 : 0); }
  [[nodiscard]] double total_within() const { return within_sum + (heaviest_is_below ? 0 : 1); }
};

// All steps of a stratum, tilted and transformed, and what the following steps of compose() share.
struct FftComposition::TiltedStratum {
  double tilt;
  bool has_below;  // the stratum is not the lowest one
  std::vector<TiltedStep> steps;
  double scale = 0;        // log of the product of all heaviest tilted masses
  double scale_error = 0;  // of that
  double start = 0;        // the composed loss at index 0
  double highest = 0;      // bounds on the composed losses
  double lowest = 0;
  double log_total = 0;  // log of the stratum's tilted mass, over e^scale
};

bool FftComposition::compose(const Stratum& stratum) {
  const Fft fft(size_);
  const double c = stratum.tilt;

  // 1. tilt every step's masses, and transform them
  TiltedStratum tilted{c, stratum.from.has_value(), {}};
  tilted.start = start_;
  if (!tilt_and_transform(stratum, fft, tilted)) return false;
  tilted.log_total = log_total_mass(tilted);
  if (!std::isfinite(tilted.log_total)) return false;
  const double error = transform_error(tilted, fft);

  // 2. the composition's transform, frequency by frequency, and back
  spend((tilted.has_below ? 120 : 60) * static_cast<double>(size_) * static_cast<double>(tilted.steps.size()));
  std::vector<Complex> product(size_);
  double squared_error = 0;
  if (!multiply(tilted, product, squared_error)) return false;
  fft.back(product);
  double norm = 0;
  for (const Complex& value : product) norm += value.re * value.re;

  // 3. the error of δ: an error of Euclidean norm e of the masses changes δ by at most e ‖g‖, where
  // g(x) = e^-cx (1 - e^-x) and ‖g‖² over grid points is at most ∫ g²/spacing plus the largest g²
  const double mass_error = 1.05 * (error + std::sqrt(squared_error / static_cast<double>(size_)) + fft.error() * std::sqrt(norm)) * (1 + error);
  const double factor = chernoff_factor(c);
  const double largest = std::exp(factor);
  StratumSum sum{c, tilted.scale + tilted.log_total, 0, {}, -infinity, 0, -infinity, 0,
                 1.01 * mass_error * std::sqrt(1 / (2 * c * (2 * c + 1) * (c + 1) * spacing_) + largest * largest)};

  // 4. outcomes outside the window
  const double bottom = tilted.start + std::floor((stratum.window_bottom - tilted.start) / spacing_) * spacing_;
  const double top = bottom + spacing_ * static_cast<double>(size_ - 1);
  const double rounding = 8 * unit * (std::abs(tilted.start) + std::abs(bottom) + std::abs(top));
  bound_outside_window(stratum, tilted, {bottom, top}, rounding, sum);
  sum.fft_error += underflow * static_cast<double>(size_);
  sum.fft_error *= std::exp(tilted.scale_error);
  if (!std::isfinite(sum.fft_error) || std::isnan(sum.log_above) || std::isnan(sum.log_below)) return false;

  // 5. P(L >= x) and δ(x) at grid points x around ε
  read_tails(tilted, product, bottom, sum);
  rounding_ = std::max(rounding_, rounding);
  sums_.push_back(std::move(sum));
  return true;
}

bool FftComposition::tilt_and_transform(const Stratum& stratum, const Fft& fft, TiltedStratum& tilted) const {
  for (const Step& step : steps_) {
    TiltedStep one;
    if (!tilt_step(step, stratum, one)) return false;
    fft.forward(one.below);
    if (!one.within.empty()) fft.forward(one.within);
    const GridDistribution& grid = step.grid;
    const std::int64_t last = points_of(step, stratum).last;
    tilted.scale += step.count * one.log_heaviest;
    tilted.scale_error += step.count * one.log_heaviest_error;
    tilted.start += step.count * static_cast<double>(one.heaviest) * spacing_;
    tilted.highest += step.count * (grid.loss_at(last) + spacing_);
    tilted.lowest += step.count * (std::min(grid.loss_at(grid.first), grid.start) - spacing_);
    tilted.steps.push_back(std::move(one));
  }
  return true;
}

// Tilts the masses of one step up to the stratum's last grid point. Returns false if they are not
// finite.
bool FftComposition::tilt_step(const Step& step, const Stratum& stratum, TiltedStep& tilted) const {
  const double c = stratum.tilt;
  const GridDistribution& grid = step.grid;
  const PointRange points = points_of(step, stratum);
  const auto weight_at = [&](std::int64_t j) { return grid.weights[static_cast<std::size_t>(j - grid.first)]; };
  spend(60 * static_cast<double>(grid.weights.size()) + 5 * static_cast<double>(size_));

  // the heaviest grid point, preferably the bulk
  tilted.log_heaviest = -infinity;
  for (std::int64_t j = grid.first; j <= points.last; ++j) {
    const double weight = weight_at(j);
    const double log = weight > 0 ? std::log(weight) + c * grid.loss_at(j) : -infinity;
    if (log > tilted.log_heaviest) {
      tilted.log_heaviest = log;
      tilted.heaviest = j;
    }
  }
  tilted.log_heaviest_error = unit * (32 + 8 * std::abs(tilted.log_heaviest) + 8 * c * std::abs(grid.loss_at(tilted.heaviest)));
  const double bulk = grid.bulk ? grid.bulk->log_mass + c * grid.start : -infinity;
  if (bulk > tilted.log_heaviest - 30) {
    tilted.log_heaviest = bulk;
    tilted.heaviest = 0;
    tilted.log_heaviest_error = grid.bulk->error_bound + 4 * unit * std::abs(tilted.log_heaviest);
  }
  if (!std::isfinite(tilted.log_heaviest)) return false;
  tilted.heaviest_is_below = !stratum.from || tilted.heaviest <= points.last_below;

  // all other masses relative to it, rounded up or down
  tilted.below.assign(size_, Complex{0, 0});
  tilted.within.assign(stratum.from && !step.unstratified ? size_ : 0, Complex{0, 0});
  const auto put = [&](std::int64_t j, double weight, double log) {
    const double error_bound = unit * (32 + 8 * c * std::abs(grid.loss_at(j)) + 4 * std::abs(tilted.log_heaviest));
    const double mass = weight * std::exp(log - tilted.log_heaviest) * (side_ == Side::upper ? 1 + error_bound : std::max(0.0, 1 - error_bound));
    const bool below = !stratum.from || j <= points.last_below;
    (below ? tilted.below : tilted.within)[index_of(j - tilted.heaviest, size_)].re += mass;
    (below ? tilted.below_sum : tilted.within_sum) += mass;
  };
  for (std::int64_t j = grid.first; j <= points.last; ++j) {
    const double weight = weight_at(j);
    if (j != tilted.heaviest && weight > 0) put(j, weight, c * grid.loss_at(j));
  }
  if (grid.bulk && tilted.heaviest != 0) put(0, 1, bulk);

  for (const Complex& value : tilted.below) tilted.below_norm += value.re * value.re;
  for (const Complex& value : tilted.within) tilted.within_norm += value.re * value.re;
  tilted.below_norm = std::sqrt(tilted.below_norm);
  tilted.within_norm = std::sqrt(tilted.within_norm);
  return std::isfinite(tilted.below_sum + tilted.within_sum);
}

// Returns the log of the stratum's tilted mass over e^scale: of Π (A+B)^k - Π A^k with A and B for
// their sums, or of Π A^k. A may be negligible next to B.
double FftComposition::log_total_mass(const TiltedStratum& tilted) const {
  double log_below = 0;   // log Π A^k
  double log_both = 0;    // log Π (A+B)^k
  double log_within = 0;  // log Π (1 + B/A)^k
  for (std::size_t i = 0; i < tilted.steps.size(); ++i) {
    const TiltedStep& step = tilted.steps[i];
    const double k = steps_[i].count;
    log_below += k * (step.heaviest_is_below ? std::log1p(step.below_sum) : std::log(step.below_sum));
    log_both += k * std::log1p(step.below_sum + step.within_sum);
    log_within += k * std::log1p(step.total_within() / step.total_below());
  }
  return !tilted.has_below ? log_below : std::isinf(log_below) ? log_both : log_below + log_expm1(log_within);
}

// Returns a bound on the Euclidean error of the composed masses, relative to their sum, that
// follows from the errors of the forward transforms. Of Π (A+B)^k - Π A^k the derivative by B is
// k(A+B)^(k-1), and that by A is at most k times the whole over A.
double FftComposition::transform_error(const TiltedStratum& tilted, const Fft& fft) const {
  double log_both = 0;
  for (std::size_t i = 0; i < tilted.steps.size(); ++i) {
    log_both += steps_[i].count * std::log1p(tilted.steps[i].below_sum + tilted.steps[i].within_sum);
  }
  double error = 0;
  for (std::size_t i = 0; i < tilted.steps.size(); ++i) {
    const TiltedStep& step = tilted.steps[i];
    const double k = steps_[i].count * (fft.error() + 8 * unit);
    if (!tilted.has_below || steps_[i].count * static_cast<double>(tilted.steps.size()) > 1) {
      error += k * step.below_norm / std::max(step.total_below(), underflow);
    }
    if (tilted.has_below) {
      error += k * step.within_norm / (step.total_below() + step.total_within()) * std::exp(log_both - tilted.log_total);
    }
  }
  return error;
}

// The transform of a composed stratum over e^(scale + log_total), frequency by frequency.
class FftComposition::Spectrum {
 public:
  Spectrum(const std::vector<Step>& steps, const TiltedStratum& tilted) : steps_(steps), tilted_(tilted), log_total_(tilted.log_total) {}

  struct Value {
    Complex value;
    double error;
  };
  // Returns the value at the frequency of index j, with a bound on its rounding error.
  [[nodiscard]] Value at(std::size_t j) const {
    const Powers powers = powers_at(j);
    const Complex power = exp(powers.log_below);
    const double power_error = powers.below_error + 64 * unit * (1 + abs(powers.log_below));
    if (!tilted_.has_below) return {power, error_of(j, power, power_error, false)};

    // where B is small next to A: A^k (e^w - 1), w = Σ k log(1 + B/A)
    if (powers.ratio_is_small && powers.log_ratio.re < 300 && power_error < 1) {
      const Complex value = power * (exp_excess(powers.log_ratio) + powers.log_ratio);
      const double size = magnitude(power) * std::exp(std::max(0.0, powers.log_ratio.re));
      return {value, error_of(j, value, power_error, false) + size * (powers.ratio_error + 64 * unit * std::min(2.0, magnitude(powers.log_ratio)))};
    }

    // elsewhere: (A+B)^k - A^k
    const auto [log_both, both_error] = power_of_both(j);
    const Complex first = exp(log_both);
    return {first - power, error_of(j, first, both_error + 64 * unit * (1 + abs(log_both)), true) + error_of(j, power, power_error, false)};
  }

 private:
  struct Powers {
    Complex log_below;  // log of A^k
    double below_error = 0;
    Complex log_ratio{0, 0};  // log of (1 + B/A)^k, where that is small
    double ratio_error = 0;
    bool ratio_is_small = true;
  };

  [[nodiscard]] Powers powers_at(std::size_t j) const {
    Powers powers{Complex{-log_total_, 0}};
    for (std::size_t i = 0; i < tilted_.steps.size(); ++i) {
      const TiltedStep& step = tilted_.steps[i];
      const double k = steps_[i].count;
      const Complex below = step.below[j];
      const Complex a{below.re + (step.heaviest_is_below ? 1 : 0), below.im};
      const Complex log = step.heaviest_is_below ? log1p(below) : Complex{std::log(magnitude(a)), std::atan2(a.im, a.re)};
      powers.log_below = powers.log_below + k * log;
      powers.below_error += k * 16 * unit * (abs(log) + (step.heaviest_is_below ? std::min(1.0, abs(below)) / magnitude(a) : 1));
      if (step.within.empty()) continue;
      const Complex b{step.within[j].re + (step.heaviest_is_below ? 0 : 1), step.within[j].im};
      const Complex ratio = b / a;
      powers.ratio_is_small = powers.ratio_is_small && magnitude(ratio) < 0.5;
      const Complex log_ratio = powers.ratio_is_small ? log1p(ratio) : Complex{0, 0};
      powers.log_ratio = powers.log_ratio + k * log_ratio;
      powers.ratio_error += k * 32 * unit * magnitude(ratio) * std::max(1.0, 1 / magnitude(a));  // A is off by a unit
    }
    return powers;
  }

  // Returns log of (A+B)^k and a bound on its error.
  [[nodiscard]] std::pair<Complex, double> power_of_both(std::size_t j) const {
    Complex both{-log_total_, 0};
    double error = 0;
    for (std::size_t i = 0; i < tilted_.steps.size(); ++i) {
      const TiltedStep& step = tilted_.steps[i];
      const Complex sum = step.within.empty() ? step.below[j] : step.below[j] + step.within[j];
      const Complex log = log1p(sum);
      both = both + steps_[i].count * log;
      error += steps_[i].count * 16 * unit * (abs(log) + std::min(1.0, abs(sum)) / magnitude(Complex{1 + sum.re, sum.im}));
    }
    return {both, error};
  }

  // Returns a bound on the error of a power from that of its log. Where the power is no larger than
  // its rounding error, it is off by itself and by the largest value that the power may have.
  [[nodiscard]] double error_of(std::size_t j, Complex power, double log_error, bool with_within) const {
    return (log_error < 1 ? magnitude(power) * std::expm1(log_error) : magnitude(power) + upper_size(j, with_within)) + underflow;
  }

  // Returns an upper bound on |A|^k or |A+B|^k, including the rounding of A and B.
  [[nodiscard]] double upper_size(std::size_t j, bool with_within) const {
    double log = -log_total_;
    for (std::size_t i = 0; i < tilted_.steps.size(); ++i) {
      const TiltedStep& step = tilted_.steps[i];
      const Complex sum = with_within && !step.within.empty() ? step.below[j] + step.within[j] : step.below[j];
      const double size = magnitude({sum.re + (with_within || step.heaviest_is_below ? 1 : 0), sum.im}) + 32 * unit * (1 + magnitude(sum));
      log += steps_[i].count * (std::log(size) + 8 * unit);
    }
    return std::exp(log + 16 * unit * (1 + std::abs(log) + std::abs(log_total_)));
  }

  const std::vector<Step>& steps_;
  const TiltedStratum& tilted_;
  double log_total_;
};

// Evaluates the composed transform at all frequencies, and sums the squares of its errors. Masses
// are real, so frequencies come in conjugate pairs: in each block [n, 2n) of the FFT's order the
// first with the last.
bool FftComposition::multiply(const TiltedStratum& tilted, std::vector<Complex>& product, double& squared_error) const {
  const Spectrum spectrum(steps_, tilted);
  for (std::size_t block = 0; block < size_; block = std::max<std::size_t>(1, 2 * block)) {
    const std::size_t end = std::max<std::size_t>(1, 2 * block);
    for (std::size_t j = block; 2 * j < block + end; ++j) {
      const std::size_t mirror = block + end - 1 - j;
      const auto [value, error] = spectrum.at(j);
      if (std::isnan(value.re) || std::isnan(value.im)) return false;
      product[j] = value;
      if (mirror != j) product[mirror] = {value.re, -value.im};
      squared_error += (mirror != j ? 2 : 1) * error * error;
    }
  }
  return true;
}

// Bounds what outcomes outside the window [bottom, top] of length W change, by Chernoff's bound at
// another abscissa. n windows above, they appear in it with e^(-ncW) of their mass, and n windows
// below with e^(ncW): aliasing, which the lower side subtracts. On the upper side aliasing only
// adds, but a loss above the window may count too little.
void FftComposition::bound_outside_window(const Stratum& stratum, const TiltedStratum& tilted, Bound window, double rounding, StratumSum& sum) const {
  const double c = stratum.tilt;
  const double length = static_cast<double>(size_) * spacing_ * (1 - 8 * unit);
  if (!(tilted.highest < window.upper)) {
    const double log = log_moment(stratum, stratum.abscissa_above) + 1e-6;
    if (side_ == Side::upper) {
      sum.log_above = log - stratum.abscissa_above * (window.upper - rounding);
    } else {
      sum.log_above = log + chernoff_factor(stratum.abscissa_above) - log_expm1((stratum.abscissa_above - c) * length);
      sum.abscissa_above = stratum.abscissa_above;
    }
  }
  if (side_ == Side::lower && !(tilted.lowest > window.lower)) {
    const double log = stratum.abscissa_below > 0 ? log_moment(stratum, stratum.abscissa_below) + 1e-6 + chernoff_factor(stratum.abscissa_below)
                                                  : std::min(0.0, log_moment(stratum, 0));
    sum.log_below = log - log_expm1((c - stratum.abscissa_below) * length);
    sum.abscissa_below = stratum.abscissa_below;
  }
}

// Reads off P(L >= x) and δ(x) = e^(-h) δ(x+h) + (1 - e^(-h)) P(L >= x+h) from the top down, h the
// spacing: sums without cancellation. All are tilted like the masses. Values around ε are stored.
void FftComposition::read_tails(const TiltedStratum& tilted, const std::vector<Complex>& product, double bottom, StratumSum& sum) const {
  const double c = tilted.tilt;
  const auto first = grid_index(std::round((bottom - tilted.start) / spacing_));
  const double tilt_down = std::exp(-c * spacing_);
  const double delta_down = std::exp(-(c + 1) * spacing_);
  const double tail_share = -std::expm1(-spacing_) * tilt_down;

  const double place = std::clamp((choice_.epsilon() - bottom) / spacing_, 0.0, static_cast<double>(size_ - 1));
  constexpr std::size_t half = max_values / 2;
  const std::size_t from = place > static_cast<double>(half) ? static_cast<std::size_t>(place) - half : 0;
  const std::size_t count = std::min(max_values, size_ - from);
  sum.bottom = bottom + static_cast<double>(from) * spacing_;
  sum.values.assign(count, TailSum{});

  TailSum here{};
  for (std::size_t n = size_; n-- > from;) {
    here.delta = delta_down * here.delta + tail_share * here.tail;
    here.delta_error = delta_down * here.delta_error + tail_share * here.tail_error + 8 * unit * std::abs(here.delta);
    here.tail = product[index_of(first + static_cast<std::int64_t>(n), size_)].re + tilt_down * here.tail;
    here.tail_error = tilt_down * here.tail_error + 8 * unit * std::abs(here.tail);
    if (n - from < count) sum.values[n - from] = here;
  }

  // the error of the heaviest grid points, by which all masses are scaled
  for (TailSum& one : sum.values) {
    one.tail_error += std::abs(one.tail) * 1.01 * tilted.scale_error;
    one.delta_error += std::abs(one.delta) * 1.01 * tilted.scale_error;
  }
}

// Returns what all outcomes with a truncated loss contribute to δ(ε), from this side: P - e^ε Q of
// them, and on the upper side their leak below ε; and the P-mass of truncations that are
// negligible.
double FftComposition::truncated_delta(double epsilon) const {
  const bool above = side_ == Side::upper;
  const double negligible = above ? negligible_tail_p_ * (1 + 64 * unit) : 0;
  if (std::isinf(log_tail_q_.upper)) return negligible;
  const double p = -std::expm1(above ? log_no_tail_p_.lower : log_no_tail_p_.upper);
  // where Q nearly underflows: Σ x - (Σ x)²/2 <= 1 - Π(1 - x) <= Σ x
  const double log_sum = above ? log_tail_q_.lower - 1e-18 : log_tail_q_.upper;
  const double log_q = log_tail_q_.upper < -45 ? log_sum : std::log(-std::expm1(above ? log_no_tail_q_.upper : log_no_tail_q_.lower));
  const double q = std::exp(epsilon + log_q);
  const double rounding = unit * (64 * (p + q) + 4 * q * (epsilon + std::abs(log_q)));
  if (!above) return std::max(0.0, p - q - rounding);
  return negligible + std::max(0.0, p - q + rounding) + std::exp(log_leak_ + choice_.leak_growth() * epsilon + 1e-9);
}

Bound FftComposition::window() const {
  const double shift = (side_ == Side::upper ? 1 : -1) * (loss_error_ + rounding_);
  Bound window{-infinity, infinity};
  for (const StratumSum& sum : sums_) {
    window.lower = std::max(window.lower, sum.bottom + spacing_ + shift);
    window.upper = std::min(window.upper, sum.bottom + spacing_ * (static_cast<double>(sum.values.size()) - 3) + shift);
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
    const double rounding = (share * here.delta_error + (1 - share + 4 * unit) * here.tail_error) * scale;
    const double error_bound = 16 * unit * (4 + std::abs(sum.scale) + sum.tilt * std::abs(point)) + 2 * shift;
    const double error =
        1.01 * rounding + std::abs(value) * error_bound + sum.fft_error * std::exp(sum.scale - sum.tilt * shifted) * (1 + error_bound);
    const double outside =
        std::exp(sum.log_above - sum.abscissa_above * shifted * (1 - 8 * unit)) + std::exp(sum.log_below - sum.abscissa_below * shifted * (1 - 8 * unit));
    all += above ? value + error + outside : value - error - outside;
  }
  for (const ChernoffBound& one : bounded_) all += std::exp(one.log_factor - one.abscissa * shifted * (1 - 8 * unit) + 1e-9);
  return above ? std::min(1.0, all * (1 + 8 * unit)) : std::max(0.0, all * (1 - 8 * unit));
}

}  // namespace sotto::pld_detail
