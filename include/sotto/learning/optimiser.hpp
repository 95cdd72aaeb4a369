// Optimisers: how parameters move along noisy gradients. This is post-processing and costs no
// privacy.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sotto {

enum class OptimiserKind { sgd, momentum, adam };
std::string name_of(OptimiserKind kind);
OptimiserKind parse_optimiser(const std::string& name);

/// The schedule of step sizes.
enum class StepSizes {
  constant,
  inverse_root,  ///< size/√t at step t = 1, 2, …
  cosine,        ///< from size to 0 along half a cosine
};
std::string name_of(StepSizes sizes);
StepSizes parse_step_sizes(const std::string& name);

struct Ball {  ///< the vector of all parameters has at most this L2 norm
  double radius;
  friend bool operator==(const Ball&, const Ball&) = default;
};
struct Box {  ///< each parameter lies in [lower, upper]
  double lower, upper;
  friend bool operator==(const Box&, const Box&) = default;
};
/// A convex region that contains the parameters.
using Region = std::variant<Ball, Box>;

/// The choice of the parameters that are released at the end.
enum class Averaging {
  none,     ///< the last iterate
  uniform,  ///< the mean of all iterates
  second,   ///< the mean of the iterates of the second half
};
std::string name_of(Averaging averaging);
Averaging parse_averaging(const std::string& name);

/// The settings of an optimiser. All of it is public.
struct Optimiser {
  OptimiserKind kind = OptimiserKind::sgd;
  double size = 1;  ///< the step size that `sizes` scales
  StepSizes sizes = StepSizes::constant;
  double momentum = 0.9;
  double beta2 = 0.999;
  double l2 = 0;  ///< λ of the penalty λ|θ|²/2, which does not depend on data
  std::optional<Region> region =
      std::nullopt;  ///< parameters are projected onto it after each step
  Averaging averaging = Averaging::none;
  friend bool operator==(const Optimiser&, const Optimiser&) = default;
};

/// The state of an optimiser after some steps, complete enough to continue from.
struct Iterate {
  std::int64_t step = 0;
  std::vector<double> parameters;
  std::vector<double> mean = {};    ///< mean of the iterates; empty without averaging
  std::vector<double> first = {};   ///< first moment; empty for plain SGD
  std::vector<double> second = {};  ///< second moment; empty unless Adam
  double norm = 0;                  ///< the clipping norm under adaptive clipping; else 0
  friend bool operator==(const Iterate&, const Iterate&) = default;
};

/// Takes one of `steps` steps along this gradient.
void advance(Iterate& iterate, const Optimiser& optimiser, std::int64_t steps,
             std::span<const double> gradient);
/// Returns the parameters to release: the last iterate or the mean, by `optimiser.averaging`.
const std::vector<double>& learned(const Iterate& iterate, const Optimiser& optimiser);

}  // namespace sotto
