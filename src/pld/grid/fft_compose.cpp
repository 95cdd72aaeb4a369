#include "pld/grid/fft_compose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pld/grid/grid_index.hpp"
#include "pld/saddle_point/inversion_integral.hpp"
#include "core/api/work.hpp"
#include "numerics/api/fft.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double fewest_between = 3;          // grid points between two atoms that are put on grid points both
constexpr double max_spacing = 16;            // e^height has to be a double
constexpr std::size_t max_fitted_atoms = 64;  // of one step: more are not put on grid points
constexpr double max_spacings_tried = 16384;
constexpr std::size_t max_kept = 1 << 16;  // that are kept

std::size_t index_of(std::int64_t point, std::size_t size) { return static_cast<std::size_t>(point) & (size - 1); }

}  // namespace

// Atoms on grid points, where they can be: of the distribution with the most of them, and of the others nearly so, for a height that is somewhat
// larger.
double FftComposition::fit_spacing(const std::vector<DistributedStep>& steps, double spacing) const {
  struct Gap {
    double apart;
    double weight;  // of the atoms, tilted
  };
  std::vector<Gap> all;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    auto atoms = steps[step].distribution->atoms();
    if (atoms.size() < 2) continue;
    std::sort(atoms.begin(), atoms.end(), [](const LossDistribution::PointMass& a, const LossDistribution::PointMass& b) { return a.loss < b.loss; });
    const auto weight = [&](const LossDistribution::PointMass& atom) {
      return steps[step].step.count * atom.mass * std::exp(atom.log + (1 + choice_.tilt()) * atom.loss - choice_.scale(step));
    };
    double sum = 0;
    double apart = infinity;
    std::size_t heaviest = 0;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      sum += weight(atoms[i]);
      if (i > 0) apart = std::min(apart, atoms[i].loss - atoms[i - 1].loss);
      if (weight(atoms[i]) > weight(atoms[heaviest])) heaviest = i;
    }
    // on a lattice of their own its spacing, and not what rounding made of it; else each one's from the heaviest
    const double range = atoms.back().loss - atoms.front().loss;
    const double even = range / std::round(range / apart);
    const bool lattice = std::all_of(atoms.begin(), atoms.end(), [&](const LossDistribution::PointMass& atom) {
      const double place = (atom.loss - atoms.front().loss) / even;
      return std::abs(place - std::round(place)) < 1e-9;
    });
    if (lattice) {
      all.push_back({even, sum});
      continue;
    }
    if (atoms.size() > max_fitted_atoms) continue;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (i != heaviest) all.push_back({std::abs(atoms[i].loss - atoms[heaviest].loss), weight(atoms[i])});
    }
  }
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Gap& gap) { return !(gap.apart / spacing >= fewest_between); }), all.end());
  if (all.empty()) return spacing;
  // heights with which the heaviest fits, or the longest, which has the most of them
  const auto most = [&](double Gap::*what) {
    return *std::max_element(all.begin(), all.end(), [what](const Gap& a, const Gap& b) { return a.*what < b.*what; });
  };
  double best = spacing;
  double least = infinity;
  for (const Gap& by : {most(&Gap::weight), most(&Gap::apart)}) {
    const double closest = std::floor(by.apart / spacing);
    for (double grid = closest; grid >= fewest_between && grid > 0.85 * closest && grid > closest - max_spacings_tried; --grid) {
      const double tried = by.apart / grid;
      spend(10 + 3 * static_cast<double>(all.size()));
      double off = 0;
      for (const Gap& one : all) off += one.weight * std::abs(one.apart / tried - std::round(one.apart / tried));
      if (!(off < least)) continue;
      least = off;
      best = tried;
    }
  }
  return best;
}

FftComposition::FftComposition(const std::vector<DistributedStep>& steps, const GridChoice& choice, Side side, std::size_t size)
    : choice_(choice), side_(side), size_(size), spacing_(choice.length() / static_cast<double>(size - 4)) {
  if (choice.failed()) return;
  spacing_ = fit_spacing(steps, spacing_);
  if (!(spacing_ < max_spacing)) return;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!place(steps[i], i)) return;
  }
  failed_ = false;
  for (const Stratum& part : choice.strata()) {
    if (!part.bounded) {
      failed_ = failed_ || !compose(part);
    } else if (side == Side::upper) {
      bounded_.push_back({part.tilt, log_moment(part, part.tilt) + chernoff_factor(part.tilt)});
    }
  }
  for (Step& step : steps_) step.grid.weights = {};
}

bool FftComposition::place(const DistributedStep& step, std::size_t index) {
  const GridChoice::Truncation& truncation = choice_.truncation(index);
  const LossDistribution& distribution = *step.distribution;
  const double count = step.step.count;
  double low = std::max(distribution.min_loss(), choice_.low(index));
  if (distribution.bulk()) low = std::max(distribution.min_loss(), std::min(low, *distribution.bulk() - 16 * spacing_));
  const double high = std::min(distribution.max_loss(), truncation.loss);
  if (!(high > low) || !((high - low) / spacing_ < std::min(16 * static_cast<double>(size_), bytes_allowed() / 16))) return false;
  const GridRange range{low, high, spacing_, choice_.tilt()};
  steps_.push_back({count, side_ == Side::upper ? pessimistic(distribution, range) : optimistic(distribution, range), choice_.whole(index)});
  const GridDistribution& grid = steps_.back().grid;
  if (!std::all_of(grid.weights.begin(), grid.weights.end(), [](double weight) { return weight < infinity; })) return false;
  constexpr double most_off = 1e-7;  // of ε
  if (!(count * grid.off < most_off * choice_.epsilon())) return false;
  shift_ += count * grid.off;
  start_ += count * grid.start;
  tail_p_ += count * distribution.truncated_mass();
  if (distribution.max_loss() > grid.end) {  // far losses
    const LossDistribution::Edge from = distribution.edge(grid.end);
    const LossDistribution::Edge to = distribution.edge(infinity);
    const LossDistribution::Mass p = distribution.mass_p(from, to);
    if (truncation.negligible) {
      tail_p_ += count * (p.at(0) * (1 + p.error_bound + 16 * unit) + underflow);
      return true;
    }
    no_tail_p_.lower += count * std::log1p(-p.at(0) * (1 + p.error_bound + 16 * unit) - underflow);
    no_tail_p_.upper += count * std::log1p(-p.at(0) * std::max(0.0, 1 - p.error_bound - 16 * unit));
    const LossDistribution::Mass q = distribution.mass_q(from, to);
    const double error_bound = q.error_bound + unit * (32 + 4 * std::abs(q.log));
    const double log = std::log(count * q.value) + q.log;
    log_tail_q_ = {log_sum(log_tail_q_.lower, log - 1.01 * error_bound) - 4 * unit, log_sum(log_tail_q_.upper, log + error_bound) + 4 * unit};
    no_tail_q_.lower += count * std::log1p(-q.at(0) * (1 + error_bound));
    no_tail_q_.upper += count * std::log1p(-q.at(0) * std::max(0.0, 1 - error_bound));
    log_leak_ = log_sum(log_leak_, choice_.log_leak(grid.end - distribution.loss_error(grid.end)) + log + error_bound + 1e-9);
  }
  return std::isfinite(no_tail_p_.lower);
}

// The last grid point below a part and its own last one. The bulk is below all parts that have anything below, and so is all of a whole step.
std::pair<std::int64_t, std::int64_t> FftComposition::points_of(const Step& step, const Stratum& part) const {
  const GridDistribution& grid = step.grid;
  if (step.whole) return {grid.last(), grid.last()};
  const auto last_of = [&](double loss) {
    const double place = std::floor((loss - grid.start) / spacing_);
    const std::int64_t lowest = grid.bulk ? std::max<std::int64_t>(0, grid.first) : grid.first;
    return std::clamp(static_cast<std::int64_t>(std::clamp(place, -1e15, 1e15)), lowest, grid.last());
  };
  return {part.from ? last_of(*part.from) : grid.first - 1, part.to >= choice_.strata().back().to ? grid.last() : last_of(part.to)};
}

// log of E[e^(line L)] of a part, from above.
double FftComposition::log_moment(const Stratum& part, double line) const {
  double base = 0;
  double ratio = 0;
  for (const Step& step : steps_) {
    const GridDistribution& grid = step.grid;
    const auto [from, to] = points_of(step, part);
    spend(8 * static_cast<double>(grid.weights.size()));
    const auto log_between = [&](std::int64_t low, std::int64_t high) {  // of grid points above the first up to the second
      const auto weight = [&](std::int64_t j) { return grid.weights[static_cast<std::size_t>(j - grid.first)]; };
      while (high > low && !(weight(high) > 0)) --high;
      double sum = 0;
      for (std::int64_t j = low + 1; j <= high; ++j) sum += weight(j) * std::exp(line * (grid.at(j) - grid.at(high)));
      return std::log(sum) + line * grid.at(high);
    };
    const double first = grid.bulk ? grid.bulk->log + grid.bulk->error_bound + line * grid.start : -infinity;
    const double base_log = part.from ? log_sum(first, log_between(grid.first - 1, from)) : 0;
    const double part_log = log_between(part.from ? from : grid.first - 1, to);
    if (!part.from) {
      base += step.count * log_sum(first, part_log);
    } else {
      base += step.count * base_log;
      ratio += step.count * std::log1p(std::exp(part_log - base_log));
    }
  }
  const double log = part.from ? base + log_expm1(ratio) : base;
  if (std::isnan(log)) return infinity;
  return std::isinf(log) ? log : log + 1e-9 * (1 + std::abs(log));
}

// One distribution, tilted and transformed: of what is below the part, relative to its heaviest grid point, and of the part.
struct FftComposition::TiltedStep {
  double heavy = 0;                 // log of the heaviest grid point, over which all else is
  double heavy_error = 0;           // how far that may be off
  std::int64_t at = 0;              // that grid point
  bool heavy_below = true;          // it is below the part
  std::vector<Complex> near, part;  // transforms
  double near_sum = 0, part_sum = 0, near_norm = 0, part_norm = 0;
  [[nodiscard]] double whole_near() const { return near_sum + (heavy_below ? 1 : 0); }
  [[nodiscard]] double whole_part() const { return part_sum + (heavy_below ? 0 : 1); }
};

bool FftComposition::compose(const Stratum& part) {
  const Fft fft(size_);
  const double c = part.tilt;
  std::vector<TiltedStep> all;
  double scale = 0;  // log of the product of the heaviest grid points
  double scale_error = 0;
  double start = start_;  // the loss at index 0
  double highest = 0;
  double lowest = 0;
  for (const Step& step : steps_) {
    const GridDistribution& grid = step.grid;
    const auto points = points_of(step, part);
    const std::int64_t from = points.first;  // by name: a lambda below has it
    const std::int64_t to = points.second;
    TiltedStep one;
    const auto log_at = [&](std::int64_t j) {
      const double weight = grid.weights[static_cast<std::size_t>(j - grid.first)];
      return weight > 0 ? std::log(weight) + c * grid.at(j) : -infinity;
    };
    one.heavy = -infinity;
    spend(60 * static_cast<double>(grid.weights.size()) + 5 * static_cast<double>(size_));
    for (std::int64_t j = grid.first; j <= to; ++j) {
      if (const double log = log_at(j); log > one.heavy) {
        one.heavy = log;
        one.at = j;
      }
    }
    one.heavy_error = unit * (32 + 8 * std::abs(one.heavy) + 8 * c * std::abs(grid.at(one.at)));
    const double bulk = grid.bulk ? grid.bulk->log + c * grid.start : -infinity;
    if (bulk > one.heavy - 30) {
      one.heavy = bulk;
      one.at = 0;
      one.heavy_error = grid.bulk->error_bound + 4 * unit * std::abs(one.heavy);
    }
    if (!std::isfinite(one.heavy)) return false;
    one.heavy_below = !part.from || one.at <= from;
    one.near.assign(size_, Complex{0, 0});
    one.part.assign(part.from && !step.whole ? size_ : 0, Complex{0, 0});
    const auto put = [&](std::int64_t j, double weight, double log) {
      const double error_bound = unit * (32 + 8 * c * std::abs(grid.at(j)) + 4 * std::abs(one.heavy));
      const double tilted = weight * std::exp(log - one.heavy) * (side_ == Side::upper ? 1 + error_bound : std::max(0.0, 1 - error_bound));
      const bool below = !part.from || j <= from;
      (below ? one.near : one.part)[index_of(j - one.at, size_)].re += tilted;
      (below ? one.near_sum : one.part_sum) += tilted;
    };
    for (std::int64_t j = grid.first; j <= to; ++j) {
      const double weight = grid.weights[static_cast<std::size_t>(j - grid.first)];
      if (j != one.at && weight > 0) put(j, weight, c * grid.at(j));
    }
    if (grid.bulk && one.at != 0) put(0, 1, bulk);
    for (const Complex& value : one.near) one.near_norm += value.re * value.re;
    for (const Complex& value : one.part) one.part_norm += value.re * value.re;
    one.near_norm = std::sqrt(one.near_norm);
    one.part_norm = std::sqrt(one.part_norm);
    if (!std::isfinite(one.near_sum + one.part_sum)) return false;
    fft.forward(one.near);
    if (!one.part.empty()) fft.forward(one.part);
    scale += step.count * one.heavy;
    scale_error += step.count * one.heavy_error;
    start += step.count * static_cast<double>(one.at) * spacing_;
    highest += step.count * (grid.at(to) + spacing_);
    lowest += step.count * (std::min(grid.at(grid.first), grid.start) - spacing_);
    all.push_back(std::move(one));
  }
  // sums: log ΠA^k, log Π(A + B)^k, and their difference; A may be nothing beside B
  double log_near = 0;
  double log_both = 0;
  double log_part = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double k = steps_[i].count;
    log_near += k * (all[i].heavy_below ? std::log1p(all[i].near_sum) : std::log(all[i].near_sum));
    log_both += k * std::log1p(all[i].near_sum + all[i].part_sum);
    log_part += k * std::log1p(all[i].whole_part() / all[i].whole_near());
  }
  const double whole = !part.from             ? log_near
                       : std::isinf(log_near) ? log_both
                                              : log_near + log_expm1(log_part);  // all masses of the part, over e^scale
  if (!std::isfinite(whole)) return false;
  // what the transforms' errors come to, over e^whole: of (A + B)^k - A^k the derivatives are k(A + B)^(k-1) by B and no more than k((A + B)^k -
  // A^k)/A by A
  double error = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double k = steps_[i].count * (fft.error() + 8 * unit);
    if (!part.from || steps_[i].count * static_cast<double>(all.size()) > 1) error += k * all[i].near_norm / std::max(all[i].whole_near(), underflow);
    if (part.from) error += k * all[i].part_norm / (all[i].whole_near() + all[i].whole_part()) * std::exp(log_both - whole);
  }
  spend((part.from ? 120 : 60) * static_cast<double>(size_) * static_cast<double>(all.size()));
  std::vector<Complex> product(size_);
  double squares = 0;  // of what is off, frequency by frequency
  // |A|^k or |A + B|^k at most, their rounding included
  const auto most_at = [&](std::size_t j, bool with_part) {
    double log = -whole;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Complex sum = with_part && !all[i].part.empty() ? all[i].near[j] + all[i].part[j] : all[i].near[j];
      const double size = magnitude({sum.re + (with_part || all[i].heavy_below ? 1 : 0), sum.im}) + 32 * unit * (1 + magnitude(sum));
      log += steps_[i].count * (std::log(size) + 8 * unit);
    }
    return std::exp(log + 16 * unit * (1 + std::abs(log) + std::abs(whole)));
  };
  const auto value_at = [&](std::size_t j) {
    Complex base{-whole, 0};  // log of A^k
    Complex ratio{0, 0};      // log of (1 + B/A)^k
    double base_error_bound = 0;
    double ratio_error = 0;
    bool small = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double k = steps_[i].count;
      const Complex near = all[i].near[j];
      const Complex a{near.re + (all[i].heavy_below ? 1 : 0), near.im};
      const Complex log = all[i].heavy_below ? log1p(near) : Complex{std::log(magnitude(a)), std::atan2(a.im, a.re)};
      base = base + k * log;
      base_error_bound += k * 16 * unit * (abs(log) + (all[i].heavy_below ? std::min(1.0, abs(near)) / magnitude(a) : 1));
      if (all[i].part.empty()) continue;
      const Complex b{all[i].part[j].re + (all[i].heavy_below ? 0 : 1), all[i].part[j].im};
      const Complex share = b / a;
      small = small && magnitude(share) < 0.5;
      const Complex rise = small ? log1p(share) : Complex{0, 0};
      ratio = ratio + k * rise;
      ratio_error += k * 32 * unit * magnitude(share) * std::max(1.0, 1 / magnitude(a));  // A is off by a unit
    }
    // how far off a power may be: where it is nothing beside its rounding, as far as either is large
    const auto off = [&](Complex power, double error_bound, bool with_part) {
      return (error_bound < 1 ? magnitude(power) * std::expm1(error_bound) : magnitude(power) + most_at(j, with_part)) + underflow;
    };
    const Complex power = exp(base);
    const double power_error = base_error_bound + 64 * unit * (1 + abs(base));
    if (!part.from) return std::pair{power, off(power, power_error, false)};
    if (small && ratio.re < 300 && power_error < 1) {  // A^k (e^w - 1), w = Σ k log(1 + B/A)
      const Complex value = power * (exp_excess(ratio) + ratio);
      const double moved = magnitude(power) * std::exp(std::max(0.0, ratio.re));
      return std::pair{value, off(value, power_error, false) + moved * (ratio_error + 64 * unit * std::min(2.0, magnitude(ratio)))};
    }
    Complex both{-whole, 0};  // log of (A + B)^k
    double both_error = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Complex sum = all[i].part.empty() ? all[i].near[j] : all[i].near[j] + all[i].part[j];
      const Complex log = log1p(sum);
      both = both + steps_[i].count * log;
      both_error += steps_[i].count * 16 * unit * (abs(log) + std::min(1.0, abs(sum)) / magnitude(Complex{1 + sum.re, sum.im}));
    }
    const Complex first = exp(both);
    return std::pair{first - power, off(first, both_error + 64 * unit * (1 + abs(both)), true) + off(power, power_error, false)};
  };
  // masses are real: frequencies come in pairs, in each block [n, 2n) of their order the first with the last
  for (std::size_t block = 0; block < size_; block = std::max<std::size_t>(1, 2 * block)) {
    const std::size_t end = std::max<std::size_t>(1, 2 * block);
    for (std::size_t j = block; 2 * j < block + end; ++j) {
      const std::size_t mirror = block + end - 1 - j;
      const auto [value, off] = value_at(j);
      if (std::isnan(value.re) || std::isnan(value.im)) return false;
      product[j] = value;
      if (mirror != j) product[mirror] = {value.re, -value.im};
      squares += (mirror != j ? 2 : 1) * off * off;
    }
  }
  fft.inverse(product);
  double norm = 0;
  for (const Complex& value : product) norm += value.re * value.re;
  const double own = 1.05 * (error + std::sqrt(squares / static_cast<double>(size_)) + fft.error() * std::sqrt(norm)) * (1 + error);
  // g(x) = e^-cx (1 - e^-x): Σ g² over grid points is at most ∫ g²/height and the largest g²
  const double factor = chernoff_factor(c);
  const double most = std::exp(factor);
  Sum sum{c, scale + whole, 0, {}, -infinity, 0, -infinity, 0, 1.01 * own * std::sqrt(1 / (2 * c * (2 * c + 1) * (c + 1) * spacing_) + most * most)};
  const double bottom = start + std::floor((part.bottom - start) / spacing_) * spacing_;
  const double top = bottom + spacing_ * static_cast<double>(size_ - 1);
  const double rounding = 8 * unit * (std::abs(start) + std::abs(bottom) + std::abs(top));
  const double window = static_cast<double>(size_) * spacing_ * (1 - 8 * unit);
  if (!(highest < top)) {
    const double log = log_moment(part, part.above) + 1e-6;
    if (side_ == Side::upper) {  // what is above is not counted, or too low
      sum.right = log - part.above * (top - rounding);
    } else {  // what is above may be counted e^(cW) times, and again: n W lower it has e^(-ncW) of that
      sum.right = log + chernoff_factor(part.above) - log_expm1((part.above - c) * window);
      sum.right_line = part.above;
    }
  }
  if (side_ == Side::lower && !(lowest > bottom)) {  // what is below is counted e^(-cW) times
    const double log = part.below > 0 ? log_moment(part, part.below) + 1e-6 + chernoff_factor(part.below) : std::min(0.0, log_moment(part, 0));
    sum.left = log - log_expm1((c - part.below) * window);
    sum.left_line = part.below;
  }
  sum.lost += underflow * static_cast<double>(size_);
  sum.lost *= std::exp(scale_error);
  if (!std::isfinite(sum.lost) || std::isnan(sum.right) || std::isnan(sum.left)) return false;
  // from the top down: P(L >= grid point) and δ(grid point) = ∫ e^(grid point - t) P(L > t) dt from there, with what the grid points are tilted by
  const auto first = grid_index(std::round((bottom - start) / spacing_));
  const double fall = std::exp(-c * spacing_);
  const double both = std::exp(-(c + 1) * spacing_);
  const double step = -std::expm1(-spacing_) * fall;
  // kept about ε
  const double place = std::clamp((choice_.epsilon() - bottom) / spacing_, 0.0, static_cast<double>(size_ - 1));
  constexpr std::size_t half = max_kept / 2;
  const std::size_t from = place > static_cast<double>(half) ? static_cast<std::size_t>(place) - half : 0;
  const std::size_t count = std::min(max_kept, size_ - from);
  sum.bottom = bottom + static_cast<double>(from) * spacing_;
  sum.values.assign(count, TailSum{});
  TailSum here{};
  for (std::size_t n = size_; n-- > from;) {
    here.delta = both * here.delta + step * here.tail;
    here.delta_off = both * here.delta_off + step * here.tail_off + 8 * unit * std::abs(here.delta);
    here.tail = product[index_of(first + static_cast<std::int64_t>(n), size_)].re + fall * here.tail;
    here.tail_off = fall * here.tail_off + 8 * unit * std::abs(here.tail);
    if (n - from < count) sum.values[n - from] = here;
  }
  // the error of the heaviest grid points, by which all masses are scaled
  for (TailSum& one : sum.values) {
    one.tail_off += std::abs(one.tail) * 1.01 * scale_error;
    one.delta_off += std::abs(one.delta) * 1.01 * scale_error;
  }
  rounding_ = std::max(rounding_, rounding);
  sums_.push_back(std::move(sum));
  return true;
}

// All outcomes in which some loss is far: P - e^ε Q, and what is below ε. Or P, where that is negligible.
double FftComposition::tail_delta(double epsilon) const {
  const bool above = side_ == Side::upper;
  const double negligible = above ? tail_p_ * (1 + 64 * unit) : 0;
  if (std::isinf(log_tail_q_.upper)) return negligible;
  const double p = -std::expm1(above ? no_tail_p_.lower : no_tail_p_.upper);
  // where Q is hardly a double, Σ x - (Σ x)²/2 <= 1 - Π(1 - x) <= Σ x
  const double log_sum = above ? log_tail_q_.lower - 1e-18 : log_tail_q_.upper;
  const double log_q = log_tail_q_.upper < -45 ? log_sum : std::log(-std::expm1(above ? no_tail_q_.upper : no_tail_q_.lower));
  const double q = std::exp(epsilon + log_q);
  const double rounding = unit * (64 * (p + q) + 4 * q * (epsilon + std::abs(log_q)));
  if (!above) return std::max(0.0, p - q - rounding);
  return negligible + std::max(0.0, p - q + rounding) + std::exp(log_leak_ + choice_.leak_rise() * epsilon + 1e-9);
}

Bound FftComposition::window() const {
  const double shift = (side_ == Side::upper ? 1 : -1) * (shift_ + rounding_);
  Bound window{-infinity, infinity};
  for (const Sum& sum : sums_) {
    window.lower = std::max(window.lower, sum.bottom + spacing_ + shift);
    window.upper = std::min(window.upper, sum.bottom + spacing_ * (static_cast<double>(sum.values.size()) - 3) + shift);
  }
  return window;
}

double FftComposition::delta(double asked) const {
  const bool above = side_ == Side::upper;
  const double none = above ? 1 : 0;
  if (failed()) return none;
  const double shift = shift_ + rounding_;
  const double epsilon = above ? asked - shift : asked + shift;
  double all = tail_delta(asked);
  for (const Sum& sum : sums_) {
    const double place = (epsilon - sum.bottom) / spacing_;
    if (!(place >= 0) || !(place < static_cast<double>(sum.values.size()) - 2)) return none;
    const auto next = static_cast<std::size_t>(place) + 1;
    const double point = sum.bottom + static_cast<double>(next) * spacing_;
    const double left = std::min(0.0, epsilon - point);
    const double share = std::exp(left);
    const TailSum& here = sum.values[next];
    const double scale = std::exp(sum.scale - sum.tilt * point);
    const double value = (share * here.delta - std::expm1(left) * here.tail) * scale;
    const double rounding = (share * here.delta_off + (1 - share + 4 * unit) * here.tail_off) * scale;
    const double error_bound = 16 * unit * (4 + std::abs(sum.scale) + sum.tilt * std::abs(point)) + 2 * shift;
    const double off = 1.01 * rounding + std::abs(value) * error_bound + sum.lost * std::exp(sum.scale - sum.tilt * epsilon) * (1 + error_bound);
    const double beyond =
        std::exp(sum.right - sum.right_line * epsilon * (1 - 8 * unit)) + std::exp(sum.left - sum.left_line * epsilon * (1 - 8 * unit));
    all += above ? value + off + beyond : value - off - beyond;
  }
  for (const Bounded& one : bounded_) all += std::exp(one.top - one.line * epsilon * (1 - 8 * unit) + 1e-9);
  return above ? std::min(1.0, all * (1 + 8 * unit)) : std::max(0.0, all * (1 - 8 * unit));
}

}  // namespace sotto::pld_detail
