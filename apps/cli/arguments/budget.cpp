// Budgets as the command line describes them.
#include "budget.hpp"

#include "accounting/api/currencies.hpp"
#include "cli/command.hpp"
#include "privacy/api/large_delta.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {

Budget promised_budget(double epsilon, double delta, const std::string& slack, bool sum) {
  if (!slack.empty() && (sum || delta == 0))
    throw InvalidValue("--slack goes with --epsilon and --delta, without --sum");
  if (sum || delta == 0 || epsilon == 0) return ApproximateBudget{epsilon, delta};
  return gaussian_budget(epsilon, delta,
                         slack.empty() ? std::nullopt : std::optional(number_of(slack, "--slack")));
}

void say_promise(const Budget& budget, double delta) {
  const auto* gaussian = std::get_if<GdpBudget>(&budget);
  if (gaussian == nullptr || gaussian->delta == 0) return;
  const Delta at = delta > 0 ? Delta(delta) : promised_delta(budget);
  const Claim claim = Filter(budget).claim(at);
  say("the budget adds up mu^2 and slack, and promises epsilon <= " +
      rounded(claim.epsilon, 6, Side::upper) + " at delta = " + shortest(at.value()) +
      ", whatever analysts ask next");
  say("other budgets admit more: --sum for a few releases with Laplace noise, --rho for many of "
      "them, --order for many short sampled trainings");
}

void warn_of_delta(double delta, bool quiet, std::optional<double> units, const std::string& unit) {
  const std::string doubt = quiet ? "" : large_delta_warning(delta, units, unit);
  if (!doubt.empty()) say("warning: " + doubt);
}

void warn_of_delta(const std::string& typed, bool quiet, std::optional<double> units,
                   const std::string& unit) {
  if (!typed.empty()) warn_of_delta(number_of(typed, "--delta"), quiet, units, unit);
}

}  // namespace sotto::cli
