// The tables of the papers on learning without a trusted curator, as reports.
#include "course/api/simulation_tables.hpp"

#include <cmath>
#include <functional>

#include "course/api/simulations.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using Column = SimulationReport::Column;
using Style = Series::Style;

template <class Row>
Column column(const char* name, const char* heading, const std::vector<Row>& rows,
              double Row::*member) {
  Column result{.name = name, .heading = heading};
  for (const Row& row : rows) result.values.push_back(row.*member);
  return result;
}

template <class Row>
Series curve(const char* name, const std::vector<Row>& rows, double Row::*x, double Row::*y,
             Style style = Style::line) {
  Series result{.name = name, .style = style};
  for (const Row& row : rows) {
    result.x.push_back(row.*x);
    result.y.push_back(row.*y);
  }
  return result;
}

SimulationReport gopa_noise() {
  using Row = GopaNoiseRow;
  const auto rows = gopa_noise_table();
  SimulationReport report{
      .simulation = "table gopa-noise",
      .settings = {{"epsilon", 0.1}},
      .columns = {column("users", "users", rows, &Row::users),
                  column("honest", "honest", rows, &Row::honest),
                  column("noise", "noise", rows, &Row::noise),
                  column("complete", "complete", rows, &Row::complete),
                  column("random", "random", rows, &Row::random),
                  column("degree", "degree", rows, &Row::degree),
                  column("realised", "one graph", rows, &Row::realised),
                  column("picks", "degree", rows, &Row::picks),
                  column("connected", "connected", rows, &Row::connected)},
      .notes = {{"what",
                 "GOPA at epsilon 0.1, delta' = 1/h^2 of h honest users, delta = 10 delta': a "
                 "user's own noise, and that of a mask "
                 "on the complete graph, on a random graph of the theorem's least degree, on one "
                 "random graph of a small degree "
                 "(every user checked), and where honest users are only known to be connected."}}};
  const std::vector<Row> all{rows[0], rows[2]};
  report.chart = {
      .id = "table-gopa-noise",
      .title = "GOPA: the noise of masks by graph",
      .caption =
          "Standard deviations at ε = 0.1, all users honest. Masks cancel in the sum, so that "
          "their noise costs nothing but range.",
      .x_label = "users n",
      .y_label = "standard deviation",
      .log_x = true,
      .log_y = true,
      .series = {curve("a user's own noise", all, &Row::users, &Row::noise),
                 curve("mask, complete graph", all, &Row::users, &Row::complete),
                 curve("mask, random graph by the theorem", all, &Row::users, &Row::random),
                 curve("mask, any connected graph", all, &Row::users, &Row::connected)}};
  return report;
}

SimulationReport gopa_epsilon() {
  using Row = GopaEpsilonRow;
  const auto rows = gopa_epsilon_table();
  return {.simulation = "table gopa-epsilon",
          .settings = {{"epsilon", 0.1}},
          .columns = {column("users", "users", rows, &Row::users),
                      column("degree", "degree", rows, &Row::degree),
                      column("theorem", "theorem's", rows, &Row::theorem),
                      column("exact", "exact profile", rows, &Row::exact),
                      column("realised", "one graph", rows, &Row::realised),
                      column("noise", "noise", rows, &Row::noise),
                      column("exact_noise", "exact noise", rows, &Row::exact_noise)},
          .notes = {{"what",
                     "epsilon of GOPA on a random graph with the noise that its corollary asks for "
                     "at epsilon 0.1, delta = 10/n^2: by the theorem, by "
                     "the same theta in the exact profile, and on one graph, every user checked; "
                     "and a user's noise by the corollary and exactly "
                     "(1 % of the variance left to the masks)."}},
          .chart = {.id = "table-gopa-epsilon",
                    .title = "GOPA: the theorem's ε and the exact one",
                    .caption = "Noise by the corollary for ε = 0.1: what it really costs.",
                    .x_label = "users n",
                    .y_label = "ε",
                    .log_x = true,
                    .series = {curve("theorem", rows, &Row::users, &Row::theorem, Style::dashed),
                               curve("exact profile", rows, &Row::users, &Row::exact),
                               curve("one graph", rows, &Row::users, &Row::realised)}}};
}

SimulationReport connectivity() {
  using Row = ConnectivityRow;
  const auto rows = connectivity_table();
  const std::vector<Row> half(rows.begin(), rows.end() - 1);
  return {
      .simulation = "table connectivity",
      .columns = {column("users", "users", rows, &Row::users),
                  column("honest", "honest", rows, &Row::honest),
                  column("uniform", "uniform masks", rows, &Row::uniform),
                  column("theorem", "Gaussian masks", rows, &Row::theorem)},
      .notes = {{"what",
                 "how many others each user picks: so that honest users are connected but with "
                 "probability 2^-40, which is all that uniform masks "
                 "need; and by the theorem on Gaussian masks. Nobody drops out here."}},
      .chart = {.id = "table-connectivity",
                .title = "How many others a user shares masks with",
                .caption = "Half of the users honest. Uniform masks need a connected graph alone "
                           "(failure 2⁻⁴⁰), Gaussian ones the theorem's degree.",
                .x_label = "users n",
                .y_label = "others that each user picks",
                .log_x = true,
                .series = {curve("uniform masks", half, &Row::users, &Row::uniform),
                           curve("Gaussian masks, theorem", half, &Row::users, &Row::theorem)}}};
}

SimulationReport network_gain() {
  using Row = NetworkGainRow;
  const auto rows = network_gain_table();
  return {.simulation = "table network-gain",
          .settings = {{"epsilon", 1}, {"delta", 1e-6}},
          .columns = {column("users", "users", rows, &Row::users),
                      column("contributions", "contributions", rows, &Row::contributions),
                      column("noise", "noise", rows, &Row::noise),
                      column("local", "local epsilon", rows, &Row::local),
                      column("root", "sqrt(n/ln n)", rows, &Row::root)},
          .notes = {{"what",
                     "a walk's gradient steps with noise for network DP of epsilon 1 at 2 n "
                     "ln(1/delta)/ln n contributions of each user, the regime of "
                     "the paper's theorem: what the same costs under local DP, which is the gain, "
                     "beside sqrt(n/ln n)."}},
          .chart = {.id = "table-network-gain",
                    .title = "What network DP gains over local DP",
                    .caption = "ε of local DP where a walk has ε = 1, with 2n ln(1/δ)/ln n "
                               "contributions of each user: it grows as √(n/ln n).",
                    .x_label = "users n",
                    .y_label = "gain in ε",
                    .log_x = true,
                    .log_y = true,
                    .series = {curve("exact law", rows, &Row::users, &Row::local),
                               curve("√(n/ln n)", rows, &Row::users, &Row::root, Style::dashed)}}};
}

SimulationReport network_epsilon() {
  using Row = NetworkEpsilonRow;
  const auto rows = network_epsilon_table();
  return {
      .simulation = "table network-epsilon",
      .settings = {{"delta", 1e-7}, {"contributions", 100}},
      .columns = {column("users", "users", rows, &Row::users),
                  column("paper_local", "paper, local", rows, &Row::paper_local),
                  column("paper_network", "paper, network", rows, &Row::paper_network),
                  column("local", "local", rows, &Row::local),
                  column("sum", "network, sums", rows, &Row::sum),
                  column("learning", "network, steps", rows, &Row::learning)},
      .notes = {{"what",
                 "epsilon of a token's 100 n hops at delta 1e-7, each hop with the classical noise "
                 "of epsilon 0.1: as the paper draws it (advanced "
                 "composition, 3 epsilon/sqrt(n) a hop), and exactly: sums of which another user "
                 "sees the token 100 times at most, and 100 gradient "
                 "steps of each user at "
                 "most. Publication is not counted."}},
      .chart = {
          .id = "table-network-epsilon",
          .title = "Network DP against local DP",
          .caption = "Figure 1 of the paper on network DP, recomputed (dashed), and the same noise "
                     "by the exact law of the walk: 100n hops, δ = 1e-7. "
                     "Exactly local DP costs an eighth of what is drawn, and a walk never more "
                     "than local DP.",
          .x_label = "users n",
          .y_label = "ε",
          .log_x = true,
          .log_y = true,
          .series = {
              curve("local DP, as drawn", rows, &Row::users, &Row::paper_local, Style::dashed),
              curve("network DP, as drawn", rows, &Row::users, &Row::paper_network, Style::dashed),
              curve("local DP, exact", rows, &Row::users, &Row::local),
              curve("network DP of gradient steps", rows, &Row::users, &Row::learning),
              curve("network DP of sums", rows, &Row::users, &Row::sum)}}};
}

SimulationReport fedsgd(const SimulatedRecords& provided, const SimulationProgress& progress) {
  LearningSimulation settings{
      .honest = 0.5, .rounds = 50, .epsilon = 1, .runs = 2, .progress = progress};
  settings.steps = {1, 3, 8, 20, 60};
  const SimulatedRecords records = provided.features.empty() ? made_up_records(5000) : provided;
  settings.users =
      static_cast<std::int64_t>(std::min<std::size_t>(10'000, records.features.size() * 2 / 5));
  settings.delta = 1 / std::pow(settings.honest * static_cast<double>(settings.users), 2);
  SimulationReport report =
      report_of(settings, simulate_learning(records, settings), "table fedsgd");
  settings.advanced = true;
  settings.progress = {};
  const auto classical = simulate_learning(records, settings);
  Column noise{.name = "paper_noise", .heading = "paper's noise"};
  Column accuracy{.name = "paper_accuracy", .heading = "accuracy"};
  for (const std::string& way : report.columns.front().labels) {
    noise.values.push_back(NAN);
    accuracy.values.push_back(NAN);
    for (const LearningOutcome& one : classical) {
      if (one.way != way) continue;
      noise.values.back() = one.noise;
      accuracy.values.back() = one.accuracy;
    }
  }
  report.columns.push_back(noise);
  report.columns.push_back(accuracy);
  report.notes.emplace_back("paper's",
                            "the classical line and advanced composition: epsilon/(2 sqrt(2 T "
                            "ln(1/delta_s))) a round, delta_s = delta/(T+1).");
  return report;
}

SimulationReport network_learning(const SimulatedRecords& provided,
                                  const SimulationProgress& progress) {
  LearningSimulation settings{.users = 2000,
                              .rounds = 12,
                              .epsilon = 10,
                              .delta = 1e-6,
                              .clip = 0.4,
                              .runs = 2,
                              .progress = progress};
  settings.steps = {0.003, 0.01, 0.0342, 0.06, 0.1};
  const SimulatedRecords records = provided.features.empty() ? made_up_records(20'000) : provided;
  SimulationReport report =
      report_of(settings, simulate_walks(records, settings), "table network-learning");
  report.notes.emplace_back("what",
                            "Figure 2 of the paper on network DP: 2000 users, 20000 hops, epsilon "
                            "10, clip 0.4, at most 12 contributions of each user; each "
                            "record's gradient is clipped, then noise is added, and one user's "
                            "records are replaced (the published program clips after "
                            "the noise and takes half the sensitivity).");
  return report;
}

}  // namespace

std::vector<std::string> simulation_tables() {
  return {"gopa-noise",      "gopa-epsilon",     "connectivity", "network-gain",
          "network-epsilon", "network-learning", "fedsgd"};
}

bool is_of_records(const std::string& table) {
  return table == "network-learning" || table == "fedsgd";
}

SimulationReport simulation_table(const std::string& name, const SimulatedRecords& records,
                                  const SimulationProgress& progress) {
  if (name == "gopa-noise") return gopa_noise();
  if (name == "gopa-epsilon") return gopa_epsilon();
  if (name == "connectivity") return connectivity();
  if (name == "network-gain") return network_gain();
  if (name == "network-epsilon") return network_epsilon();
  if (name == "network-learning") return network_learning(records, progress);
  if (name == "fedsgd") return fedsgd(records, progress);
  std::string names;
  for (const std::string& one : simulation_tables()) names += " " + one;
  throw InvalidValue("'" + name + "' is not a table: it must be one of" + names);
}

SimulationReport report_of(const LearningSimulation& settings,
                           const std::vector<LearningOutcome>& outcomes, const std::string& name) {
  SimulationReport report{.simulation = name,
                          .settings = {{"users", static_cast<double>(settings.users)},
                                       {"honest", settings.honest},
                                       {"rounds", static_cast<double>(settings.rounds)},
                                       {"epsilon", settings.epsilon},
                                       {"delta", settings.delta},
                                       {"clip", settings.clip},
                                       {"runs", static_cast<double>(settings.runs)}}};
  Column ways{.name = "way", .heading = "way"};
  Column noise{.name = "noise", .heading = "noise"};
  Column step{.name = "step", .heading = "step"};
  Column accuracy{.name = "accuracy", .heading = "accuracy"};
  Column deviation{.name = "deviation", .heading = "+-"};
  Column cost{.name = "epsilon", .heading = "epsilon <="};
  report.chart = {
      .id = "simulate-learning",
      .title = "Accuracy of federated logistic regression by trust model",
      .caption = "Accuracy on records kept apart, mean of " + std::to_string(settings.runs) +
                 " trainings with the best of the tried steps; ε = " + shortest(settings.epsilon) +
                 ", δ = " + rounded(settings.delta, 3, Side::upper) + ", " +
                 std::to_string(settings.users) + " users.",
      .x_label = "way to learn",
      .y_label = "accuracy"};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const LearningOutcome& one = outcomes[i];
    ways.labels.push_back(one.way);
    noise.values.push_back(one.noise);
    step.values.push_back(one.step);
    accuracy.values.push_back(one.accuracy);
    deviation.values.push_back(one.deviation);
    cost.values.push_back(one.epsilon);
    const auto at = static_cast<double>(i);
    report.chart.series.push_back(
        {.name = one.way, .x = {at, at + 0.8}, .y = {one.accuracy}, .style = Style::bars});
    if (!one.remark.empty()) report.notes.emplace_back(one.way, one.remark + ".");
  }
  report.columns = {ways, noise, step, accuracy, deviation, cost};
  return report;
}

}  // namespace sotto
