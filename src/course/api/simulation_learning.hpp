// Simulates federated gradient descent under every trust model in one process: accuracy and privacy
// cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/api/simulation.hpp"

namespace sotto {

/// Records to learn from: features of norm at most 1, and one of two classes.
struct SimulatedRecords {
  std::vector<std::vector<double>> features{};
  std::vector<bool> labels{};
};
/// Returns two overlapping classes of normally distributed points, the same on every call.
SimulatedRecords made_up_records(std::int64_t count, std::int64_t width = 8);
/// Reads the rows of a CSV file with a header, for public data: nothing here is private. A row
/// whose numeric cells cannot be read is skipped. The class is whether `label` exceeds its mean;
/// the other numeric columns are standardised, and each row is divided by its norm. Throws
/// std::runtime_error if the file cannot be read, and InvalidValue if the column is missing or
/// there are fewer than ten rows.
SimulatedRecords read_records(const std::string& path, const std::string& label);

/// Settings of logistic regression. A fifth of the records is the test set; the others are
/// distributed among the users in turn.
struct LearningSimulation {
  std::int64_t users = 1000;
  double honest = 0.5;  ///< the share of users who do not collude, for aggregation
  /// Contributions of each user, one per round. In a walk a user contributes at most this often
  /// over users·rounds/1.2 hops, which a twentieth more hops of noise alone follow.
  std::int64_t rounds = 50;
  double epsilon = 1;  ///< of the whole training, under replacement of one user's records
  double delta = 1e-6;
  double clip = 1;  ///< norm of each record's clipped gradient: replacing a user moves the average
                    ///< by at most 2 clip
  std::vector<double> steps{0.1, 0.3, 1, 3,
                            8};  ///< step sizes to try; the one with the best accuracy on the test
                                 ///< set, which is public, is reported
  std::int64_t runs = 3;
  bool advanced = false;  ///< noise from the classical formula and advanced composition, as in
                          ///< [Sabater2022]; only central, aggregated and local
  SimulationProgress progress{};
};

/// The result of one way to learn.
struct LearningOutcome {
  std::string way{};  ///< "no noise", "central", "aggregated", "local", "walk"
  double noise = 0;  ///< σ per coordinate: of the sum (central), of each user's share (aggregated,
                     ///< local), or of each hop (walk)
  double step = 0;   ///< the best step size
  double accuracy = 0;   ///< mean over the runs
  double deviation = 0;  ///< standard deviation between runs
  double epsilon = 0;    ///< by the exact accountant
  std::string remark{};
};

/// Trains on the records under all trust models; one outcome for each.
std::vector<LearningOutcome> simulate_learning(const SimulatedRecords& records,
                                               const LearningSimulation& settings);
/// As simulate_learning(), with one user per step as in [Cyffers2022]: a curator's DP-SGD that
/// samples one user in expectation (Poisson, add-remove), a walk, and local DP.
std::vector<LearningOutcome> simulate_walks(const SimulatedRecords& records,
                                            const LearningSimulation& settings);

}  // namespace sotto
