#include "pld/api/curve.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "pld/grid/bracket.hpp"
#include "pld/saddle_point/abscissa.hpp"
#include "pld/saddle_point/inversion_integral.hpp"
#include "core/api/work.hpp"
#include "pld/api/compose.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::InversionIntegral;

bool is_narrow(Bound delta, double tolerance) { return delta.upper - delta.lower <= tolerance * delta.upper; }

// Both hold.
Bound met(Bound a, Bound b) { return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; }

}  // namespace

struct ComposedCurve::Kept {
  std::vector<LossStep> steps;
  double tolerance;
  double max_loss;
  std::map<double, InversionIntegral> lines;  // by the ε that each was made for
  bool lines_fail = false;                    // a line was tried, and was no use
  struct Above {
    Bound window;
    pld_detail::FftComposition composition;
  };
  std::vector<Above> compositions;
  int failed_compositions = 0;  // that were tried, and were no use

  // The kept lines on either side, if the bracket of one is narrow.
  [[nodiscard]] std::optional<Bound> from_lines(double epsilon) const {
    const auto next = lines.lower_bound(epsilon);
    std::optional<Bound> found;
    const auto look = [&](const InversionIntegral& integral) {
      if (found) return;
      const Bound here = integral.delta(epsilon);
      if (is_narrow(here, tolerance)) found = here;
    };
    if (next != lines.end()) look(next->second);
    if (next != lines.begin()) look(std::prev(next)->second);
    return found;
  }

  // A new line through the saddle point at ε.
  std::optional<Bound> from_new_line(double epsilon) {
    if (lines_fail) return std::nullopt;
    std::optional<Bound> found;
    finishes_within(0.7, [&] {
      const double c = pld_detail::bounded_abscissa(steps, pld_detail::saddle_point(steps, epsilon));
      const auto about = pld_detail::saddle_point_estimate(steps, c, epsilon);
      if (!about) return;
      // so many digits beyond the tolerance serve the ε around
      InversionIntegral integral(steps, c, epsilon, *about, 1e-4 * tolerance, 0, Precision{}.work);
      if (integral.failed()) return;
      const Bound here = integral.delta(epsilon);
      if (!is_narrow(here, tolerance)) return;
      found = here;
      lines.emplace(epsilon, std::move(integral));
    });
    lines_fail = !found && lines.empty();
    return found;
  }

  // From above, by a grid of losses that is kept.
  std::optional<double> from_compositions(double epsilon) {
    constexpr double beyond = 1.06;  // a grid reaches further down than up
    for (const Above& above : compositions) {
      if (above.window.contains(epsilon)) return above.composition.delta(epsilon);
    }
    if (failed_compositions > 2 && compositions.empty()) return std::nullopt;
    std::optional<double> found;
    finishes_within(0.5, [&] {
      const double at = std::min(beyond * epsilon, std::isfinite(max_loss) ? epsilon + 0.5 * (max_loss - epsilon) : infinity);
      const double c = pld_detail::bounded_abscissa(steps, pld_detail::saddle_point(steps, at));
      const auto about = pld_detail::saddle_point_estimate(steps, c, at);
      if (!about) return;
      auto composition = pld_detail::pessimistic_composition(steps, at, *about);
      if (!composition || !composition->window().contains(epsilon)) return;
      found = composition->delta(epsilon);
      compositions.push_back(
          {{std::max(composition->window().lower, epsilon / beyond), std::min(composition->window().upper, at)}, std::move(*composition)});
    });
    failed_compositions += found ? 0 : 1;
    return found;
  }
};

ComposedCurve::ComposedCurve(std::vector<LossStep> steps, double tolerance) : kept_(std::make_unique<Kept>()) {
  kept_->max_loss = pld_detail::max_loss_of(steps);
  kept_->tolerance = tolerance;
  kept_->steps = std::move(steps);
}
ComposedCurve::ComposedCurve(ComposedCurve&&) noexcept = default;
ComposedCurve& ComposedCurve::operator=(ComposedCurve&&) noexcept = default;
ComposedCurve::~ComposedCurve() = default;

double ComposedCurve::max_loss() const { return kept_->max_loss; }

std::optional<Bound> ComposedCurve::by_integral(double epsilon) {
  if (epsilon >= kept_->max_loss) return Bound{0, 0};
  if (const auto near = kept_->from_lines(epsilon)) return near;
  return kept_->from_new_line(epsilon);
}

Bound ComposedCurve::delta(double epsilon) {
  if (epsilon >= kept_->max_loss) return {0, 0};
  Bound known{0, 1};
  if (const auto integral = by_integral(epsilon)) return met(known, *integral);
  if (const auto above = kept_->from_compositions(epsilon)) return met(known, {0, *above});
  const Bound other = composed_delta(kept_->steps, {epsilon, epsilon}, Precision{.smooth = 1e-7, .atoms = 1e-4, .work = 3e6});
  return met(known, other);
}

}  // namespace sotto
