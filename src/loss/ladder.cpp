#include "ladder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fourier.hpp"
#include "integral.hpp"
#include "rungs.hpp"

namespace sotto::detail {
namespace {

constexpr double fewest_between = 10;  // rungs between two atoms that are put on rungs both

std::size_t index_of(std::int64_t rung, std::size_t size) { return static_cast<std::size_t>(rung) & (size - 1); }

}  // namespace

Ladder::Ladder(const std::vector<KnownStep>& steps, const Scaffold& scaffold, Side side, std::size_t size)
    : scaffold_(scaffold), side_(side), c_(scaffold.tilt()), size_(size) {
  height_ = (scaffold.top() - scaffold.bottom()) / static_cast<double>(size - 4);
  // atoms on rungs, where they can be
  for (const KnownStep& step : steps) {
    const auto atoms = step.law->atoms();
    double apart = infinity;
    for (std::size_t i = 1; i < atoms.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) apart = std::min(apart, std::abs(atoms[i].loss - atoms[j].loss));
    }
    if (!std::isfinite(apart) || apart / height_ < fewest_between) continue;
    height_ = apart / std::floor(apart / height_);
    break;
  }
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    all.emplace_back(size, 0.0);
    scale_ += steps[i].step.count * scaffold.scale(i);
    if (!place(steps[i], scaffold.scale(i), all.back())) return;
  }
  bottom_ = start_ + std::ceil((scaffold.bottom() - start_) / height_) * height_;
  const double top = bottom_ + height_ * static_cast<double>(size_ - 1);
  shift_ += 8 * unit * (std::abs(start_) + std::abs(bottom_) + std::abs(top));
  const double factor = chernoff_factor(c_);
  if (!(highest_ < top)) lost_ += std::exp(scaffold.log_above(top, height_) - scale_ + factor + 1e-6);
  if (side == Side::lower && !(lowest_ > bottom_)) lost_ += std::exp(scaffold.log_below(bottom_) - scale_ + factor + 1e-6);
  lost_ += underflow * static_cast<double>(size_);
  if (!compose(steps, all)) heights_.clear();
}

bool Ladder::place(const KnownStep& step, double scale, std::vector<double>& rungs) {
  const LossLaw& law = *step.law;
  const double count = step.step.count;
  // below, the tilted mass is at most e^((c+1) loss): e^-35 of the whole
  const double low = std::max(law.least(), (scale - 35) / (c_ + 1));
  const double high = std::min(law.most(), scaffold_.cut());
  const auto atoms = law.atoms();
  // a rung where there is an atom, or the most mass in one place: at the end of the losses
  const double end_of_losses = std::isfinite(law.least()) ? law.least() : std::isfinite(law.most()) ? law.most() : 0;
  const double start = atoms.empty() ? end_of_losses : atoms.front().loss;
  // all losses that are bounded; of others nothing above the cut
  const double beyond = std::isinf(law.most()) ? (side_ == Side::upper ? 0 : -1) : 2;
  const Rungs ladder{start, height_, static_cast<std::int64_t>(std::floor((low - start) / height_)) - 1,
                     static_cast<std::int64_t>(std::floor((high - start) / height_) + beyond)};
  if (!(ladder.last - ladder.first < static_cast<std::int64_t>(16 * size_))) return false;
  double highest = -infinity;
  double lowest = infinity;
  const Drop drop = [&](std::int64_t rung, double loss, double mass) {
    if (!(mass > 0)) return;
    const double room = unit * (32 + 8 * std::abs((c_ + 1) * loss) + 4 * std::abs(scale));
    rungs[index_of(rung, size_)] += mass * std::exp((c_ + 1) * loss - scale) * (side_ == Side::upper ? 1 + room : std::max(0.0, 1 - room));
    highest = std::max(highest, loss + height_);
    lowest = std::min(lowest, loss - height_);
  };
  double end = ladder.at(ladder.last);
  double lowered = 0;
  if (side_ == Side::upper) {
    raise_cells(law, ladder, drop);
  } else {
    const Lowered result = lower_cells(law, ladder, c_, scale, count, drop);
    lowered = result.by;
    end = result.end;
  }
  const double off = place_atoms(law, side_, {start - lowered, height_, ladder.first, ladder.last}, drop);
  // they are off the most at the ends, or nearly so
  const double rounded = 2 * std::max({law.off(low), law.off(high), law.off(0), law.off((low + high) / 2)});
  shift_ += count * (off + rounded + 8 * unit * (std::abs(low) + std::abs(high) + std::abs(start)));
  start_ += count * (start - lowered);
  highest_ += count * highest;
  lowest_ += count * lowest;
  if (law.most() > end) {  // far losses
    const LossLaw::Edge from = law.edge(end);
    const LossLaw::Edge to = law.edge(infinity);
    const auto none = [&](const LossLaw::Mass& mass) {
      return Bound{count * std::log1p(-mass.value * (1 + mass.room) - underflow), count * std::log1p(-mass.value * std::max(0.0, 1 - mass.room))};
    };
    const Bound p = none(law.with(from, to));
    const Bound q = none(law.without(from, to));
    no_far_p_ = {no_far_p_.lower + p.lower, no_far_p_.upper + p.upper};
    no_far_q_ = {no_far_q_.lower + q.lower, no_far_q_.upper + q.upper};
    nearest_far_ = std::min(nearest_far_, end - law.off(end));
    many_far_ -= q.lower;
  }
  return std::isfinite(no_far_p_.lower);
}

bool Ladder::compose(const std::vector<KnownStep>& steps, const std::vector<std::vector<double>>& all) {
  const Fourier fourier(size_);
  std::vector<Complex> product(size_, Complex{1, 0});
  double error = 0;   // of the composed masses, root of the sum of squares, over the product of the sums
  double excess = 0;  // log of the product of the sums
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<Complex> values(size_);
    double sum = 0;
    double squares = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      values[j] = {all[i][j], 0};
      sum += all[i][j];
      squares += all[i][j] * all[i][j];
    }
    fourier.forward(values);
    const double count = steps[i].step.count;
    error += count * (fourier.error() + 8 * unit) * std::sqrt(squares) / sum;
    excess += count * std::log(sum * (1 + 1e-9));
    for (std::size_t j = 0; j < size_; ++j) {
      Complex base = values[j];
      for (auto n = static_cast<std::uint64_t>(count); n > 0; n /= 2) {
        if (n % 2 == 1) product[j] = product[j] * base;
        base = base * base;
      }
    }
  }
  if (!(std::abs(excess) < 3)) return false;
  fourier.back(product);
  double squares = 0;
  for (const Complex& value : product) squares += value.re * value.re;
  const double own = 1.05 * (error * std::exp(excess) + fourier.error() * std::sqrt(squares)) * (1 + error);
  // g(x) = e^-cx (1 - e^-x): Σ g² over rungs is at most ∫ g²/height and the largest g²
  const double most = std::exp(chernoff_factor(c_));
  lost_ += 1.01 * own * std::sqrt(1 / (2 * c_ * (2 * c_ + 1) * (c_ + 1) * height_) + most * most);
  if (!std::isfinite(lost_)) return false;
  // from the top down: P(L >= rung) and δ(rung) = ∫ e^(rung - t) P(L > t) dt from there, with what the rungs are tilted by
  const auto lowest = static_cast<std::int64_t>(std::round((bottom_ - start_) / height_));
  const double fall = std::exp(-c_ * height_);
  const double both = std::exp(-(c_ + 1) * height_);
  const double step = -std::expm1(-height_) * fall;
  heights_.assign(size_, Height{});
  Height here{};
  for (std::size_t n = size_; n-- > 0;) {
    here.delta = both * here.delta + step * here.tail;
    here.delta_off = both * here.delta_off + step * here.tail_off + 8 * unit * std::abs(here.delta);
    here.tail = product[index_of(lowest + static_cast<std::int64_t>(n), size_)].re + fall * here.tail;
    here.tail_off = fall * here.tail_off + 8 * unit * std::abs(here.tail);
    heights_[n] = here;
  }
  return true;
}

// All outcomes in which some loss is far: P - e^ε Q, and what is below ε.
double Ladder::far_delta(double epsilon) const {
  const bool above = side_ == Side::upper;
  const double p = -std::expm1(above ? no_far_p_.lower : no_far_p_.upper);
  const double q = std::exp(epsilon) * -std::expm1(above ? no_far_q_.upper : no_far_q_.lower);
  const double rounding = 64 * unit * (p + q);
  if (!above) return std::max(0.0, p - q - rounding);
  return std::max(0.0, p - q + rounding) + std::exp(scaffold_.log_leak(epsilon, nearest_far_) + std::log(many_far_) + 1e-9);
}

double Ladder::delta(double asked) const {
  const double none = side_ == Side::upper ? 1 : 0;
  if (failed()) return none;
  const double epsilon = side_ == Side::upper ? asked - shift_ : asked + shift_;
  const double place = (epsilon - bottom_) / height_;
  if (!(place >= 0) || !(place < static_cast<double>(size_) - 2)) return none;
  const auto next = static_cast<std::size_t>(place) + 1;
  const double rung = bottom_ + static_cast<double>(next) * height_;
  const double left = std::min(0.0, epsilon - rung);
  const double share = std::exp(left);
  const Height& here = heights_[next];
  const double scale = std::exp(scale_ - c_ * rung);
  const double value = (share * here.delta - std::expm1(left) * here.tail) * scale;
  const double rounding = (share * here.delta_off + (1 - share + 4 * unit) * here.tail_off) * scale;
  const double far = std::isinf(scaffold_.cut()) ? 0 : far_delta(asked);
  const double room = 16 * unit * (4 + std::abs(scale_) + c_ * std::abs(rung)) + 2 * shift_;
  const double off = 1.01 * rounding + std::abs(value) * room + lost_ * std::exp(scale_ - c_ * epsilon) * (1 + room);
  return side_ == Side::upper ? std::min(1.0, value + far + off) : std::max(0.0, value + far - off);
}

}  // namespace sotto::detail
