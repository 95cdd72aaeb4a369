// Simulations of averaging and learning without a trusted curator.
#include "course/api/simulations.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "callbacks.hpp"

namespace sotto::python {
namespace {

using ProgressCallback = std::optional<std::function<void(double)>>;

// Runs a simulation without the interpreter's lock and reports its progress; Ctrl-C interrupts it.
template <class Work>
SimulationReport run_simulation(const ProgressCallback& on_progress, Work&& work) {
  Callbacks callbacks;
  return callbacks.run([&] {
    const StopCheck question([&] { return !callbacks.tell([] {}); });
    return work([&](double share) {
      const auto tell = [&] {
        if (on_progress) (*on_progress)(share);
      };
      if (!callbacks.tell(tell)) throw Stopped();
    });
  });
}

TrustModel model_named(const std::string& name) {
  std::string names;
  for (const TrustModel model : {TrustModel::central, TrustModel::local, TrustModel::shuffle,
                                 TrustModel::gopa, TrustModel::ring, TrustModel::walk}) {
    if (name == name_of(model)) return model;
    names += std::string(names.empty() ? "" : ", ") + name_of(model);
  }
  throw InvalidValue("'" + name + "' is not a trust model: it must be one of " + names);
}

// Throws InvalidValue for an argument that this model does not have.
void require_only(bool is_set, bool is_allowed, const char* argument, const std::string& model) {
  if (is_set && !is_allowed)
    throw InvalidValue(std::string(argument) + " has no meaning for " + model + ": leave it out");
}

SimulationReport averaging(const std::string& name, std::vector<std::int64_t> users,
                           std::optional<double> honest, std::optional<double> dropouts,
                           std::optional<std::int64_t> degree, std::optional<double> epsilon,
                           double delta, std::optional<double> sigma,
                           std::optional<std::int64_t> rounds, std::int64_t runs,
                           const ProgressCallback& on_progress) {
  const TrustModel model = model_named(name);
  const bool is_gopa = model == TrustModel::gopa;
  const bool is_walk = model == TrustModel::walk;
  require_only(honest.has_value(), is_gopa || is_walk, "honest=", name);
  require_only(dropouts.has_value(), is_gopa, "dropouts=", name);
  require_only(degree.has_value(), is_gopa, "degree=", name);
  require_only(sigma.has_value(), model != TrustModel::shuffle, "sigma=", name);
  require_only(rounds.has_value(), is_walk || model == TrustModel::ring, "rounds=", name);
  if (sigma && epsilon)
    throw InvalidValue("sigma= and epsilon= both say how much noise: leave one out");
  AveragingSimulation settings{.model = model, .sigma = sigma};
  settings.honest = honest.value_or(settings.honest);
  settings.dropouts = dropouts.value_or(settings.dropouts);
  settings.degree = degree.value_or(settings.degree);
  settings.epsilon = epsilon.value_or(settings.epsilon);
  settings.delta = delta;
  settings.rounds = rounds.value_or(settings.rounds);
  settings.runs = runs;
  if (users.empty()) users = usual_users(model);
  return run_simulation(on_progress, [&](const SimulationProgress& progress) {
    std::vector<AveragingOutcome> outcomes;
    for (std::size_t i = 0; i < users.size(); ++i) {
      settings.users = users[i];
      settings.progress = [&](double share) {
        progress((static_cast<double>(i) + share) / static_cast<double>(users.size()));
      };
      outcomes.push_back(simulate_averaging(settings));
    }
    return report_of(outcomes);
  });
}

SimulationReport learning(std::int64_t users, double honest, std::int64_t rounds, double epsilon,
                          double delta, double clip, const std::vector<double>& steps,
                          std::int64_t runs, const std::string& data, const std::string& label,
                          const ProgressCallback& on_progress) {
  return run_simulation(on_progress, [&](const SimulationProgress& progress) {
    const LearningSimulation settings{.users = users,
                                      .honest = honest,
                                      .rounds = rounds,
                                      .epsilon = epsilon,
                                      .delta = delta,
                                      .clip = clip,
                                      .steps = steps,
                                      .runs = runs,
                                      .progress = progress};
    return report_of(settings, simulate_learning(data.empty() ? made_up_records(5 * users / 2)
                                                              : read_records(data, label),
                                                 settings));
  });
}

SimulationReport table(const std::string& name, const std::string& data, const std::string& label,
                       const ProgressCallback& on_progress) {
  if (!data.empty() && !is_of_records(name))
    throw InvalidValue("the table " + name + " learns from no records: leave out data=");
  return run_simulation(on_progress, [&](const SimulationProgress& progress) {
    return simulation_table(name, data.empty() ? SimulatedRecords{} : read_records(data, label),
                            progress);
  });
}

nb::dict columns_of(const SimulationReport& report) {
  nb::dict result;
  for (const SimulationReport::Column& column : report.columns) {
    result[column.name.c_str()] =
        column.labels.empty() ? nb::cast(column.values) : nb::cast(column.labels);
  }
  return result;
}

}  // namespace

void bind_simulations(nb::module_& m) {
  nb::class_<SimulationReport>(m, "SimulationReport", "The result of a simulation.")
      .def_ro("simulation", &SimulationReport::simulation)
      .def_prop_ro("settings",
                   [](const SimulationReport& r) {
                     nb::dict result;
                     for (const auto& [name, value] : r.settings) result[name.c_str()] = value;
                     return result;
                   })
      .def_prop_ro("columns", columns_of)
      .def_prop_ro("notes",
                   [](const SimulationReport& r) {
                     nb::list result;
                     for (const auto& [label, words] : r.notes)
                       result.append(nb::make_tuple(label, words));
                     return result;
                   })
      .def_ro("chart", &SimulationReport::chart)
      .def(
          "text",
          [](const SimulationReport& r, const std::string& format) {
            return simulation_text(r, format_of(format));
          },
          nb::arg("format") = "table");
  m.def("simulate_averaging", averaging, nb::arg("model"), nb::arg("users"),
        nb::arg("honest").none(), nb::arg("dropouts").none(), nb::arg("degree").none(),
        nb::arg("epsilon").none(), nb::arg("delta"), nb::arg("sigma").none(),
        nb::arg("rounds").none(), nb::arg("runs"), nb::arg("progress").none());
  m.def("simulate_learning", learning, nb::arg("users"), nb::arg("honest"), nb::arg("rounds"),
        nb::arg("epsilon"), nb::arg("delta"), nb::arg("clip"), nb::arg("steps"), nb::arg("runs"),
        nb::arg("data"), nb::arg("label"), nb::arg("progress").none());
  m.def("simulation_table", table, nb::arg("name"), nb::arg("data"), nb::arg("label"),
        nb::arg("progress").none());
  m.def("simulation_tables", simulation_tables);
}

}  // namespace sotto::python
