// Federated gradient descent under every trust model, in one process: how right its models are, and what they cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/api/simulation.hpp"

namespace sotto {

/// Records to learn from: features of norm 1 at most, and a class.
struct SimulatedRecords {
  std::vector<std::vector<double>> features{};
  std::vector<bool> labels{};
};
/// Two classes of normal points, some of them on the wrong side; the same on every call.
SimulatedRecords made_up_records(std::int64_t count, std::int64_t width = 8);
/// The rows of a CSV file with a header whose cells in every numeric column are numbers: the class is whether `label` exceeds its mean, the other
/// numeric columns are standardised and each row is divided by its norm. For public data: nothing of this is private. std::runtime_error where the
/// file cannot be read, InvalidValue where the column is missing.
SimulatedRecords read_records(const std::string& path, const std::string& label);

/// Logistic regression. A fifth of the records is kept to test on; the others are dealt out to the users in turn.
struct LearningSimulation {
  std::int64_t users = 1000;
  double honest = 0.5;  ///< the share of users who do not collude, for aggregation
  std::int64_t rounds =
      50;  ///< in each every user contributes; in a walk at most so often, over users·rounds/1.2 hops and a twentieth more of noise alone
  double epsilon = 1;  ///< of the whole training, one user's records replaced
  double delta = 1e-6;
  double clip = 1;                               ///< of each record's gradient: a user's average moves by 2 clip at most
  std::vector<double> steps{0.1, 0.3, 1, 3, 8};  ///< the best of them by its accuracy on the test records, which are public
  std::int64_t runs = 3;
  bool advanced = false;  ///< noise by the classical line and advanced composition, as [Sabater2022] has it: central, aggregated and local alone
  SimulationProgress progress{};
};

struct LearningOutcome {
  std::string way{};     ///< "no noise", "central", "aggregated", "local", "walk"
  double noise = 0;      ///< σ for one user's gradient, per coordinate: of the sum (central), of each user's share, or of each hop
  double step = 0;       ///< that was best
  double accuracy = 0;   ///< mean over the runs
  double deviation = 0;  ///< between runs
  double epsilon = 0;    ///< by the exact accountant
  std::string remark{};
};

/// All ways to learn from the same records.
std::vector<LearningOutcome> simulate_learning(const SimulatedRecords& records, const LearningSimulation& settings);
/// The same with one user a hop: a curator's DP-SGD with Poisson sampling of one user in expectation (add-remove), a walk, local DP; as
/// [Cyffers2022].
std::vector<LearningOutcome> simulate_walks(const SimulatedRecords& records, const LearningSimulation& settings);

}  // namespace sotto
