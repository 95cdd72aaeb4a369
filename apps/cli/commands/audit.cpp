// sotto audit: measures what a mechanism's outputs reveal, and compares it with the claim.
#include "report/api/audit.hpp"

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/arguments/plan_arguments.hpp"
#include "cli/progress_bar.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

struct Arguments : OutputArguments {
  std::string mechanism, epsilon, delta;
  std::string trials = "1e6";
  std::string confidence = "0.95";
  std::string grid;
  std::string vector = "1";
};

void run_audit(const Arguments& arguments) {
  const Format format = format_of(arguments);
  const AuditSubject subject =
      audit_subject(parse_plan(arguments.mechanism), grid_exponent(arguments.grid),
                    whole_number_of(arguments.vector, "--vector", 1, 1e6));
  ProgressBar bar(arguments.quiet);
  AuditOptions options;
  options.trials = whole_number_of(arguments.trials, "--trials", 100, 0x1p31);
  options.confidence = number_of(arguments.confidence, "--confidence");
  options.delta = arguments.delta.empty() ? audit_delta(subject.event)
                                          : Delta(number_of(arguments.delta, "--delta"));
  if (!arguments.epsilon.empty())
    options.epsilon = Epsilon(number_of(arguments.epsilon, "--epsilon"));
  options.progress = [&bar](double share) { bar.update(share); };
  const AuditClaim claim = claim_of(subject.event, options.delta, options.epsilon);
  const Audit measured = audit(subject.suspects, options);
  std::cout << audit_text(subject.event, measured, claim, format);
  if (!arguments.plot.empty()) write_plot(arguments, audit_svg(subject.event, measured, claim));
  if (const std::string finding = finding_text(subject.event, measured, claim); !finding.empty()) {
    std::cout.flush();
    throw std::runtime_error(finding);
  }
}

}  // namespace

void add_audit(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("audit", "Measure what a mechanism's outputs reveal, against its claim",
                         "Examples:\n"
                         "  sotto audit 'laplace(1)'\n"
                         "  sotto audit 'gaussian(1)' --delta 1e-3 --trials 1e7 --plot audit.svg\n"
                         "  sotto audit 'laplace(2, 1)' --vector 3 --confidence 0.999\n"
                         "  sotto audit 'randomized_response(0.75, 4)' --format json\n"
                         "\n"
                         "Measures lower bounds on epsilon and delta from a mechanism's outputs on "
                         "two neighbouring inputs, with a\n"
                         "stated confidence, and compares them with the claim. Exits with 1 if "
                         "more is measured than claimed.");
  command
      ->add_option("MECHANISM", arguments->mechanism,
                   "a leaf: laplace, gaussian, arsinh, discrete_laplace, discrete_gaussian, "
                   "randomized_response or exponential, such as 'laplace(1)'")
      ->required();
  command
      ->add_option("--trials", arguments->trials,
                   "the number of outputs that are sampled for each input, from 100 to 2^31")
      ->capture_default_str();
  command
      ->add_option("--confidence", arguments->confidence,
                   "the confidence of each measured bound by itself")
      ->capture_default_str();
  command->add_option(
      "--delta", arguments->delta,
      "the delta at which epsilon is measured (default 0 for a pure claim, else 1e-5)");
  command->add_option(
      "--epsilon", arguments->epsilon,
      "the epsilon at which delta is measured (default 0: the total variation distance)");
  command->add_option(
      "--grid", arguments->grid,
      "the grid of the outputs, a power of two (default: one that suits the noise)");
  command->add_option("--vector", arguments->vector, "the number of coordinates of an output")
      ->capture_default_str();
  command->add_option("--plot", arguments->plot,
                      "draws the outputs and the measured points to this SVG file");
  add_format(*command, *arguments);
  command->add_flag("--quiet", arguments->quiet, "print nothing but errors and findings on stderr");
  command->callback([arguments] { run_audit(*arguments); });
}

}  // namespace sotto::cli
