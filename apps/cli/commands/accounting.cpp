// The commands that cost a plan: sotto epsilon, delta, compare, explain and calibrate.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments/budget.hpp"
#include "cli/arguments/plan_arguments.hpp"
#include "core/api/join.hpp"
#include "core/api/suggestion.hpp"
#include "privacy/api/conversions.hpp"
#include "report/api/over_steps.hpp"
#include "report/api/svg.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {

static std::vector<std::string> known_methods() {
  std::vector<std::string> names{"tight"};
  for (const Method m : all_methods) names.emplace_back(name(m));
  for (const Method m : closed_form_methods) names.emplace_back(name(m));
  return names;
}

std::string method_names() { return join(known_methods()); }

namespace {

struct Arguments : PlanArguments {
  std::string delta, epsilon, by = "tight", order, precision;
  std::string renyi, rho, omega;  // other targets of calibrate
  std::string over_steps;
  bool even = false;
  bool noise = false;
};

constexpr const char* more_work = "--precision P or --time SECONDS";

Question question_of(const Arguments& arguments) {
  Question question{.relation = relation_option(arguments)};
  const auto method = method_named(arguments.by);
  if (!method)
    throw InvalidValue("--by " + arguments.by + " is not known; " +
                       suggestion(arguments.by, known_methods()));
  question.by = *method;
  if (!arguments.precision.empty())
    question.precision = number_of(arguments.precision, "--precision");
  question.seconds = seconds_of(arguments);
  if (!arguments.order.empty()) question.order = Order(number_of(arguments.order, "--order"));
  if (question.order && question.by == Method::tight)
    question.by = Method::rdp;  // the default method among those that have an order
  if (question.order && !has_order(question.by)) {
    throw InvalidValue(
        "--order fixes the order of a Rényi method: use it with --by rdp, rdp-classic, rdp-simple, "
        "rdp-one-order or moments");
  }
  if (question.order && question.by == Method::moments &&
      (question.order->value() != std::floor(question.order->value()) ||
       question.order->value() < 2)) {
    throw InvalidValue("--order " + arguments.order +
                       " is not allowed with --by moments: its orders are whole numbers from 2");
  }
  if (question.order && question.order->value() == 1)
    throw InvalidValue(
        "--order 1 does not convert to (epsilon, delta): type an order above 1, or use sotto "
        "divergence");
  return question;
}

Delta delta_of(const Arguments& arguments) { return Delta(number_of(arguments.delta, "--delta")); }
Epsilon epsilon_option(const Arguments& arguments) {
  return Epsilon(number_of(arguments.epsilon, "--epsilon"));
}

// Says on stderr, where it does not mix with data, that an answer is useless or that more work
// would tighten it.
void warn(const Arguments& arguments, const Answer& answer) {
  const bool is_useless = answer.value.upper > 20 * (1 + 1e-9) && !std::isinf(answer.value.upper);
  if (is_useless && !arguments.quiet) say("an epsilon above 20 promises next to nothing");
  say_if_cut(arguments, answer.cut, more_work);
}

// Counts finished step counts on stderr if that is a terminal, from one second after its
// construction on. The line is wiped when all are finished.
class StepCounter {
 public:
  StepCounter(const Arguments& arguments, std::size_t all)
      : all_(all), visible_(!arguments.quiet && isatty(STDERR_FILENO) == 1) {}
  void update(std::size_t done) const {
    using namespace std::chrono;
    if (!visible_ || steady_clock::now() - start_ < seconds(1)) return;
    std::cerr << "\r" << done << " of " << all_ << " step counts"
              << (done == all_ ? "\r                                        \r" : "") << std::flush;
  }

 private:
  std::size_t all_;
  bool visible_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void run_over_steps(const Arguments& arguments, const Plan& plan) {
  const Spacing spacing = arguments.even ? Spacing::even : Spacing::logarithmic;
  const auto wanted =
      static_cast<std::size_t>(whole_number_of(arguments.over_steps, "--over-steps", 2, 100000));
  const std::vector<std::int64_t> counts = step_counts(step_total(plan), wanted, spacing);
  const StepCounter counter(arguments, counts.size());
  const auto points = epsilon_over_steps(plan, delta_of(arguments), counts, question_of(arguments),
                                         [&](std::size_t done) { counter.update(done); });
  if (!arguments.plot.empty())
    write_file(arguments.plot, svg(over_steps_chart(plan, delta_of(arguments), points, spacing)));
  std::cout << over_steps_text(plan, delta_of(arguments), points, format_of(arguments));
  warn(arguments, points.back().answer);
  const bool is_cut = std::any_of(points.begin(), points.end(),
                                  [](const StepPoint& point) { return point.answer.cut; });
  say_if_cut(arguments, !points.back().answer.cut && is_cut, more_work);
}

void run_epsilon(const Arguments& arguments) {
  const Plan plan = parse_plan(arguments.plan);
  if (!arguments.over_steps.empty()) return run_over_steps(arguments, plan);
  if (!arguments.plot.empty() || arguments.even)
    throw InvalidValue("--plot and --even go with --over-steps");
  const Answer answer = epsilon(plan, delta_of(arguments), question_of(arguments));
  std::cout << epsilon_text(plan, delta_of(arguments), answer, format_of(arguments));
  warn(arguments, answer);
}

void run_delta(const Arguments& arguments) {
  const Plan plan = parse_plan(arguments.plan);
  const Answer answer = delta(plan, epsilon_option(arguments), question_of(arguments));
  std::cout << delta_text(plan, epsilon_option(arguments), answer, format_of(arguments));
  const bool is_for_a_person =
      format_of(arguments) == Format::table;  // programs compute whole curves, in another format
  if (is_for_a_person && epsilon_option(arguments).value() > 0)
    warn_of_delta(answer.value.upper, arguments.quiet);
  say_if_cut(arguments, answer.cut, more_work);
}

void run_compare(const Arguments& arguments) {
  const Plan plan = parse_plan(arguments.plan);
  std::vector<Comparison> rows = compare(plan, delta_of(arguments), question_of(arguments));
  if (arguments.noise || !noise_waste_is_slow(plan))
    rows = with_noise_waste(std::move(rows), plan, delta_of(arguments), question_of(arguments));
  std::cout << compare_text(plan, delta_of(arguments), rows, format_of(arguments));
  say_if_cut(arguments, std::any_of(rows.begin(), rows.end(), [](const Comparison& row) {
               return row.answer && row.answer->cut;
             }));
}

void run_explain(const Arguments& arguments) {
  const Plan plan = parse_plan(arguments.plan);
  const Answer answer = epsilon(plan, delta_of(arguments), question_of(arguments));
  std::cout << explain_text(plan, delta_of(arguments), answer, format_of(arguments));
  say_if_cut(arguments, answer.cut, more_work);
}

// Returns the target of calibrate if it bounds Rényi divergences (RDP, zCDP or tCDP), and nothing
// if it is (epsilon, delta). Throws InvalidValue unless exactly one target was typed.
std::optional<DivergenceTarget> divergence_target(const Arguments& arguments) {
  const bool approximate = !arguments.epsilon.empty() || !arguments.delta.empty();
  const bool concentrated = !arguments.rho.empty();
  const bool renyi = !arguments.renyi.empty();
  constexpr const char* targets =
      "--epsilon E --delta D, --order A --renyi E, --rho R, or --rho R --omega W";
  if (static_cast<int>(approximate) + static_cast<int>(concentrated) + static_cast<int>(renyi) !=
      1) {
    throw InvalidValue(std::string("calibrate needs one target: ") + targets);
  }
  if (!arguments.omega.empty() && !concentrated)
    throw InvalidValue("--omega goes with --rho: together they are a tCDP target");
  if (approximate) {
    if (arguments.epsilon.empty() || arguments.delta.empty()) {
      throw InvalidValue(std::string("--epsilon and --delta go together; the targets are ") +
                         targets);
    }
    return std::nullopt;
  }
  if (renyi) {
    if (arguments.order.empty())
      throw InvalidValue("--renyi needs --order, the order of the divergence");
    return RenyiTarget{Order(number_of(arguments.order, "--order")),
                       number_of(arguments.renyi, "--renyi")};
  }
  if (!arguments.order.empty())
    throw InvalidValue(
        "--order does not go with --rho: zCDP and tCDP are about all orders; for one use --renyi");
  if (arguments.omega.empty()) return ZcdpTarget{number_of(arguments.rho, "--rho")};
  return TcdpTarget{number_of(arguments.rho, "--rho"), number_of(arguments.omega, "--omega")};
}

void run_calibrate(const Arguments& typed) {
  Arguments arguments = typed;
  const Plan plan = parse_plan(arguments.plan);
  if (const auto divergence = divergence_target(arguments)) {
    arguments.order.clear();  // --order belongs to the target, not to the method
    const Calibration calibration = calibrate(plan, *divergence, question_of(arguments));
    std::cout << calibrate_text(*divergence, calibration, format_of(arguments));
    return;
  }
  const Epsilon target = epsilon_option(arguments);
  const Delta at = delta_of(arguments);
  if (arguments.order == "target" && !(target.value() > 0 && at.value() > 0))
    throw InvalidValue("--order target needs epsilon and delta above 0");
  if (arguments.order == "target")
    arguments.order = shortest(target_order(Real(target.value()), Real(at.value())).estimate());
  const Calibration calibration = calibrate(plan, target, at, question_of(arguments));
  std::cout << calibrate_text(target, at, calibration, format_of(arguments));
  say_if_cut(arguments, calibration.cost.cut, more_work);
}

using Run = void (*)(const Arguments&);

struct Added {
  Command& command;
  Arguments& arguments;
};

// Adds a command about a plan, with the options that all of them have.
Added add(Command& app, const char* name, const char* summary, const char* description, Run run) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(name, summary, description);
  add_format(*command, *arguments);
  add_quiet(*command, *arguments);
  add_time(*command, *arguments);
  command->callback([arguments, run] {
    arguments->plan = plan_text(arguments->plan);
    run(*arguments);
    warn_of_delta(arguments->delta, arguments->quiet);
  });
  return {*command, *arguments};
}

void add_delta(const Added& to) {
  to.command
      .add_option("--delta", to.arguments.delta,
                  "the delta at which epsilon is computed, in [0, 1)")
      ->required();
}

void add_method(const Added& to) {
  to.command.add_option("--by", to.arguments.by, "the method: " + method_names())
      ->capture_default_str();
}

void add_precision(const Added& to) {
  to.command.add_option("--precision", to.arguments.precision,
                        "the relative width of the bracket by pld, which may take minutes and 2 GB "
                        "(default 1e-9, or 1e-6 where the privacy loss "
                        "has atoms, within about a second)");
}

void add_question(const Added& to) {
  add_method(to);
  to.command.add_option("--order", to.arguments.order,
                        "the order of the Rényi methods, above 1 (default: the best one)");
  add_precision(to);
  add_relation(to.command, to.arguments);
}

void add_over_steps(const Added& to) {
  to.command
      .add_option("--over-steps", to.arguments.over_steps,
                  "prints epsilon as a function of the number of steps, at about N step counts "
                  "from 1 to all of them")
      ->expected(0, 1)
      ->default_str("50")
      ->type_name("[N]");
  to.command.add_flag(
      "--even", to.arguments.even,
      "with --over-steps: evenly spaced step counts, instead of a geometric sequence");
  to.command.add_option(
      "--plot", to.arguments.plot,
      "with --over-steps: draws epsilon against the number of steps to this SVG file");
}

void add_epsilon_command(Command& app) {
  const Added added =
      add(app, "epsilon", "Compute the epsilon of a plan at a delta, from above and below",
          "Examples:\n"
          "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
          "  sotto epsilon '500 * gaussian(200)' --delta 1e-5 --by rdp-classic --order 60\n"
          "  sotto epsilon '10 * laplace(10)' --delta 0 --format json\n"
          "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5 --over-steps --plot "
          "curve.svg\n"
          "\n"
          "Computes the privacy cost of a plan: a certified upper bound on epsilon at delta, and a "
          "lower bound.",
          run_epsilon);
  add_plan(added.command, added.arguments, "'100 * gaussian(10)'");
  add_delta(added);
  add_question(added);
  add_over_steps(added);
}

void add_delta_command(Command& app) {
  const Added added = add(app, "delta", "Compute the delta of a plan at an epsilon",
                          "Examples:\n"
                          "  sotto delta 'gaussian(1)' --epsilon 1\n"
                          "  sotto delta '30 * pure(0.1)' --epsilon 1 --by kov\n"
                          "\n"
                          "Computes the smallest delta for which a plan is (epsilon, delta)-DP: a "
                          "point of its privacy profile.",
                          run_delta);
  add_plan(added.command, added.arguments, "'100 * gaussian(10)'");
  added.command
      .add_option("--epsilon", added.arguments.epsilon,
                  "the epsilon at which delta is computed, in [0, inf)")
      ->required();
  add_question(added);
}

void add_compare_command(Command& app) {
  const Added added =
      add(app, "compare", "Compare the epsilon of a plan by every method",
          "Examples:\n"
          "  sotto compare '500 * gaussian(200)' --delta 1e-5\n"
          "  sotto compare '1000000 * pure(0.001)' --delta 1e-6 --format csv\n"
          "\n"
          "Prints for every method: epsilon, its ratio to the best one, how much more noise the "
          "method would need\n"
          "to prove the best epsilon, and the best order; or why the method does not apply.",
          run_compare);
  add_plan(added.command, added.arguments, "'500 * gaussian(200)'");
  add_delta(added);
  added.command.add_flag("--noise", added.arguments.noise,
                         "computes the additional noise also for plans with group() or "
                         "without_replacement(), which takes seconds");
  added.command.add_option("--order", added.arguments.order,
                           "the order of the Rényi methods, above 1 (default: the best one)");
  add_relation(added.command, added.arguments);
}

void add_explain_command(Command& app) {
  const Added added =
      add(app, "explain", "Derive the epsilon of a plan, theorem by theorem",
          "Examples:\n"
          "  sotto explain '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
          "  sotto explain '500 * gaussian(200)' --delta 1e-5 --by advanced --format json\n"
          "\n"
          "Prints the derivation of epsilon as a tree: each theorem, its reference, its "
          "conditions, and what it guarantees.\n"
          "The references are listed in docs/references.bib.",
          run_explain);
  add_plan(added.command, added.arguments, "'500 * gaussian(200)'");
  add_delta(added);
  add_question(added);
}

void add_calibrate_command(Command& app) {
  const Added added =
      add(app, "calibrate", "Find the least noise, or the most steps, that meet a privacy target",
          "Examples:\n"
          "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5\n"
          "  sotto calibrate '? * poisson(0.01, gaussian(1))' --epsilon 2 --delta 1e-5\n"
          "  sotto calibrate 'laplace(?) + 10 * gaussian(3*?)' --epsilon 1 --delta 1e-6\n"
          "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5 --by rdp-classic --order "
          "target\n"
          "  sotto calibrate '100 * gaussian(?)' --order 8 --renyi 1        (Rényi DP)\n"
          "  sotto calibrate 'laplace(?) + gaussian(?)' --rho 1             (zCDP)\n"
          "  sotto calibrate 'arsinh(?, ?)' --rho 1 --omega 20              (tCDP)\n"
          "\n"
          "Finds the number for the hole '?' of a plan: the least noise, or the most steps, rate "
          "or budget, with which\n"
          "the plan meets a privacy target. The number is proved to suffice; a slightly cheaper "
          "one is printed too if it is\n"
          "proved not to suffice. Several holes get one number. The targets are (epsilon, "
          "delta)-DP, Rényi DP, zCDP and tCDP.",
          run_calibrate);
  add_plan(added.command, added.arguments, "'100 * gaussian(?)'");
  added.command.add_option("--epsilon", added.arguments.epsilon,
                           "the target epsilon, with --delta");
  added.command.add_option("--delta", added.arguments.delta, "the target delta, in [0, 1)");
  added.command.add_option("--renyi", added.arguments.renyi,
                           "an RDP target: the Rényi divergence of order --order is at most this");
  added.command.add_option("--rho", added.arguments.rho,
                           "a zCDP target, or with --omega a tCDP target");
  added.command.add_option("--omega", added.arguments.omega,
                           "with --rho: the order below which (rho, omega)-tCDP must hold");
  add_method(added);
  added.command.add_option(
      "--order", added.arguments.order,
      "the order of an RDP target; with --epsilon the order of the Rényi methods, where\n"
      "`target` stands for 2 log(1/delta)/epsilon + 1");
  add_precision(added);
  add_relation(added.command, added.arguments);
}

}  // namespace

void add_accounting(Command& app) {
  add_epsilon_command(app);
  add_delta_command(app);
  add_compare_command(app);
  add_explain_command(app);
  add_calibrate_command(app);
}

}  // namespace sotto::cli
