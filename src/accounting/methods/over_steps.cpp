// Plans after a part of their steps, and ε after each of several step counts.
#include "sotto/accounting/over_steps.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/api/work.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"

namespace sotto {
namespace {

// k of `k * A`; 1 for any other plan.
std::int64_t count_of(const Plan& plan) {
  const auto* repeat = plan.as<Repeat>();
  return repeat == nullptr ? 1 : static_cast<std::int64_t>(repeat->steps.value());
}

// count * steps / total, rounded up.
std::int64_t share(std::int64_t count, std::int64_t steps, std::int64_t total) {
  if (count <= INT64_MAX / steps)
    return count * steps / total + (count * steps % total == 0 ? 0 : 1);
  const double part =
      static_cast<double>(count) * (static_cast<double>(steps) / static_cast<double>(total));
  return std::min(count, static_cast<std::int64_t>(std::ceil(part)));
}

// Returns the part of a plan that has run after `steps` of `total` steps: its repetitions, scaled
// and rounded up.
Plan part_after(const Plan& part, std::int64_t steps, std::int64_t total) {
  const auto* repeat = part.as<Repeat>();
  return repeat == nullptr
             ? part
             : static_cast<double>(share(count_of(part), steps, total)) * repeat->plan;
}

}  // namespace

std::int64_t step_total(const Plan& plan) {
  if (!holes_of(plan).empty())
    throw InvalidValue("the plan has a hole '?': fill it, or let calibrate find it");
  std::int64_t most = count_of(plan);
  if (const auto* sum = plan.as<Sum>()) {
    for (const Plan& part : sum->parts) most = std::max(most, count_of(part));
  }
  if (most == 1)
    throw InvalidValue(
        "the plan repeats nothing: a cost over steps needs k * A, or a sum of such, as in 1000 * "
        "gaussian(50)");
  return most;
}

Plan after_steps(const Plan& plan, std::int64_t steps) {
  const std::int64_t total = step_total(plan);
  if (steps < 1 || steps > total) {
    throw InvalidValue("steps = " + std::to_string(steps) +
                       " is not allowed: it must be a whole number from 1 to the plan's " +
                       std::to_string(total));
  }
  const auto* sum = plan.as<Sum>();
  if (sum == nullptr) return part_after(plan, steps, total);
  std::vector<Plan> parts;
  for (const Plan& part : sum->parts) parts.push_back(part_after(part, steps, total));
  return Sum{std::move(parts)};
}

std::vector<std::int64_t> step_counts(std::int64_t most, std::size_t points, Spacing spacing) {
  if (most < 1)
    throw InvalidValue("steps = " + std::to_string(most) +
                       " is not allowed: it must be a whole number from 1");
  if (points < 2)
    throw InvalidValue("points = " + std::to_string(points) +
                       " is not allowed: it must be a whole number from 2");
  std::vector<std::int64_t> counts;
  const auto last = static_cast<double>(most);
  for (std::size_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    const double at = spacing == Spacing::even ? 1 + share * (last - 1) : std::pow(last, share);
    const auto count = std::clamp<std::int64_t>(std::llround(at), 1, most);
    if (counts.empty() || count > counts.back()) counts.push_back(count);
  }
  if (counts.back() != most) counts.back() = most;
  return counts;
}

std::vector<StepPoint> epsilon_over_steps(const Plan& plan, Delta delta,
                                          const std::vector<std::int64_t>& counts,
                                          const Question& question,
                                          const std::function<void(std::size_t done)>& progress) {
  const WorkLimit limit(allowance_of(question));
  std::vector<StepPoint> points;
  for (const std::int64_t steps : counts) {
    // One point may use up to four times its even share of the remaining work.
    const WorkLimit share(std::min(1.0, 4.0 / static_cast<double>(counts.size() - points.size())) *
                          work_left());
    points.push_back({steps, epsilon(after_steps(plan, steps), delta, question)});
    if (progress) progress(points.size());
  }
  return points;
}

}  // namespace sotto
