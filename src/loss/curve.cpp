#include "sotto/loss/curve.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "by_ladder.hpp"
#include "exact.hpp"
#include "integral.hpp"
#include "saddle.hpp"
#include "sotto/core/work.hpp"
#include "sotto/loss/contour.hpp"

namespace sotto {
namespace {

using loss_detail::Contour;
using loss_detail::infinity;

bool is_narrow(Bound delta, double tolerance) { return delta.upper - delta.lower <= tolerance * delta.upper; }

// Both hold.
Bound met(Bound a, Bound b) { return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; }

}  // namespace

struct ComposedCurve::Kept {
  std::vector<LossStep> steps;
  double tolerance;
  double worst;
  std::optional<loss_detail::Profile> exact;
  std::map<double, Contour> lines;  // by the ε that each was made for
  bool lines_fail = false;          // a line was tried, and was no use
  struct Above {
    Bound window;
    loss_detail::Ladder ladder;
  };
  std::vector<Above> ladders;
  int no_ladders = 0;  // that were tried, and were no use

  // The kept lines on either side, if the bracket of one is narrow.
  [[nodiscard]] std::optional<Bound> from_lines(double epsilon) const {
    const auto next = lines.lower_bound(epsilon);
    std::optional<Bound> found;
    const auto look = [&](const Contour& contour) {
      if (found) return;
      const Bound here = contour.delta(epsilon);
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
    attempted(0.7, [&] {
      const double c = loss_detail::bounded_at(steps, loss_detail::saddle_at(steps, epsilon));
      const auto about = loss_detail::about_log_delta(steps, c, epsilon);
      if (!about) return;
      // so many digits beyond the tolerance serve the ε around
      Contour contour(steps, c, epsilon, *about, 1e-4 * tolerance, 0, Precision{}.work);
      if (contour.failed()) return;
      const Bound here = contour.delta(epsilon);
      if (!is_narrow(here, tolerance)) return;
      found = here;
      lines.emplace(epsilon, std::move(contour));
    });
    lines_fail = !found && lines.empty();
    return found;
  }

  // From above, by a ladder of losses that is kept.
  std::optional<double> from_ladders(double epsilon) {
    constexpr double beyond = 1.06;  // a ladder reaches further down than up
    for (const Above& above : ladders) {
      if (above.window.contains(epsilon)) return above.ladder.delta(epsilon);
    }
    if (no_ladders > 2 && ladders.empty()) return std::nullopt;
    std::optional<double> found;
    attempted(0.5, [&] {
      const double at = std::min(beyond * epsilon, std::isfinite(worst) ? epsilon + 0.5 * (worst - epsilon) : infinity);
      const double c = loss_detail::bounded_at(steps, loss_detail::saddle_at(steps, at));
      const auto about = loss_detail::about_log_delta(steps, c, at);
      if (!about) return;
      auto ladder = loss_detail::ladder_above(steps, at, *about);
      if (!ladder || !ladder->window().contains(epsilon)) return;
      found = ladder->delta(epsilon);
      ladders.push_back({{std::max(ladder->window().lower, epsilon / beyond), std::min(ladder->window().upper, at)}, std::move(*ladder)});
    });
    no_ladders += found ? 0 : 1;
    return found;
  }
};

ComposedCurve::ComposedCurve(std::vector<LossStep> steps, double tolerance) : kept_(std::make_unique<Kept>()) {
  kept_->worst = loss_detail::worst_of(steps);
  kept_->tolerance = tolerance;
  kept_->exact = loss_detail::single_profile(steps);
  if (!kept_->exact) kept_->exact = loss_detail::counted_profile(steps);
  kept_->steps = std::move(steps);
}
ComposedCurve::ComposedCurve(ComposedCurve&&) noexcept = default;
ComposedCurve& ComposedCurve::operator=(ComposedCurve&&) noexcept = default;
ComposedCurve::~ComposedCurve() = default;

double ComposedCurve::worst() const { return kept_->worst; }

Bound ComposedCurve::delta(double epsilon) {
  if (epsilon >= kept_->worst) return {0, 0};
  Bound known{0, 1};
  if (kept_->exact) {
    attempted(0.5, [&] { known = met(known, (*kept_->exact)(epsilon)); });
    if (is_narrow(known, kept_->tolerance)) return known;
  }
  if (const auto near = kept_->from_lines(epsilon)) return met(known, *near);
  if (const auto here = kept_->from_new_line(epsilon)) return met(known, *here);
  if (const auto above = kept_->from_ladders(epsilon)) return met(known, {0, *above});
  const Bound other = composed_delta(kept_->steps, {epsilon, epsilon}, Precision{.smooth = 1e-7, .atoms = 1e-4, .work = 3e6});
  return met(known, other);
}

}  // namespace sotto
