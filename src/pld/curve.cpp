// ComposedCurve: inversion integrals and pessimistic grids, cached by the ε that they were made
// for.
#include "pld/api/curve.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/api/work.hpp"
#include "pld/api/compose.hpp"
#include "pld/grid/bracket.hpp"
#include "pld/saddle_point/abscissa.hpp"
#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::InversionIntegral;

bool is_narrow(Bound delta, double tolerance) {
  return delta.upper - delta.lower <= tolerance * delta.upper;
}

Bound intersection(Bound a, Bound b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

}  // namespace

// The composition, and the integrals and grids of previous calls.
struct ComposedCurve::Cache {
  std::vector<LossStep> steps;
  double tolerance;
  double max_loss;
  std::map<double, InversionIntegral> integrals;  // by the ε of each
  bool integrals_fail = false;                    // the first integral failed: no other is tried
  // A grid, and the ε for which its upper bound is close to δ(ε).
  struct WindowedComposition {
    Bound window;
    pld_detail::FftComposition composition;
  };
  std::vector<WindowedComposition> compositions;
  int failed_compositions = 0;

  // Returns the bracket of a neighbouring cached integral, if one is narrow at ε.
  [[nodiscard]] std::optional<Bound> from_cached_integrals(double epsilon) const {
    const auto next = integrals.lower_bound(epsilon);
    std::optional<Bound> result;
    const auto consider = [&](const InversionIntegral& integral) {
      if (result) return;
      const Bound here = integral.delta(epsilon);
      if (is_narrow(here, tolerance)) result = here;
    };
    if (next != integrals.end()) consider(next->second);
    if (next != integrals.begin()) consider(std::prev(next)->second);
    return result;
  }

  // Makes an integral through the saddle point at ε; caches and returns it if it is narrow.
  std::optional<Bound> from_new_integral(double epsilon) {
    if (integrals_fail) return std::nullopt;
    std::optional<Bound> result;
    finishes_within(0.7, [&] {
      const double c =
          pld_detail::bounded_abscissa(steps, pld_detail::saddle_point(steps, epsilon));
      const auto about = pld_detail::saddle_point_estimate(steps, c, epsilon);
      if (!about) return;
      // Four digits more than the tolerance, so that it serves other ε nearby, too.
      InversionIntegral integral(steps, c, epsilon, *about, 1e-4 * tolerance, 0, Precision{}.work);
      if (integral.failed()) return;
      const Bound here = integral.delta(epsilon);
      if (!is_narrow(here, tolerance)) return;
      result = here;
      integrals.emplace(epsilon, std::move(integral));
    });
    integrals_fail = !result && integrals.empty();
    return result;
  }

  // Returns an upper bound by a pessimistic grid, cached or new.
  std::optional<double> from_compositions(double epsilon) {
    constexpr double beyond =
        1.06;  // a grid serves smaller ε better than larger ones: it is made for a larger ε
    for (const WindowedComposition& one : compositions) {
      if (one.window.contains(epsilon)) return one.composition.delta(epsilon);
    }
    if (failed_compositions > 2 && compositions.empty()) return std::nullopt;
    std::optional<double> result;
    finishes_within(0.5, [&] {
      const double at =
          std::min(beyond * epsilon,
                   std::isfinite(max_loss) ? epsilon + 0.5 * (max_loss - epsilon) : infinity);
      const double c = pld_detail::bounded_abscissa(steps, pld_detail::saddle_point(steps, at));
      const auto about = pld_detail::saddle_point_estimate(steps, c, at);
      if (!about) return;
      auto composition = pld_detail::pessimistic_composition(steps, at, *about);
      if (!composition || !composition->window().contains(epsilon)) return;
      result = composition->delta(epsilon);
      compositions.push_back({{std::max(composition->window().lower, epsilon / beyond),
                               std::min(composition->window().upper, at)},
                              std::move(*composition)});
    });
    failed_compositions += result ? 0 : 1;
    return result;
  }
};

ComposedCurve::ComposedCurve(std::vector<LossStep> steps, double tolerance)
    : cache_(std::make_unique<Cache>()) {
  cache_->max_loss = pld_detail::max_loss_of(steps);
  cache_->tolerance = tolerance;
  cache_->steps = std::move(steps);
}
ComposedCurve::ComposedCurve(ComposedCurve&&) noexcept = default;
ComposedCurve& ComposedCurve::operator=(ComposedCurve&&) noexcept = default;
ComposedCurve::~ComposedCurve() = default;

double ComposedCurve::max_loss() const { return cache_->max_loss; }

std::optional<Bound> ComposedCurve::by_integral(double epsilon) {
  if (epsilon >= cache_->max_loss) return Bound{0, 0};
  if (const auto cached = cache_->from_cached_integrals(epsilon)) return cached;
  return cache_->from_new_integral(epsilon);
}

Bound ComposedCurve::delta(double epsilon) {
  if (epsilon >= cache_->max_loss) return {0, 0};
  Bound known{0, 1};
  if (const auto integral = by_integral(epsilon)) return intersection(known, *integral);
  if (const auto above = cache_->from_compositions(epsilon))
    return intersection(known, {0, *above});
  const Bound other = composed_delta(cache_->steps, {epsilon, epsilon},
                                     Precision{.smooth = 1e-7, .atoms = 1e-4, .work = 3e6});
  return intersection(known, other);
}

}  // namespace sotto
