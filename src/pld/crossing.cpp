// The inverse of a profile: secants on log δ, then steps outward until the profile proves each end.
#include "pld/crossing.hpp"

#include <algorithm>
#include <cmath>

#include "core/api/contradiction.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

bool is_narrow(Bound epsilon, const Precision& precision) {
  const double width = epsilon.upper - epsilon.lower;
  return width <= std::max(1e-12, 10 * precision.smooth * epsilon.upper);
}

Bound bracket_crossing(const Profile& profile, double c, double max_loss, Bound range, double from,
                       double fine) {
  const double delta = range.lower;
  const double log_delta = std::log(delta);
  // log of one side's bound on δ(ε), relative to δ
  const auto log_at = [&](double epsilon, Side side) {
    const Bound here = profile(epsilon);
    const double value = side == Side::upper ? here.upper : here.lower;
    return value > 0 ? std::log(value) - log_delta : -infinity;
  };

  // Step 1, a guess: the root of one side's bound, by secants. It proves nothing.
  const auto approximate_root = [&](Side side, double start) {
    double x = start;
    double y = log_at(x, side);
    double slope = -c;
    for (int turn = 0; turn < 12 && std::isfinite(y) && y != 0; ++turn) {
      const double next = std::clamp(x - y / slope, 0.0, max_loss);
      if (next == x) break;
      const double there = log_at(next, side);
      const double secant = (there - y) / (next - x);
      if (std::isfinite(secant) && secant < 0) slope = secant;
      const double moved = std::abs(next - x);
      x = next;
      y = there;
      if (moved <= fine * x) break;
    }
    return x;
  };

  // Step 2, the proof: from the guess outward to an ε at which the bound itself is on its side of
  // δ.
  const auto proved_end = [&](Side side, double start) {
    const double sign = side == Side::upper ? 1 : -1;
    double move = fine * start;
    for (int turn = 0; turn < 80; ++turn) {
      const double x = turn == 0 ? start : start + sign * move;
      if (side == Side::lower && x <= 0) return 0.0;
      if (side == Side::upper && x >= max_loss) return max_loss;
      const Bound here = profile(std::max(0.0, x));
      if (side == Side::upper ? here.upper <= delta : here.lower > range.upper)
        return std::max(0.0, x);
      if (turn > 0) move = std::max(move * 3, 1e-300);
    }
    return side == Side::upper ? max_loss : 0.0;
  };
  const double upper = proved_end(Side::upper, approximate_root(Side::upper, from));
  const double lower = proved_end(Side::lower, approximate_root(Side::lower, upper));
  return bracket(lower, upper, "epsilon of composed losses");
}

}  // namespace sotto::pld_detail
