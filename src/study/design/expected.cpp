// The expected errors of answers, where they do not depend on the data.
#include <cmath>

#include "mechanisms/api/combined.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "study/api/design.hpp"
#include "study/design/measure.hpp"

namespace sotto {

std::optional<Expected> expected_error(const Study& study, const Query& query,
                                       const Measurement& m) {
  const double grid = std::ldexp(1.0, grid_for_scale(m.scale));
  const auto margin = [&](const std::vector<Weight>& weights) {
    double rounding = 0;
    for (const Weight& w : weights) rounding += std::abs(w.size) * w.times * grid / 2;
    return distance_at(m.kind, m.scale, weights, 1 - study.confidence) + rounding;
  };
  const double range = static_cast<double>(m.aggregate.steps.range()) * m.aggregate.steps.unit();
  switch (query.ask) {
    case Aggregation::count:
    case Aggregation::distinct:
    case Aggregation::sum:
    case Aggregation::histogram: {
      const double fixed = margin(study_detail::weights_of(m.form, m.aggregate.steps, query));
      return Expected{fixed, fixed, false};
    }
    // n times the error is (1 - t)·noise - t·noise', where t in [0, 1] is the relative position of
    // the mean between the bounds: least for t = 1/2, most for t = 0 or 1.
    case Aggregation::mean:
      if (m.form == Form::halves) return Expected{margin({{0.5}, {0.5}}), margin({{1.0}}), true};
      return Expected{margin({{0.5}, {0.5}}) / range, margin({{0.5}, {1.0}}) / range, true};
    default: return std::nullopt;
  }
}

}  // namespace sotto
