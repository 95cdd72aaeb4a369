#include "scaffold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base_noise.hpp"
#include "integral.hpp"
#include "rungs.hpp"

namespace sotto::detail {
namespace {

// log E_Q[e^(-λL)] of a step, from above; infinite where it is not known.
double log_back(const KnownStep& step, double line) {
  if (step.step.loss->symmetric()) return cumulant_above({step.step}, line);
  if (const auto* sampled = dynamic_cast<const SampledStep*>(step.step.loss.get()); sampled != nullptr && sampled->direction() == Direction::remove)
    return cumulant_above({{sampled->added(), step.step.count}}, line);
  return infinity;
}

}  // namespace

std::optional<std::vector<KnownStep>> known_steps(const std::vector<LossStep>& steps) {
  std::vector<KnownStep> all;
  for (const LossStep& step : steps) {
    const auto* known = dynamic_cast<const KnownLoss*>(step.loss.get());
    if (known == nullptr) return std::nullopt;
    all.push_back({step, known->law()});
  }
  return all;
}

bool has_atoms(const std::vector<KnownStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const KnownStep& step) { return !step.law->atoms().empty(); });
}

Scaffold::Scaffold(const std::vector<KnownStep>& steps, double epsilon, double log_delta, double depth) : steps_(steps) {
  choose_cut(epsilon, log_delta - depth);
  constexpr std::int64_t few = 2048;
  constexpr double finer = 1.25;
  for (double line = 0.005 / epsilon; line < 1e5 / epsilon; line *= finer) lines_.push_back(line);
  totals_.assign(lines_.size(), 0.0);
  for (const KnownStep& step : steps) {
    const double left = std::max(40 * epsilon / std::max(5.0, -0.25 * log_delta), 60 * step.step.loss->spread());
    const double low = std::max(step.law->least(), -left);
    const double high = std::min(step.law->most(), cut_);
    if (!std::isfinite(high)) return;
    const Rungs rungs{low, (high - low) / static_cast<double>(few), 0, few};
    std::vector<std::pair<double, double>> masses;
    const Drop keep = [&](std::int64_t /*rung*/, double loss, double mass) { masses.emplace_back(loss, mass); };
    raise_cells(*step.law, rungs, keep);
    place_atoms(*step.law, Side::upper, rungs, keep);
    std::vector<double> heights;
    for (const double line : lines_) {
      double sum = 0;
      const double most = (line + 1) * high;
      for (const auto& [loss, mass] : masses) sum += mass * std::exp((line + 1) * loss - most);
      heights.push_back(std::log(sum + underflow) + most + 1e-9 * (1 + std::abs(most)));
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) totals_[i] += step.step.count * heights[i];
    heights_.push_back(std::move(heights));
  }
  choose_window(epsilon, log_delta, depth);
}

// E_Q[(e^ε - e^L)₊; some step is far] <= e^ε κ(λ) e^(λε) E_Q[e^(-λL); some step is far], and a far step has e^(-λL) <= e^(-λ cut).
void Scaffold::choose_cut(double epsilon, double wanted) {
  const auto log_far = [&](double cut) {  // log Σ k Q(L > cut)
    double sum = underflow;
    for (const KnownStep& step : steps_) {
      if (step.law->most() < infinity) continue;
      const LossLaw::Mass mass = step.law->without(step.law->edge(cut), step.law->edge(infinity));
      sum += step.step.count * mass.value * (1 + mass.room);
    }
    return std::log(sum) + 1e-9;
  };
  if (std::all_of(steps_.begin(), steps_.end(), [](const KnownStep& step) { return step.law->most() < infinity; })) return;
  for (double line = std::min(0.5, 1 / (64 * epsilon)); line < 600 / epsilon; line *= 2) {
    double top = chernoff_factor(line);
    for (const KnownStep& step : steps_) top += log_back(step, line);
    if (!std::isfinite(top)) break;
    top += 1e-9 * (1 + std::abs(top));
    const auto leak = [&](double cut) { return top + log_far(cut) - line * cut * (1 - 8 * unit); };
    double low = epsilon;
    double high = std::min(cut_, std::max(1e4 * epsilon, 100.0));
    if (!(leak(high) + (1 + line) * epsilon <= wanted)) {
      if (cut_ < infinity) break;  // it was better before
      continue;
    }
    for (int turn = 0; turn < 20; ++turn) {
      const double middle = low + (high - low) / 2;
      (leak(middle) + (1 + line) * epsilon <= wanted ? high : low) = middle;
    }
    cut_ = high;
    leak_line_ = line;
    leak_ = top;
  }
}

void Scaffold::choose_window(double epsilon, double log_delta, double depth) {
  double worst = 0;
  double lowest = 0;
  double count = 0;
  double least = infinity;
  for (const KnownStep& step : steps_) {
    count += step.step.count;
    worst += step.step.count * std::min(step.law->most(), cut_);
    lowest += step.step.count * step.law->least();
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const double gap = std::max(0.0, totals_[i] - lines_[i] * epsilon + chernoff_factor(lines_[i]) - log_delta);  // of Chernoff's bound
    if (gap > 14 || !std::isfinite(totals_[i])) continue;
    const double left = depth + gap;
    double top = infinity;
    std::size_t far = i;
    for (std::size_t j = i + 1; j < lines_.size(); ++j) {
      const double end = (totals_[j] - totals_[i] + left) / (lines_[j] - lines_[i]);
      if (!(end < top)) continue;
      top = end;
      far = j;
    }
    double bottom = (totals_[i] - left) / lines_[i];
    std::optional<std::size_t> near;
    for (std::size_t j = 0; j < i; ++j) {
      const double end = (totals_[i] - totals_[j] - left) / (lines_[i] - lines_[j]);
      if (!(end > bottom)) continue;
      bottom = end;
      near = j;
    }
    // a window that holds all losses has nothing beyond, on either side
    const double room = std::isfinite(lowest) ? 5 * (count + 1) / 4000 * (worst - lowest) : 1e-3 * worst;
    if (top > worst - std::min(room, 0.02 * (worst - lowest))) top = worst + room;
    top += 0.002 * epsilon;
    bottom = std::min(std::max(bottom, lowest - room), epsilon * 0.98);
    // errors grow with the window, and the transform's with the gap
    const double cost = (top - bottom) * std::exp(0.2 * gap);
    if (!(top > epsilon) || !(cost < least)) continue;
    least = cost;
    top_ = top;
    bottom_ = bottom;
    at_ = i;
    far_ = far;
    near_ = near;
  }
}

double Scaffold::log_above(double loss, double raised) const {
  double count = 0;
  for (const KnownStep& step : steps_) count += step.step.count;
  return totals_[far_] + count * (lines_[far_] + 1) * raised - (lines_[far_] - lines_[at_]) * loss + 1e-9 * (1 + std::abs(totals_[far_]));
}

double Scaffold::log_below(double loss) const {
  const double from = near_ ? totals_[*near_] : 0;
  const double line = near_ ? lines_[*near_] : 0;
  return from + (lines_[at_] - line) * loss + 1e-9 * (1 + std::abs(from));
}

}  // namespace sotto::detail
