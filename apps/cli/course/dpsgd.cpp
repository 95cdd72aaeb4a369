// sotto dpsgd: the textbook's private gradient descent on made-up rows, with the noise of three
// calibrations.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "cli/arguments/budget.hpp"
#include "cli/arguments/number_options.hpp"
#include "cli/command.hpp"
#include "core/api/json.hpp"
#include "course/api/textbook.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

struct Arguments : OutputArguments {
  explicit Arguments(Command& command) : options(command) {}
  TextbookSettings ask;
  NumberOptions options;
  std::string epsilon = "1";
  std::string delta = "1e-5";
};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 2), ' ');
  return text;
}

std::string as_table(const Arguments& arguments, const TextbookResult& result) {
  const TextbookSettings& ask = arguments.ask;
  const MadeUpProblem& problem = ask.problem;
  std::string text = "problem     logistic loss on " + shortest(static_cast<double>(problem.rows)) +
                     " made-up rows, l = 1, p = " + std::to_string(problem.dimension) +
                     ", in a ball of diameter R = " + shortest(problem.diameter) + "\n";
  text += "training    T = " + std::to_string(result.steps) +
          " steps of size R/(G sqrt(t)), batches of " + std::to_string(ask.batch) +
          " without replacement\n";
  text += "target      epsilon = " + arguments.epsilon + ", delta = " + arguments.delta +
          " under replace-one\n";
  text += "risk        the mean loss of the last iterate minus the least mean loss, " +
          rounded(result.least, 4, Side::upper) + "; any iterate's is at most " +
          shortest(problem.diameter) + "\n\n";
  text += padded("noise by", 14) + padded("on the mean gradient", 22) +
          padded("excess risk measured", 22) + "bound\n";
  for (const MeasuredRisk& method : result.methods) {
    text += padded(method.method, 14);
    if (!method.refusal.empty()) {
      text += "refused: " + method.refusal + "\n";
      continue;
    }
    std::string measured = rounded(method.mean(), 3, Side::upper);
    if (method.risks.size() > 1) measured += " +- " + rounded(method.deviation(), 2, Side::upper);
    text += padded(rounded(method.noise, 5, Side::upper), 22) + padded(measured, 22) +
            rounded(method.bound, 4, Side::upper) + "\n";
  }
  return text;
}

std::string as_json(const TextbookSettings& ask, const TextbookResult& result, Epsilon epsilon,
                    Delta delta) {
  Json json{{"schema", "sotto.dpsgd/1"},
            {"n", ask.problem.rows},
            {"dimension", static_cast<std::int64_t>(ask.problem.dimension)},
            {"diameter", ask.problem.diameter},
            {"lipschitz", 1.0},
            {"batch", ask.batch},
            {"steps", result.steps},
            {"epsilon", epsilon.value()},
            {"delta", delta.value()},
            {"relation", "replace-one"},
            {"least_loss", result.least}};
  json["methods"] = Json::array();
  for (const MeasuredRisk& method : result.methods) {
    Json one{{"by", method.method}};
    if (method.refusal.empty()) {
      one["noise"] = method.noise;
      one["excess_risk"] = method.risks;
      one["bound"] = method.bound;
    } else {
      one["refused"] = method.refusal;
    }
    json["methods"].push_back(std::move(one));
  }
  return json.dump() + "\n";
}

void run_dpsgd(const Arguments& arguments) {
  const Format format = format_of(arguments);
  if (format == Format::csv)
    throw InvalidValue(
        "--format csv is not available for this command: type --format table or json");
  arguments.options.read();
  const TextbookSettings& ask = arguments.ask;
  const Epsilon epsilon(number_of(arguments.epsilon, "--epsilon"));
  const Delta delta(number_of(arguments.delta, "--delta"));
  const TextbookResult result = compare_textbook(ask, epsilon, delta);
  std::cout << (format == Format::json ? as_json(ask, result, epsilon, delta)
                                       : as_table(arguments, result));
  warn_of_delta(delta.value(), false, static_cast<double>(ask.problem.rows), "row");
}

}  // namespace

void add_dpsgd(Command& app) {
  Command* command =
      app.add_subcommand("dpsgd", "Train by the textbook's DP-SGD with three calibrations of noise",
                         "Examples:\n"
                         "  sotto dpsgd\n"
                         "  sotto dpsgd --n 1000 --dimension 50 --epsilon 0.5\n"
                         "  sotto dpsgd --n 10000 --batch 1 --steps 100\n"
                         "\n"
                         "Runs the textbook's private gradient descent on made-up rows: batches of "
                         "a fixed size without replacement, a Lipschitz loss, steps\n"
                         "R/(G sqrt(t)), projection onto a ball, n^2 steps. Compares the noise by "
                         "the tight accountant, by Rényi DP and by the textbook's closed\n"
                         "form, corrected, or says why that form is refused. Prints the measured "
                         "excess risk with each, and the bound on it, G^2 = l^2 + p noise^2.");
  const auto arguments = std::make_shared<Arguments>(*command);
  NumberOptions& options = arguments->options;
  TextbookSettings& ask = arguments->ask;
  options.add("--n", ask.problem.rows, "n, the number of rows (default 400)");
  options.add("--dimension", ask.problem.dimension, "p, the number of parameters (default 5)");
  options.add("--diameter", ask.problem.diameter, "R, the diameter of the ball (default 10)");
  options.add("--batch", ask.batch, "m, the rows of a step (default 1)");
  options.add("--steps", ask.steps, "T, the number of steps (default n^2)");
  command->add_option("--epsilon", arguments->epsilon, "the target epsilon")->capture_default_str();
  command->add_option("--delta", arguments->delta, "the target delta")->capture_default_str();
  options.add("--runs", ask.runs, "trainings with each noise (default 3)");
  options.add("--seed", ask.problem.seed,
              "the seed of the made-up rows; noise has no seed (default 1)");
  add_format(*command, *arguments);
  command->callback([arguments] { run_dpsgd(*arguments); });
}

}  // namespace sotto::cli
