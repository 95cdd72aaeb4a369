// Averaging and learning under every trust model, in one process, on made-up values: what it costs in error and in privacy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// Told now and then how much is done.
using SimulationProgress = std::function<void(double share)>;

/// Whom a user trusts.
enum class TrustModel {
  central,  ///< a curator, who sees the values and adds noise to their sum
  local,    ///< nobody: every user adds noise enough for one value
  shuffle,  ///< a shuffler: every user sends one randomized bit
  gopa,     ///< one another, in part: every user adds a share of the noise, and masks that cancel [Sabater2022]
  ring,     ///< nobody to see more than passes by: a token goes round [Cyffers2022]
  walk,     ///< the same, and the token goes to a random user
};
const char* name_of(TrustModel model);
/// Numbers of users that show how a model's error falls with them.
std::vector<std::int64_t> usual_users(TrustModel model);

struct AveragingSimulation {
  TrustModel model = TrustModel::gopa;
  std::int64_t users = 1000;               ///< 2 to 100000; each has a value in [0, 1]
  double honest = 1;                       ///< the share of users who do not collude
  double dropouts = 0;                     ///< the share of users who vanish after masks were exchanged (gopa)
  std::int64_t degree = 0;                 ///< how many others a user picks to share masks with; 0: everybody (gopa)
  double epsilon = 1;                      ///< the target, one user's value replaced
  double delta = 1e-6;                     ///< of the same
  std::optional<double> sigma{};           ///< in place of epsilon: the noise for which one value costs the target (shuffle has none)
  std::int64_t rounds = 1;                 ///< how often each value is contributed (ring), at most in users·rounds hops (walk)
  std::int64_t runs = 100;                 ///< whole protocols; users times rounds times runs up to 10^10
  std::int64_t message_by_message = 1000;  ///< up to so many users, else by the algebra of the sums
  SimulationProgress progress{};
};

/// What the protocol costs by the exact accountant, and by its paper's closed form.
struct FederatedCost {
  double exact = 0;
  double paper = 0;  ///< NaN where the paper's theorem does not apply
  std::string theorem{};
  std::string remark{};  ///< why it does not apply, or what the guarantee leaves out
};

struct AveragingOutcome {
  AveragingSimulation settings;
  std::int64_t honest_users = 0;    ///< of those who stayed, in the worst case
  double noise = 0;                 ///< standard deviation of one draw of a user's own noise
  double pair_noise = 0;            ///< of a mask (gopa)
  bool message_by_message = false;  ///< each party an object that sends messages
  double measured = 0;              ///< root mean square error of the mean over the runs
  double predicted = 0;             ///< and in theory
  double curator = 0;               ///< a trusted curator's at the same epsilon, delta, users and rounds
  double local = 0;                 ///< and local DP's
  FederatedCost cost{};
  /// (measured / curator)².
  [[nodiscard]] double variance_ratio() const { return (measured / curator) * (measured / curator); }
};

/// Runs the protocol. Values and noise are whole numbers on a grid and sums are exact, so that both ways of running it give the same sums to the bit.
/// What dropped users' masks leave behind is an error of the sum, and counts for no privacy. InvalidValue for settings out of range;
/// OutsideConditions where no noise or no theorem serves.
AveragingOutcome simulate_averaging(const AveragingSimulation& settings);

/// The target of one contribution as Gaussian noise: σ for sensitivity 1.
double central_noise(const AveragingSimulation& settings);

}  // namespace sotto
