// sotto attack: attacks on made-up data, which show what noise and budgets are for.
#include <iostream>
#include <memory>
#include <string>

#include "cli/arguments/number_options.hpp"
#include "cli/command.hpp"
#include "course/api/attacks.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

// The arguments of one attack.
template <class Settings>
struct Arguments : OutputArguments {
  explicit Arguments(Command& command) : options(command) {}
  Settings settings;
  NumberOptions options;
};

struct Text {
  const char* name;
  const char* summary;
  const char* description;
};

// Adds the command of an attack. `add_options` adds one option for each setting that can be
// changed.
template <class Settings, class Attack, class AddOptions>
void add(Command& parent, const Text& text, Attack (*attack)(const Settings&),
         const AddOptions& add_options) {
  Command* command = parent.add_subcommand(text.name, text.summary, text.description);
  const auto arguments = std::make_shared<Arguments<Settings>>(*command);
  command->add_option("--plot", arguments->plot, "draws the result to this SVG file");
  add_format(*command, *arguments);
  add_quiet(*command, *arguments);
  add_options(arguments->options, arguments->settings);
  command->callback([arguments, attack] {
    arguments->options.read();
    const Format format = format_of(*arguments);
    const AttackReport report = report_of(attack(arguments->settings));
    std::cout << attack_text(report, format);
    if (!arguments->plot.empty()) write_plot(*arguments, svg(report.chart));
  });
}

void add_averaging(Command& parent) {
  constexpr Text text{
      "averaging", "Repeat one question until the noise averages out",
      "Examples:\n"
      "  sotto attack averaging\n"
      "  sotto attack averaging --epsilon 1 --questions 500 --budget 10 --plot averaging.svg\n"
      "\n"
      "Asks one question again and again: the noise averages out. A budget would have stopped it."};
  add(parent, text, averaging_attack, [](NumberOptions& options, AveragingSettings& settings) {
    options.add("--epsilon", settings.epsilon, "epsilon of each answer (default 0.1)");
    options.add("--questions", settings.questions,
                "how often the question is asked (default 10000)");
    options.add("--runs", settings.runs, "how often the whole attack is tried (default 100)");
    options.add("--delta", settings.delta,
                "the delta at which all answers together are costed (default 1e-6)");
    options.add("--budget", settings.budget,
                "the total epsilon that a ledger would grant (default 1)");
  });
}

// Without --queries, there are four for each person.
ReconstructionAttack reconstruct(const ReconstructionSettings& typed) {
  ReconstructionSettings settings = typed;
  if (settings.queries == 0) settings.queries = 4 * settings.people;
  return reconstruction_attack(settings);
}

void add_reconstruction(Command& parent) {
  constexpr Text text{
      "reconstruction", "Solve for every secret bit from many noisy counts",
      "Examples:\n"
      "  sotto attack reconstruction\n"
      "  sotto attack reconstruction --people 100 --queries 1000 --noise 3 --noise 30 --plot "
      "reconstruction.svg\n"
      "\n"
      "Counts over many random subsets: with too little noise they reveal every secret bit."};
  add(parent, text, reconstruct, [](NumberOptions& options, ReconstructionSettings& settings) {
    settings.queries = 0;
    options.add("--people", settings.people, "people, each with a secret bit (default 200)");
    options.add("--queries", settings.queries,
                "counts over random subsets (default 4 for each person)");
    options.add("--noise", settings.noise,
                "a standard deviation to try; may be repeated (default ten from 1 to 200)");
    options.add("--runs", settings.runs, "tables for each noise (default 50)");
    options.add("--delta", settings.delta,
                "the delta at which all answers together are costed (default 1e-6)");
    options.add("--budget", settings.budget,
                "the total epsilon whose noise is tried too (default 1)");
  });
}

void add_membership(Command& parent) {
  constexpr Text text{
      "membership", "Find out whose genome was in a pool, from its allele frequencies",
      "Examples:\n"
      "  sotto attack membership\n"
      "  sotto attack membership --sites 5000 --people 200 --epsilon 4 --plot membership.svg\n"
      "\n"
      "Finds out whose genome was in a pool, from published allele frequencies: exact ones and "
      "private ones."};
  add(parent, text, membership_attack, [](NumberOptions& options, MembershipSettings& settings) {
    options.add("--sites", settings.sites, "sites in the genome (default 2000)");
    options.add("--people", settings.people, "people in the pool (default 100)");
    options.add("--runs", settings.runs, "pools (default 20)");
    options.add("--epsilon", settings.epsilon,
                "epsilon of the private release of all frequencies (default 1)");
    options.add("--delta", settings.delta, "delta of that release (default 1e-6)");
  });
}

void add_floating_point(Command& parent) {
  constexpr Text text{"floating-point", "Read a value from the low bits of textbook noise",
                      "Examples:\n"
                      "  sotto attack floating-point\n"
                      "  sotto attack floating-point --value 10 --epsilon 0.5 --releases 10000 "
                      "--plot floating-point.svg\n"
                      "\n"
                      "Reads a value from the low bits of a single output with textbook noise; the "
                      "bits of sotto's noise do not reveal it."};
  add(parent, text, floating_point_attack,
      [](NumberOptions& options, FloatingPointSettings& settings) {
        options.add("--value", settings.value, "the secret is this number or one more (default 0)");
        options.add("--epsilon", settings.epsilons,
                    "epsilon of the noise; may be repeated (default 0.1 to 5)");
        options.add("--releases", settings.releases, "releases at each epsilon (default 20000)");
      });
}

void add_differencing(Command& parent) {
  constexpr Text text{
      "differencing", "Subtract two counts that differ in one person",
      "Examples:\n"
      "  sotto attack differencing\n"
      "  sotto attack differencing --epsilon 0.5 --epsilon 3 --plot differencing.svg\n"
      "\n"
      "Subtracts two counts that differ in one person: exact counts reveal that person's bit, "
      "noisy ones as much as epsilon allows."};
  add(parent, text, differencing_attack,
      [](NumberOptions& options, DifferencingSettings& settings) {
        options.add("--people", settings.people, "people in the table (default 1000)");
        options.add("--epsilon", settings.epsilons,
                    "epsilon of both counts together; may be repeated (default 0.1 to 10)");
        options.add("--trials", settings.trials, "trials at each epsilon (default 20000)");
      });
}

void add_catastrophe(Command& parent) {
  constexpr Text text{
      "catastrophe", "Wait for a mechanism that reveals everything with probability delta",
      "Examples:\n"
      "  sotto attack catastrophe\n"
      "  sotto attack catastrophe --delta 0.001 --releases 10000 --plot catastrophe.svg\n"
      "\n"
      "Uses a mechanism that reveals everything with probability delta: (epsilon, delta)-DP "
      "permits it, Rényi DP does not."};
  add(parent, text, catastrophe_attack, [](NumberOptions& options, CatastropheSettings& settings) {
    options.add("--epsilon", settings.epsilon, "epsilon of each release (default 1)");
    options.add("--delta", settings.delta,
                "delta of each release; large, so that its effect shows (default 0.01)");
    options.add("--releases", settings.releases, "releases (default 1000)");
    options.add("--people", settings.people, "people in the table (default 100)");
  });
}

void add_overfitting(Command& parent) {
  constexpr Text text{"overfitting", "Query a holdout set until a useless model fits it",
                      "Examples:\n"
                      "  sotto attack overfitting\n"
                      "  sotto attack overfitting --people 500 --questions 2000 --epsilon 0.5 "
                      "--plot overfitting.svg\n"
                      "\n"
                      "Queries a holdout set again and again: a model that follows the exact "
                      "answers overfits it; private answers prevent that."};
  add(parent, text, overfitting_attack, [](NumberOptions& options, OverfittingSettings& settings) {
    options.add("--people", settings.people, "people in the holdout set (default 1000)");
    options.add("--questions", settings.questions,
                "features, with one question about each (default 1000)");
    options.add("--runs", settings.runs, "holdout sets (default 20)");
    options.add("--epsilon", settings.epsilon,
                "epsilon of all private answers together (default 0.2)");
    options.add("--delta", settings.delta, "delta of all private answers together (default 1e-6)");
  });
}

void add_gradient_inversion(Command& parent) {
  constexpr Text text{"gradient-inversion", "Read a record from the gradient that a party sends",
                      "Examples:\n"
                      "  sotto attack gradient-inversion\n"
                      "  sotto attack gradient-inversion --batch 8 --epsilon 1 --epsilon 100 "
                      "--plot gradient-inversion.svg\n"
                      "\n"
                      "Reads a record from the gradient that a party of federated learning sends: "
                      "a plain gradient reveals the whole record,\n"
                      "a clipped one with noise as much as epsilon allows."};
  add(parent, text, gradient_inversion_attack,
      [](NumberOptions& options, GradientInversionSettings& settings) {
        options.add("--features", settings.features, "bits of a record (default 64)");
        options.add("--classes", settings.classes, "classes of the softmax model (default 10)");
        options.add("--batch", settings.batch, "records in the gradient (default 1)");
        options.add("--runs", settings.runs, "gradients at each epsilon (default 200)");
        options.add("--epsilon", settings.epsilons,
                    "epsilon of one gradient; may be repeated (default 1 to 3000)");
        options.add("--delta", settings.delta, "delta of one gradient (default 1e-6)");
        options.add("--clip", settings.clip,
                    "the norm to which a record's gradient is clipped (default 1)");
      });
}

}  // namespace

void add_attack(Command& app) {
  Command* command =
      app.add_subcommand("attack", "Attack made-up data, to see what noise and budgets prevent",
                         "Examples:\n"
                         "  sotto attack averaging --plot averaging.svg\n"
                         "  sotto attack reconstruction\n"
                         "  sotto attack membership --epsilon 4 --format json\n"
                         "\n"
                         "Runs an attack on made-up data and prints what it learnt and which "
                         "budget would have stopped it.");
  command->require_subcommand(1);
  add_averaging(*command);
  add_reconstruction(*command);
  add_membership(*command);
  add_floating_point(*command);
  add_differencing(*command);
  add_catastrophe(*command);
  add_overfitting(*command);
  add_gradient_inversion(*command);
}

}  // namespace sotto::cli
