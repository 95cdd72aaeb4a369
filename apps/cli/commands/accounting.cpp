// The commands that cost a plan: epsilon, delta, divergence, compare, explain, calibrate.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/join.hpp"
#include "core/api/file.hpp"
#include "core/api/suggestion.hpp"
#include "sotto/plan/text.hpp"
#include "privacy/api/conversions.hpp"
#include "report/api/over_steps.hpp"
#include "report/api/svg.hpp"
#include "core/api/work.hpp"

namespace sotto::cli {

static std::vector<std::string> list_of_methods() {
  std::vector<std::string> names{"tight"};
  for (const Method m : all_methods) names.emplace_back(name(m));
  for (const Method m : closed_form_methods) names.emplace_back(name(m));
  return names;
}

std::string method_names() { return join(list_of_methods()); }

double number_of(const std::string& text, const char* option) {
  try {
    return read_number(text);
  } catch (const InvalidValue& e) {
    throw InvalidValue(std::string(option) + ": " + e.what());
  }
}

std::int64_t whole_number_of(const std::string& text, const char* option, double least, double most) {
  const double number = number_of(text, option);
  if (number >= least && number <= most && number == std::floor(number)) return static_cast<std::int64_t>(number);
  int exponent = 0;
  const bool is_power = most > 1e6 && std::frexp(most, &exponent) == 0.5;
  const std::string limit = is_power ? "2^" + std::to_string(exponent - 1) : std::to_string(static_cast<std::int64_t>(most));
  throw InvalidValue(std::string(option) + " " + text + " is not allowed: it must be a whole number from " +
                     std::to_string(static_cast<std::int64_t>(least)) + " to " + limit);
}

Format format_of(const Typed& typed) {
  if (const auto format = format_named(typed.format)) return *format;
  throw InvalidValue("--format " + typed.format + " is not known; " + suggestion(typed.format, {"table", "json", "csv"}));
}

std::string plan_text(const std::string& typed) {
  if (typed == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  if (typed.empty() || typed.front() != '@') return typed;
  const std::string path = typed.substr(1);
  if (path.empty()) throw InvalidValue("a file's name follows '@', as in @plan.txt; '-' reads the plan from stdin");
  if (std::filesystem::is_directory(path)) throw InvalidValue("the plan's file " + path + " is a folder");
  try {
    return read_text_file(path);
  } catch (const FileError& error) {
    throw InvalidValue(error.is_absent() ? "the plan's file " + path + " cannot be read: is it there?"
                                         : std::string("the plan's file: ") + error.what());
  }
}

std::optional<double> seconds_of(const Typed& typed) {
  if (typed.time.empty()) return std::nullopt;
  const double seconds = number_of(typed.time, "--time");
  if (seconds > 0 && seconds <= 1e6) return seconds;
  throw InvalidValue("--time " + typed.time + " is not allowed: it must be a number of seconds above 0, at most 1e6");
}

void add_time(Command* command, Typed& typed) {
  command->add_option("--time", typed.time,
                      "a time limit in seconds; without it about a second's work is counted, so that answers are the same on every machine");
}

void tell_cut(const Typed& typed, bool cut) {
  if (!cut || typed.quiet) return;
  std::cerr << (typed.time.empty() ? "sotto: this is what about a second's work proves; --precision or --time SECONDS would give more\n"
                                   : "sotto: this is what was proved in that time; a longer --time may give more\n");
}

std::string unknown_relation(const std::string& typed) {
  static const std::vector<std::string> relations{"add-remove", "replace-one", "zero-out"};
  static const std::vector<Synonym> others{{"unbounded", "add-remove"}, {"add", "add-remove"},         {"remove", "add-remove"},
                                           {"bounded", "replace-one"},  {"substitute", "replace-one"}, {"swap", "replace-one"}};
  return "--relation " + typed + " is not known; " + suggestion(typed, relations, others);
}

std::optional<Relation> relation_option(const Typed& typed) {
  if (typed.relation.empty()) return std::nullopt;
  const auto relation = relation_named(typed.relation);
  if (!relation) throw InvalidValue(unknown_relation(typed.relation));
  return relation;
}

namespace {

Question question_of(const Typed& typed) {
  Question question{.relation = relation_option(typed)};
  const auto method = method_named(typed.by);
  if (!method) throw InvalidValue("--by " + typed.by + " is not known; " + suggestion(typed.by, list_of_methods()));
  question.by = *method;
  if (!typed.precision.empty()) question.precision = number_of(typed.precision, "--precision");
  question.seconds = seconds_of(typed);
  if (!typed.order.empty()) question.order = Order(number_of(typed.order, "--order"));
  if (question.order && question.by == Method::tight) question.by = Method::rdp;  // the family that has an order
  if (question.order && !has_order(question.by)) {
    throw InvalidValue("--order fixes the order of a Rényi method: use it with --by rdp, rdp-classic, rdp-simple, rdp-one-order or moments");
  }
  if (question.order && question.by == Method::moments &&
      (question.order->value() != std::floor(question.order->value()) || question.order->value() < 2)) {
    throw InvalidValue("--order " + typed.order + " is not allowed with --by moments: its orders are whole numbers from 2");
  }
  if (question.order && question.order->value() == 1)
    throw InvalidValue("--order 1 has no (epsilon, delta) reading: use an order above 1, or sotto divergence");
  return question;
}

Delta delta_of(const Typed& typed) { return Delta(number_of(typed.delta, "--delta")); }
Epsilon epsilon_option(const Typed& typed) { return Epsilon(number_of(typed.epsilon, "--epsilon")); }

void words(const Typed& typed, const std::string& text) {
  if (!typed.quiet) std::cerr << text << "\n";
}

// What an answer needs said beside it, on stderr so that data stay clean.
void warn(const Typed& typed, const Answer& answer) {
  if (answer.value.upper > 20 * (1 + 1e-9) && !std::isinf(answer.value.upper)) words(typed, "sotto: an epsilon above 20 promises next to nothing");
  tell_cut(typed, answer.cut);
}

// A line on a terminal's stderr, from the second second on; wiped when all is done.
class Progress {
 public:
  Progress(const Typed& typed, std::size_t all) : all_(all), shown_(!typed.quiet && isatty(STDERR_FILENO) == 1) {}
  void tell(std::size_t done) const {
    using namespace std::chrono;
    if (!shown_ || steady_clock::now() - start_ < seconds(1)) return;
    std::cerr << "\r" << done << " of " << all_ << " step counts" << (done == all_ ? "\r                                        \r" : "")
              << std::flush;
  }

 private:
  std::size_t all_;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::size_t points_of(const Typed& typed) {
  const double points = number_of(typed.over_steps, "--over-steps");
  if (points >= 2 && points <= 100000 && points == std::floor(points)) return static_cast<std::size_t>(points);
  throw InvalidValue("--over-steps " + typed.over_steps + " is not allowed: it must be a whole number from 2 to 100000, or nothing for 50");
}

void run_over_steps(const Typed& typed, const Plan& plan) {
  const Spacing spacing = typed.even ? Spacing::even : Spacing::logarithmic;
  const std::vector<std::int64_t> counts = step_counts(step_total(plan), points_of(typed), spacing);
  const Progress progress(typed, counts.size());
  const auto points = epsilon_over_steps(plan, delta_of(typed), counts, question_of(typed), [&](std::size_t done) { progress.tell(done); });
  if (!typed.plot.empty()) write_file(typed.plot, svg(over_steps_chart(plan, delta_of(typed), points, spacing)));
  std::cout << over_steps_text(plan, delta_of(typed), points, format_of(typed));
  warn(typed, points.back().answer);
  tell_cut(typed, !points.back().answer.cut && std::any_of(points.begin(), points.end(), [](const StepPoint& point) { return point.answer.cut; }));
}

void run_epsilon(const Typed& typed) {
  const Plan plan = parse(typed.plan);
  if (!typed.over_steps.empty()) return run_over_steps(typed, plan);
  if (!typed.plot.empty() || typed.even) throw InvalidValue("--plot and --even go with --over-steps");
  const Answer answer = epsilon(plan, delta_of(typed), question_of(typed));
  std::cout << epsilon_text(plan, delta_of(typed), answer, format_of(typed));
  warn(typed, answer);
}

void run_delta(const Typed& typed) {
  const Plan plan = parse(typed.plan);
  const Answer answer = delta(plan, epsilon_option(typed), question_of(typed));
  std::cout << delta_text(plan, epsilon_option(typed), answer, format_of(typed));
  const bool is_read_by_a_person = format_of(typed) == Format::table;  // else a program asks for points of a curve
  if (is_read_by_a_person && epsilon_option(typed).value() > 0) warn_of_delta(answer.value.upper, typed.quiet);
  tell_cut(typed, answer.cut);
}

void run_divergence(const Typed& typed) {
  if (typed.loss && (typed.curve || !typed.order.empty())) throw InvalidValue("--loss has no order: use it without --order and --curve");
  if (typed.loss) return run_loss(typed);
  if (!typed.plot.empty() || !typed.list.empty()) throw InvalidValue("--epsilon and --plot are for --loss: add it, or leave them out");
  const Plan plan = parse(typed.plan);
  const Question question{.relation = relation_option(typed), .seconds = seconds_of(typed)};
  const Format format = format_of(typed);
  if (!typed.curve) {
    const Order order(typed.order.empty() ? 2 : number_of(typed.order, "--order"));
    const Answer answer = divergence(plan, order, question);
    std::cout << divergence_text(plan, answer, format);
    return tell_cut(typed, answer.cut);
  }
  const WorkLimit limit(allowance_of(question));
  std::vector<Answer> answers;
  for (const double order :
       {1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0, 512.0, 1024.0, double{INFINITY}}) {
    const WorkLimit share(0.3 * work_left());
    answers.push_back(divergence(plan, Order(order), question));
  }
  std::cout << divergence_curve_text(plan, answers, format);
  tell_cut(typed, std::any_of(answers.begin(), answers.end(), [](const Answer& answer) { return answer.cut; }));
}

void run_compare(const Typed& typed) {
  const Plan plan = parse(typed.plan);
  std::vector<Comparison> rows = compare(plan, delta_of(typed), question_of(typed));
  if (typed.noise || !noise_waste_is_slow(plan)) rows = with_noise_waste(std::move(rows), plan, delta_of(typed), question_of(typed));
  std::cout << compare_text(plan, delta_of(typed), rows, format_of(typed));
  tell_cut(typed, std::any_of(rows.begin(), rows.end(), [](const Comparison& row) { return row.answer && row.answer->cut; }));
}

void run_explain(const Typed& typed) {
  const Plan plan = parse(typed.plan);
  const Answer answer = epsilon(plan, delta_of(typed), question_of(typed));
  std::cout << explain_text(plan, delta_of(typed), answer, format_of(typed));
  tell_cut(typed, answer.cut);
}

// The target of calibrate that bounds Rényi divergences, if one was typed.
std::optional<DivergenceTarget> divergence_target(const Typed& typed) {
  const bool approximate = !typed.epsilon.empty() || !typed.delta.empty();
  const bool concentrated = !typed.rho.empty();
  const bool renyi = !typed.renyi.empty();
  constexpr const char* targets = "--epsilon E --delta D, --order A --renyi E, --rho R, or --rho R --omega W";
  if (static_cast<int>(approximate) + static_cast<int>(concentrated) + static_cast<int>(renyi) != 1) {
    throw InvalidValue(std::string("calibrate needs one target: ") + targets);
  }
  if (!typed.omega.empty() && !concentrated) throw InvalidValue("--omega goes with --rho: together they are a tCDP target");
  if (approximate) {
    if (typed.epsilon.empty() || typed.delta.empty()) {
      throw InvalidValue(std::string("--epsilon and --delta go together; the targets are ") + targets);
    }
    return std::nullopt;
  }
  if (renyi) {
    if (typed.order.empty()) throw InvalidValue("--renyi needs --order, the order of the divergence");
    return RenyiTarget{Order(number_of(typed.order, "--order")), number_of(typed.renyi, "--renyi")};
  }
  if (!typed.order.empty()) throw InvalidValue("--order does not go with --rho: zCDP and tCDP are about all orders; for one use --renyi");
  if (typed.omega.empty()) return ZcdpTarget{number_of(typed.rho, "--rho")};
  return TcdpTarget{number_of(typed.rho, "--rho"), number_of(typed.omega, "--omega")};
}

void run_calibrate(Typed typed) {
  const Plan plan = parse(typed.plan);
  if (const auto divergence = divergence_target(typed)) {
    typed.order.clear();  // it is the target's
    const Calibration calibration = calibrate(plan, *divergence, question_of(typed));
    std::cout << calibrate_text(*divergence, calibration, format_of(typed));
    return;
  }
  const Epsilon target = epsilon_option(typed);
  const Delta at = delta_of(typed);
  if (typed.order == "target" && !(target.value() > 0 && at.value() > 0)) throw InvalidValue("--order target needs epsilon and delta above 0");
  if (typed.order == "target") typed.order = shortest(target_order(Real(target.value()), Real(at.value())).estimate());
  const Calibration calibration = calibrate(plan, target, at, question_of(typed));
  std::cout << calibrate_text(target, at, calibration, format_of(typed));
  tell_cut(typed, calibration.cost.cut);
}

void add_plan(Command* command, Typed& typed, const char* example) {
  command->add_option("PLAN", typed.plan, std::string("the plan, such as ") + example + plan_forms)->required();
}
void add_delta(Command* command, Typed& typed) {
  command->add_option("--delta", typed.delta, "the delta at which epsilon is asked, in [0, 1)")->required();
}
void add_relation(Command* command, Typed& typed) {
  command->add_option("--relation", typed.relation,
                      "the neighbouring relation: add-remove, replace-one or zero-out (default: the one that the plan's sampling requires)");
}
void add_precision(Command* command, Typed& typed) {
  command->add_option("--precision", typed.precision,
                      "the relative width of the bracket by pld, which may take minutes and 2 GB (default 1e-9, or 1e-6 where the privacy loss "
                      "has atoms, within about a second)");
}
void add_question(Command* command, Typed& typed) {
  command->add_option("--by", typed.by, "the method: " + method_names())->capture_default_str();
  command->add_option("--order", typed.order, "fixes the order of the Rényi methods, above 1 (default: the best one)");
  add_precision(command, typed);
  add_relation(command, typed);
}

void add_over_steps(Command* command, Typed& typed) {
  command->add_option("--over-steps", typed.over_steps, "epsilon as a function of the number of steps, at about N step counts from 1 to all (50)")
      ->expected(0, 1)
      ->default_str("50")
      ->type_name("[N]");
  command->add_flag("--even", typed.even, "evenly spaced step counts, instead of a geometric sequence");
  command->add_option("--plot", typed.plot, "with --over-steps: draws epsilon against the number of steps to this SVG file");
}

}  // namespace

void add_accounting(Command& app, Typed& typed) {
  const auto add = [&](const char* command_name, const char* description, auto run) {
    Command* command = app.add_subcommand(command_name, description);
    command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
    command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
    add_time(command, typed);
    command->callback([&typed, run] {
      typed.plan = plan_text(typed.plan);
      run(typed);
      warn_of_delta(typed.delta, typed.quiet);
    });
    return command;
  };
  Command* command = add("epsilon",
                         "Examples:\n"
                         "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
                         "  sotto epsilon '500 * gaussian(200)' --delta 1e-5 --by rdp-classic --order 60\n"
                         "  sotto epsilon '10 * laplace(10)' --delta 0 --format json\n"
                         "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5 --over-steps --plot curve.svg\n"
                         "\n"
                         "The privacy cost of a plan: a certified upper bound on epsilon at delta, and a lower bound beside it.",
                         run_epsilon);
  add_plan(command, typed, "'100 * gaussian(10)'");
  add_delta(command, typed);
  add_question(command, typed);
  add_over_steps(command, typed);

  command = add("delta",
                "Examples:\n"
                "  sotto delta 'gaussian(1)' --epsilon 1\n"
                "  sotto delta '30 * pure(0.1)' --epsilon 1 --by kov\n"
                "\n"
                "The smallest delta for which a plan is (epsilon, delta)-DP: a point of its privacy profile.",
                run_delta);
  add_plan(command, typed, "'100 * gaussian(10)'");
  command->add_option("--epsilon", typed.epsilon, "the epsilon at which delta is asked, in [0, inf)")->required();
  add_question(command, typed);

  command = add("divergence",
                "Examples:\n"
                "  sotto divergence 'laplace(1)' --order 8\n"
                "  sotto divergence 'laplace(1)' --order 1        (Kullback-Leibler)\n"
                "  sotto divergence 'laplace(1)' --order inf      (max divergence)\n"
                "  sotto divergence '100 * poisson(0.01, gaussian(1))' --curve --format csv\n"
                "  sotto divergence 'laplace(1)' --loss --plot loss.svg\n"
                "\n"
                "The Rényi divergence between neighbours, at one order or as a curve; the distribution of the privacy loss.",
                run_divergence);
  add_plan(command, typed, "'laplace(1)'");
  command->add_option("--order", typed.order, "the order, from 1 to inf (default 2)");
  command->add_flag("--curve", typed.curve, "prints twenty orders from 1 to inf");
  command->add_flag("--loss", typed.loss, "the distribution of the privacy loss L: P(L > epsilon) beside delta(epsilon)");
  command->add_option("--epsilon", typed.list, "with --loss: an epsilon; may be repeated (default about ten round values)")->allow_extra_args(false);
  command->add_option("--plot", typed.plot, "with --loss: draws both curves to this SVG file");
  add_relation(command, typed);

  command = add("compare",
                "Examples:\n"
                "  sotto compare '500 * gaussian(200)' --delta 1e-5\n"
                "  sotto compare '1000000 * pure(0.001)' --delta 1e-6 --format csv\n"
                "\n"
                "Every method side by side: epsilon, its ratio to the best one, how much more noise the method would need\n"
                "to prove the best epsilon, the best order, or why the method does not apply.",
                run_compare);
  add_plan(command, typed, "'500 * gaussian(200)'");
  add_delta(command, typed);
  command->add_flag("--noise", typed.noise, "computes the waste in noise also for plans with group() or without_replacement(), which takes seconds");
  command->add_option("--order", typed.order, "fixes the order of the Rényi methods, above 1");
  add_relation(command, typed);

  command = add("explain",
                "Examples:\n"
                "  sotto explain '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
                "  sotto explain '500 * gaussian(200)' --delta 1e-5 --by advanced --format json\n"
                "\n"
                "The derivation of epsilon as a tree: each theorem, its reference, its conditions, and what it guarantees.\n"
                "The references are listed in docs/references.bib.",
                run_explain);
  add_plan(command, typed, "'500 * gaussian(200)'");
  add_delta(command, typed);
  add_question(command, typed);

  command = add("calibrate",
                "Examples:\n"
                "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5\n"
                "  sotto calibrate '? * poisson(0.01, gaussian(1))' --epsilon 2 --delta 1e-5\n"
                "  sotto calibrate 'laplace(?) + 10 * gaussian(3*?)' --epsilon 1 --delta 1e-6\n"
                "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5 --by rdp-classic --order target\n"
                "  sotto calibrate '100 * gaussian(?)' --order 8 --renyi 1        (Rényi DP)\n"
                "  sotto calibrate 'laplace(?) + gaussian(?)' --rho 1             (zCDP)\n"
                "  sotto calibrate 'arsinh(?, ?)' --rho 1 --omega 20              (tCDP)\n"
                "\n"
                "The least noise, or the most steps, rate or budget, with which the plan meets a privacy target: the number\n"
                "that fills the plan's hole '?'. It is proved to suffice; where slightly less is proved not to suffice, that is\n"
                "printed too. Several holes stand for one number. Targets: (epsilon, delta)-DP, Rényi DP, zCDP, tCDP.",
                run_calibrate);
  add_plan(command, typed, "'100 * gaussian(?)'");
  command->add_option("--epsilon", typed.epsilon, "the target epsilon, with --delta");
  command->add_option("--delta", typed.delta, "the target delta, in [0, 1)");
  command->add_option("--renyi", typed.renyi, "an RDP target: the Rényi divergence of order --order is at most this");
  command->add_option("--rho", typed.rho, "a zCDP target, or with --omega a tCDP target");
  command->add_option("--omega", typed.omega, "with --rho: the order below which (rho, omega)-tCDP must hold");
  command->add_option("--by", typed.by, "the method: " + method_names())->capture_default_str();
  command->add_option("--order", typed.order,
                      "the order of an RDP target; with --epsilon it fixes the order of the Rényi methods, and\n"
                      "`target` is 2 log(1/delta)/epsilon + 1");
  add_precision(command, typed);
  add_relation(command, typed);
}

}  // namespace sotto::cli
