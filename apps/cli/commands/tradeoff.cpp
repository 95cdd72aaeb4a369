// sotto tradeoff: the best attacks on a plan, as the trade-off curve of f-DP.
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/plan_arguments.hpp"
#include "report/api/attacker.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

struct Arguments : PlanArguments {
  std::vector<std::string> fprs;
  std::string prior = "0.5", order;
};

// Returns --order, or nothing for `best`.
std::optional<Order> order_of(const Arguments& arguments) {
  if (arguments.order.empty() || arguments.order == "best") return std::nullopt;
  const Order order(number_of(arguments.order, "--order"));
  if (order.value() > 1 && std::isfinite(order.value())) return order;
  throw InvalidValue("--order " + arguments.order +
                     " is not allowed: it must be a finite number above 1, or best");
}

void run(const Arguments& arguments) {
  const Plan plan = parse_plan(arguments.plan);
  std::vector<double> fprs;
  for (const std::string& text : arguments.fprs) fprs.push_back(number_of(text, "--fpr"));
  if (fprs.empty()) fprs = {0.001, 0.01, 0.05, 0.1, 0.5};
  const double prior = number_of(arguments.prior, "--prior");
  const std::optional<Order> order = order_of(arguments);

  const Tradeoff tradeoff(plan, relation_option(arguments), seconds_of(arguments));
  std::vector<RenyiRate> rates;
  if (!arguments.order.empty()) {
    for (const double fpr : fprs) rates.push_back(renyi_true_positive_rate(plan, fpr, order));
  }
  std::cout << tradeoff_text(plan, tradeoff, fprs, prior, format_of(arguments), rates);
  if (!arguments.plot.empty()) write_plot(arguments, svg(tradeoff_chart(plan, tradeoff)));
  say_if_cut(arguments, tradeoff.cut());
}

}  // namespace

void add_tradeoff(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "tradeoff", "Bound what an attacker can infer: the trade-off curve of f-DP",
      "Examples:\n"
      "  sotto tradeoff '10000 * poisson(0.01, gaussian(1))'\n"
      "  sotto tradeoff 'gaussian(1)' --fpr 0.001 --fpr 0.01 --format json\n"
      "  sotto tradeoff 'laplace(1)' --prior 0.1 --plot tradeoff.svg\n"
      "\n"
      "Bounds from above and below what an attacker can infer: the largest true-positive rate at "
      "each\n"
      "false-positive rate, which is the trade-off curve of f-DP; the advantage; and the success "
      "of the best\n"
      "guess.");
  add_plan(*command, *arguments, "'gaussian(1)'");
  command
      ->add_option(
          "--fpr", arguments->fprs,
          "a false-positive rate in [0, 1]; may be repeated (default 0.001, 0.01, 0.05, 0.1, 0.5)")
      ->allow_extra_args(false);
  command
      ->add_option("--prior", arguments->prior,
                   "the probability before the attack that the record is in the data, in (0, 1)")
      ->capture_default_str();
  command->add_option("--order", arguments->order,
                      "also prints at each rate what the Rényi divergence of this order alone "
                      "allows; `best` finds the best order");
  add_relation(*command, *arguments);
  command->add_option("--plot", arguments->plot, "draws the curve to this SVG file");
  add_format(*command, *arguments);
  add_quiet(*command, *arguments);
  add_time(*command, *arguments);
  command->callback([arguments] {
    arguments->plan = plan_text(arguments->plan);
    run(*arguments);
  });
}

}  // namespace sotto::cli
