// sotto simulate: averaging and learning without a trusted curator, in one process on made-up
// values.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments/number_options.hpp"
#include "cli/command.hpp"
#include "cli/progress_bar.hpp"
#include "course/api/simulations.hpp"
#include "report/api/svg.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

// The upper limit for users of a simulated training: the records of more do not fit into memory.
constexpr double most_learners = 1e6;

// The options of every simulation.
Command* add(Command& parent, OutputArguments& output, const std::string& name,
             const std::string& summary, const std::string& description) {
  Command* command = parent.add_subcommand(name, summary, description);
  command->add_option("--plot", output.plot, "draws the result to this SVG file");
  add_format(*command, output);
  add_quiet(*command, output);
  return command;
}

void print(const OutputArguments& output, const SimulationReport& report, Format format) {
  std::cout << simulation_text(report, format);
  if (!output.plot.empty()) write_plot(output, svg(report.chart));
}

// --- Averaging ---

struct AveragingArguments : OutputArguments {
  AveragingSimulation settings;
  std::vector<std::string> users;
  std::unique_ptr<NumberOptions> options;
};

void run_averaging(const AveragingArguments& arguments) {
  const Format format = format_of(arguments);
  arguments.options->read();
  AveragingSimulation settings = arguments.settings;
  std::vector<std::int64_t> users;
  for (const std::string& text : arguments.users)
    users.push_back(whole_number_of(text, "--users", 1, most_whole));
  if (users.empty()) users = usual_users(settings.model);
  ProgressBar bar(arguments.quiet);
  std::vector<AveragingOutcome> outcomes;
  for (std::size_t i = 0; i < users.size(); ++i) {
    settings.users = users[i];
    settings.progress = [&](double share) {
      bar.update((static_cast<double>(i) + share) / static_cast<double>(users.size()));
    };
    outcomes.push_back(simulate_averaging(settings));
  }
  print(arguments, report_of(outcomes), format);
}

struct AveragingText {
  TrustModel model;
  const char* summary;
  const char* examples;
  const char* description;
};

void add_averaging(Command& parent, const AveragingText& text) {
  const TrustModel model = text.model;
  const std::string name = name_of(model);
  const auto arguments = std::make_shared<AveragingArguments>();
  AveragingSimulation& settings = arguments->settings;
  settings.model = model;
  Command* command =
      add(parent, *arguments, name, text.summary,
          "Examples:\n  sotto simulate " + name + "\n" + text.examples + "\n" + text.description);
  command
      ->add_option("--users", arguments->users,
                   "users, each with a value in [0, 1]; may be repeated (default 100, 300, 1000)")
      ->allow_extra_args(false);
  arguments->options = std::make_unique<NumberOptions>(*command);
  NumberOptions& options = *arguments->options;
  options.add("--epsilon", settings.epsilon,
              "the target epsilon, with one user's value replaced (default 1)");
  options.add("--delta", settings.delta, "the target delta (default 1e-6)");
  if (model != TrustModel::shuffle) {
    options.add("--sigma", settings.sigma, "in place of --epsilon: the noise for one value")
        ->excludes("--epsilon");
  }
  options.add("--runs", settings.runs, "whole protocols for each number of users (default 100)");
  if (model == TrustModel::gopa || model == TrustModel::walk) {
    options.add("--honest", settings.honest,
                "the share of users who do not collude (default 1; in a walk all but one)");
  }
  if (model == TrustModel::gopa) {
    options.add("--dropouts", settings.dropouts,
                "the share of users who drop out after masks were exchanged (default 0)");
    options.add("--degree", settings.degree,
                "how many other users a user picks to share masks with (default: all of them)");
  }
  if (model == TrustModel::ring || model == TrustModel::walk) {
    options.add("--rounds", settings.rounds,
                "how often each value is contributed; a walk has users times rounds hops at most "
                "(default 1)");
  }
  command->callback([arguments] { run_averaging(*arguments); });
}

// --- Learning ---

// Public records in place of made-up ones.
struct RecordArguments {
  std::string data, label = "median_house_value";
};

void add_records(Command& command, RecordArguments& records) {
  command.add_option("--data", records.data,
                     "a CSV file of public records with a header (default: made-up records)");
  command
      .add_option("--label", records.label,
                  "the column of --data; whether it is above its mean is learned")
      ->capture_default_str();
}

struct LearningArguments : OutputArguments {
  LearningSimulation settings;
  std::vector<std::string> users;
  std::unique_ptr<NumberOptions> options;
  RecordArguments records;
};

void run_learning(const LearningArguments& arguments) {
  const Format format = format_of(arguments);
  if (arguments.users.size() > 1)
    throw InvalidValue("--users was typed more than once: a training has one number of users");
  arguments.options->read();
  LearningSimulation settings = arguments.settings;
  if (!arguments.users.empty())
    settings.users = whole_number_of(arguments.users.front(), "--users", 2, most_learners);
  ProgressBar bar(arguments.quiet);
  settings.progress = [&](double share) { bar.update(share); };
  const std::int64_t least = 5 * settings.users / 2;
  const SimulatedRecords records =
      arguments.records.data.empty()
          ? made_up_records(least)
          : read_records(arguments.records.data, arguments.records.label);
  print(arguments, report_of(settings, simulate_learning(records, settings)), format);
}

void add_learning(Command& parent) {
  const auto arguments = std::make_shared<LearningArguments>();
  LearningSimulation& settings = arguments->settings;
  Command* command =
      add(parent, *arguments, "learning", "Federated logistic regression under four trust models",
          "Examples:\n"
          "  sotto simulate learning\n"
          "  sotto simulate learning --users 2000 --rounds 20 --honest 0.5 --plot learning.svg\n"
          "  sotto simulate learning --data housing.csv --label median_house_value\n"
          "\n"
          "Trains logistic regression by federated gradient descent: with a trusted curator, by "
          "aggregation, with local DP, and on a\n"
          "token that walks.");
  command->add_option("--users", arguments->users, "users who share the records (default 1000)")
      ->allow_extra_args(false);
  arguments->options = std::make_unique<NumberOptions>(*command);
  NumberOptions& options = *arguments->options;
  options.add("--honest", settings.honest, "the share of users who do not collude (default 0.5)");
  options.add("--rounds", settings.rounds,
              "rounds; in each, every user contributes once, in a walk at most once on average "
              "(default 50)");
  options.add("--epsilon", settings.epsilon,
              "epsilon of the whole training, with one user's records replaced (default 1)");
  options.add("--delta", settings.delta, "delta of the whole training (default 1e-6)");
  options.add("--clip", settings.clip,
              "the norm to which a record's gradient is clipped (default 1)");
  options.add("--step", settings.steps, "a step size to try; may be repeated (default 0.1 to 8)");
  options.add("--runs", settings.runs, "trainings of each kind (default 3)");
  add_records(*command, arguments->records);
  command->callback([arguments] { run_learning(*arguments); });
}

// --- Tables of the papers ---

struct TableArguments : OutputArguments {
  std::string name;
  RecordArguments records;
};

void run_table(const TableArguments& arguments) {
  const Format format = format_of(arguments);
  ProgressBar bar(arguments.quiet);
  const bool has_records = is_of_records(arguments.name) && !arguments.records.data.empty();
  const SimulatedRecords records =
      has_records ? read_records(arguments.records.data, arguments.records.label)
                  : SimulatedRecords{};
  print(arguments,
        simulation_table(arguments.name, records, [&](double share) { bar.update(share); }),
        format);
}

void add_table(Command& parent) {
  const auto arguments = std::make_shared<TableArguments>();
  std::string names;
  for (const std::string& name : simulation_tables()) names += (names.empty() ? "" : ", ") + name;
  Command* command = add(parent, *arguments, "table", "Recompute a table or figure of the papers",
                         "Examples:\n"
                         "  sotto simulate table gopa-noise\n"
                         "  sotto simulate table network-epsilon --plot network.svg\n"
                         "  sotto simulate table fedsgd --data housing.csv\n"
                         "\n"
                         "Recomputes a table or figure of the papers on learning without a trusted "
                         "curator, and compares it with exact values.");
  command->add_option("NAME", arguments->name, names)->required();
  add_records(*command, arguments->records);
  command->callback([arguments] { run_table(*arguments); });
}

}  // namespace

void add_simulate(Command& app) {
  Command* command =
      app.add_subcommand("simulate", "Simulate averaging and learning without a trusted curator",
                         "Examples:\n"
                         "  sotto simulate gopa --users 1000 --honest 0.5\n"
                         "  sotto simulate local --users 10000 --epsilon 1\n"
                         "  sotto simulate walk --rounds 10 --plot walk.svg\n"
                         "\n"
                         "Simulates averaging and learning without a trusted curator, on made-up "
                         "values. Prints the error, measured and\n"
                         "predicted, next to a trusted curator's and to local DP's, and the "
                         "privacy cost, exact and by the protocol's paper.");
  command->require_subcommand(1);
  add_averaging(*command, {TrustModel::central, "A trusted curator adds noise to the sum",
                           "  sotto simulate central --users 10000 --epsilon 0.5\n",
                           "A trusted curator adds noise to the sum."});
  add_averaging(
      *command,
      {TrustModel::local, "Every user adds noise to their own value",
       "  sotto simulate local --users 10000 --epsilon 0.5\n",
       "Every user adds noise to their own value: the error is sqrt(n) times the curator's."});
  add_averaging(*command,
                {TrustModel::shuffle, "Every user sends one randomized bit through a shuffler",
                 "  sotto simulate shuffle --users 10000 --epsilon 0.5\n",
                 "Every user sends one randomized bit through a shuffler."});
  add_averaging(*command, {TrustModel::gopa, "Users add noise shares and pairwise masks (GOPA)",
                           "  sotto simulate gopa --users 1000 --honest 0.5 --dropouts 0.01\n"
                           "  sotto simulate gopa --users 10000 --degree 120 --delta 1e-4\n",
                           "Users add a share of the noise each, and masks that cancel in pairs "
                           "(GOPA): the curator's error without the curator."});
  add_averaging(*command,
                {TrustModel::ring, "A token goes round and adds up (network DP on a ring)",
                 "  sotto simulate ring --rounds 10 --users 2000\n",
                 "A token goes round and adds up the values, with noise once in a round (network "
                 "DP on a ring)."});
  add_averaging(*command, {TrustModel::walk, "A token walks at random and adds up (network DP)",
                           "  sotto simulate walk --rounds 10 --honest 0.9\n",
                           "A token walks at random and adds up the values, with noise at every "
                           "hop (network DP on the complete graph). The walk\n"
                           "ends before any coalition of the size that is charged for would hold "
                           "the token more often than is charged."});
  add_learning(*command);
  add_table(*command);
}

}  // namespace sotto::cli
