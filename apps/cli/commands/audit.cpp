// sotto audit: what a mechanism's outputs give away, measured, beside what is claimed.
#include "report/api/audit.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <string>

#include "cli/command.hpp"
#include "cli/progress_bar.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::cli {
namespace {

struct Options {
  std::string trials = "1e6";
  std::string confidence = "0.95";
  std::string grid;
  std::string vector = "1";
};

std::optional<int> grid_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const double step = number_of(text, "--grid");
  int exponent = 0;
  if (!(step > 0) || !std::isfinite(step) || std::frexp(step, &exponent) != 0.5) {
    throw InvalidValue("--grid " + text + " is not allowed: it must be a power of two, such as 1, 0.25 or 64");
  }
  return exponent - 1;
}

void run_audit(const Typed& typed, const Options& typed_here) {
  const Format format = format_of(typed);
  const Audited subject = audited(parse(typed.plan), grid_of(typed_here.grid), whole_number_of(typed_here.vector, "--vector", 1, 1e6));
  ProgressBar bar(typed);
  AuditOptions options;
  options.trials = whole_number_of(typed_here.trials, "--trials", 100, 0x1p31);
  options.confidence = number_of(typed_here.confidence, "--confidence");
  options.delta = typed.delta.empty() ? audit_delta(subject.event) : Delta(number_of(typed.delta, "--delta"));
  if (!typed.epsilon.empty()) options.epsilon = Epsilon(number_of(typed.epsilon, "--epsilon"));
  options.progress = [&bar](double share) { bar.tell(share); };
  const AuditClaim claim = claim_of(subject.event, options.delta, options.epsilon);
  const Audit measured = audit(subject.suspects, options);
  std::cout << audit_text(subject.event, measured, claim, format);
  if (!typed.plot.empty()) {
    write_file(typed.plot, audit_svg(subject.event, measured, claim));
    if (!typed.quiet) std::cerr << "drawn to " << typed.plot << "\n";
  }
  if (const std::string finding = finding_text(subject.event, measured, claim); !finding.empty()) {
    std::cout.flush();
    throw std::runtime_error(finding);
  }
}

}  // namespace

void add_audit(Command& app, Typed& typed) {
  static Options options;
  Command* command = app.add_subcommand("audit",
                                        "Examples:\n"
                                        "  sotto audit 'laplace(1)'\n"
                                        "  sotto audit 'gaussian(1)' --delta 1e-3 --trials 1e7 --plot audit.svg\n"
                                        "  sotto audit 'laplace(2, 1)' --vector 3 --confidence 0.999\n"
                                        "  sotto audit 'randomized_response(0.75, 4)' --format json\n"
                                        "\n"
                                        "Empirical lower bounds on epsilon and delta, from a mechanism's outputs on two neighbouring inputs\n"
                                        "with a stated confidence, beside the claim. Exit 1 if more is measured than claimed.");
  command
      ->add_option("MECHANISM", typed.plan,
                   "a leaf: laplace, gaussian, arsinh, discrete_laplace, discrete_gaussian, randomized_response or exponential, such as 'laplace(1)'")
      ->required();
  command->add_option("--trials", options.trials, "number of outputs sampled for each input")->capture_default_str();
  command->add_option("--confidence", options.confidence, "of each measured bound by itself")->capture_default_str();
  command->add_option("--delta", typed.delta, "the delta at which epsilon is measured (default 0 for a pure claim, else 1e-5)");
  command->add_option("--epsilon", typed.epsilon, "the epsilon at which delta is measured (default 0: the total variation distance)");
  command->add_option("--grid", options.grid, "a power of two; else one that suits the noise");
  command->add_option("--vector", options.vector, "releases vectors of this many coordinates")->capture_default_str();
  command->add_option("--plot", typed.plot, "draws the outputs and the measured points to this SVG file");
  command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  command->add_flag("--quiet", typed.quiet, "print errors and findings only on stderr");
  command->callback([&typed] { run_audit(typed, options); });
}

}  // namespace sotto::cli
