// Simulates federated gradient descent under every trust model, in one process, and measures the
// models' accuracy and privacy cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/api/simulation.hpp"

namespace sotto {

/// Training records: features of norm at most 1, and a binary class.
struct SimulatedRecords {
  std::vector<std::vector<double>> features{};
  std::vector<bool> labels{};
};
/// Returns two overlapping classes of normally distributed points. Every call returns equal
/// records.
SimulatedRecords made_up_records(std::int64_t count, std::int64_t width = 8);
/// Reads a CSV file with a header. Rows with a cell that is not a number in a numeric column are
/// skipped. The class is whether `label` exceeds its mean; the other numeric columns are
/// standardised, and each row is divided by its norm. Only for public data: this uses exact means.
/// Throws std::runtime_error if the file cannot be read, and InvalidValue if the column is absent.
SimulatedRecords read_records(const std::string& path, const std::string& label);

/// The settings of a simulation of logistic regression. A fifth of the records is for testing; the
/// other records are distributed over the users in turn.
struct LearningSimulation {
  std::int64_t users = 1000;
  double honest = 0.5;  ///< share of users who do not collude, for aggregation
  /// Contributions of each user. In a walk, their maximum, over users·rounds/1.2 hops followed by a
  /// twentieth as many hops that only add noise.
  std::int64_t rounds = 50;
  double epsilon = 1;  ///< of the whole training, with one user's records replaced
  double delta = 1e-6;
  double clip = 1;                               ///< clipping norm of each record's gradient, so a user's average changes by at most 2 clip
  std::vector<double> steps{0.1, 0.3, 1, 3, 8};  ///< step sizes to try; the best one by accuracy on the test records, which are public, is reported
  std::int64_t runs = 3;
  bool advanced = false;  ///< noise by the classical formula and advanced composition as in [Sabater2022], without the walk
  SimulationProgress progress{};
};

/// The result of one way to learn.
struct LearningOutcome {
  std::string way{};     ///< "no noise", "central", "aggregated", "local", "walk"
  double noise = 0;      ///< σ per coordinate: of the sum (central), of each user's share (aggregated, local) or of each hop (walk)
  double step = 0;       ///< the best step size
  double accuracy = 0;   ///< mean over the runs, on the test records
  double deviation = 0;  ///< standard deviation between runs
  double epsilon = 0;    ///< by the exact accountant
  std::string remark{};
};

/// Learns from the records in every way.
std::vector<LearningOutcome> simulate_learning(const SimulatedRecords& records, const LearningSimulation& settings);
/// Learns from the records with one user per step, as [Cyffers2022]: by a curator's DP-SGD with
/// Poisson sampling of one user in expectation (add-remove), by a walk, and under local DP.
std::vector<LearningOutcome> simulate_walks(const SimulatedRecords& records, const LearningSimulation& settings);

}  // namespace sotto
