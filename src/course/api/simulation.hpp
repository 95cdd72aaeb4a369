// Simulates averaging under every trust model, in one process, on synthetic values, and measures
// error and privacy cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// Called from time to time with the share of the work that is done, 0 to 1.
using SimulationProgress = std::function<void(double share)>;

/// The parties that a user trusts.
enum class TrustModel {
  central,  ///< a curator, who sees the values and adds noise to their sum
  local,    ///< nobody: every user adds the noise that one value needs
  shuffle,  ///< a shuffler: every user sends one randomized bit
  gopa,     ///< most other users: every user adds a share of the noise, and masks that cancel [Sabater2022]
  ring,     ///< no user with more than the token that passes: it goes around a ring [Cyffers2022]
  walk,     ///< as ring, but the token goes to a random user [Cyffers2022]
};
const char* name_of(TrustModel model);
/// Returns the numbers of users at which the model's error is usually shown.
std::vector<std::int64_t> usual_users(TrustModel model);

/// The settings of a simulation of averaging.
struct AveragingSimulation {
  TrustModel model = TrustModel::gopa;
  std::int64_t users = 1000;               ///< 2 to 100000; each has a value in [0, 1]
  double honest = 1;                       ///< share of users who do not collude
  double dropouts = 0;                     ///< share of users who drop out after masks were exchanged (gopa)
  std::int64_t degree = 0;                 ///< number of other users that a user picks to share masks with; 0: all (gopa)
  double epsilon = 1;                      ///< privacy target, with one user's value replaced
  double delta = 1e-6;                     ///< privacy target, with one user's value replaced
  std::optional<double> sigma{};           ///< replaces epsilon: noise of one value under the target (not for shuffle)
  std::int64_t rounds = 1;                 ///< contributions of each value (ring); their maximum in users·rounds hops (walk)
  std::int64_t runs = 100;                 ///< repetitions of the protocol; users times rounds times runs at most 10^10
  std::int64_t message_by_message = 1000;  ///< largest number of users to simulate by messages instead of by algebra
  SimulationProgress progress{};
};

/// The ε of a protocol, by the exact accountant and by the closed form of its paper.
struct FederatedCost {
  double exact = 0;
  double paper = 0;  ///< NaN where the paper's theorem does not apply
  std::string theorem{};
  std::string remark{};  ///< why the theorem does not apply, or a limit of the guarantee
};

/// The result of a simulation of averaging.
struct AveragingOutcome {
  AveragingSimulation settings;
  std::int64_t honest_users = 0;    ///< smallest number of honest users who do not drop out
  double noise = 0;                 ///< standard deviation of one draw of a user's noise
  double pair_noise = 0;            ///< standard deviation of a mask (gopa)
  bool message_by_message = false;  ///< whether users were simulated as objects that send messages
  double measured = 0;              ///< root mean square error of the mean, over the runs
  double predicted = 0;             ///< the same error in theory
  double curator = 0;               ///< error of a trusted curator at equal epsilon, delta, users and rounds
  double local = 0;                 ///< error under local DP at equal epsilon, delta, users and rounds
  FederatedCost cost{};
  /// (measured / curator)².
  [[nodiscard]] double variance_ratio() const { return (measured / curator) * (measured / curator); }
};

/// Runs the protocol. Values and noise are whole numbers on a grid, so sums are exact, and
/// simulation by messages and by algebra give equal bits. The masks that dropped users leave in the
/// sum count as error and not as noise for privacy. Throws InvalidValue for settings out of range,
/// and OutsideConditions if no noise meets the target or no theorem applies.
AveragingOutcome simulate_averaging(const AveragingSimulation& settings);

/// Returns the σ, at sensitivity 1, of Gaussian noise that meets the target for one contribution.
double central_noise(const AveragingSimulation& settings);

}  // namespace sotto
