// Reports of the averaging simulations.
#include "course/api/simulations.hpp"

#include <cmath>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using Style = Series::Style;

std::string digits(double x, int count = 3) { return rounded(x, count, Side::upper); }

template <class Value>
SimulationReport::Column column(const char* name, const char* heading,
                                const std::vector<AveragingOutcome>& outcomes, Value value) {
  SimulationReport::Column result{.name = name, .heading = heading};
  for (const AveragingOutcome& outcome : outcomes)
    result.values.push_back(static_cast<double>(value(outcome)));
  return result;
}

Series curve(const char* name, const SimulationReport::Column& x, const SimulationReport::Column& y,
             Style style = Style::line) {
  return {.name = name, .x = x.values, .y = y.values, .style = style};
}

std::string error_note(const AveragingOutcome& outcome) {
  const AveragingSimulation& settings = outcome.settings;
  const std::string how = outcome.message_by_message
                              ? "message by message"
                              : "by the algebra of the sums (" + std::to_string(settings.users) +
                                    " users are too many to send messages)";
  return "root mean square of " + std::to_string(settings.runs) + " runs, " + how +
         "; a mean of values in [0, 1].";
}

// Returns the parties that the privacy guarantee is against.
std::string adversary_of(const AveragingOutcome& outcome) {
  const AveragingSimulation& settings = outcome.settings;
  switch (settings.model) {
    case TrustModel::gopa: return "all but " + std::to_string(outcome.honest_users) + " users";
    case TrustModel::central: return "whoever reads the result";
    case TrustModel::walk:
      if (settings.honest < 1)
        return "a coalition of " + std::to_string(settings.users - outcome.honest_users) + " users";
      return "each other user";
    case TrustModel::ring: return "each other user";
    case TrustModel::local:
    case TrustModel::shuffle: break;
  }
  return "everybody";
}

std::string privacy_note(const AveragingOutcome& outcome) {
  const std::string theorem =
      outcome.cost.theorem.empty() ? "" : " The paper's: " + outcome.cost.theorem + ".";
  return "one user's value replaced, delta " + shortest(outcome.settings.delta) + ", against " +
         adversary_of(outcome) + "." + theorem;
}

}  // namespace

SimulationReport report_of(const std::vector<AveragingOutcome>& outcomes) {
  if (outcomes.empty())
    throw InvalidValue("there is nothing to report: no number of users was simulated");
  const AveragingSimulation& settings = outcomes.front().settings;
  const AveragingOutcome& last = outcomes.back();
  const std::string name = name_of(settings.model);
  using Outcome = AveragingOutcome;
  SimulationReport report{
      .simulation = name,
      .settings = {{"honest", settings.honest},
                   {"dropouts", settings.dropouts},
                   {"degree", static_cast<double>(settings.degree)},
                   {"delta", settings.delta},
                   {"rounds", static_cast<double>(settings.rounds)},
                   {"runs", static_cast<double>(settings.runs)}},
      .columns = {
          column("users", "users", outcomes, [](const Outcome& o) { return o.settings.users; }),
          column("noise", "noise", outcomes, [](const Outcome& o) { return o.noise; })}};
  report.settings.emplace_back(settings.sigma ? "sigma" : "epsilon",
                               settings.sigma ? *settings.sigma : settings.epsilon);
  if (settings.model == TrustModel::gopa) {
    report.columns.push_back(column("mask_noise", "mask noise", outcomes,
                                    [](const Outcome& o) { return o.pair_noise; }));
  }
  report.columns.push_back(
      column("error", "error", outcomes, [](const Outcome& o) { return o.measured; }));
  report.columns.push_back(
      column("predicted", "predicted", outcomes, [](const Outcome& o) { return o.predicted; }));
  report.columns.push_back(
      column("curator", "curator's", outcomes, [](const Outcome& o) { return o.curator; }));
  report.columns.push_back(
      column("local", "local DP's", outcomes, [](const Outcome& o) { return o.local; }));
  report.columns.push_back(column("variance_ratio", "variance/curator's", outcomes,
                                  [](const Outcome& o) { return o.variance_ratio(); }));
  report.columns.push_back(
      column("epsilon", "epsilon <=", outcomes, [](const Outcome& o) { return o.cost.exact; }));
  report.columns.push_back(
      column("paper_epsilon", "paper's", outcomes, [](const Outcome& o) { return o.cost.paper; }));
  const auto by_name = [&report](const char* wanted) {
    for (const auto& one : report.columns) {
      if (one.name == wanted) return one;
    }
    return SimulationReport::Column{};
  };
  report.notes = {{"error", error_note(last)}, {"privacy", privacy_note(last)}};
  if (!last.cost.remark.empty()) report.notes.emplace_back("note", last.cost.remark + ".");
  const auto users = by_name("users");
  report.chart = {
      .id = "simulate-" + name,
      .title = "The error of a mean: " + name + ", a trusted curator, local DP",
      .caption = "The root mean square error of the mean of users' values in [0, 1] over " +
                 std::to_string(settings.runs) + " runs, with what is predicted, at δ = " +
                 shortest(settings.delta) + ", ε = " + digits(last.cost.exact) + ".",
      .x_label = "users n",
      .y_label = "error of the mean",
      .log_x = true,
      .log_y = true,
      .series = {curve("measured", users, by_name("error")),
                 curve("predicted", users, by_name("predicted"), Style::dashed),
                 curve("a trusted curator", users, by_name("curator")),
                 curve("local DP", users, by_name("local"))}};
  return report;
}

}  // namespace sotto
