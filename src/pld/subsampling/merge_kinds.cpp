// Merging of similar sampled steps: steps whose sizes and rates fall into the same cell of a
// logarithmic grid are one kind. The cells widen until there are few enough kinds.
#include "pld/subsampling/merge_kinds.hpp"

#include <cmath>
#include <map>
#include <tuple>
#include <typeindex>

#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

using SampledFamily = PrivacyLoss::SampledFamily;

// Steps of one family and cell, with the ranges of their parameters.
struct Kind {
  SampledFamily family;
  Real min_size, max_size, min_rate, max_rate;
  double count;
};

// The mechanism, and the cells of log(size) and log(rate).
using Key = std::tuple<std::type_index, long, long>;

Key key_of(const PrivacyLoss& loss, const SampledFamily& step, double width) {
  const auto cell = [width](const Real& x) {
    return std::lround(std::floor(std::log(x.estimate()) / width));
  };
  return {std::type_index(typeid(loss)), cell(step.size), cell(step.rate)};
}

}  // namespace

std::optional<MergedSteps> merge_kinds(const std::vector<LossStep>& steps, std::size_t max_kinds) {
  std::vector<LossStep> others;
  std::vector<std::pair<LossStep, SampledFamily>> sampled;
  for (const LossStep& step : steps) {
    if (const auto one = step.loss->sampled_family()) {
      sampled.emplace_back(step, *one);
    } else {
      others.push_back(step);
    }
  }
  if (sampled.size() <= max_kinds) return std::nullopt;

  for (double width = 1e-3; width < 1e3; width *= 1.25) {
    spend(200 * static_cast<double>(sampled.size()));
    std::map<Key, Kind> kinds;
    for (const auto& [step, one] : sampled) {
      const auto [entry, is_new] = kinds.try_emplace(
          key_of(*step.loss, one, width), Kind{one, one.size, one.size, one.rate, one.rate, 0});
      Kind& kind = entry->second;
      kind.count += step.count;
      if (kinds.size() > max_kinds) break;
      if (is_new) continue;
      kind.min_size = min(kind.min_size, one.size);
      kind.max_size = max(kind.max_size, one.size);
      kind.min_rate = min(kind.min_rate, one.rate);
      kind.max_rate = max(kind.max_rate, one.rate);
    }
    if (kinds.size() > max_kinds) continue;

    MergedSteps result{others, others};
    for (const auto& [key, kind] : kinds) {
      result.dominating.push_back({kind.family.member(kind.max_size, kind.max_rate), kind.count});
      result.dominated.push_back({kind.family.member(kind.min_size, kind.min_rate), kind.count});
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace sotto::pld_detail
