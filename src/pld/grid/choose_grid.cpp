// The choice of a grid: moments of all steps in a table, from which strata, tilts and windows are
// chosen.
#include "grid/choose_grid.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "grid/discretize.hpp"
#include "saddle_point/inversion_integral.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double window_below = 0.2;      // windows begin this share of ε below it, or nearer if the tilt is steep
constexpr double highest_low = 300;       // e^loss has to be a double
constexpr double large_error = 1e-7;      // an estimated error above it makes another stratification worth trying
constexpr double max_chernoff_ratio = 6;  // log of a stratum's Chernoff bound over δ: the FFT's rounding grows with it

// Returns an upper bound on log E_Q[e^(-λL)] of a step; infinite if there is none.
double log_reversed_moment(const DistributedStep& step, double abscissa) {
  if (step.step.loss->symmetric()) return cumulant_above({step.step}, abscissa);
  double trivial = infinity;
  if (const double least = step.distribution->min_loss(); std::isfinite(least)) {
    trivial = step.step.count * abscissa * (-least + step.distribution->loss_error(least)) * (1 + 8 * unit);
  }
  const PrivacyLossPtr reversed = step.step.loss->reversed();
  return reversed == nullptr ? trivial : std::min(trivial, cumulant_above({{reversed, step.step.count}}, abscissa));
}

// Returns a loss of one step below which its mass hardly matters at ε.
double lowest_of(const DistributedStep& step, double epsilon, double log_delta) {
  return std::max(step.distribution->min_loss(),
                  -std::max(40 * epsilon / std::max(5.0, -0.25 * log_delta), 60 * step.step.loss->standard_deviation()));
}

double end_of(const DistributedStep& step, const GridChoice::Truncation& truncation) {
  return std::min(step.distribution->max_loss(), truncation.loss);
}

// A piece of a distribution: P-mass that is spread evenly over [loss - half_width, loss +
// half_width].
struct Lump {
  double loss, weight, half_width;
  std::size_t boundary;  // the index of the first boundary at or above the loss
};

// Collects the lumps of one distribution, of cells and of atoms.
class Lumps {
 public:
  Lumps(const LossDistribution& distribution, double low, double high, double epsilon, const std::vector<double>& boundaries)
      : boundaries_(boundaries) {
    add_cells(distribution, cell_edges(distribution, low, high), low);
    add_atoms(distribution, high, epsilon);
  }
  [[nodiscard]] const std::vector<Lump>& all() const { return lumps_; }

 private:
  static constexpr int cells = 1024;

  // Equidistant edges, edges that come ever closer to the bulk, the boundaries, and 0.
  [[nodiscard]] std::vector<double> cell_edges(const LossDistribution& distribution, double low, double high) const {
    const double bulk = distribution.bulk().value_or(std::max(0.0, low));
    std::vector<double> edges;
    for (int i = 0; i < cells; ++i) edges.push_back(low + (high - low) * i / cells);
    edges.push_back(high);
    for (int i = 0; i < 200; ++i) {
      const double apart = (high - low) * std::exp2(-0.2 * i);
      for (const double edge : {bulk - apart, bulk + apart}) {
        if (edge > low && edge < high) edges.push_back(edge);
      }
    }
    for (const double edge : boundaries_) {
      if (edge > low && edge < high) edges.push_back(edge);
    }
    edges.push_back(0);
    edges.push_back(-infinity);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::remove_if(edges.begin(), edges.end(), [&](double edge) { return edge > high; }), edges.end());
    return edges;
  }

  void add(double loss, double weight, double half_width) {
    const auto boundary = static_cast<std::size_t>(std::lower_bound(boundaries_.begin(), boundaries_.end(), loss) - boundaries_.begin());
    if (weight > 0) lumps_.push_back({loss, weight, half_width, std::min(boundary, boundaries_.size() - 1)});
  }

  void add_cells(const LossDistribution& distribution, const std::vector<double>& edges, double low) {
    for (std::size_t i = 1; i < edges.size(); ++i) {
      const double to = edges[i] == 0 && edges[i - 1] < 0 ? -0x1p-1000 : edges[i];
      spend(300);
      const LossDistribution::Edge a = distribution.edge(edges[i - 1]);
      const LossDistribution::Edge b = distribution.edge(to);
      const LossDistribution::Mass p = distribution.mass_p(a, b);
      const LossDistribution::Mass q = distribution.mass_q(a, b);
      const double loss = std::log(p.value / q.value) + p.log - q.log;
      const double from = std::max(low, edges[i - 1]);
      if (p.value > 0 && q.value > 0) add(std::clamp(loss, from, std::max(low, to)), p.as_double(), (to - from) / 2);
    }
  }

  // Of many atoms, those that are close together become one lump.
  void add_atoms(const LossDistribution& distribution, double high, double epsilon) {
    double weight = 0;
    double moment = 0;
    double first = 0;
    auto atoms = distribution.atoms();
    const bool many = atoms.size() > cells;
    if (many) std::sort(atoms.begin(), atoms.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    for (const LossDistribution::PointMass& atom : atoms) {
      const double loss = std::min(atom.loss, high);
      const double own = atom.mass * std::exp(atom.log + atom.loss);
      if (weight > 0 && (!many || loss - first > 0.01 * std::abs(loss) + 1e-4 * epsilon)) {
        add(moment / weight, weight, 0);
        weight = moment = 0;
      }
      if (weight == 0) first = loss;
      weight += own;
      moment += own * loss;
    }
    if (weight > 0) add(moment / weight, weight, 0);
  }

  const std::vector<double>& boundaries_;
  std::vector<Lump> lumps_;
};

// Losses outside the window are wrapped into it: those n windows below it count e^(-cnW) times,
// those above it e^(cnW) times. A wrapping is the shortest W that makes the wrapped mass of one
// side small, by Chernoff's bound at another abscissa, and the index of that abscissa.
struct Wrapping {
  double length;
  std::size_t abscissa;
};

Wrapping wrapping_from_below(const std::vector<double>& tilts, const std::vector<double>& ratios, std::size_t i, double depth) {
  Wrapping best{infinity, 0};
  for (std::size_t j = 0; j < i; ++j) {
    const double length = log_sum(0, ratios[j] + depth) / (tilts[i] - tilts[j]);
    if (length < 0.99 * best.length) best = {length, j};
  }
  return best;
}

Wrapping wrapping_from_above(const std::vector<double>& tilts, const std::vector<double>& ratios, std::size_t i, double depth, double epsilon) {
  Wrapping best{infinity, i};
  for (std::size_t j = i + 1; j < tilts.size(); ++j) {
    if (tilts[j] * epsilon > 1000 && tilts[j] > 4 * tilts[i]) break;  // raising a loss by one point would cost much
    const double length = log_sum(0, ratios[j] + depth) / (tilts[j] - tilts[i]);
    if (length < 0.99 * best.length) best = {length, j};
  }
  return best;
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

// A moment table has estimates of log E_P[e^(cL)] of every step, for every tilt c of a list, over
// the losses below and between boundaries. Strata begin and end at boundaries.
struct GridChoice::MomentTable {
  std::vector<double> boundaries;  // the last one is the largest loss that is not truncated
  std::vector<double> tilts;       // ascending, from 0 on
  struct Step {
    double count, max_loss;
    bool unstratified;
    std::vector<double> below, between;  // tilt by tilt: below each boundary, and between it and the previous one
  };
  std::vector<Step> steps;

  MomentTable(const std::vector<DistributedStep>& known, const std::vector<bool>& unstratified, double epsilon, double log_delta,
              const std::vector<Truncation>& truncations, std::vector<double> chosen_tilts);

  // Returns log(Π (A+B)^k - Π A^k) with A the moments below `from` and B those between `from` and
  // `to`; without `from` log Π A^k, A the moments below `to`.
  [[nodiscard]] double log_moment(std::optional<std::size_t> from, std::size_t to, std::size_t tilt) const {
    spend((40 + 15 * static_cast<double>(from ? to - *from : 0)) * static_cast<double>(steps.size()));
    double base = 0;
    double ratio = 0;
    for (const Step& step : steps) {
      const double* below = step.below.data() + tilt * boundaries.size();
      if (!from || step.unstratified) {
        base += step.count * below[step.unstratified ? boundaries.size() - 1 : to];
        continue;
      }
      const double* between = step.between.data() + tilt * boundaries.size();
      double part = -infinity;
      for (std::size_t i = *from + 1; i <= to; ++i) part = log_sum(part, between[i]);
      base += step.count * below[*from];
      ratio += step.count * std::log1p(std::exp(part - below[*from]));
    }
    return from ? base + log_expm1(ratio) : base;
  }
  // Returns the log of the least Chernoff bound of a stratum over all tilts, and its tilt.
  [[nodiscard]] std::pair<double, double> min_chernoff(std::optional<std::size_t> from, std::size_t to, double epsilon) const {
    std::pair<double, double> least{infinity, 0};
    for (std::size_t i = 1; i < tilts.size(); ++i) {
      const double here = log_moment(from, to, i) - tilts[i] * epsilon + chernoff_factor(tilts[i]);
      if (here < least.first) least = {here, tilts[i]};
    }
    return least;
  }

 private:
  void choose_boundaries(const std::vector<DistributedStep>& known, const std::vector<bool>& unstratified, double epsilon,
                         const std::vector<Truncation>& truncations);
  void add_moments(Step step, const std::vector<Lump>& lumps);
};

GridChoice::MomentTable::MomentTable(const std::vector<DistributedStep>& known, const std::vector<bool>& unstratified, double epsilon,
                                     double log_delta, const std::vector<Truncation>& truncations, std::vector<double> chosen_tilts)
    : tilts(std::move(chosen_tilts)) {
  choose_boundaries(known, unstratified, epsilon, truncations);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double low = lowest_of(known[i], epsilon, log_delta);
    const double high = end_of(known[i], truncations[i]);
    const Lumps lumps(*known[i].distribution, low, high, epsilon, boundaries);
    add_moments({known[i].step.count, high, unstratified[i], {}, {}}, lumps.all());
  }
}

// Boundaries in geometric progression around ε, between atoms that are far apart, and the largest
// loss.
void GridChoice::MomentTable::choose_boundaries(const std::vector<DistributedStep>& known, const std::vector<bool>& unstratified, double epsilon,
                                                const std::vector<Truncation>& truncations) {
  double end = 0;
  for (std::size_t i = 0; i < known.size(); ++i) end = std::max(end, unstratified[i] ? 0 : end_of(known[i], truncations[i]));
  for (double loss = 0.002 * std::min(epsilon, end); loss < std::min(0.9 * end, 8 * epsilon); loss *= 1.3) boundaries.push_back(loss);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (unstratified[i]) continue;
    std::vector<double> losses;
    for (const LossDistribution::PointMass& atom : known[i].distribution->atoms()) losses.push_back(atom.loss);
    std::sort(losses.begin(), losses.end());
    for (std::size_t j = 1; j < losses.size(); ++j) {
      const double middle = (losses[j - 1] + losses[j]) / 2;
      if (losses[j] - losses[j - 1] > 0.05 * epsilon && middle > 0.1 * epsilon && middle < std::min(0.9 * end, 4 * epsilon)) {
        boundaries.push_back(middle);
      }
    }
  }
  boundaries.push_back(end);
  std::sort(boundaries.begin(), boundaries.end());
}

// Computes the moments of one step. Between two boundaries they are summed relative to the largest
// loss there, so that nothing overflows.
void GridChoice::MomentTable::add_moments(Step step, const std::vector<Lump>& lumps) {
  std::vector<double> tops(boundaries.size(), -infinity);
  for (const Lump& lump : lumps) tops[lump.boundary] = std::max(tops[lump.boundary], lump.loss);
  std::vector<double> sums(boundaries.size());
  for (const double tilt : tilts) {
    spend(12 * static_cast<double>(lumps.size()) + 30 * static_cast<double>(boundaries.size()));
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const Lump& lump : lumps) {
      const double spread = std::min(20.0, tilt * lump.half_width);
      sums[lump.boundary] +=
          lump.weight * std::exp(tilt * (lump.loss - tops[lump.boundary])) * (spread > 0.01 ? std::sinh(spread) / spread : 1);
    }
    double below = -infinity;
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      const double here = sums[i] > 0 ? std::log(sums[i]) + tilt * tops[i] : -infinity;
      below = log_sum(below, here);
      step.between.push_back(here);
      step.below.push_back(below);
    }
  }
  steps.push_back(std::move(step));
}

GridChoice::GridChoice(const std::vector<DistributedStep>& steps, double epsilon, double log_delta, double depth, double reach)
    : epsilon_(epsilon), reach_(reach) {
  choose_truncations(steps, log_delta - depth);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!std::isfinite(end_of(steps[i], truncations_[i]))) return;
    count_ += steps[i].step.count;
    lowest_ += steps[i].step.count * steps[i].distribution->min_loss();
  }

  // First stratify by all steps whose large losses are rare jumps: not by symmetric steps, nor
  // small ones.
  std::vector<bool> unstratified;
  for (const DistributedStep& step : steps) unstratified.push_back(step.step.loss->symmetric() || step.distribution->max_loss() < 0.1 * epsilon);
  if (std::find(unstratified.begin(), unstratified.end(), false) == unstratified.end()) unstratified.assign(steps.size(), false);
  layout_ = make_layout(steps, unstratified, log_delta, depth);

  // Then, if the error is large, by each single step.
  for (std::size_t i = 0; i < steps.size() && layout_.estimated_error > large_error; ++i) {
    std::vector<bool> others(steps.size(), true);
    others[i] = false;
    if (others == unstratified) continue;
    if (Layout other = make_layout(steps, std::move(others), log_delta, depth); other.estimated_error < layout_.estimated_error) {
      layout_ = std::move(other);
    }
  }
}

// Chooses strata, where each step's grid begins, and the length of the window. The layout has no
// strata if none suit.
GridChoice::Layout GridChoice::make_layout(const std::vector<DistributedStep>& steps, std::vector<bool> unstratified, double log_delta,
                                           double depth) const {
  Layout layout;
  layout.unstratified = std::move(unstratified);

  // tilts, closer together around the one with the least Chernoff bound
  std::vector<double> tilts{0};
  for (double tilt = 0.005 / epsilon_; tilt < 1e8 / epsilon_; tilt *= tilt < 1e4 / epsilon_ ? 1.3 : 2) tilts.push_back(tilt);
  const MomentTable rough(steps, layout.unstratified, epsilon_, log_delta, truncations_, tilts);
  const double best = rough.min_chernoff(std::nullopt, rough.boundaries.size() - 1, epsilon_).second;
  for (double tilt = best / 3; tilt < best * 4; tilt *= 1.03) tilts.push_back(tilt);
  std::sort(tilts.begin(), tilts.end());
  const MomentTable table(steps, layout.unstratified, epsilon_, log_delta, truncations_, tilts);

  std::vector<Stratum> strata;
  if (!choose_strata(table, log_delta, depth, layout, strata)) return layout;
  choose_lows(table, strata, layout);

  // the longest window; and one step's losses may wind around it a few times at most
  for (const Stratum& stratum : strata) {
    layout.length = std::max(layout.length, stratum.only_bounded ? 0.0 : stratum.window_top - stratum.window_bottom);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double low = std::min(std::max(lowest_of(steps[i], epsilon_, log_delta), layout.lows[i]), steps[i].distribution->bulk().value_or(infinity));
    layout.length = std::max(layout.length, (end_of(steps[i], truncations_[i]) - low) / 8);
  }
  layout.strata = std::move(strata);
  return layout;
}

// Chooses as few strata as have Chernoff bounds not much larger than δ. Returns false if one has no
// window.
bool GridChoice::choose_strata(const MomentTable& table, double log_delta, double depth, Layout& layout, std::vector<Stratum>& strata) const {
  const std::size_t last = table.boundaries.size() - 1;
  const auto log_ratio_to_delta = [&](std::optional<std::size_t> from, std::size_t to) {
    return table.min_chernoff(from, to, epsilon_).first - log_delta;
  };
  double largest = -infinity;
  double estimated_error = 0;
  std::optional<std::size_t> from;
  while (!from || *from < last) {
    std::size_t to = last;
    const std::size_t next = from ? *from + 1 : 0;
    while (to > next && log_ratio_to_delta(from, to) > max_chernoff_ratio) --to;
    // the lowest stratum is rather the largest one that is negligible, and need not be summed, if
    // there is one
    if (!from && to < last) {
      std::size_t negligible = last;
      while (negligible > 0 && log_ratio_to_delta(from, negligible) > -depth - 1) --negligible;
      if (log_ratio_to_delta(from, negligible) <= -depth - 1) to = negligible;
    }
    const auto stratum = choose_stratum(table, from, to, log_delta, depth);
    if (!stratum) return false;
    strata.push_back(*stratum);
    estimated_error = std::max(estimated_error, stratum->estimated_error);
    if (const double here = log_ratio_to_delta(from, to); here > largest) {
      largest = here;
      layout.tilt = stratum->tilt;
    }
    from = to;
  }
  layout.estimated_error = estimated_error;
  return true;
}

// Chooses the loss of each step below which it has at most e^-35 of the tilted mass in every
// stratum.
void GridChoice::choose_lows(const MomentTable& table, const std::vector<Stratum>& strata, Layout& layout) const {
  constexpr double negligible = 35;
  const std::size_t last = table.boundaries.size() - 1;
  for (const MomentTable::Step& step : table.steps) {
    const auto scale_at = [&](double tilt, double to) {
      const auto column = static_cast<std::size_t>(std::lower_bound(table.tilts.begin(), table.tilts.end(), tilt) - table.tilts.begin());
      const auto boundary =
          static_cast<std::size_t>(std::lower_bound(table.boundaries.begin(), table.boundaries.end(), to) - table.boundaries.begin());
      return step.below[std::min(column, table.tilts.size() - 1) * table.boundaries.size() + std::min(boundary, last)];
    };
    double low = highest_low;
    for (const Stratum& stratum : strata) {
      low = std::min(low, (scale_at(stratum.tilt, step.unstratified ? infinity : stratum.to) - negligible) / (stratum.tilt + 1));
    }
    layout.lows.push_back(low);
    layout.scales.push_back(scale_at(layout.tilt, infinity));
  }
}

// Chooses where losses without a maximum are truncated, so that truncated outcomes cost at most
// e^log_allowed. Either P(L > truncation) is that small. Or all outcomes with a truncated loss are
// counted as P - e^ε Q, and the leak is that small: what they have below ε,
// E_Q[(e^ε - e^L)₊; some loss is truncated] <= e^ε κ(λ) e^(λε) E_Q[e^(-λL); some loss is
// truncated], where a truncated step has e^(-λL) <= e^(-λ truncation).
void GridChoice::choose_truncations(const std::vector<DistributedStep>& steps, double log_allowed) {
  truncations_.assign(steps.size(), {infinity, false});
  const auto log_of = [](const DistributedStep& step, const LossDistribution::Mass& mass) {
    return std::log(step.step.count * mass.value * (1 + mass.error_bound)) + mass.log;
  };
  const auto log_p_above = [&](const DistributedStep& step, double loss) {
    return log_of(step, step.distribution->mass_p(step.distribution->edge(loss), step.distribution->edge(infinity)));
  };
  const auto log_q_above = [&](const DistributedStep& step, double loss) {
    return log_of(step, step.distribution->mass_q(step.distribution->edge(loss), step.distribution->edge(infinity)));
  };
  const auto first_where = [](double low, double high, const std::function<bool(double)>& holds) {  // by bisection
    for (int turn = 0; turn < 30; ++turn) {
      spend(300);
      const double middle = low + (high - low) / 2;
      (holds(middle) ? high : low) = middle;
    }
    return high;
  };
  std::vector<std::size_t> unbounded;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::isinf(steps[i].distribution->max_loss())) unbounded.push_back(i);
  }
  if (unbounded.empty()) return;
  log_allowed -= std::log(static_cast<double>(unbounded.size()));
  const double farthest = std::max(1e4 * epsilon_, 100.0);
  constexpr double nearer = 0.98;  // the grid may end up to one point before the truncation

  // the truncation at which the P-mass of larger losses is negligible
  for (const std::size_t i : unbounded) {
    const auto holds = [&](double truncation) { return log_p_above(steps[i], nearer * truncation) <= log_allowed; };
    if (holds(farthest)) truncations_[i] = {first_where(0, farthest, holds), true};
  }

  // smaller ones, at which the leak is: the λ for which they are smallest in sum
  double least = infinity;
  std::vector<Truncation> best = truncations_;
  for (double abscissa = std::min(0.5, 1 / (64 * epsilon_)); abscissa < 600 / epsilon_; abscissa *= 2) {
    double log_leak = chernoff_factor(abscissa);
    for (const DistributedStep& step : steps) log_leak += log_reversed_moment(step, abscissa);
    if (!std::isfinite(log_leak)) break;
    log_leak += 1e-9 * (1 + std::abs(log_leak));
    std::vector<Truncation> truncations = truncations_;
    double sum = 0;
    for (const std::size_t i : unbounded) {
      const auto holds = [&](double truncation) {
        return log_leak + log_q_above(steps[i], nearer * truncation) + (1 + abscissa) * epsilon_ - abscissa * nearer * truncation * (1 - 8 * unit) <=
               log_allowed;
      };
      const double end = std::min(farthest, truncations[i].loss);
      if (holds(end)) truncations[i] = {first_where(0, end, holds), false};
      sum += truncations[i].loss;
    }
    if (!(sum < least)) continue;
    least = sum;
    best = truncations;
    leak_abscissa_ = abscissa;
    log_leak_ = log_leak;
  }
  truncations_ = best;
}

// Chooses the tilt and the window of one stratum, or that it is only bounded; nullopt if none
// suits.
std::optional<Stratum> GridChoice::choose_stratum(const MomentTable& table, std::optional<std::size_t> from, std::size_t to, double log_delta,
                                                  double depth) const {
  const std::vector<double>& tilts = table.tilts;
  // log of Chernoff's bound over δ, tilt by tilt; at 0 the P-mass over δ
  std::vector<double> ratios;
  for (std::size_t i = 0; i < tilts.size(); ++i) {
    const double log_moment = table.log_moment(from, to, i);
    const double ratio = log_moment - (i == 0 ? 0 : tilts[i] * epsilon_ - chernoff_factor(tilts[i])) - log_delta;
    ratios.push_back(std::isnan(ratio) ? infinity : ratio);
  }
  Stratum best{from ? std::optional(table.boundaries[*from]) : std::nullopt, table.boundaries[to], 0, 0, 0, 0, 0, false, 0};
  const auto least_ratio = std::min_element(ratios.begin() + 1, ratios.end());
  const double steepest = tilts[static_cast<std::size_t>(least_ratio - ratios.begin())];
  if (*least_ratio <= -depth - 1) {
    best.only_bounded = true;
    // at the first tilt that suffices: at a larger one, raising a loss to its grid point would cost
    // more
    best.tilt =
        tilts[static_cast<std::size_t>(std::find_if(ratios.begin() + 1, ratios.end(), [&](double ratio) { return ratio <= -depth - 1; }) -
                                       ratios.begin())];
    return best;
  }

  double highest = 0;  // the largest composed loss
  for (const MomentTable::Step& step : table.steps) highest += step.count * (step.unstratified ? step.max_loss : std::min(step.max_loss, best.to));
  double least_error = infinity;
  for (std::size_t i = 1; i < tilts.size(); ++i) {
    if (ratios[i] > 24) continue;
    spend(20 * static_cast<double>(tilts.size()));
    const Wrapping below = wrapping_from_below(tilts, ratios, i, depth);
    const Wrapping above = wrapping_from_above(tilts, ratios, i, depth, epsilon_);
    const Window window = choose_window(tilts[i], below.length, above.length, highest);

    // what 2^20 grid points leave open for one step: by their spacing, and by the FFT's error,
    // which grows with the ratio of Chernoff's bound to δ
    const double spacing = window.length * 0x1p-20;
    const double error =
        std::pow(steepest * spacing, 2) / 8 + 4e-15 * std::sqrt(1.8 / (tilts[i] * spacing)) * std::exp(std::max(0.0, ratios[i]));
    if (!(error < least_error)) continue;
    least_error = error;
    best.tilt = tilts[i];
    best.estimated_error = error;
    best.abscissa_below = tilts[below.abscissa];
    best.abscissa_above = tilts[above.abscissa];
    best.window_bottom = window.bottom;
    best.window_top = window.bottom + window.length;
  }
  return std::isfinite(least_error) ? std::optional(best) : std::nullopt;
}

// Returns a window around ε that is long enough on either side. `highest` is the largest composed
// loss.
GridChoice::Window GridChoice::choose_window(double tilt, double length_below, double length_above, double highest) const {
  const double per_spacing = 5 * (count_ + 1) / 4000;  // raising losses to grid points may add this share of the length
  const double margin = per_spacing * (highest - lowest_);
  double bottom = epsilon_ - std::min({reach_, window_below * epsilon_, 100 / tilt});
  length_above = std::min(length_above, highest - epsilon_ + per_spacing * (highest - bottom));  // no loss is above
  double length = std::max(length_below, length_above) + epsilon_ - bottom;
  // a window that holds all losses has no aliasing
  if (std::isfinite(lowest_) && highest - lowest_ + 2 * margin < length) {
    length = highest - lowest_ + 2 * margin;
    bottom = std::min(bottom, lowest_ - margin);
  }
  return {bottom, length};
}

}  // namespace sotto::pld_detail
