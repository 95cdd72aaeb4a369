// The results of the simulations as text and as charts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "course/api/simulation.hpp"
#include "course/api/simulation_learning.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// The common form of all simulation results.
struct SimulationReport {
  struct Column {
    std::string name{};     ///< in JSON and CSV
    std::string heading{};  ///< in a table
    std::vector<double> values{};
    std::vector<std::string> labels{};  ///< instead of `values`, in a column of text
  };

  std::string simulation{};  ///< "gopa", "learning", "table gopa-noise", …
  std::vector<std::pair<std::string, double>> settings{};  ///< by name
  std::vector<Column> columns{};                           ///< of equal length
  std::vector<std::pair<std::string, std::string>>
      notes{};  ///< a label of one or two words, and sentences
  Chart chart{};
};

/// A report with a row for each number of users. The outcomes must be of one trust model. Throws
/// InvalidValue if there are none.
SimulationReport report_of(const std::vector<AveragingOutcome>& outcomes);

/// A report with a row for each trust model.
SimulationReport report_of(const LearningSimulation& settings,
                           const std::vector<LearningOutcome>& outcomes,
                           const std::string& name = "learning");

/// Returns one of simulation_tables(), recomputed. Throws InvalidValue for another name.
SimulationReport simulation_table(const std::string& name, const SimulatedRecords& records = {},
                                  const SimulationProgress& progress = {});
/// Returns the names of all tables.
std::vector<std::string> simulation_tables();
/// Whether a table trains models on records. Such a table uses made-up records if `records` is
/// empty.
bool is_of_records(const std::string& table);

/// Returns the rows and the notes; sotto.simulation/1.
std::string simulation_text(const SimulationReport& report, Format format);

}  // namespace sotto
