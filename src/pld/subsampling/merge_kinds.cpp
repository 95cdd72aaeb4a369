#include "pld/subsampling/merge_kinds.hpp"

#include <cmath>
#include <map>
#include <tuple>
#include <typeindex>

#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

using Graded = PrivacyLoss::Graded;

struct Kind {
  Graded any;
  Real least_size, most_size, least_rate, most_rate;
  double count;
};

using Key = std::tuple<std::type_index, long, long>;

Key key_of(const PrivacyLoss& loss, const Graded& graded, double width) {
  const auto place = [width](const Real& x) { return std::lround(std::floor(std::log(x.estimate()) / width)); };
  return {std::type_index(typeid(loss)), place(graded.size), place(graded.rate)};
}

}  // namespace

std::optional<Merged> merged(const std::vector<LossStep>& steps, std::size_t most) {
  std::vector<LossStep> others;
  std::vector<std::pair<LossStep, Graded>> graded;
  for (const LossStep& step : steps) {
    if (const auto one = step.loss->graded()) {
      graded.emplace_back(step, *one);
    } else {
      others.push_back(step);
    }
  }
  if (graded.size() <= most) return std::nullopt;
  for (double width = 1e-3; width < 1e3; width *= 1.25) {
    spend(200 * static_cast<double>(graded.size()));
    std::map<Key, Kind> kinds;
    for (const auto& [step, one] : graded) {
      const auto [place, is_new] = kinds.try_emplace(key_of(*step.loss, one, width), Kind{one, one.size, one.size, one.rate, one.rate, 0});
      Kind& kind = place->second;
      kind.count += step.count;
      if (kinds.size() > most) break;
      if (is_new) continue;
      kind.least_size = min(kind.least_size, one.size);
      kind.most_size = max(kind.most_size, one.size);
      kind.least_rate = min(kind.least_rate, one.rate);
      kind.most_rate = max(kind.most_rate, one.rate);
    }
    if (kinds.size() > most) continue;
    Merged result{others, others};
    for (const auto& [key, kind] : kinds) {
      result.above.push_back({kind.any.with(kind.most_size, kind.most_rate), kind.count});
      result.below.push_back({kind.any.with(kind.least_size, kind.least_rate), kind.count});
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace sotto::pld_detail
