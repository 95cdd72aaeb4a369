// sotto noise: adds a mechanism's noise to numbers, outside of any ledger.
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/arguments/budget.hpp"
#include "cli/arguments/plan_arguments.hpp"
#include "cli/catalogue.hpp"
#include "core/api/file.hpp"
#include "core/api/json.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/choice.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::cli {
namespace {

struct Arguments : OutputArguments {
  std::string mechanism;
  std::string file = "-";
  std::string sensitivity = "1";
  std::string epsilon, delta, rho, order, grid;
  bool classical = false;
  bool each = false;
};

// Reads one number per line. Nothing is released before every line has been read. An error names
// the line and never its content, which is private.
std::vector<double> read_numbers(std::istream& in) {
  std::vector<double> numbers;
  std::string line;
  for (std::size_t row = 1; std::getline(in, line); ++row) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos)
      throw InvalidValue("line " + std::to_string(row) +
                         " is empty: a number is expected, and nothing was released");
    const std::string text = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    double number = NAN;
    try {
      number = read_number(text);
    } catch (const InvalidValue&) {
    }
    if (!std::isfinite(number))
      throw InvalidValue("line " + std::to_string(row) +
                         " is not a finite number; nothing was released");
    numbers.push_back(number);
  }
  if (in.bad()) throw std::runtime_error("the input cannot be read");
  if (numbers.empty()) throw InvalidValue("the input has no number: type one per line");
  return numbers;
}

std::vector<double> numbers_from(const std::string& file) {
  if (file == "-") return read_numbers(std::cin);
  std::istringstream in(read_file(file, max_generated_file_size));
  return read_numbers(in);
}

// Returns the mechanism that was typed, with its noise calibrated if a target was typed.
Plan leaf_of(const Arguments& arguments) {
  const double sensitivity = number_of(arguments.sensitivity, "--sensitivity");
  const auto has = [](const std::string& text) { return !text.empty(); };
  const auto epsilon_value = [&] { return number_of(arguments.epsilon, "--epsilon"); };
  const auto delta_value = [&] { return Delta(number_of(arguments.delta, "--delta")); };
  if (arguments.mechanism == "laplace") {
    if (!has(arguments.epsilon) || has(arguments.delta) || has(arguments.rho) ||
        has(arguments.order)) {
      throw InvalidValue(
          "laplace is calibrated by --epsilon alone: type --epsilon E, or the scale, as in "
          "'laplace(2)'");
    }
    return laplace_for(Epsilon(epsilon_value()), sensitivity).event();
  }
  if (arguments.mechanism == "gaussian") {
    if (has(arguments.rho) && !has(arguments.epsilon))
      return gaussian_for_zcdp(number_of(arguments.rho, "--rho"), sensitivity).event();
    if (has(arguments.order) && has(arguments.epsilon)) {
      return gaussian_for_renyi(Order(number_of(arguments.order, "--order")), epsilon_value(),
                                sensitivity)
          .event();
    }
    if (has(arguments.epsilon) && has(arguments.delta)) {
      const GaussianRule rule =
          arguments.classical ? GaussianRule::classical : GaussianRule::analytic;
      return gaussian_for(Epsilon(epsilon_value()), delta_value(), sensitivity, rule).event();
    }
    throw InvalidValue(
        "gaussian is calibrated by --epsilon and --delta, by --rho, or by --order and --epsilon: "
        "type these, or sigma, as in 'gaussian(10)'");
  }
  const Plan plan = parse_plan(arguments.mechanism);
  if (holes_of(plan).empty()) return plan;
  if (!has(arguments.epsilon) || !has(arguments.delta))
    throw InvalidValue("a plan with a hole is calibrated by --epsilon and --delta: type both");
  return additive_for(plan, Epsilon(epsilon_value()), delta_value()).event();
}

// Randomizes responses, which are whole numbers from 0 on. Each respondent pays for their own
// response alone, so the cost does not depend on their number.
std::vector<double> responses(const RandomizedResponse& leaf, std::vector<double> numbers) {
  const Respondent respondent(leaf.p.value(), static_cast<std::int64_t>(leaf.k.value()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != std::floor(numbers[i]) || numbers[i] < 0 || numbers[i] >= leaf.k.value()) {
      throw InvalidValue("line " + std::to_string(i + 1) + " is not a whole number from 0 to " +
                         shortest(leaf.k.value() - 1) + "; nothing was released");
    }
  }
  for (double& number : numbers)
    number = static_cast<double>(respondent.respond(static_cast<std::int64_t>(number)));
  return numbers;
}

std::string json_of(const std::string& cost, double grid, double scale,
                    const std::vector<double>& values) {
  Json json{{"schema", "sotto.noise/1"}, {"cost", cost}};
  const auto number = [](double x) {  // without a decimal point, if it is a whole number
    return x == std::floor(x) && std::fabs(x) < 0x1p53 ? Json(static_cast<std::int64_t>(x))
                                                       : Json(x);
  };
  if (grid > 0) {
    json["scale"] = number(scale);
    json["grid"] = number(grid);
  }
  json["values"] = Json::array();
  for (const double value : values) json["values"].push_back(number(value));
  return json.dump() + "\n";
}

void run_noise(const Arguments& arguments) {
  const Format format = format_of(arguments);
  const Plan leaf = leaf_of(arguments);
  const auto* response = leaf.as<RandomizedResponse>();
  std::optional<Additive> mechanism;
  if (response == nullptr) mechanism.emplace(leaf, grid_exponent(arguments.grid));
  std::vector<double> numbers = numbers_from(arguments.file);

  std::string cost;
  std::vector<double> released;
  if (response != nullptr) {
    cost = print(leaf);
    released = responses(*response, std::move(numbers));
  } else {
    const bool many = arguments.each && numbers.size() > 1;
    cost =
        print(many ? static_cast<double>(numbers.size()) * mechanism->event() : mechanism->event());
    released = many ? mechanism->release_each(numbers) : mechanism->release(numbers);
  }

  if (format == Format::json) {
    std::cout << json_of(cost, mechanism ? mechanism->grid() : 0,
                         mechanism ? mechanism->scale() : 0, released);
  } else {
    if (format == Format::csv) std::cout << "value\n";
    for (const double value : released) std::cout << shortest(value) << "\n";
  }
  if (arguments.quiet) return;
  std::cerr << "sotto: this release costs " << cost
            << (response != nullptr ? ", to each respondent" : "") << "\n";
  if (mechanism) {
    std::cerr << "sotto: each number is within " << rounded(mechanism->margin(0.95), 4, Side::upper)
              << " of the truth with probability 0.95; the grid is " << shortest(mechanism->grid())
              << "\n";
    if (std::any_of(released.begin(), released.end(),
                    [&](double x) { return mechanism->saturates(x); })) {
      std::cerr << "sotto: a number reached the end of the grid's range, "
                << shortest(mechanism->limit()) << ": type a coarser --grid\n";
    }
  }
}

}  // namespace

void add_noise(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "noise", "Add exactly sampled noise to numbers from a file or stdin",
      "Examples:\n"
      "  echo 1234 | sotto noise laplace --epsilon 0.5\n"
      "  sotto noise gaussian --epsilon 1 --delta 1e-6 --sensitivity 3 counts.txt\n"
      "  sotto noise 'gaussian(10)' counts.txt --each --format json\n"
      "  sotto noise 'randomized_response(0.75)' bits.txt\n"
      "\n"
      "Adds noise to numbers, for the curator of the data: one number per line, from a file or "
      "stdin. The noise is\n"
      "sampled exactly and rounded to a public grid. Says on stderr what the release costs; no "
      "ledger is charged.");
  command
      ->add_option("MECHANISM", arguments->mechanism,
                   "laplace or gaussian, or a leaf such as 'laplace(2)', or a plan with a hole")
      ->required();
  command->add_option("FILE", arguments->file, "the numbers; - is stdin")->capture_default_str();
  command
      ->add_option(
          "--sensitivity", arguments->sensitivity,
          "how much one unit changes all the numbers together: L1 for laplace, L2 for gaussian")
      ->capture_default_str();
  command->add_option("--epsilon", arguments->epsilon, "calibrates to this epsilon");
  command->add_option("--delta", arguments->delta,
                      "with --epsilon: calibrates gaussian noise to (epsilon, delta)");
  command->add_option("--rho", arguments->rho, "calibrates gaussian noise to rho-zCDP");
  command->add_option("--order", arguments->order,
                      "with --epsilon: calibrates gaussian noise to Rényi DP of this order");
  command->add_flag("--classical", arguments->classical,
                    "with --epsilon and --delta: the classical calibration sigma = sqrt(2 "
                    "log(1.25/delta))/epsilon, for epsilon up to 1");
  command->add_option("--grid", arguments->grid,
                      "the grid to which outputs are rounded: a power of two, chosen without "
                      "looking at the data (default: one that suits the noise)");
  command->add_flag(
      "--each", arguments->each,
      "treats each number as a separate query with that sensitivity: their costs compose");
  add_format(*command, *arguments);
  add_quiet(*command, *arguments);
  command->callback([arguments] {
    run_noise(*arguments);
    warn_of_delta(arguments->delta, arguments->quiet);
  });
}

}  // namespace sotto::cli
