#include "pld/grid/choose_grid.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "pld/grid/discretize.hpp"
#include "pld/saddle_point/inversion_integral.hpp"
#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double most_below = 0.2;   // of ε: where windows begin below it, or nearer where the tilt is steep
constexpr double highest_low = 300;  // e^loss has to be a double
constexpr double much = 1e-7;        // of what a million grid points leave open in one step
constexpr double most_gap = 6;       // log of how much larger than δ a part's bound may be: the transform's rounding grows with it

// log E_Q[e^(-λL)] of a step, from above; infinite where it is not known.
double log_back(const DistributedStep& step, double line) {
  if (step.step.loss->symmetric()) return cumulant_above({step.step}, line);
  double trivial = infinity;
  if (const double least = step.distribution->min_loss(); std::isfinite(least)) {
    trivial = step.step.count * line * (-least + step.distribution->loss_error(least)) * (1 + 8 * unit);
  }
  const PrivacyLossPtr reversed = step.step.loss->reversed();
  return reversed == nullptr ? trivial : std::min(trivial, cumulant_above({{reversed, step.step.count}}, line));
}

// Below, losses hardly count.
double lowest_of(const DistributedStep& step, double epsilon, double log_delta) {
  return std::max(step.distribution->min_loss(),
                  -std::max(40 * epsilon / std::max(5.0, -0.25 * log_delta), 60 * step.step.loss->standard_deviation()));
}

}  // namespace

std::optional<std::vector<DistributedStep>> with_distributions(const std::vector<LossStep>& steps) {
  std::vector<DistributedStep> all;
  for (const LossStep& step : steps) {
    const DistributionPtr distribution = step.loss->distribution();
    if (distribution == nullptr) return std::nullopt;
    all.push_back({step, distribution});
  }
  return all;
}

bool has_atoms(const std::vector<DistributedStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const DistributedStep& step) { return !step.distribution->atoms().empty(); });
}

struct GridChoice::Table {
  std::vector<double> places;  // the last one is the largest loss that is not far
  std::vector<double> lines;   // from 0 on
  struct Step {
    double count, most;
    bool whole;
    std::vector<double> below, between;  // line by line: log of what lies below each place, and between it and the one before
  };
  std::vector<Step> steps;

  Table(const std::vector<DistributedStep>& known, const std::vector<bool>& whole, double epsilon, double log_delta,
        const std::vector<Truncation>& truncations, std::vector<double> lines);

  // log Π(A + B)^k - ΠA^k, or ΠA^k
  [[nodiscard]] double level(std::optional<std::size_t> from, std::size_t to, std::size_t line) const {
    spend((40 + 15 * static_cast<double>(from ? to - *from : 0)) * static_cast<double>(steps.size()));
    double base = 0;
    double ratio = 0;
    for (const Step& step : steps) {
      const double* below = step.below.data() + line * places.size();
      if (!from || step.whole) {
        base += step.count * below[step.whole ? places.size() - 1 : to];
        continue;
      }
      const double* between = step.between.data() + line * places.size();
      double part = -infinity;
      for (std::size_t i = *from + 1; i <= to; ++i) part = log_sum(part, between[i]);
      base += step.count * below[*from];
      ratio += step.count * std::log1p(std::exp(part - below[*from]));
    }
    return from ? base + log_expm1(ratio) : base;
  }
  // log of the least of Chernoff's bounds, and its line.
  [[nodiscard]] std::pair<double, double> least(std::optional<std::size_t> from, std::size_t to, double epsilon) const {
    std::pair<double, double> least{infinity, 0};
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const double here = level(from, to, i) - lines[i] * epsilon + chernoff_factor(lines[i]);
      if (here < least.first) least = {here, lines[i]};
    }
    return least;
  }
};

GridChoice::Table::Table(const std::vector<DistributedStep>& known, const std::vector<bool>& whole, double epsilon, double log_delta,
                         const std::vector<Truncation>& truncations, std::vector<double> chosen)
    : lines(std::move(chosen)) {
  double end = 0;
  for (std::size_t i = 0; i < known.size(); ++i) end = std::max(end, whole[i] ? 0 : std::min(known[i].distribution->max_loss(), truncations[i].loss));
  for (double place = 0.002 * std::min(epsilon, end); place < std::min(0.9 * end, 8 * epsilon); place *= 1.3) places.push_back(place);
  // between atoms that are far apart, too
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (whole[i]) continue;
    std::vector<double> losses;
    for (const LossDistribution::PointMass& atom : known[i].distribution->atoms()) losses.push_back(atom.loss);
    std::sort(losses.begin(), losses.end());
    for (std::size_t j = 1; j < losses.size(); ++j) {
      const double middle = (losses[j - 1] + losses[j]) / 2;
      if (losses[j] - losses[j - 1] > 0.05 * epsilon && middle > 0.1 * epsilon && middle < std::min(0.9 * end, 4 * epsilon)) places.push_back(middle);
    }
  }
  places.push_back(end);
  std::sort(places.begin(), places.end());
  for (std::size_t index = 0; index < known.size(); ++index) {
    const DistributedStep& step = known[index];
    const LossDistribution& distribution = *step.distribution;
    const double low = lowest_of(step, epsilon, log_delta);
    const double high = std::min(distribution.max_loss(), truncations[index].loss);
    const double bulk = distribution.bulk().value_or(std::max(0.0, low));
    std::vector<double> edges;
    constexpr int few = 1024;
    for (int i = 0; i < few; ++i) edges.push_back(low + (high - low) * i / few);
    edges.push_back(high);
    for (int i = 0; i < 200; ++i) {
      const double apart = (high - low) * std::exp2(-0.2 * i);
      for (const double edge : {bulk - apart, bulk + apart}) {
        if (edge > low && edge < high) edges.push_back(edge);
      }
    }
    for (const double edge : places) {
      if (edge > low && edge < high) edges.push_back(edge);
    }
    edges.push_back(0);
    edges.push_back(-infinity);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::remove_if(edges.begin(), edges.end(), [&](double edge) { return edge > high; }), edges.end());
    struct CellMean {
      double loss, weight;
      double half;  // as far to either side it is spread
      std::size_t place;
    };
    std::vector<CellMean> lumps;
    const auto take = [&](double loss, double weight, double half) {
      const auto place = static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), loss) - places.begin());
      if (weight > 0) lumps.push_back({loss, weight, half, std::min(place, places.size() - 1)});
    };
    for (std::size_t i = 1; i < edges.size(); ++i) {
      const double to = edges[i] == 0 && edges[i - 1] < 0 ? -0x1p-1000 : edges[i];
      spend(300);
      const LossDistribution::Edge a = distribution.edge(edges[i - 1]);
      const LossDistribution::Edge b = distribution.edge(to);
      const LossDistribution::Mass p = distribution.mass_p(a, b);
      const LossDistribution::Mass q = distribution.mass_q(a, b);
      const double loss = std::log(p.value / q.value) + p.log - q.log;
      const double from = std::max(low, edges[i - 1]);
      if (p.value > 0 && q.value > 0) take(std::clamp(loss, from, std::max(low, to)), p.at(0), (to - from) / 2);
    }
    // of many atoms those that are close together are one
    double weight = 0;
    double moment = 0;
    double first = 0;
    auto atoms = distribution.atoms();
    const bool many = atoms.size() > few;
    if (many) std::sort(atoms.begin(), atoms.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    for (const LossDistribution::PointMass& atom : atoms) {
      const double loss = std::min(atom.loss, high);
      const double own = atom.mass * std::exp(atom.log + atom.loss);
      if (weight > 0 && (!many || loss - first > 0.01 * std::abs(loss) + 1e-4 * epsilon)) {
        take(moment / weight, weight, 0);
        weight = moment = 0;
      }
      if (weight == 0) first = loss;
      weight += own;
      moment += own * loss;
    }
    if (weight > 0) take(moment / weight, weight, 0);
    Step own{step.step.count, high, whole[index], {}, {}};
    std::vector<double> tops(places.size(), -infinity);
    for (const CellMean& cell_mean : lumps) tops[cell_mean.place] = std::max(tops[cell_mean.place], cell_mean.loss);
    std::vector<double> sums(places.size());
    for (const double line : lines) {
      spend(12 * static_cast<double>(lumps.size()) + 30 * static_cast<double>(places.size()));
      std::fill(sums.begin(), sums.end(), 0.0);
      for (const CellMean& cell_mean : lumps) {
        const double spread = std::min(20.0, line * cell_mean.half);
        sums[cell_mean.place] +=
            cell_mean.weight * std::exp(line * (cell_mean.loss - tops[cell_mean.place])) * (spread > 0.01 ? std::sinh(spread) / spread : 1);
      }
      double below = -infinity;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double here = sums[i] > 0 ? std::log(sums[i]) + line * tops[i] : -infinity;
        below = log_sum(below, here);
        own.between.push_back(here);
        own.below.push_back(below);
      }
    }
    steps.push_back(std::move(own));
  }
}

GridChoice::GridChoice(const std::vector<DistributedStep>& steps, double epsilon, double log_delta, double depth, double reach)
    : epsilon_(epsilon), reach_(reach) {
  choose_truncations(steps, log_delta - depth);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!std::isfinite(std::min(steps[i].distribution->max_loss(), truncations_[i].loss))) return;
    count_ += steps[i].step.count;
    lowest_ += steps[i].step.count * steps[i].distribution->min_loss();
  }
  std::vector<bool> whole;
  for (const DistributedStep& step : steps) whole.push_back(step.step.loss->symmetric() || step.distribution->max_loss() < 0.1 * epsilon);
  if (std::find(whole.begin(), whole.end(), false) == whole.end()) whole.assign(steps.size(), false);
  layout_ = lay_out(steps, whole, log_delta, depth);
  // or by the losses of one step alone
  for (std::size_t i = 0; i < steps.size() && layout_.cost > much; ++i) {
    std::vector<bool> others(steps.size(), true);
    others[i] = false;
    if (others == whole) continue;
    if (Layout other = lay_out(steps, std::move(others), log_delta, depth); other.cost < layout_.cost) layout_ = std::move(other);
  }
}

GridChoice::Layout GridChoice::lay_out(const std::vector<DistributedStep>& steps, std::vector<bool> whole, double log_delta, double depth) const {
  Layout layout;
  layout.whole = std::move(whole);
  // lines, closer where the best one is
  std::vector<double> lines{0};
  for (double line = 0.005 / epsilon_; line < 1e8 / epsilon_; line *= line < 1e4 / epsilon_ ? 1.3 : 2) lines.push_back(line);
  const Table rough(steps, layout.whole, epsilon_, log_delta, truncations_, lines);
  const std::size_t last = rough.places.size() - 1;
  const double best = rough.least(std::nullopt, last, epsilon_).second;
  for (double line = best / 3; line < best * 4; line *= 1.03) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  const Table table(steps, layout.whole, epsilon_, log_delta, truncations_, lines);
  std::vector<Stratum> strata;
  double largest = -infinity;
  double cost = 0;
  const auto gap = [&](std::optional<std::size_t> from, std::size_t to) { return table.least(from, to, epsilon_).first - log_delta; };
  // as few parts as have bounds not much larger than δ
  std::optional<std::size_t> from;
  while (!from || *from < last) {
    std::size_t to = last;
    const std::size_t next = from ? *from + 1 : 0;
    while (to > next && gap(from, to) > most_gap) --to;
    // a bulk that surely is below ε need not be summed, if that is all the better
    if (!from && to < last) {
      std::size_t bounded = last;
      while (bounded > 0 && gap(from, bounded) > -depth - 1) --bounded;
      if (gap(from, bounded) <= -depth - 1) to = bounded;
    }
    const auto part = choose_part(table, from, to, log_delta, depth);
    if (!part) return layout;
    strata.push_back(*part);
    cost = std::max(cost, part->cost);
    if (const double here = gap(from, to); here > largest) {
      largest = here;
      layout.tilt = part->tilt;
    }
    from = to;
  }
  layout.cost = cost;
  // where a step's losses begin to count in some part: below, tilted, they have e^-35 of it
  constexpr double nothing = 35;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Table::Step& own = table.steps[i];
    const auto scale_at = [&](double tilt, double to) {
      const auto line = static_cast<std::size_t>(std::lower_bound(table.lines.begin(), table.lines.end(), tilt) - table.lines.begin());
      const auto place = static_cast<std::size_t>(std::lower_bound(table.places.begin(), table.places.end(), to) - table.places.begin());
      return own.below[std::min(line, table.lines.size() - 1) * table.places.size() + std::min(place, last)];
    };
    double low = highest_low;
    for (const Stratum& part : strata) low = std::min(low, (scale_at(part.tilt, own.whole ? infinity : part.to) - nothing) / (part.tilt + 1));
    layout.lows.push_back(low);
    layout.scales.push_back(scale_at(layout.tilt, infinity));
  }
  for (const Stratum& part : strata) layout.length = std::max(layout.length, part.bounded ? 0.0 : part.top - part.bottom);
  // one step's losses wind around the window a few times at most
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double low = std::min(std::max(lowest_of(steps[i], epsilon_, log_delta), layout.lows[i]), steps[i].distribution->bulk().value_or(infinity));
    layout.length = std::max(layout.length, (std::min(steps[i].distribution->max_loss(), truncations_[i].loss) - low) / 8);
  }
  layout.strata = std::move(strata);
  return layout;
}

// Either nothing counts beyond: P(far) is small enough. Or all that is far is taken as P - e^ε Q, and what of it is below ε has to be small:
// E_Q[(e^ε - e^L)₊; some step is far] <= e^ε κ(λ) e^(λε) E_Q[e^(-λL); some step is far], and a far step has e^(-λL) <= e^(-λ cut).
void GridChoice::choose_truncations(const std::vector<DistributedStep>& steps, double wanted) {
  truncations_.assign(steps.size(), {infinity, false});
  const auto log_of = [](const DistributedStep& step, const LossDistribution::Mass& mass) {
    return std::log(step.step.count * mass.value * (1 + mass.error_bound)) + mass.log;
  };
  const auto log_p = [&](const DistributedStep& step, double truncation) {
    return log_of(step, step.distribution->mass_p(step.distribution->edge(truncation), step.distribution->edge(infinity)));
  };
  const auto log_q = [&](const DistributedStep& step, double truncation) {
    return log_of(step, step.distribution->mass_q(step.distribution->edge(truncation), step.distribution->edge(infinity)));
  };
  const auto first = [](double low, double high, const std::function<bool(double)>& holds) {
    for (int turn = 0; turn < 30; ++turn) {
      spend(300);
      const double middle = low + (high - low) / 2;
      (holds(middle) ? high : low) = middle;
    }
    return high;
  };
  std::vector<std::size_t> endless;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::isinf(steps[i].distribution->max_loss())) endless.push_back(i);
  }
  if (endless.empty()) return;
  wanted -= std::log(static_cast<double>(endless.size()));
  const double farthest = std::max(1e4 * epsilon_, 100.0);
  constexpr double nearer = 0.98;  // one grid point nearer it has to do as well
  for (const std::size_t i : endless) {
    const auto holds = [&](double truncation) { return log_p(steps[i], nearer * truncation) <= wanted; };
    if (holds(farthest)) truncations_[i] = {first(0, farthest, holds), true};
  }
  double least = infinity;  // the sum of all cuts
  std::vector<Truncation> best = truncations_;
  for (double line = std::min(0.5, 1 / (64 * epsilon_)); line < 600 / epsilon_; line *= 2) {
    double top = chernoff_factor(line);
    for (const DistributedStep& step : steps) top += log_back(step, line);
    if (!std::isfinite(top)) break;
    top += 1e-9 * (1 + std::abs(top));
    std::vector<Truncation> truncations = truncations_;
    double sum = 0;
    for (const std::size_t i : endless) {
      const auto holds = [&](double truncation) {
        return top + log_q(steps[i], nearer * truncation) + (1 + line) * epsilon_ - line * nearer * truncation * (1 - 8 * unit) <= wanted;
      };
      const double end = std::min(farthest, truncations[i].loss);
      if (holds(end)) truncations[i] = {first(0, end, holds), false};
      sum += truncations[i].loss;
    }
    if (!(sum < least)) continue;
    least = sum;
    best = truncations;
    leak_line_ = line;
    leak_ = top;
  }
  truncations_ = best;
}

std::optional<Stratum> GridChoice::choose_part(const Table& table, std::optional<std::size_t> from, std::size_t to, double log_delta,
                                               double depth) const {
  const std::vector<double>& lines = table.lines;
  std::vector<double> levels;
  std::vector<double> gaps;  // of Chernoff's bound
  for (std::size_t i = 0; i < lines.size(); ++i) {
    levels.push_back(table.level(from, to, i));
    const double gap = levels[i] - (i == 0 ? 0 : lines[i] * epsilon_ - chernoff_factor(lines[i])) - log_delta;
    gaps.push_back(std::isnan(gap) ? infinity : gap);
  }
  Stratum best{from ? std::optional(table.places[*from]) : std::nullopt, table.places[to], 0, 0, 0, 0, 0, false, 0};
  const auto least_gap = std::min_element(gaps.begin() + 1, gaps.end());
  const double steepest = lines[static_cast<std::size_t>(least_gap - gaps.begin())];
  if (*least_gap <= -depth - 1) {
    best.bounded = true;
    // on the first line that is enough: on later ones a grid point up counts for more
    best.tilt =
        lines[static_cast<std::size_t>(std::find_if(gaps.begin() + 1, gaps.end(), [&](double gap) { return gap <= -depth - 1; }) - gaps.begin())];
    return best;
  }
  double worst = 0;
  for (const Table::Step& step : table.steps) worst += step.count * (step.whole ? step.most : std::min(step.most, best.to));
  const double error_bound = 5 * (count_ + 1) / 4000 * (worst - lowest_);
  double least = infinity;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (gaps[i] > 24) continue;
    // losses outside the window are wrapped into it: those below then count for e^(-cW) of themselves, those above for e^(cW)
    double left = infinity;
    std::size_t below = 0;
    spend(20 * static_cast<double>(lines.size()));
    for (std::size_t j = 0; j < i; ++j) {
      const double end = log_sum(0, gaps[j] + depth) / (lines[i] - lines[j]);
      if (!(end < 0.99 * left)) continue;
      left = end;
      below = j;
    }
    double right = infinity;
    std::size_t above = i;
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      if (lines[j] * epsilon_ > 1000 && lines[j] > 4 * lines[i]) break;  // one grid point up would count for much
      const double end = log_sum(0, gaps[j] + depth) / (lines[j] - lines[i]);
      if (!(end < 0.99 * right)) continue;
      right = end;
      above = j;
    }
    double bottom = epsilon_ - std::min({reach_, most_below * epsilon_, 100 / lines[i]});
    right = std::min(right, worst - epsilon_ + 5 * (count_ + 1) / 4000 * (worst - bottom));  // nothing is above
    double length = std::max(left, right) + epsilon_ - bottom;
    // a window that holds all losses has nothing beyond
    if (std::isfinite(lowest_) && worst - lowest_ + 2 * error_bound < length) {
      length = worst - lowest_ + 2 * error_bound;
      bottom = std::min(bottom, lowest_ - error_bound);
    }
    // of each step: what a million grid points leave open, which grows with their height, and the transform's error, which does with the gap
    const double spacing = length * 0x1p-20;
    const double cost = std::pow(steepest * spacing, 2) / 8 + 4e-15 * std::sqrt(1.8 / (lines[i] * spacing)) * std::exp(std::max(0.0, gaps[i]));
    if (!(cost < least)) continue;
    least = cost;
    best.tilt = lines[i];
    best.cost = cost;
    best.below = lines[below];
    best.above = lines[above];
    best.bottom = bottom;
    best.top = bottom + length;
  }
  return std::isfinite(least) ? std::optional(best) : std::nullopt;
}

}  // namespace sotto::pld_detail
