// What simulations found, as text and as pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "course/api/simulation.hpp"
#include "course/api/simulation_learning.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// One form for all of them.
struct SimulationReport {
  struct Column {
    std::string name{};     ///< in JSON and CSV
    std::string heading{};  ///< in a table
    std::vector<double> values{};
    std::vector<std::string> labels{};  ///< in place of values
  };

  std::string simulation{};                                  ///< "gopa", "learning", "table gopa-noise", …
  std::vector<std::pair<std::string, double>> settings{};    ///< by name
  std::vector<Column> columns{};                             ///< of equal length
  std::vector<std::pair<std::string, std::string>> notes{};  ///< a label of a word or two, and sentences
  Chart chart{};
};

/// One row for each number of users. At least one outcome, all of one trust model.
SimulationReport report_of(const std::vector<AveragingOutcome>& outcomes);

/// One row for each way to learn.
SimulationReport report_of(const LearningSimulation& settings, const std::vector<LearningOutcome>& outcomes, const std::string& name = "learning");

/// A table of the papers, recomputed, by name; some take records. InvalidValue for any other name.
SimulationReport simulation_table(const std::string& name, const SimulatedRecords& records = {}, const SimulationProgress& progress = {});
std::vector<std::string> simulation_tables();
/// Whether a table is of learning, and takes records; it makes them up where none are given.
bool is_of_records(const std::string& table);

/// sotto.simulation/1.
std::string simulation_text(const SimulationReport& report, Format format);

}  // namespace sotto
