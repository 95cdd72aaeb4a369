// sotto divergence: the Rényi divergence of a plan, and with --loss the distribution of its privacy
// loss.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments/plan_arguments.hpp"
#include "core/api/work.hpp"
#include "report/api/attacker.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

struct Arguments : PlanArguments {
  std::string order;
  std::vector<std::string> epsilons;
  bool curve = false;
  bool loss = false;
};

void print_loss(const Arguments& arguments) {
  const Plan plan = parse_plan(arguments.plan);
  std::vector<double> epsilons;
  for (const std::string& text : arguments.epsilons)
    epsilons.push_back(number_of(text, "--epsilon"));
  const PrivacyLossDistribution distribution(plan, relation_option(arguments),
                                             seconds_of(arguments));
  std::cout << loss_text(plan, distribution,
                         epsilons.empty() ? round_losses(distribution) : epsilons,
                         format_of(arguments));
  if (!arguments.plot.empty()) write_plot(arguments, svg(loss_chart(plan, distribution)));
  say_if_cut(arguments, distribution.cut());
}

void print_curve(const Arguments& arguments, const Plan& plan, const Question& question,
                 Format format) {
  const WorkLimit limit(allowance_of(question));
  std::vector<Answer> answers;
  for (const double order :
       {1.0,  1.1,  1.25, 1.5,  2.0,  3.0,   4.0,   6.0,   8.0,    12.0,
        16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0, 512.0, 1024.0, double{INFINITY}}) {
    const WorkLimit share(
        0.3 * work_left());  // later orders keep some work, however slow the first ones are
    answers.push_back(divergence(plan, Order(order), question));
  }
  std::cout << divergence_curve_text(plan, answers, format);
  say_if_cut(arguments, std::any_of(answers.begin(), answers.end(),
                                    [](const Answer& answer) { return answer.cut; }));
}

void run(const Arguments& arguments) {
  if (arguments.loss && (arguments.curve || !arguments.order.empty()))
    throw InvalidValue("--loss has no order: leave out --order and --curve");
  if (arguments.loss) return print_loss(arguments);
  if (!arguments.plot.empty() || !arguments.epsilons.empty())
    throw InvalidValue("--epsilon and --plot go with --loss: add it, or leave them out");
  const Plan plan = parse_plan(arguments.plan);
  const Question question{.relation = relation_option(arguments), .seconds = seconds_of(arguments)};
  const Format format = format_of(arguments);
  if (arguments.curve) return print_curve(arguments, plan, question, format);
  const Order order(arguments.order.empty() ? 2 : number_of(arguments.order, "--order"));
  const Answer answer = divergence(plan, order, question);
  std::cout << divergence_text(plan, answer, format);
  say_if_cut(arguments, answer.cut);
}

}  // namespace

void add_divergence(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "divergence", "Compute Rényi divergences, or the distribution of the privacy loss",
      "Examples:\n"
      "  sotto divergence 'laplace(1)' --order 8\n"
      "  sotto divergence 'laplace(1)' --order 1        (Kullback-Leibler)\n"
      "  sotto divergence 'laplace(1)' --order inf      (max divergence)\n"
      "  sotto divergence '100 * poisson(0.01, gaussian(1))' --curve --format csv\n"
      "  sotto divergence 'laplace(1)' --loss --plot loss.svg\n"
      "\n"
      "Computes the Rényi divergence between the outputs on neighbouring data, at one order or as "
      "a curve; with\n"
      "--loss, the distribution of the privacy loss.");
  add_format(*command, *arguments);
  add_quiet(*command, *arguments);
  add_time(*command, *arguments);
  add_plan(*command, *arguments, "'laplace(1)'");
  command->add_option("--order", arguments->order, "the order, from 1 to inf (default 2)");
  command->add_flag("--curve", arguments->curve, "prints twenty orders from 1 to inf");
  command->add_flag(
      "--loss", arguments->loss,
      "prints the distribution of the privacy loss L: P(L > epsilon) and delta(epsilon)");
  command
      ->add_option("--epsilon", arguments->epsilons,
                   "with --loss: an epsilon; may be repeated (default: about ten round values)")
      ->allow_extra_args(false);
  command->add_option("--plot", arguments->plot, "with --loss: draws both curves to this SVG file");
  add_relation(*command, *arguments);
  command->callback([arguments] {
    arguments->plan = plan_text(arguments->plan);
    run(*arguments);
  });
}

}  // namespace sotto::cli
