// sotto attack: attacks on made-up data, which show what noise and budgets are for.
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "sotto/core/errors.hpp"
#include "course/api/attacks.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

// Numbers as typed, or empty where the attack's own default holds.
struct Options {
  std::string epsilon, delta, budget;
  std::string questions, runs, people, queries, sites, releases, trials, value, features, classes, batch, clip;
  std::vector<std::string> epsilons, noise;
};

void read(const std::string& text, const char* option, double& into) {
  if (!text.empty()) into = number_of(text, option);
}

void read(const std::string& text, const char* option, std::int64_t& into) {
  if (!text.empty()) into = whole_number_of(text, option, 1, most_whole);
}

void read(const std::vector<std::string>& texts, const char* option, std::vector<double>& into) {
  for (const std::string& text : texts) into.push_back(number_of(text, option));
}

template <class Attack>
void show(const Typed& typed, const std::function<Attack()>& run) {
  const Format format = format_of(typed);
  const AttackReport report = report_of(run());
  std::cout << attack_text(report, format);
  if (typed.plot.empty()) return;
  write_file(typed.plot, svg(report.chart));
  if (!typed.quiet) std::cerr << "drawn to " << typed.plot << "\n";
}

// What all attacks have.
Command* add(Command& parent, Typed& typed, const char* name, const char* description) {
  Command* command = parent.add_subcommand(name, description);
  command->add_option("--plot", typed.plot, "draws what was found to this SVG file");
  command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  return command;
}

void add_averaging(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "averaging",
                         "Examples:\n"
                         "  sotto attack averaging\n"
                         "  sotto attack averaging --epsilon 1 --questions 500 --budget 10 --plot averaging.svg\n"
                         "\n"
                         "One question asked again and again: the noise averages out, and a budget would have stopped it.");
  command->add_option("--epsilon", options.epsilon, "of each answer (default 0.1)");
  command->add_option("--questions", options.questions, "how often the question is asked (default 10000)");
  command->add_option("--runs", options.runs, "how often the whole attack is tried (default 100)");
  command->add_option("--delta", options.delta, "at which all answers together are costed (default 1e-6)");
  command->add_option("--budget", options.budget, "the total epsilon that a ledger would grant (default 1)");
  command->callback([&typed, &options] {
    AveragingSettings settings;
    read(options.epsilon, "--epsilon", settings.epsilon);
    read(options.questions, "--questions", settings.questions);
    read(options.runs, "--runs", settings.runs);
    read(options.delta, "--delta", settings.delta);
    read(options.budget, "--budget", settings.budget);
    show<AveragingAttack>(typed, [&] { return averaging_attack(settings); });
  });
}

void add_reconstruction(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "reconstruction",
                         "Examples:\n"
                         "  sotto attack reconstruction\n"
                         "  sotto attack reconstruction --people 100 --queries 1000 --noise 3 --noise 30 --plot reconstruction.svg\n"
                         "\n"
                         "Many counts over random subsets: with too little noise they give every secret bit away.");
  command->add_option("--people", options.people, "each with a secret bit (default 200)");
  command->add_option("--queries", options.queries, "counts over random subsets (default 4 for each person)");
  command->add_option("--noise", options.noise, "a standard deviation to try; may be repeated (default ten from 1 to 200)")->allow_extra_args(false);
  command->add_option("--runs", options.runs, "tables for each noise (default 50)");
  command->add_option("--delta", options.delta, "at which all answers together are costed (default 1e-6)");
  command->add_option("--budget", options.budget, "the total epsilon whose noise is tried too (default 1)");
  command->callback([&typed, &options] {
    ReconstructionSettings settings;
    read(options.people, "--people", settings.people);
    settings.queries = 4 * settings.people;
    read(options.queries, "--queries", settings.queries);
    read(options.noise, "--noise", settings.noise);
    read(options.runs, "--runs", settings.runs);
    read(options.delta, "--delta", settings.delta);
    read(options.budget, "--budget", settings.budget);
    show<ReconstructionAttack>(typed, [&] { return reconstruction_attack(settings); });
  });
}

void add_membership(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "membership",
                         "Examples:\n"
                         "  sotto attack membership\n"
                         "  sotto attack membership --sites 5000 --people 200 --epsilon 4 --plot membership.svg\n"
                         "\n"
                         "Published allele frequencies: whose genome was in the pool, from exact and from private ones.");
  command->add_option("--sites", options.sites, "places in the genome (default 2000)");
  command->add_option("--people", options.people, "in the pool (default 100)");
  command->add_option("--runs", options.runs, "pools (default 20)");
  command->add_option("--epsilon", options.epsilon, "of the private release of all frequencies (default 1)");
  command->add_option("--delta", options.delta, "of the same (default 1e-6)");
  command->callback([&typed, &options] {
    MembershipSettings settings;
    read(options.sites, "--sites", settings.sites);
    read(options.people, "--people", settings.people);
    read(options.runs, "--runs", settings.runs);
    read(options.epsilon, "--epsilon", settings.epsilon);
    read(options.delta, "--delta", settings.delta);
    show<MembershipAttack>(typed, [&] { return membership_attack(settings); });
  });
}

void add_floating_point(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "floating-point",
                         "Examples:\n"
                         "  sotto attack floating-point\n"
                         "  sotto attack floating-point --value 10 --epsilon 0.5 --releases 10000 --plot floating-point.svg\n"
                         "\n"
                         "The low bits of textbook noise: they tell the value from a single output; sotto's do not.");
  command->add_option("--value", options.value, "noise is added to this or to one more (default 0)");
  command->add_option("--epsilon", options.epsilons, "of the noise; may be repeated (default 0.1 to 5)")->allow_extra_args(false);
  command->add_option("--releases", options.releases, "at each epsilon (default 20000)");
  command->callback([&typed, &options] {
    FloatingPointSettings settings;
    read(options.value, "--value", settings.value);
    read(options.epsilons, "--epsilon", settings.epsilons);
    read(options.releases, "--releases", settings.releases);
    show<FloatingPointAttack>(typed, [&] { return floating_point_attack(settings); });
  });
}

void add_differencing(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "differencing",
                         "Examples:\n"
                         "  sotto attack differencing\n"
                         "  sotto attack differencing --epsilon 0.5 --epsilon 3 --plot differencing.svg\n"
                         "\n"
                         "Two counts that differ in one person: exact, they reveal that person's bit; with noise, as much as epsilon allows.");
  command->add_option("--people", options.people, "in the table (default 1000)");
  command->add_option("--epsilon", options.epsilons, "of both counts together; may be repeated (default 0.1 to 10)")->allow_extra_args(false);
  command->add_option("--trials", options.trials, "at each epsilon (default 20000)");
  command->callback([&typed, &options] {
    DifferencingSettings settings;
    read(options.people, "--people", settings.people);
    read(options.epsilons, "--epsilon", settings.epsilons);
    read(options.trials, "--trials", settings.trials);
    show<DifferencingAttack>(typed, [&] { return differencing_attack(settings); });
  });
}

void add_catastrophe(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "catastrophe",
                         "Examples:\n"
                         "  sotto attack catastrophe\n"
                         "  sotto attack catastrophe --delta 0.001 --releases 10000 --plot catastrophe.svg\n"
                         "\n"
                         "A mechanism that reveals everything with probability delta: (epsilon, delta)-DP permits it, Rényi DP does not.");
  command->add_option("--epsilon", options.epsilon, "of each release (default 1)");
  command->add_option("--delta", options.delta, "of each release; large, so that it can be seen (default 0.01)");
  command->add_option("--releases", options.releases, "how many (default 1000)");
  command->add_option("--people", options.people, "in the table (default 100)");
  command->callback([&typed, &options] {
    CatastropheSettings settings;
    read(options.epsilon, "--epsilon", settings.epsilon);
    read(options.delta, "--delta", settings.delta);
    read(options.releases, "--releases", settings.releases);
    read(options.people, "--people", settings.people);
    show<CatastropheAttack>(typed, [&] { return catastrophe_attack(settings); });
  });
}

void add_overfitting(Command& parent, Typed& typed, Options& options) {
  Command* command = add(parent, typed, "overfitting",
                         "Examples:\n"
                         "  sotto attack overfitting\n"
                         "  sotto attack overfitting --people 500 --questions 2000 --epsilon 0.5 --plot overfitting.svg\n"
                         "\n"
                         "A holdout set that is asked again and again: exact answers fit it, private ones do not.");
  command->add_option("--people", options.people, "in the holdout set (default 1000)");
  command->add_option("--questions", options.questions, "features, each asked about once (default 1000)");
  command->add_option("--runs", options.runs, "holdout sets (default 20)");
  command->add_option("--epsilon", options.epsilon, "of all private answers together (default 0.2)");
  command->add_option("--delta", options.delta, "of the same (default 1e-6)");
  command->callback([&typed, &options] {
    OverfittingSettings settings;
    read(options.people, "--people", settings.people);
    read(options.questions, "--questions", settings.questions);
    read(options.runs, "--runs", settings.runs);
    read(options.epsilon, "--epsilon", settings.epsilon);
    read(options.delta, "--delta", settings.delta);
    show<OverfittingAttack>(typed, [&] { return overfitting_attack(settings); });
  });
}

void add_gradient_inversion(Command& parent, Typed& typed, Options& options) {
  Command* command =
      add(parent, typed, "gradient-inversion",
          "Examples:\n"
          "  sotto attack gradient-inversion\n"
          "  sotto attack gradient-inversion --batch 8 --epsilon 1 --epsilon 100 --plot gradient-inversion.svg\n"
          "\n"
          "A gradient that a party of federated learning sends: plain, it is the record; clipped and with noise, as much as epsilon allows.");
  command->add_option("--features", options.features, "bits of a record (default 64)");
  command->add_option("--classes", options.classes, "of the softmax model (default 10)");
  command->add_option("--batch", options.batch, "records in the gradient (default 1)");
  command->add_option("--runs", options.runs, "gradients at each epsilon (default 200)");
  command->add_option("--epsilon", options.epsilons, "of one gradient; may be repeated (default 1 to 3000)")->allow_extra_args(false);
  command->add_option("--delta", options.delta, "of the same (default 1e-6)");
  command->add_option("--clip", options.clip, "the norm of a record's gradient (default 1)");
  command->callback([&typed, &options] {
    GradientInversionSettings settings;
    read(options.features, "--features", settings.features);
    read(options.classes, "--classes", settings.classes);
    read(options.batch, "--batch", settings.batch);
    read(options.runs, "--runs", settings.runs);
    read(options.epsilons, "--epsilon", settings.epsilons);
    read(options.delta, "--delta", settings.delta);
    read(options.clip, "--clip", settings.clip);
    show<GradientInversionAttack>(typed, [&] { return gradient_inversion_attack(settings); });
  });
}

}  // namespace

void add_attack(Command& app, Typed& typed) {
  static Options options;
  Command* command = app.add_subcommand("attack",
                                        "Examples:\n"
                                        "  sotto attack averaging --plot averaging.svg\n"
                                        "  sotto attack reconstruction\n"
                                        "  sotto attack membership --epsilon 4 --format json\n"
                                        "\n"
                                        "An attack on made-up data: what was learnt, the budget that would have stopped it, and a picture.");
  command->require_subcommand(1);
  add_averaging(*command, typed, options);
  add_reconstruction(*command, typed, options);
  add_membership(*command, typed, options);
  add_floating_point(*command, typed, options);
  add_differencing(*command, typed, options);
  add_catastrophe(*command, typed, options);
  add_overfitting(*command, typed, options);
  add_gradient_inversion(*command, typed, options);
}

}  // namespace sotto::cli
