// The choice of a grid: moments of all steps in a table, from which strata, tilts and windows are
// chosen.
#include "pld/grid/choose_grid.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/api/work.hpp"
#include "pld/grid/moment_table.hpp"
#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double window_below =
    0.2;  // windows begin this share of ε below it, or nearer if the tilt is steep
constexpr double highest_low = 300;  // e^loss has to be a double
constexpr double large_error =
    1e-7;  // an estimated error above it makes another stratification worth trying
constexpr double max_chernoff_ratio =
    6;  // log of a stratum's Chernoff bound over δ: the FFT's rounding grows with it

// Returns an upper bound on log E_Q[e^(-λL)] of a step; infinite if there is none.
double log_reversed_moment(const DistributedStep& step, double abscissa) {
  if (step.step.loss->symmetric()) return cumulant_above({step.step}, abscissa);
  double trivial = infinity;
  if (const double min_loss = step.distribution->min_loss(); std::isfinite(min_loss)) {
    trivial = step.step.count * abscissa * (-min_loss + step.distribution->loss_error(min_loss)) *
              (1 + 8 * unit);
  }
  const PrivacyLossPtr reversed = step.step.loss->reversed();
  return reversed == nullptr
             ? trivial
             : std::min(trivial, cumulant_above({{reversed, step.step.count}}, abscissa));
}

// Return the largest losses that are not truncated.
double end_of(const DistributedStep& step, const GridChoice::Truncation& truncation) {
  return std::min(step.distribution->max_loss(), truncation.loss);
}
std::vector<double> ends_of(const std::vector<DistributedStep>& steps,
                            const std::vector<GridChoice::Truncation>& truncations) {
  std::vector<double> ends;
  for (std::size_t i = 0; i < steps.size(); ++i) ends.push_back(end_of(steps[i], truncations[i]));
  return ends;
}

constexpr double nearer = 0.98;  // the grid may end up to one point before a truncation

// Returns log of k times the mass above a loss, rounded up, for k equal steps.
enum class Under { p, q };
double log_mass_above(const DistributedStep& step, double loss, Under under) {
  const LossDistribution& distribution = *step.distribution;
  const LossDistribution::Edge from = distribution.edge(loss);
  const LossDistribution::Edge to = distribution.edge(infinity);
  const LossDistribution::Mass mass =
      under == Under::p ? distribution.mass_p(from, to) : distribution.mass_q(from, to);
  return std::log(step.step.count * mass.value * (1 + mass.error_bound)) + mass.log;
}

// Returns, by bisection, about the first point of an interval at which a condition holds.
double first_where(double low, double high, const std::function<bool(double)>& holds) {
  for (int turn = 0; turn < 30; ++turn) {
    spend(300);
    const double middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

// Losses outside the window are wrapped into it: those n windows below it count e^(-cnW) times,
// those above it e^(cnW) times. A wrapping is the shortest W that makes the wrapped mass of one
// side small, by Chernoff's bound at another abscissa, and the index of that abscissa.
struct Wrapping {
  double length;
  std::size_t abscissa;
};

Wrapping wrapping_from_below(const std::vector<double>& tilts, const std::vector<double>& ratios,
                             std::size_t i, double depth) {
  Wrapping best{infinity, 0};
  for (std::size_t j = 0; j < i; ++j) {
    const double length = log_sum(0, ratios[j] + depth) / (tilts[i] - tilts[j]);
    if (length < 0.99 * best.length) best = {length, j};
  }
  return best;
}

Wrapping wrapping_from_above(const std::vector<double>& tilts, const std::vector<double>& ratios,
                             std::size_t i, double depth, double epsilon) {
  Wrapping best{infinity, i};
  for (std::size_t j = i + 1; j < tilts.size(); ++j) {
    // At a larger tilt, rounding a loss up by one grid point would multiply E[e^(tilt loss)] by a
    // large factor.
    if (tilts[j] * epsilon > 1000 && tilts[j] > 4 * tilts[i]) break;
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
  return std::any_of(steps.begin(), steps.end(), [](const DistributedStep& step) {
    return !step.distribution->atoms().empty();
  });
}

GridChoice::GridChoice(const std::vector<DistributedStep>& steps, double epsilon, double log_delta,
                       double depth, double reach)
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
  for (const DistributedStep& step : steps)
    unstratified.push_back(step.step.loss->symmetric() ||
                           step.distribution->max_loss() < 0.1 * epsilon);
  if (std::find(unstratified.begin(), unstratified.end(), false) == unstratified.end())
    unstratified.assign(steps.size(), false);
  layout_ = make_layout(steps, unstratified, log_delta, depth);

  // Then, if the error is large, by each single step.
  for (std::size_t i = 0; i < steps.size() && layout_.estimated_error > large_error; ++i) {
    std::vector<bool> others(steps.size(), true);
    others[i] = false;
    if (others == unstratified) continue;
    if (Layout other = make_layout(steps, std::move(others), log_delta, depth);
        other.estimated_error < layout_.estimated_error) {
      layout_ = std::move(other);
    }
  }
}

// Chooses strata, where each step's grid begins, and the length of the window. The layout has no
// strata if none suit.
GridChoice::Layout GridChoice::make_layout(const std::vector<DistributedStep>& steps,
                                           std::vector<bool> unstratified, double log_delta,
                                           double depth) const {
  Layout layout;
  layout.unstratified = std::move(unstratified);

  // tilts, closer together around the one with the least Chernoff bound
  std::vector<double> tilts{0};
  for (double tilt = 0.005 / epsilon_; tilt < 1e8 / epsilon_;
       tilt *= tilt < 1e4 / epsilon_ ? 1.3 : 2)
    tilts.push_back(tilt);
  const MomentTable rough(steps, layout.unstratified, ends_of(steps, truncations_), epsilon_,
                          log_delta, tilts);
  const double best =
      rough.min_chernoff(std::nullopt, rough.boundaries.size() - 1, epsilon_).second;
  for (double tilt = best / 3; tilt < best * 4; tilt *= 1.03) tilts.push_back(tilt);
  std::sort(tilts.begin(), tilts.end());
  const MomentTable table(steps, layout.unstratified, ends_of(steps, truncations_), epsilon_,
                          log_delta, tilts);

  std::vector<Stratum> strata;
  if (!choose_strata(table, log_delta, depth, layout, strata)) return layout;
  choose_lows(table, strata, layout);

  // the longest window; and one step's losses may wind around it a few times at most
  for (const Stratum& stratum : strata) {
    layout.length = std::max(
        layout.length, stratum.only_bounded ? 0.0 : stratum.window_top - stratum.window_bottom);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double low =
        std::min(std::max(lowest_relevant_loss(steps[i], epsilon_, log_delta), layout.lows[i]),
                 steps[i].distribution->bulk().value_or(infinity));
    layout.length = std::max(layout.length, (end_of(steps[i], truncations_[i]) - low) / 8);
  }
  layout.strata = std::move(strata);
  return layout;
}

// Chooses as few strata as have Chernoff bounds not much larger than δ. Returns false if one has no
// window.
bool GridChoice::choose_strata(const MomentTable& table, double log_delta, double depth,
                               Layout& layout, std::vector<Stratum>& strata) const {
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
void GridChoice::choose_lows(const MomentTable& table, const std::vector<Stratum>& strata,
                             Layout& layout) const {
  constexpr double negligible = 35;
  const std::size_t last = table.boundaries.size() - 1;
  for (const MomentTable::Step& step : table.steps) {
    const auto scale_at = [&](double tilt, double to) {
      const auto column = static_cast<std::size_t>(
          std::lower_bound(table.tilts.begin(), table.tilts.end(), tilt) - table.tilts.begin());
      const auto boundary = static_cast<std::size_t>(
          std::lower_bound(table.boundaries.begin(), table.boundaries.end(), to) -
          table.boundaries.begin());
      return step.below[std::min(column, table.tilts.size() - 1) * table.boundaries.size() +
                        std::min(boundary, last)];
    };
    double low = highest_low;
    for (const Stratum& stratum : strata) {
      low = std::min(
          low, (scale_at(stratum.tilt, step.unstratified ? infinity : stratum.to) - negligible) /
                   (stratum.tilt + 1));
    }
    layout.lows.push_back(low);
    layout.scales.push_back(scale_at(layout.tilt, infinity));
  }
}

// Chooses where losses without a maximum are truncated, so that truncated outcomes cost at most
// e^log_allowed. Either the P-mass above the truncation is that small. Or all outcomes with a
// truncated loss are counted as P - e^ε Q, and their leak is that small.
void GridChoice::choose_truncations(const std::vector<DistributedStep>& steps, double log_allowed) {
  truncations_.assign(steps.size(), {infinity, false});
  std::vector<std::size_t> unbounded;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::isinf(steps[i].distribution->max_loss())) unbounded.push_back(i);
  }
  if (unbounded.empty()) return;
  log_allowed -= std::log(static_cast<double>(unbounded.size()));
  const double farthest = std::max(1e4 * epsilon_, 100.0);
  for (const std::size_t i : unbounded) {
    const auto is_negligible = [&](double truncation) {
      return log_mass_above(steps[i], nearer * truncation, Under::p) <= log_allowed;
    };
    if (is_negligible(farthest)) truncations_[i] = {first_where(0, farthest, is_negligible), true};
  }
  truncate_by_leak(steps, unbounded, farthest, log_allowed);
}

// Chooses smaller truncations, at which the leak of truncated outcomes below ε is small enough. It
// is E_Q[(e^ε - e^L)₊; some loss is truncated] <= e^ε κ(λ) e^(λε) E_Q[e^(-λL); some loss is
// truncated], where a truncated step has e^(-λL) <= e^(-λ truncation). Of several λ, the one for
// which the truncations are smallest in sum.
void GridChoice::truncate_by_leak(const std::vector<DistributedStep>& steps,
                                  const std::vector<std::size_t>& unbounded, double farthest,
                                  double log_allowed) {
  double least_sum = infinity;
  std::vector<Truncation> best = truncations_;
  for (double abscissa = std::min(0.5, 1 / (64 * epsilon_)); abscissa < 600 / epsilon_;
       abscissa *= 2) {
    double log_leak = chernoff_factor(abscissa);
    for (const DistributedStep& step : steps) log_leak += log_reversed_moment(step, abscissa);
    if (!std::isfinite(log_leak)) break;
    log_leak += 1e-9 * (1 + std::abs(log_leak));
    std::vector<Truncation> truncations = truncations_;
    double sum = 0;
    for (const std::size_t i : unbounded) {
      const auto is_small = [&](double truncation) {
        return log_leak + log_mass_above(steps[i], nearer * truncation, Under::q) +
                   (1 + abscissa) * epsilon_ - abscissa * nearer * truncation * (1 - 8 * unit) <=
               log_allowed;
      };
      const double end = std::min(farthest, truncations[i].loss);
      if (is_small(end)) truncations[i] = {first_where(0, end, is_small), false};
      sum += truncations[i].loss;
    }
    if (!(sum < least_sum)) continue;
    least_sum = sum;
    best = truncations;
    leak_abscissa_ = abscissa;
    log_leak_ = log_leak;
  }
  truncations_ = best;
}

// Chooses the tilt and the window of one stratum, or that it is only bounded; nullopt if none
// suits.
std::optional<Stratum> GridChoice::choose_stratum(const MomentTable& table,
                                                  std::optional<std::size_t> from, std::size_t to,
                                                  double log_delta, double depth) const {
  const std::vector<double>& tilts = table.tilts;
  // log of Chernoff's bound over δ, tilt by tilt; at 0 the P-mass over δ
  std::vector<double> ratios;
  for (std::size_t i = 0; i < tilts.size(); ++i) {
    const double log_moment = table.log_moment(from, to, i);
    const double ratio =
        log_moment - (i == 0 ? 0 : tilts[i] * epsilon_ - chernoff_factor(tilts[i])) - log_delta;
    ratios.push_back(std::isnan(ratio) ? infinity : ratio);
  }
  Stratum best{from ? std::optional(table.boundaries[*from]) : std::nullopt,
               table.boundaries[to],
               0,
               0,
               0,
               0,
               0,
               false,
               0};
  const auto least_ratio = std::min_element(ratios.begin() + 1, ratios.end());
  const double steepest = tilts[static_cast<std::size_t>(least_ratio - ratios.begin())];
  if (*least_ratio <= -depth - 1) {
    best.only_bounded = true;
    // at the first tilt that suffices: at a larger one, raising a loss to its grid point would cost
    // more
    best.tilt = tilts[static_cast<std::size_t>(
        std::find_if(ratios.begin() + 1, ratios.end(),
                     [&](double ratio) { return ratio <= -depth - 1; }) -
        ratios.begin())];
    return best;
  }

  double highest = 0;  // the largest composed loss
  for (const MomentTable::Step& step : table.steps)
    highest += step.count * (step.unstratified ? step.max_loss : std::min(step.max_loss, best.to));
  double least_error = infinity;
  for (std::size_t i = 1; i < tilts.size(); ++i) {
    if (ratios[i] > 24) continue;
    spend(20 * static_cast<double>(tilts.size()));
    const Wrapping below = wrapping_from_below(tilts, ratios, i, depth);
    const Wrapping above = wrapping_from_above(tilts, ratios, i, depth, epsilon_);
    const Window window = choose_window(tilts[i], below.length, above.length, highest);

    // the relative width of a bracket with 2^20 grid points for one step: from their spacing, and
    // from the FFT's error, which grows with the ratio of Chernoff's bound to δ
    const double spacing = window.length * 0x1p-20;
    const double error =
        std::pow(steepest * spacing, 2) / 8 +
        4e-15 * std::sqrt(1.8 / (tilts[i] * spacing)) * std::exp(std::max(0.0, ratios[i]));
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
GridChoice::Window GridChoice::choose_window(double tilt, double length_below, double length_above,
                                             double highest) const {
  const double per_spacing =
      5 * (count_ + 1) / 4000;  // raising losses to grid points may add this share of the length
  const double margin = per_spacing * (highest - lowest_);
  double bottom = epsilon_ - std::min({reach_, window_below * epsilon_, 100 / tilt});
  length_above = std::min(
      length_above, highest - epsilon_ + per_spacing * (highest - bottom));  // no loss is above
  double length = std::max(length_below, length_above) + epsilon_ - bottom;
  // a window that holds all losses has no aliasing
  if (std::isfinite(lowest_) && highest - lowest_ + 2 * margin < length) {
    length = highest - lowest_ + 2 * margin;
    bottom = std::min(bottom, lowest_ - margin);
  }
  return {bottom, length};
}

}  // namespace sotto::pld_detail
