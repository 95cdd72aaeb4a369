// sotto simulate: averaging and learning without a trusted curator, in one process on made-up values.
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/progress_bar.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/join.hpp"
#include "course/api/simulations.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

// Users of a simulated training: with more, their records do not fit into memory.
constexpr double most_learners = 1e6;

// Numbers as typed, or empty where the simulation's own default holds.
struct Options {
  std::vector<std::string> users;
  std::string honest, dropouts, degree, epsilon, delta, sigma, rounds, runs, clip, data, label = "median_house_value", table;
  std::vector<std::string> steps;
};

void read(const std::string& text, const char* option, double& into) {
  if (!text.empty()) into = number_of(text, option);
}

void read(const std::string& text, const char* option, std::int64_t& into) {
  if (!text.empty()) into = whole_number_of(text, option, 1, most_whole);
}

void show(const Typed& typed, const SimulationReport& report, Format format) {
  std::cout << simulation_text(report, format);
  if (typed.plot.empty()) return;
  write_file(typed.plot, svg(report.chart));
  if (!typed.quiet) std::cerr << "drawn to " << typed.plot << "\n";
}

// What all simulations have.
Command* add(Command& parent, Typed& typed, const std::string& name, const std::string& description) {
  Command* command = parent.add_subcommand(name, description);
  command->add_option("--plot", typed.plot, "draws what was found to this SVG file");
  command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  return command;
}

void run_averaging(const Typed& typed, const Options& options, TrustModel model) {
  const Format format = format_of(typed);
  AveragingSimulation settings{.model = model};
  read(options.honest, "--honest", settings.honest);
  read(options.dropouts, "--dropouts", settings.dropouts);
  read(options.degree, "--degree", settings.degree);
  read(options.epsilon, "--epsilon", settings.epsilon);
  read(options.delta, "--delta", settings.delta);
  if (!options.sigma.empty()) settings.sigma = number_of(options.sigma, "--sigma");
  read(options.rounds, "--rounds", settings.rounds);
  read(options.runs, "--runs", settings.runs);
  std::vector<std::int64_t> users;
  for (const std::string& text : options.users) users.push_back(whole_number_of(text, "--users", 1, most_whole));
  if (users.empty()) users = usual_users(model);
  ProgressBar bar(typed);
  std::vector<AveragingOutcome> outcomes;
  for (std::size_t i = 0; i < users.size(); ++i) {
    settings.users = users[i];
    settings.progress = [&](double share) { bar.tell((static_cast<double>(i) + share) / static_cast<double>(users.size())); };
    outcomes.push_back(simulate_averaging(settings));
  }
  show(typed, report_of(outcomes), format);
}

void add_averaging(Command& parent, Typed& typed, Options& options, TrustModel model, const std::string& examples, const std::string& words) {
  const std::string name = name_of(model);
  Command* command = add(parent, typed, name, "Examples:\n  sotto simulate " + name + "\n" + examples + "\n" + words);
  command->add_option("--users", options.users, "each with a value in [0, 1]; may be repeated (default 100, 300, 1000)")->allow_extra_args(false);
  command->add_option("--epsilon", options.epsilon, "the target, one user's value replaced (default 1)");
  command->add_option("--delta", options.delta, "of the same (default 1e-6)");
  if (model != TrustModel::shuffle) {
    command->add_option("--sigma", options.sigma, "in place of --epsilon: the noise for one value")->excludes("--epsilon");
  }
  command->add_option("--runs", options.runs, "whole protocols for each number of users (default 100)");
  if (model == TrustModel::gopa || model == TrustModel::walk) {
    command->add_option("--honest", options.honest, "the share of users who do not collude (default 1; in a walk all but one)");
  }
  if (model == TrustModel::gopa) {
    command->add_option("--dropouts", options.dropouts, "the share of users who vanish after masks were exchanged (default 0)");
    command->add_option("--degree", options.degree, "how many others a user picks to share masks with (default: everybody)");
  }
  if (model == TrustModel::ring || model == TrustModel::walk) {
    command->add_option("--rounds", options.rounds, "how often each value is contributed; a walk has users times rounds hops at most (default 1)");
  }
  command->callback([&typed, &options, model] { run_averaging(typed, options, model); });
}

SimulatedRecords records_of(const Options& options, std::int64_t least) {
  return options.data.empty() ? made_up_records(least) : read_records(options.data, options.label);
}

void run_learning(const Typed& typed, const Options& options) {
  const Format format = format_of(typed);
  LearningSimulation settings;
  if (options.users.size() > 1) throw InvalidValue("--users is to be given once here");
  if (!options.users.empty()) settings.users = whole_number_of(options.users.front(), "--users", 2, most_learners);
  read(options.honest, "--honest", settings.honest);
  read(options.rounds, "--rounds", settings.rounds);
  read(options.epsilon, "--epsilon", settings.epsilon);
  read(options.delta, "--delta", settings.delta);
  read(options.clip, "--clip", settings.clip);
  read(options.runs, "--runs", settings.runs);
  if (!options.steps.empty()) settings.steps.clear();
  for (const std::string& text : options.steps) settings.steps.push_back(number_of(text, "--step"));
  ProgressBar bar(typed);
  settings.progress = [&](double share) { bar.tell(share); };
  const SimulatedRecords records = records_of(options, 5 * settings.users / 2);
  show(typed, report_of(settings, simulate_learning(records, settings)), format);
}

void add_data(Command* command, Options& options) {
  command->add_option("--data", options.data, "a CSV file of public records with a header (default: made-up records)");
  command->add_option("--label", options.label, "its column whose being above the mean is learned")->capture_default_str();
}

void add_learning(Command& parent, Typed& typed, Options& options) {
  Command* command =
      add(parent, typed, "learning",
          "Examples:\n"
          "  sotto simulate learning\n"
          "  sotto simulate learning --users 2000 --rounds 20 --honest 0.5 --plot learning.svg\n"
          "  sotto simulate learning --data housing.csv --label median_house_value\n"
          "\n"
          "Logistic regression by federated gradient descent: with a trusted curator, aggregated, with local DP, and on a token that walks.");
  command->add_option("--users", options.users, "who share the records (default 1000)")->allow_extra_args(false);
  command->add_option("--honest", options.honest, "the share of users who do not collude (default 0.5)");
  command->add_option("--rounds", options.rounds, "in each every user contributes; in a walk at most so often (default 50)");
  command->add_option("--epsilon", options.epsilon, "of the whole training, one user's records replaced (default 1)");
  command->add_option("--delta", options.delta, "of the same (default 1e-6)");
  command->add_option("--clip", options.clip, "the norm of a record's gradient (default 1)");
  command->add_option("--step", options.steps, "a step to try; may be repeated (default 0.1 to 8)")->allow_extra_args(false);
  command->add_option("--runs", options.runs, "trainings of each kind (default 3)");
  add_data(command, options);
  command->callback([&typed, &options] { run_learning(typed, options); });
}

void add_table(Command& parent, Typed& typed, Options& options) {
  const std::string names = join(simulation_tables());
  Command* command = add(parent, typed, "table",
                         "Examples:\n"
                         "  sotto simulate table gopa-noise\n"
                         "  sotto simulate table network-epsilon --plot network.svg\n"
                         "  sotto simulate table fedsgd --data housing.csv\n"
                         "\n"
                         "A table or figure of the papers on learning without a trusted curator, recomputed, beside what is exact.");
  command->add_option("NAME", options.table, names)->required();
  add_data(command, options);
  command->callback([&typed, &options] {
    const Format format = format_of(typed);
    ProgressBar bar(typed);
    const SimulatedRecords records =
        is_of_records(options.table) && !options.data.empty() ? read_records(options.data, options.label) : SimulatedRecords{};
    show(typed, simulation_table(options.table, records, [&](double share) { bar.tell(share); }), format);
  });
}

}  // namespace

void add_simulate(Command& app, Typed& typed) {
  static Options options;
  Command* command =
      app.add_subcommand("simulate",
                         "Examples:\n"
                         "  sotto simulate gopa --users 1000 --honest 0.5\n"
                         "  sotto simulate local --users 10000 --epsilon 1\n"
                         "  sotto simulate walk --rounds 10 --plot walk.svg\n"
                         "\n"
                         "Averaging and learning without a trusted curator, on made-up values: the error, measured and predicted, beside a\n"
                         "curator's and local DP's, and what it costs, exactly and by the protocol's paper.");
  command->require_subcommand(1);
  add_averaging(*command, typed, options, TrustModel::central, "  sotto simulate central --users 10000 --epsilon 0.5\n",
                "A trusted curator adds noise to the sum.");
  add_averaging(*command, typed, options, TrustModel::local, "  sotto simulate local --users 10000 --epsilon 0.5\n",
                "Every user adds noise to the own value: the error is sqrt(n) times the curator's.");
  add_averaging(*command, typed, options, TrustModel::shuffle, "  sotto simulate shuffle --users 10000 --epsilon 0.5\n",
                "Every user sends one randomized bit through a shuffler.");
  add_averaging(*command, typed, options, TrustModel::gopa,
                "  sotto simulate gopa --users 1000 --honest 0.5 --dropouts 0.01\n"
                "  sotto simulate gopa --users 10000 --degree 120 --delta 1e-4\n",
                "Users add a share of the noise each, and masks that cancel in pairs (GOPA): the curator's error without the curator.");
  add_averaging(*command, typed, options, TrustModel::ring, "  sotto simulate ring --rounds 10 --users 2000\n",
                "A token goes round and sums up, with noise once in a round (network DP on a ring).");
  add_averaging(*command, typed, options, TrustModel::walk, "  sotto simulate walk --rounds 10 --honest 0.9\n",
                "A token walks at random and sums up, with noise at every hop (network DP on the complete graph). The walk ends before any coalition "
                "of the size "
                "that is charged for would hold the token more often than is charged.");
  add_learning(*command, typed, options);
  add_table(*command, typed, options);
}

}  // namespace sotto::cli
