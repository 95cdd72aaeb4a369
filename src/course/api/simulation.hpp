// Simulates averaging under every trust model in one process, on made-up values: its error and its
// privacy cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// A callback that receives the share of the work that is done, from 0 to 1.
using SimulationProgress = std::function<void(double share)>;

/// The parties that a user trusts.
enum class TrustModel {
  central,  ///< a curator sees all values and adds noise to their sum
  local,    ///< nobody: every user adds enough noise for one value
  shuffle,  ///< a shuffler permutes the randomized bits that users send
  gopa,  ///< a share of the other users: everyone adds a part of the noise, and masks that cancel
         ///< in the sum [Sabater2022]
  ring,  ///< everyone sees only the token that visits the users in turn [Cyffers2022]
  walk,  ///< as ring, but the token goes to a random user each time
};
const char* name_of(TrustModel model);
/// Returns numbers of users that show how the error of a model decreases.
std::vector<std::int64_t> usual_users(TrustModel model);

/// The settings of a simulation of averaging.
struct AveragingSimulation {
  TrustModel model = TrustModel::gopa;
  std::int64_t users = 1000;  ///< 2 to 100000; each has a value in [0, 1]
  double honest = 1;          ///< the share of users who do not collude
  double dropouts = 0;        ///< the share of users who drop out after masks were exchanged (gopa)
  std::int64_t degree =
      0;  ///< how many others each user picks to share masks with; 0 for all others (gopa)
  double epsilon = 1;   ///< the target, under replacement of one user's value
  double delta = 1e-6;  ///< of the target
  std::optional<double>
      sigma{};  ///< replaces epsilon: the σ of one contribution at sensitivity 1; not for shuffle
  std::int64_t rounds = 1;  ///< contributions of each value: exactly this many (ring), or at most
                            ///< this many in users·rounds hops (walk)
  std::int64_t runs =
      100;  ///< repetitions of the whole protocol; users times rounds times runs is at most 10^10
  std::int64_t message_by_message =
      1000;  ///< up to this many users every message is simulated, above it only the sums
  SimulationProgress progress{};
};

/// The privacy cost of a protocol, by the exact accountant and by the closed form of its paper.
struct FederatedCost {
  double exact = 0;
  double paper = 0;  ///< NaN where the paper's theorem does not apply
  std::string theorem{};
  std::string remark{};  ///< why the theorem does not apply, or a limitation of the guarantee
};

/// The result of a simulation of averaging.
struct AveragingOutcome {
  AveragingSimulation settings;
  std::int64_t honest_users = 0;    ///< honest users who did not drop out, in the worst case
  double noise = 0;                 ///< standard deviation of one draw of a user's noise
  double pair_noise = 0;            ///< standard deviation of a mask (gopa)
  bool message_by_message = false;  ///< whether every message was simulated
  double measured = 0;              ///< root mean square error of the mean over the runs
  double predicted = 0;             ///< root mean square error of the mean in theory
  double curator = 0;  ///< error of a trusted curator at the same epsilon, delta, users and rounds
  double local = 0;    ///< error of local DP at the same epsilon, delta, users and rounds
  FederatedCost cost{};
  /// Returns (measured / curator)².
  [[nodiscard]] double variance_ratio() const {
    return (measured / curator) * (measured / curator);
  }
};

/// Runs the protocol. Values and noise are whole numbers on a grid and sums are exact, so
/// simulating every message gives the same sums, to the bit, as adding up. Masks that dropped users
/// leave in the sum count as error and not as noise that protects. Throws InvalidValue for settings
/// out of range, and OutsideConditions if no noise or no theorem fits them.
AveragingOutcome simulate_averaging(const AveragingSimulation& settings);

/// Returns the σ, at sensitivity 1, of Gaussian noise with which one contribution meets the target.
double central_noise(const AveragingSimulation& settings);

}  // namespace sotto
