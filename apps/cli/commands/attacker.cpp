// sotto tradeoff, and the distribution of the privacy loss for sotto divergence --loss.
#include "report/api/attacker.hpp"

#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

std::vector<double> numbers_of(const Typed& typed, const char* option) {
  std::vector<double> numbers;
  for (const std::string& text : typed.list) numbers.push_back(number_of(text, option));
  return numbers;
}

void draw(const Typed& typed, const Chart& chart) {
  write_file(typed.plot, svg(chart));
  if (!typed.quiet) std::cerr << "drawn to " << typed.plot << "\n";
}

void run_tradeoff(const Typed& typed) {
  const Plan plan = parse(typed.plan);
  std::vector<double> fprs = numbers_of(typed, "--fpr");
  if (fprs.empty()) fprs = {0.001, 0.01, 0.05, 0.1, 0.5};
  const double prior = number_of(typed.prior, "--prior");
  const bool by_order = !typed.order.empty();
  std::optional<Order> order;
  if (by_order && typed.order != "best") order.emplace(number_of(typed.order, "--order"));
  if (order && !(order->value() > 1 && std::isfinite(order->value()))) {
    throw InvalidValue("--order " + typed.order + " is not allowed: it must be a finite number above 1, or best");
  }
  const Tradeoff tradeoff(plan, relation_option(typed), seconds_of(typed));
  std::vector<RenyiRate> rates;
  for (std::size_t i = 0; by_order && i < fprs.size(); ++i) rates.push_back(renyi_true_positive_rate(plan, fprs[i], order));
  std::cout << tradeoff_text(plan, tradeoff, fprs, prior, format_of(typed), rates);
  if (!typed.plot.empty()) draw(typed, tradeoff_chart(plan, tradeoff));
  tell_cut(typed, tradeoff.cut());
}

}  // namespace

void run_loss(const Typed& typed) {
  const Plan plan = parse(typed.plan);
  const std::vector<double> epsilons = numbers_of(typed, "--epsilon");
  const PrivacyLossDistribution law(plan, relation_option(typed), seconds_of(typed));
  std::cout << loss_text(plan, law, epsilons.empty() ? round_losses(law) : epsilons, format_of(typed));
  if (!typed.plot.empty()) draw(typed, loss_chart(plan, law));
  tell_cut(typed, law.cut());
}

void add_attacker(Command& app, Typed& typed) {
  Command* command = app.add_subcommand("tradeoff",
                                        "Examples:\n"
                                        "  sotto tradeoff '10000 * poisson(0.01, gaussian(1))'\n"
                                        "  sotto tradeoff 'gaussian(1)' --fpr 0.001 --fpr 0.01 --format json\n"
                                        "  sotto tradeoff 'laplace(1)' --prior 0.1 --plot tradeoff.svg\n"
                                        "\n"
                                        "What an attacker can infer: the trade-off curve of f-DP, that is the largest true-positive rate at each\n"
                                        "false-positive rate; the advantage; and the success of the best guess. Upper and lower bounds on each.");
  command->add_option("PLAN", typed.plan, std::string("the plan, such as 'gaussian(1)'") + plan_forms)->required();
  command->add_option("--fpr", typed.list, "a false-positive rate in [0, 1]; may be repeated (default 0.001, 0.01, 0.05, 0.1, 0.5)")
      ->allow_extra_args(false);
  command->add_option("--prior", typed.prior, "the probability before the attack that the record is there, in (0, 1)")->capture_default_str();
  command->add_option("--order", typed.order,
                      "shows beside each rate what the Rényi divergence of this order alone allows; `best` looks for the best order");
  command->add_option("--relation", typed.relation,
                      "the neighbouring relation: add-remove, replace-one or zero-out (default: the one that the plan's sampling requires)");
  command->add_option("--plot", typed.plot, "draws the curve to this SVG file");
  command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  add_time(command, typed);
  command->callback([&typed] {
    typed.plan = plan_text(typed.plan);
    run_tradeoff(typed);
  });
}

}  // namespace sotto::cli
